// A list of any length that draws the rows in view alone; one option is active, and the keys move it.

const BEYOND = 6;

/** Fill `box` with rows by `draw(row, option)`; `chosen(row, by)` hears which becomes active. */
export function listing(box, draw, chosen) {
  const space = box.querySelector(".space");
  let rows = [];
  let active = -1;
  let height = 0;

  const row = () => rows[active];

  function paint() {
    height = Number.parseFloat(getComputedStyle(box).getPropertyValue("--row"))
      * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    space.style.height = `${rows.length * height}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - BEYOND);
    const last = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + BEYOND);
    const options = [];
    for (let place = first; place < last; place += 1) options.push(option(place));
    space.replaceChildren(...options);
    const there = active >= first && active < last;
    if (there) box.setAttribute("aria-activedescendant", `row-${active}`);
    else box.removeAttribute("aria-activedescendant");
  }

  function option(place) {
    const item = document.createElement("div");
    item.id = `row-${place}`;
    item.className = "row";
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(place === active));
    item.setAttribute("aria-setsize", rows.length);
    item.setAttribute("aria-posinset", place + 1);
    item.style.transform = `translateY(${place * height}px)`;
    item.addEventListener("click", () => move(place, "pointer"));
    draw(rows[place], item);
    return item;
  }

  function move(place, by) {
    if (!rows.length) return;
    active = Math.min(Math.max(place, 0), rows.length - 1);
    const top = active * height;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    paint();
    chosen(row(), by);
  }

  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 1);
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
      Enter: active,
      " ": active,
    }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move(to, event.key === "Enter" ? "enter" : "key");
  });
  let waiting = false;
  box.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }, { passive: true });
  new ResizeObserver(paint).observe(box);

  return {
    /** Show these rows, with `wanted` active where it is among them, from the top otherwise. */
    show(wanted, keep = -1) {
      rows = wanted;
      active = rows.indexOf(keep);
      box.scrollTop = 0;
      paint();
      if (active > 0) {
        box.scrollTop = Math.max(0, active * height - box.clientHeight / 3);
        paint();
      }
    },
    get rows() {
      return rows;
    },
  };
}
