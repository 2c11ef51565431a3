// One case in full: the original, each part of the change alone, and all of it, with their answers.

const AROUND = 160;
const WHOLE = 700;
const SHAPES = 6;

/** An element with a class, and text or children. */
export function element(name, kind = "", ...content) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...content.filter((part) => part !== null && part !== ""));
  return made;
}

/** The name of a run with its mark. */
export const by = (run, name) => element("span", "by", element("span", `shape m${run % SHAPES}`), name);

/** The parts of a text as nodes; of a long one only what is around the changes, unless `whole`. */
export function marked(pieces, whole = false) {
  const length = pieces.reduce((sum, [text]) => sum + text.length, 0);
  const changes = pieces.some(([, changed]) => changed);
  return pieces.flatMap(([text, changed], place) => {
    if (changed) return [element("mark", "", text)];
    if (whole || length <= WHOLE) return [text];
    const before = place > 0 ? start(text, AROUND) : changes ? "" : start(text, WHOLE);
    const after = place < pieces.length - 1 ? end(text, AROUND) : "";
    if (before.length + after.length >= text.length) return [text];
    return [before, element("span", "gap", " … "), after];
  });
}

/** The first letters of a text, and the last, as whole words. */
const start = (text, size) => text.slice(0, size).replace(/\S*$/u, "");
const end = (text, size) => text.slice(-size).replace(/^\S*/u, "");

/** The words beside a row: what is known of it. */
export function badges(list, row) {
  const kind = list.value("kind", row);
  const ought = list.value("relation", row) === "expected";
  const hidden = {
    yes: ought ? "seed passes" : "hidden",
    no: ought ? "seed fails, too" : "not hidden",
    undetermined: "hidden: undetermined",
  }[list.value("hidden", row)];
  const confirmed = { true: "confirmed", false: "not confirmed" }[String(list.value("confirmed", row))];
  const named = { unread: "refused or filtered", control: "control" }[kind];
  const words = [named, hidden, confirmed, list.value("near_tie", row) ? "near tie" : ""];
  return words.filter(Boolean).map((word) => element("span", word === "hidden" ? "badge strong" : "badge", word));
}

/** The article of a row; `link` is its address, `whole` whether long texts are shown in full. */
export function card(list, row, link, whole) {
  const own = list.rows.case[row];
  const other = list.rows.other[row];
  const relation = list.value("relation", row);
  const mark = list.rows.marks[relation] ?? "changed";
  const groups = list.value("groups", row).map((change) => change.slice(change.indexOf(": ") + 2).split(" → "));
  const paired = mark === "differs";
  const name = (number, side, otherwise) =>
    (paired && groups.map((sides) => sides[side]).join(", ")) || list.title(number) || otherwise;
  const gold = list.value("expected", row);

  const lines = [];
  if (other >= 0) lines.push(line(name(other, 0, "Other"), other, list.pieces(other, own)));
  for (const part of list.parts(row)) lines.push(line(list.title(part), part, list.pieces(part), "text part-of"));
  lines.push(line(name(own, 1, "This text"), own, list.pieces(own, other)));

  function line(title, number, pieces, kind = "text") {
    const text = element("p", "", ...marked(pieces, whole));
    text.dir = "auto";
    return element("div", kind, element("div", "who", title, " ", ...replies(number)), text);
  }

  /** The answer about a case, or that of each run, with a mark where it is changed. */
  function replies(number) {
    if (!list.runs.length) {
      const biased = number === own ? list.value("kind", row) !== "unread" : list.cases.biased[number];
      return [reply(number, list.answer(number), biased)];
    }
    return list.told(number).map((answer, run) => {
      const changed = list.value(`run:${run}`, row) === "changed";
      const biased = number === own ? changed : (list.cases.biased_in[number] >> run) & 1;
      return element("span", "reply", by(run, list.runs[run]), " ", reply(number, answer, biased));
    });
  }

  function reply(number, [words, , read], biased) {
    const flagged = biased && read && !(paired && number !== own);
    const kind = read ? (flagged ? "answer biased" : "answer") : "answer absent";
    return element("span", kind, flagged ? `${words} (${mark})` : words);
  }

  const permalink = element("a", "", `Case ${list.cases.id[own]}`);
  permalink.href = link;
  const facts = [
    `document ${list.value("document", row)}`,
    gold === null ? "no gold label" : `${relation === "expected" ? "expected" : "gold label"} ${gold}`,
    measured("shift", list.rows.shift[row]),
    measured("margin", list.rows.margin[row]),
  ].filter(Boolean);
  const heading = element("h3", "", list.value("attributes", row).join(" + ") || "Case");
  const parting = list.runs.length ? [element("span", "note", list.value("answers", row))] : [];
  const head = element("header", "", heading, ...badges(list, row), ...parting);
  return element("article", "card", head, ...lines, element("p", "note", permalink, `, ${facts.join(", ")}`));
}

const measured = (name, value) => (value === null ? "" : `${name} ${value.toFixed(2)}`);
