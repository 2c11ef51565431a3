// The page: the list and its filters, the case beside it, and the contents.
import { badges, by, card, element, marked } from "./card.js";
import { opened } from "./data.js";
import { filtering } from "./filtering.js";
import { listing } from "./listing.js";
import { save } from "./saving.js";
import { searching } from "./searching.js";

const PAUSE = 150; // milliseconds after the last key
const BEFORE = 25; // letters before a change in a row
const place = (id) => document.getElementById(id);
const counted = (number) => number.toLocaleString("en");

async function explore() {
  const list = await opened();
  const filters = filtering(list, searching(list));
  const output = place("shown");
  const beside = place("case");
  const controls = new Map();
  let state = filters.read(location.hash);
  let current = -1;
  let whole = false;

  const view = listing(place("list"), drawn, (row, by) => {
    show(row);
    history.replaceState(null, "", filters.address(state, named(row)));
    if (by === "enter") beside.focus();
    if (by === "pointer" && beside.offsetTop > place("list").offsetTop) beside.scrollIntoView({ block: "nearest" });
  });

  /** What an address names a row by: its case, and the one beside it where that case is in several rows. */
  function named(row) {
    const own = list.rows.case[row];
    const several = list.rows.case.indexOf(own) !== list.rows.case.lastIndexOf(own);
    const other = several ? { with: list.cases.id[list.rows.other[row]] } : {};
    return { case: list.cases.id[own], ...other };
  }

  function linked(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    const own = list.cases.id.indexOf(given.get("case"));
    if (own < 0) return -1;
    const other = given.has("with") ? list.cases.id.indexOf(given.get("with")) : -1;
    const exact = list.rows.case.findIndex((number, row) => number === own && list.rows.other[row] === other);
    return exact >= 0 ? exact : list.rows.case.indexOf(own);
  }

  function drawn(row, option) {
    const own = list.rows.case[row];
    const other = list.rows.other[row];
    const words = list.value("words", row).join(", ") || (list.value("groups", row).length ? exchanged(other, own) : "");
    const top = element("div", "top", element("b", "", words || list.value("attributes", row).join(" + ")));
    const middle = element("div", "middle", ...(list.runs.length ? changedIn(list, row) : [list.value("answers", row)]), ...badges(list, row));
    option.append(top, middle, element("div", "peek", ...peek(list.pieces(own, other))));
  }

  /** What differs between two texts, where the run does not say which words were changed. */
  function exchanged(other, own) {
    const changed = (pieces) => pieces.filter(([, marked]) => marked).map(([text]) => text).join(" … ");
    return `${changed(list.pieces(other, own))} → ${changed(list.pieces(own, other))}`;
  }

  function show(row) {
    current = row;
    const article = card(list, row, filters.address(state, named(row)), whole);
    const reasons = place(`explained-${list.cases.id[list.rows.case[row]]}`);
    if (reasons) article.append(reasons.querySelector(".why").cloneNode(true));
    place("shown-case").replaceChildren(article);
  }

  /** Filter and sort again; `keep` stays the active row. */
  function apply(keep = -1) {
    performance.mark("filter");
    const rows = filters.rows(state);
    const shown = keep >= 0 ? keep : (rows[0] ?? -1);
    view.show(rows, shown);
    output.textContent = `${counted(rows.length)} of ${counted(list.size)}`;
    performance.measure("filter", "filter");
    if (shown >= 0) show(shown);
    else place("shown-case").replaceChildren(element("p", "note", "No case is like that."));
    for (const [key, control] of controls) control.value = state[key];
    place("save").disabled = !rows.length;
  }

  function changed() {
    history.replaceState(null, "", filters.address(state));
    apply();
  }

  const fields = place("fields");
  const field = (key, name, control) => {
    const label = element("label", "", name);
    control.id = label.htmlFor = `filter-${key}`;
    controls.set(key, control);
    fields.append(element("div", "field", label, control));
  };
  const choice = (key, name, options) => {
    const select = document.createElement("select");
    for (const { value, text } of options) select.append(new Option(text, value));
    select.addEventListener("change", () => {
      state[key] = select.value;
      changed();
    });
    field(key, name, select);
  };
  for (const { key, name, options } of filters.facets) {
    const every = { value: "", text: `all (${counted(key === "kind" ? list.size : options.length)})` };
    choice(key, name, [
      key === "kind" ? every : { value: "", text: "all" },
      ...options.map((option) => ({ value: option.value, text: `${option.name} (${counted(option.number)})` })),
    ]);
  }
  if (filters.orders.length > 1) {
    choice("sort", "Order", filters.orders.map(({ key, name }) => ({ value: key, text: name })));
  }
  const words = document.createElement("input");
  Object.assign(words, { type: "search", autocomplete: "off", spellcheck: false });
  let pause = 0;
  words.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      state.q = words.value;
      changed();
    }, PAUSE);
  });
  field("q", "Words in a text", words);

  place("filters").addEventListener("submit", (event) => event.preventDefault());
  place("reset").addEventListener("click", () => {
    state = { ...filters.start };
    changed();
  });
  place("save").addEventListener("click", () => save(list, view.rows));
  place("whole").addEventListener("change", ({ target }) => {
    whole = target.checked;
    if (current >= 0) show(current);
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) restore();
  });
  const printed = place("first").querySelectorAll("article").length;
  addEventListener("beforeprint", () => {
    const rows = view.rows.slice(0, printed);
    const note = `The first ${counted(rows.length)} of ${counted(view.rows.length)} cases that were filtered.`;
    if (JSON.stringify(state) === JSON.stringify(filters.start)) return;
    place("first").replaceChildren(element("p", "note", note), ...Array.from(rows, (row) => card(list, row, "", false)));
  });

  function restore() {
    state = filters.read(location.hash);
    const row = linked(location.hash);
    apply(row);
    if (row >= 0) place("cases").scrollIntoView();
  }

  place("explorer").hidden = false;
  document.body.classList.add("explored");
  restore();
}

/** In which of several runs the answer of a row is changed. */
function changedIn(list, row) {
  const mark = list.rows.marks[list.value("relation", row)] ?? "changed";
  return [`${mark} in `, ...list.value("changed_in", row).map((name) => by(list.runs.indexOf(name), name))];
}

/** The first change of a text with a few words around it. */
function peek(pieces) {
  const first = Math.max(0, pieces.findIndex(([, changed]) => changed));
  const near = pieces.slice(Math.max(0, first - 1), first + 2);
  if (first > 0 && near[0][0].length > BEFORE) near[0] = [`…${near[0][0].slice(-BEFORE)}`, false];
  return marked(near.map(([text, changed]) => [text.slice(0, 200), changed]), true);
}

/** Links of the contents open what they lead to, and leave the filter in the address as it is. */
function contents() {
  const nav = document.querySelector(".contents");
  nav.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    const goal = place(link.hash.slice(1));
    event.preventDefault();
    goal.querySelector("details")?.setAttribute("open", "");
    if (goal.matches("details")) goal.open = true;
    goal.scrollIntoView();
    (goal.querySelector("summary") ?? goal).focus({ preventScroll: true });
  });
}

/** What is to be on paper is opened for it. */
function printing() {
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll(".printed")) part.open = true;
  });
}

contents();
printing();
if (place("rows")) {
  explore().catch((error) => {
    place("failed").hidden = false;
    place("failed").append(` (${error.message})`);
  });
}
