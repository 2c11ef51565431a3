// Search in the texts: in each base once, and for each case only around what it has other than its base.

const MANY = 100;

/** Lower case, letter by letter where the whole would have another length. */
function folded(text) {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from({ length: text.length }, (_, at) => {
    const letter = text[at].toLowerCase();
    return letter.length === 1 ? letter : text[at];
  }).join("");
}

/** A function of words that gives a function of a case: whether its text has them. */
export function searching(list) {
  let bases = null;
  let puts = null;

  return (words) => {
    bases ??= list.texts.map(folded);
    puts ??= list.cases.put.values.map(folded);
    const wanted = folded(words);
    const { cases } = list;
    const places = bases.map((base) => found(base, wanted));
    const known = new Int8Array(cases.id.length);

    return (number) => {
      if (!known[number]) known[number] = has(number) ? 1 : -1;
      return known[number] > 0;
    };

    function has(number) {
      const first = cases.splices[number];
      const last = cases.splices[number + 1];
      const there = places[cases.base[number]];
      if (first === last) return there.length > 0;
      return there.some((at) => survives(at, first, last)) || around(number, first, last);
    }

    /** Whether no splice touches the words found at a place of the base. */
    function survives(at, first, last) {
      for (let splice = first; splice < last; splice += 1) {
        const start = cases.start[splice];
        if (at < start + cases.length[splice] && start < at + wanted.length) return false;
      }
      return true;
    }

    /** Whether the words are where the text is other than its base; splices near one another go together. */
    function around(number, first, last) {
      const base = bases[cases.base[number]];
      const reach = wanted.length - 1;
      let piece = "";
      let at = -1;
      for (let splice = first; splice < last; splice += 1) {
        const start = cases.start[splice];
        if (at < 0 || start - at > reach) {
          if (at >= 0 && (piece + base.slice(at, at + reach)).includes(wanted)) return true;
          piece = base.slice(Math.max(0, at, start - reach), start);
        } else {
          piece += base.slice(at, start);
        }
        piece += puts[cases.put.codes[splice]];
        at = start + cases.length[splice];
      }
      return (piece + base.slice(at, at + reach)).includes(wanted);
    }
  };
}

/** Where the words are in a base; the first of very many, of which some survive any splices. */
function found(base, wanted) {
  const places = [];
  for (let at = base.indexOf(wanted); at >= 0 && places.length < MANY; at = base.indexOf(wanted, at + 1)) {
    places.push(at);
  }
  return places;
}
