// A text with pieces of it marked. A piece is {start, end, key, label, claim}. Of pieces that overlap the shortest is
// the most telling, since a claim may stand for a whole paragraph; of equal ones the worst.
const SEVERITY = ["contradicted", "no", "not_useful", "indirect", "not_mentioned", "other"];
const severity = (label) => { const n = SEVERITY.indexOf(label); return n < 0 ? SEVERITY.length : n; };

function painted(text, pieces) {
  const inside = pieces.filter((piece) => piece.start < piece.end && piece.end <= text.length);
  const edges = new Map([[0, []], [text.length, []]]);
  for (const piece of inside) {
    for (const at of [piece.start, piece.end]) if (!edges.has(at)) edges.set(at, []);
    edges.get(piece.start).push(piece);
    edges.get(piece.end).push(piece);
  }
  const made = document.createDocumentFragment();
  const open = new Set();
  let from = 0;
  for (const at of [...edges.keys()].sort((a, b) => a - b)) {
    if (at > from) made.append(segment(text.slice(from, at), open));
    for (const piece of edges.get(at)) {
      if (piece.start === at) open.add(piece);
      else open.delete(piece);
    }
    from = at;
  }
  return el("p", { class: "text", dir: "auto" }, made);
}

function segment(text, open) {
  if (!open.size) return document.createTextNode(visible(text));
  const length = (piece) => piece.end - piece.start;
  const pieces = [...open].sort((a, b) => length(a) - length(b) || severity(a.label) - severity(b.label));
  const keys = pieces.map((piece) => piece.key).join(" ");
  const claim = pieces.find((piece) => piece.claim);
  if (!claim) return el("mark", { class: pieces[0].label === "useful" ? "useful" : null, "data-keys": keys }, text);
  const known = CHOICES.some((choices) => choices.includes(claim.label));
  return el("span", {
    class: `claim ${known ? claim.label : "other"}`, "data-keys": keys, role: "button", tabindex: 0,
    title: words(claim.label), "data-claim": claim.key,
  }, text);
}
