// The rows of the file: blocks of gzipped JSON. Their columns are read at once, then the answers to search in; all that
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

// The answers, to be searched in.
async function readAnswers(piece) {
  const { rows } = await opened(`body-${piece}`);
  rows.forEach(([side], n) => {
    if (side.answer !== null) columns.text[meta.rows[piece] + n] += `\n${side.answer.toLowerCase()}`;
  });
}

const kept = new Map(); // the bodies that were opened last
async function body(piece) {
  if (!kept.has(piece)) {
    kept.set(piece, opened(`body-${piece}`));
    if (kept.size > 6) kept.delete(kept.keys().next().value);
  }
  return kept.get(piece);
}

// All that is known of the row at `place`: its sides (this run, and the baseline if it is there), and the passages of its block.
async function readRow(place) {
  const piece = meta.rows.findLastIndex((first) => first <= place);
  const { rows, passages } = await body(piece);
  return { place, sides: rows[place - meta.rows[piece]], passages };
}
