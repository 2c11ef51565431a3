// The rows, their cases and their texts, as the page carries them: compressed, in columns of codes.

/** Unpack the JSON in the data block `id`, and let go of the block. */
async function unpacked(id) {
  const block = document.getElementById(id);
  const bytes = bytesOf(block.textContent.trim());
  block.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** The list: `value(name, row)`, `text(case)` and `pieces(case, beside)`; of several `runs` also `told(case)`. */
export async function opened() {
  const [rows, texts] = await Promise.all([unpacked("rows"), unpacked("texts")]);
  const { cases } = rows;
  const put = cases.put.values;

  /** The splices of a case, as [start, end, text]. */
  const splices = (number) => {
    const found = [];
    for (let at = cases.splices[number]; at < cases.splices[number + 1]; at += 1) {
      found.push([cases.start[at], cases.start[at] + cases.length[at], put[cases.put.codes[at]]]);
    }
    return found;
  };

  /** A stretch of a base from `start` to `end`, with the splices within. */
  const stretch = (base, parts, start, end) => {
    let text = "";
    let at = start;
    for (const [from, to, word] of parts) {
      if (from < start || to > end) continue;
      text += base.slice(at, from) + word;
      at = to;
    }
    return text + base.slice(at, end);
  };

  const text = (number) => {
    const base = texts[cases.base[number]];
    return stretch(base, splices(number), 0, base.length);
  };

  /** The text of a case as [text, changed], where it is other than its base or the case beside it. */
  const pieces = (number, beside = -1) => {
    const base = texts[cases.base[number]];
    const own = splices(number);
    const near = beside >= 0 && cases.base[beside] === cases.base[number] ? splices(beside) : [];
    const found = [];
    let at = 0;
    for (const [start, end] of joined([...own, ...near])) {
      if (start > at) found.push([base.slice(at, start), false]);
      const changed = stretch(base, own, start, end);
      if (changed) found.push([changed, true]);
      at = end;
    }
    if (at < base.length) found.push([base.slice(at), false]);
    return found;
  };

  return {
    size: rows.case.length,
    rows,
    cases,
    texts,
    splices,
    text,
    pieces,
    title: (number) => cases.title.values[cases.title.codes[number]],
    answer: (number) => cases.answer.values[cases.answer.codes[number]],
    runs: rows.runs ?? [],
    told: (number) => cases.told.values[cases.told.codes[number]],
    value: (name, row) => rows.coded[name].values[rows.coded[name].codes[row]],
    parts: (row) => rows.parts.items.slice(rows.parts.starts[row], rows.parts.starts[row + 1]),
  };
}

/** The stretches that splices take up, those that touch as one. */
function joined(parts) {
  const found = [];
  for (const [start, end] of parts.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = found[found.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}
