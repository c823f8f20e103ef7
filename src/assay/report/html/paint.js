// A text with pieces of it marked. A piece is {start, end, key, label, claim, wrong}. Of pieces that overlap the shortest is
// the most telling, since a claim may stand for a whole paragraph; of equal ones the worst.
const SEVERITY = ["contradicted", "no", "not_useful", "indirect", "not_mentioned", "other"];
const severity = (label) => { const n = SEVERITY.indexOf(label); return n < 0 ? SEVERITY.length : n; };
const telling = (a, b) => a.end - a.start - (b.end - b.start) || severity(a.label) - severity(b.label) || a.order - b.order;

// The most telling of the pieces that are open: a heap, since thousands may be open at once.
class Open {
  heap = [];
  add(piece) {
    const heap = this.heap;
    let at = heap.push(piece) - 1;
    for (let up; at && telling(piece, heap[(up = (at - 1) >> 1)]) < 0; at = up) { heap[at] = heap[up]; heap[up] = piece; }
  }
  // What ends at `at` or before it is let go of when it comes to the top.
  top(at) {
    while (this.heap.length && this.heap[0].end <= at) this.pop();
    return this.heap[0];
  }
  pop() {
    const heap = this.heap, last = heap.pop();
    if (!heap.length) return;
    let at = 0;
    for (let down; (down = 2 * at + 1) < heap.length; at = down) {
      if (down + 1 < heap.length && telling(heap[down + 1], heap[down]) < 0) down++;
      if (telling(last, heap[down]) <= 0) break;
      heap[at] = heap[down];
    }
    heap[at] = last;
  }
}

// What is marked in a text that is shown: its elements in order, and of each key from which to which they are.
const marked = new WeakMap();

function painted(text, pieces) {
  const inside = pieces.filter((piece) => piece.start < piece.end && piece.end <= text.length).map((piece, order) => ({ ...piece, order }));
  const starting = [...inside].sort((a, b) => a.start - b.start);
  const edges = [...new Set([0, text.length, ...inside.flatMap((piece) => [piece.start, piece.end])])].sort((a, b) => a - b);
  const all = new Open(), claims = new Open();
  const elements = [], first = new Map(); // the number of the first element at or behind a place
  const made = document.createDocumentFragment();
  let next = 0;
  edges.forEach((from, n) => {
    first.set(from, elements.length);
    if (n + 1 === edges.length) return;
    for (; next < starting.length && starting[next].start === from; next++) {
      all.add(starting[next]);
      if (starting[next].claim) claims.add(starting[next]);
    }
    const part = segment(text.slice(from, edges[n + 1]), all.top(from), claims.top(from));
    if (part instanceof Element) elements.push(part);
    made.append(part);
  });
  const shown = el("p", { class: "text", dir: "auto" }, made);
  const ranges = new Map();
  for (const piece of inside) {
    if (!ranges.has(piece.key)) ranges.set(piece.key, []);
    ranges.get(piece.key).push([first.get(piece.start), first.get(piece.end)]);
  }
  marked.set(shown, { elements, ranges });
  return shown;
}

// The elements of a text that belong to a key, in order.
function markedWith(shown, key) {
  const { elements, ranges } = marked.get(shown) ?? { elements: [], ranges: new Map() };
  return (ranges.get(key) ?? []).flatMap(([from, to]) => elements.slice(from, to));
}

function segment(text, piece, claim) {
  if (!piece) return document.createTextNode(visible(text));
  if (!claim) return el("mark", { class: piece.label === "useful" ? "useful" : null }, text);
  const known = CHOICES.some((choices) => choices.includes(claim.label));
  return el("span", {
    class: `claim ${known ? claim.label : "other"}${claim.wrong ? " wrong" : ""}`, role: "button", tabindex: 0,
    title: claim.label, "data-claim": claim.key,
  }, text);
}
