// The rows as a CSV file, of a run the table of `hinter flips`, with no cell that a spreadsheet takes for a formula.

const FORMULA = new Set("=+-@−|%");
const UNSEEN = /^[\s\p{Cc}\p{Cf}]*/u;

/** A cell that no spreadsheet takes for a formula, quoted where it must be. */
function cell(value) {
  const seen = value.replace(UNSEEN, "");
  const first = seen ? [...String.fromCodePoint(seen.codePointAt(0)).normalize("NFKC")][0] : "";
  const safe = /^[\t\r\n]/.test(value) || FORMULA.has(first) ? `'${value}` : value;
  return quoted(safe);
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const number = (value) => (value === null ? "" : Number.isInteger(value) ? value.toFixed(1) : String(value));
const yes = (value) => (value === null ? "" : value ? "yes" : "no");

/** The lines of the table, the names first. */
export function table(list, rows) {
  const { columns } = list.rows;
  const values = {
    case: (row) => list.cases.id[list.rows.case[row]],
    other: (row) => (list.rows.other[row] < 0 ? "" : list.cases.id[list.rows.other[row]]),
    text: (row) => list.text(list.rows.case[row]),
    other_text: (row) => (list.rows.other[row] < 0 ? "" : list.text(list.rows.other[row])),
    answer: (row) => list.answer(list.rows.case[row])[1],
    other_answer: (row) => (list.rows.other[row] < 0 ? "" : list.answer(list.rows.other[row])[1]),
  };
  list.runs.forEach((name, run) => {
    values[`${name}: answer`] = (row) => list.told(list.rows.case[row])[run][1];
    values[`${name}: other_answer`] = (row) =>
      list.rows.other[row] < 0 ? "" : list.told(list.rows.other[row])[run][1];
  });
  const made = {
    margin: (row) => number(list.rows.margin[row]),
    shift: (row) => number(list.rows.shift[row]),
    confirmed: (row) => yes(list.value("confirmed", row)),
    near_tie: (row) => yes(list.value("near_tie", row)),
  };
  const listed = (value) => (value === null ? "" : Array.isArray(value) ? value.join(", ") : String(value));
  const of = (name) => made[name] ?? ((row) => cell((values[name] ?? (() => listed(list.value(name, row))))(row)));
  const cells = columns.map(of);
  const heads = columns.map(cell);
  return [heads, ...Array.from(rows, (row) => cells.map((value) => value(row)))].map((line) => `${line.join(",")}\r\n`);
}

/** Have the browser save the table. */
export function save(list, rows) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(table(list, rows), { type: "text/csv;charset=utf-8" }));
  link.download = list.rows.file ?? "flips.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
