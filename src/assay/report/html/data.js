// The rows of the file: pieces of gzipped JSON. Their columns are read at once, then the answers to search in; all that
// a row shows is read when it is opened.
const meta = JSON.parse(byId("meta").textContent);
const METRICS = meta.metrics;
const columns = { number: [], id: [], question: [], title: [], cause: [], before: [], text: [] };
const names = [];
METRICS.forEach((_, n) => names.push(`v${n}`, `u${n}`, `b${n}`));
meta.slices.forEach((_, n) => names.push(`s${n}`));
for (const name of names) columns[name] = [];

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
  return bytes;
}

async function opened(id) {
  const stream = new Blob([bytesOf(byId(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The columns of one piece, put behind those of the pieces before it.
async function readIndex(piece) {
  const found = await opened(`index-${piece}`);
  for (const [name, values] of Object.entries(found)) {
    const column = columns[name];
    for (const value of values) column.push(value);
  }
  found.question.forEach((question, n) => columns.text.push(`${question ?? ""}\n${found.id[n] ?? ""}`.toLowerCase()));
}

// The rest of a piece. A text's reference counts from the row's own texts (from 0), or down from OLD all of the piece;
// so does a passage's, but over the whole file.
const OLD = -10;
async function readBody(piece) {
  const [said, sides] = await opened(`body-${piece}`);
  const starts = [[], []], all = [[], []];
  for (const row of said) {
    row.forEach((texts, kind) => { starts[kind].push(all[kind].length); for (const text of texts) all[kind].push(text); });
  }
  const at = (kind, row, reference) => (reference <= OLD ? OLD - reference : starts[kind][row] + reference);
  return {
    sides,
    text: (row, reference) => all[1][at(1, row, reference)],
    passages: all[0],
    // the number of a passage in the whole file
    passage: (row, reference) => at(0, row, reference) + (reference <= OLD ? 0 : meta.passages[piece]),
  };
}

// The answers, to be searched in.
async function readAnswers(piece) {
  const { sides, text } = await readBody(piece);
  sides.forEach(([side], n) => {
    if (side.a !== -1) columns.text[meta.rows[piece] + n] += `\n${text(n, side.a).toLowerCase()}`;
  });
}

const kept = new Map(); // the pieces that were opened last
async function body(piece) {
  if (!kept.has(piece)) {
    kept.set(piece, readBody(piece));
    if (kept.size > 6) kept.delete(kept.keys().next().value);
  }
  return kept.get(piece);
}
const pieceOf = (starts, number) => {
  let low = 0;
  for (let high = starts.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= number) low = middle;
    else high = middle;
  }
  return low;
};

// All that is known of the row at `place`: its sides (this run, and the baseline if it is there), texts, passages.
async function readRow(place) {
  const piece = pieceOf(meta.rows, place), at = place - meta.rows[piece];
  const read = await body(piece);
  const sides = read.sides[at], passages = new Map();
  const references = sides.flatMap((side) => [...(side.c ?? []).flatMap((one) => [one[0], one[6] ?? -1]), ...side.e, ...side.t]).filter((reference) => reference !== -1);
  for (const reference of new Set(references)) {
    const number = read.passage(at, reference), held = pieceOf(meta.passages, number);
    passages.set(reference, (await body(held)).passages[number - meta.passages[held]]);
  }
  const text = (n) => (n === -2 ? columns.question[place] : n === -1 ? null : read.text(at, n));
  return { place, sides, text, passages };
}
