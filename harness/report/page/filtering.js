// Which rows are wanted, in which order, and the same as an address.

const PARTS = 10_000; // a shift and a margin have four decimals
const LAST = 2 ** 34;

const ORDERS = {
  "": { name: "as in the run" },
  shift: { name: "largest shift first", by: (list, row) => -Math.abs(list.rows.shift[row]), of: "shift" },
  margin: { name: "smallest margin first", by: (list, row) => list.rows.margin[row], of: "margin" },
  document: { name: "document" },
};

/** The filters of a list: `facets` with their options, `orders`, and `rows(state)`, the numbers of the rows. */
export function filtering(list, search) {
  const groups = list.rows.coded.groups;
  const changes = groups.values.map((value) => value.map(parted));
  const kinds = list.rows.coded.kind;
  const usual = kinds.values.indexOf("changed");
  const sorted = new Map();
  const facets = list.rows.facets.map(faceted).filter((facet) => facet.options.length > 1);
  const orders = Object.entries(ORDERS)
    .filter(([, order]) => !order.of || list.rows[order.of].some((value) => value !== null))
    .map(([key, { name }]) => ({ key, name }));

  /** How many of the rows that are shown at first, or of all, have each code of a column. */
  function tally({ values, codes }, every) {
    const counts = new Array(values.length).fill(0);
    codes.forEach((code, row) => {
      if (every || usual < 0 || kinds.codes[row] === usual) counts[code] += 1;
    });
    return counts;
  }

  function faceted({ key, name, words = {}, first }) {
    const counts = new Map();
    const count = (value, number) => counts.set(value, (counts.get(value) ?? 0) + number);
    if (key === "from" || key === "to") {
      const side = key === "from" ? 0 : 1;
      tally(groups).forEach((number, code) => {
        if (!number) return;
        new Set(changes[code].map((change) => change[side])).forEach((value) => count(value, number));
      });
    } else {
      const column = list.rows.coded[key];
      tally(column, key === "kind").forEach((number, code) => {
        if (number && column.values[code] !== null) count(written(column.values[code]), number);
      });
    }
    const options = [...counts].map(([value, number]) => ({ value, name: words[value] ?? value, number }));
    if (key !== "kind") options.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    return { key, name, options, start: options.some(({ value }) => value === first) ? first : "" };
  }

  /** Which codes of a column are wanted, as [codes, wanted by code]. */
  function accepted(state) {
    const wanted = [];
    for (const { key } of facets) {
      if (!state[key] || key === "from" || key === "to") continue;
      const column = list.rows.coded[key];
      wanted.push([column.codes, column.values.map((value) => value !== null && written(value) === state[key])]);
    }
    if (state.from || state.to) {
      const fits = ([from, to]) => (!state.from || from === state.from) && (!state.to || to === state.to);
      const apart = state.from && state.to && attribute(state.from) !== attribute(state.to);
      const both = (row) => row.some(([from]) => from === state.from) && row.some(([, to]) => to === state.to);
      wanted.push([groups.codes, changes.map((row) => (apart ? both(row) : row.some(fits)))]);
    }
    return wanted;
  }

  function ordered(key) {
    if (!sorted.has(key)) sorted.set(key, sort(key));
    return sorted.get(key);
  }

  /** The rows by a whole number for each; numbers without a comparing function sort ten times as fast. */
  function sort(key) {
    const { size } = list;
    const every = Uint32Array.from({ length: size }, (_, row) => row);
    const worth = worthOf(key);
    if (!worth) return every;
    const keys = Float64Array.from(every, (row) => worth(row) * size + row).sort();
    return Uint32Array.from(keys, (value) => value - Math.floor(value / size) * size);
  }

  function worthOf(key) {
    if (key === "document") {
      const { values, codes } = list.rows.coded.document;
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const rank = new Uint32Array(values.length);
      [...values.keys()].sort((a, b) => compare(values[a], values[b])).forEach((code, place) => (rank[code] = place));
      return (row) => rank[codes[row]];
    }
    const { by, of } = ORDERS[key];
    return by && ((row) => (list.rows[of][row] === null ? LAST : Math.round(by(list, row) * PARTS)));
  }

  function rows(state) {
    const wanted = accepted(state);
    const has = state.q ? search(state.q) : null;
    const { other, case: own } = list.rows;
    return ordered(state.sort).filter((row) => {
      for (const [codes, accept] of wanted) if (!accept[codes[row]]) return false;
      return !has || has(own[row]) || (other[row] >= 0 && has(other[row]));
    });
  }

  const start = Object.fromEntries([...facets.map(({ key, start }) => [key, start]), ["q", ""], ["sort", ""]]);

  /** The state that an address stands for; what it does not know is left out. */
  function read(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    const state = { ...start };
    for (const { key, options } of facets) {
      const value = given.get(key);
      if (value === "all") state[key] = "";
      else if (options.some((option) => option.value === value)) state[key] = value;
    }
    state.q = given.get("q") ?? "";
    if (orders.some(({ key }) => key === given.get("sort"))) state.sort = given.get("sort");
    return state;
  }

  function address(state, more = {}) {
    const given = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      if (value !== start[key]) given.set(key, value || "all");
    }
    for (const [key, value] of Object.entries(more)) given.set(key, value);
    return `#${given}`;
  }

  return { facets, orders, start, rows, read, address };
}

/** A value as an option of a filter. */
export const written = (value) => (Array.isArray(value) ? value.join(" + ") : String(value));

/** `gender: male → female` as the groups left and entered, `gender: male` and `gender: female`. */
function parted(change) {
  const [from, to] = change.split(" → ");
  return [from, `${attribute(from)}: ${to}`];
}

const attribute = (group) => group.slice(0, group.indexOf(": "));
