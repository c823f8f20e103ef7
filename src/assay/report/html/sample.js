// One sample, opened: the scores, the answer with its claims, what was found for each, and the passages.
const dialog = byId("sample");
let shown = null; // {place, metric}

async function openSample(place, metric) {
  const row = await readRow(place);
  const wanted = metric ?? shown?.metric ?? mostTelling(row.sides[0]);
  shown = { place, metric: wanted };
  dialog.replaceChildren(topOf(row), bodyOf(row, wanted));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  setHash(`#row=${columns.number[place]}`);
}

// The first metric that has verdicts on claims, else the first with any value.
function mostTelling(side) {
  const found = METRICS.findIndex((_, n) => (side.scores[n]?.readings ?? []).some((reading) => side.readings[reading].verdicts.some((verdict) => verdict.subject)));
  return Math.max(0, found);
}

function topOf(row) {
  const { place } = row;
  const at = view.indexOf(place);
  const id = columns.id[place];
  const move = (by, text) => el("button", {
    type: "button", "aria-label": text, title: text, disabled: at < 0 || !(at + by in view),
    onclick: () => step(by),
  }, by < 0 ? "←" : "→");
  return el("div", { class: "bar-top" },
    el("h2", { id: "sample-title" }, `Row ${columns.number[place]}`, id === null ? null : [" · ", data(id)]),
    move(-1, "The sample before"), move(1, "The next sample"), downloadButton(),
    el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
}

function step(by) {
  const at = view.indexOf(shown.place) + by;
  if (at in view) { setActive(at); openSample(view[at], shown.metric); }
}

function bodyOf(row, metric) {
  const { place, sides } = row;
  const cause = columns.cause[place];
  const sideOf = (side, n) => sidePart(row, side, metric, n);
  const history = sides[0].history.map(({ question, answer }) => el("div", { class: "block" }, el("p", { class: "text soft" }, question), el("p", { class: "text" }, answer)));
  return el("div", { class: "body" },
    el("p", { class: "text", dir: "auto" }, el("b", {}, columns.question[place] ?? "no question")),
    sides[0].metadata === null ? null : el("p", { class: "soft data" }, sides[0].metadata),
    history.length ? el("details", {}, el("summary", {}, `${history.length} earlier turns`), history) : null,
    cause ? el("p", {}, el("b", {}, `${words(cause[0])}: `), data(cause[1])) : null,
    el("div", { class: "chips", role: "group", "aria-label": "Metric" }, METRICS.map((_, n) => chip(row, n, metric))),
    el("div", { class: sides.length > 1 ? "sides two" : "sides" }, sides.length > 1 ? [sideOf(sides[1], 1), sideOf(sides[0], 0)] : sideOf(sides[0], 0)));
}

function chip({ place, sides }, n, metric) {
  const score = sides[0].scores[n], was = sides[1]?.scores[n];
  const value = score?.value ?? columns[`v${n}`][place], before = was?.value ?? null;
  const said = value === null ? "not scored" : number(value);
  const change = before === null || value === before ? "" : ` (was ${number(before)})`;
  return el("button", { type: "button", "aria-pressed": String(n === metric), onclick: () => { openSample(place, n); } }, data(METRICS[n].name), ` ${said}${change}`);
}

function sidePart(row, side, metric, which) {
  const score = side.scores[metric];
  const readings = (score?.readings ?? []).map((n) => side.readings[n]);
  const pieces = new Map(); // place of a text -> what is marked in it
  const mark = (where, piece) => { if (!pieces.has(where)) pieces.set(where, []); pieces.get(where).push(piece); };
  const lists = readings.map((reading, r) => readingPart(row, side, reading, { metric, which, r, mark }));
  const block = (title, body, attributes = {}) => [el("h3", {}, title), el("div", { class: "block", ...attributes }, body)];
  const { answer, reference } = side;
  const part = el("div", { class: row.sides.length > 1 ? "side" : "side alone", "data-side": which },
    el("div", {},
      row.sides.length > 1 ? el("h3", { class: "of" }, which ? "baseline: " : "this run: ", data(which ? meta.baseline : meta.run)) : null,
      block("Answer", answer === null ? el("p", { class: "soft" }, "none") : painted(answer, pieces.get(-1) ?? []), { "data-place": -1 }),
      el("h3", {}, data(METRICS[metric].name)),
      score ? scorePart(row, side, score, lists, { metric, which }) : el("p", { class: "soft" }, "was not measured on this row")),
    el("div", {},
      passagesPart(row, side, pieces),
      reference === null ? null : block("Reference", painted(reference, pieces.get(-2) ?? []), { "data-place": -2 })));
  follow(part);
  return part;
}

function scorePart({ place }, side, score, lists, { metric, which }) {
  const { formula = "", parts = {}, gap = null, texts = {} } = score;
  const rest = Object.entries(parts).map(([name, value]) => `${words(name)} ${value === null ? "–" : Number(value.toFixed(4))}`);
  const mine = which === 0 ? chooser({ id: columns.id[place], row: columns.number[place], metric: METRICS[metric].name }, "", SAMPLE_CHOICES) : null;
  return [
    gap ? el("p", { class: "formula" }, el("span", { class: "tag not_mentioned" }, words(gap.cause)), gap.message) : el("p", { class: "formula" }, formula),
    gap?.reply ? el("details", {}, el("summary", {}, "the judge's reply"), el("p", { class: "text block" }, gap.reply)) : null,
    rest.length && !gap ? el("p", { class: "soft" }, rest.join(" · ")) : null,
    mine ? el("p", {}, mine, el("span", { class: "mine" }, " of the whole sample")) : null,
    lists,
    Object.entries(texts).map(([name, said]) => el("p", { class: "soft data" }, `${words(name)}: ${said.join("; ") || "–"}`)),
  ];
}

const AGAINST = { contexts: "the passages", conversation: "the passages of all turns", tools: "what tools gave back", answer: "the answer", reference: "the reference" };

function readingPart(row, side, { name: reading, verdicts }, { metric, which, r, mark }) {
  const { place } = row;
  const [of, against] = reading.split("/");
  const items = verdicts.map(({ label: said, probability = null, reason = null, subject = null, quotes = [], unlocated = 0, cells = "", unsupported = [] }, n) => {
    const key = `${which}-${r}-${n}`;
    const one = { id: columns.id[place], row: columns.number[place], metric: METRICS[metric].name, reading };
    let about = null;
    if (subject?.claim) {
      const { place: at, start, end, text } = subject;
      one.index = n + 1;
      about = one.claim = text ?? textAt(row, side, at).slice(start, end);
      if (at !== undefined) mark(at, { start, end, key, label: said, claim: true });
      if (text === undefined) for (const [from, to] of unsupported) mark(at, { start: start + from, end: start + to, key, label: said, claim: true, wrong: true });
    } else if (subject) {
      const { place: at, start, end } = subject;
      const covers = start === undefined;
      about = covers ? titleOf(side, at) : textAt(row, side, at).slice(start, end);
      if (covers) one.passage = at + 1;
      else { one.index = n + 1; one.sentence = about; }
      if (said === "useful" && !covers) mark(at, { start, end, key, label: said });
    }
    if (about === null) one.index = n + 1;
    const links = quotes.map((quote) => quotePart(row, side, quote, key, mark));
    return el("li", { "data-key": key, tabindex: -1 },
      el("span", { class: `tag ${said}` }, said), about === null ? null : one.claim === about ? claimPart(about, unsupported) : data(brief(about, CLAIMED)),
      probability === null ? null : el("span", { class: "soft" }, ` ${chanceIn(said, probability)}`),
      cells.length > 1 ? el("span", { class: "soft" }, ` · ${cellsIn(cells)}`) : null,
      reason === null ? null : el("p", { class: "reason data" }, reason),
      links.length ? el("p", { class: "quotes" }, links.flatMap((link, k) => (k ? [" · ", link] : [link]))) : null,
      unlocated ? el("p", { class: "soft" }, `${unlocated} quoted that stand in no passage`) : null,
      which === 0 ? chooser(one, said) : null);
  });
  const heading = AGAINST[against] ? `${words(of).replaceAll("+", " and ")} against ${AGAINST[against]}` : words(reading);
  return [el("p", { class: "soft" }, heading), el("ol", { class: "verdicts" }, items)];
}

// Characters of a quote and of a claim that a verdict shows: where they stand, they stand whole. A thousand claims that all
// quote the same long passage would else show it a thousand times.
const QUOTED = 300, CLAIMED = 2000;
const brief = (text, most) => (text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}`);

// A claim with the parts that are not supported; in one that is shortened they are not told apart.
function claimPart(claim, parts) {
  if (!parts.length || claim.length > CLAIMED) return data(brief(claim, CLAIMED));
  const ends = [0, ...parts.flat(), claim.length];
  return el("bdi", {}, ends.slice(1).map((end, n) => (n % 2 ? el("b", { class: "wrong" }, claim.slice(ends[n], end)) : claim.slice(ends[n], end))));
}

// The probability is that of the favourable label, which is named where it is another.
function chanceIn(label, probability) {
  const [favourable] = CHOICES.find((known) => known.includes(label)) ?? [label];
  return `p${favourable === label ? "" : ` of ${favourable}`} ${probability.toFixed(2)}`;
}

// Which passages alone support a claim: "alone: 1 supported, 3 contradicted".
function cellsIn(cells) {
  const name = { s: "supported", c: "contradicted" };
  const said = [...cells].map((cell, n) => (name[cell] ? `${n + 1} ${name[cell]}` : null)).filter(Boolean);
  return `alone: ${said.join(", ") || "by none"}`;
}

function quotePart(row, side, quote, key, mark) {
  const { place, start, end, box, text } = quote;
  if (place === undefined) return el("q", {}, text);
  mark(place, box ? { box, key } : { start, end, key });
  const said = text ?? textAt(row, side, place).slice(start, end);
  return el("button", { type: "button", "data-goto": place, "data-for": key }, `“${brief(said, QUOTED)}” `, el("small", {}, titleOf(side, place)));
}

function textAt(row, side, place) {
  if (place < 0) return (place === -1 ? side.answer : side.reference) ?? "";
  const own = side.contexts?.length ?? 0, earlier = side.earlier.length;
  const passage = place < own ? side.contexts[place].passage : place < own + earlier ? side.earlier[place - own] : side.tools[place - own - earlier];
  return row.passages[passage] ?? "";
}
const passagesOf = (side) => [...(side.contexts ?? []), ...[...side.earlier, ...side.tools].map((passage) => ({ passage }))];

function titleOf(side, place) {
  if (place < 0) return place === -1 ? "answer" : "reference";
  const own = (side.contexts ?? []).length, earlier = side.earlier.length;
  if (place < own) return `passage ${place + 1}`;
  return place < own + earlier ? `earlier turns, passage ${place - own + 1}` : `tool output ${place - own - earlier + 1}`;
}

function passagesPart(row, side, pieces) {
  const all = passagesOf(side);
  if (side.contexts === null && !all.length) return [el("h3", {}, "Passages"), el("p", { class: "soft" }, "It is not known what was retrieved.")];
  const cards = all.map(({ passage, id, score, in_prompt: inPrompt, image, metadata, shown: drawn }, place) => el("div", { class: "block passage", "data-place": place },
    el("header", {}, el("b", {}, titleOf(side, place)),
      id === undefined ? null : data(id),
      typeof score === "number" ? `retriever's score ${Number(score.toPrecision(4))}` : null,
      inPrompt === false ? "not in the prompt" : null,
      image === undefined ? null : ["picture ", data(image)],
      metadata === undefined ? null : data(metadata)),
    drawn === undefined ? null : picturePart(row.passages[drawn], (pieces.get(place) ?? []).filter((piece) => piece.box), titleOf(side, place)),
    painted(row.passages[passage], (pieces.get(place) ?? []).filter((piece) => !piece.box))));
  return [el("h3", {}, "Passages"), cards.length ? cards : el("p", { class: "soft" }, "Nothing was retrieved.")];
}

// A picture, and on it the boxes of what was quoted, in thousandths of its size.
function picturePart(uri, boxes, title) {
  const places = boxes.map(({ box: [left, top, right, bottom], key }) => {
    const made = el("span", { class: "box", "data-box": key });
    Object.assign(made.style, { left: `${left / 10}%`, top: `${top / 10}%`, width: `${(right - left) / 10}%`, height: `${(bottom - top) / 10}%` });
    return made;
  });
  return el("div", { class: "picture" }, el("img", { src: uri, alt: `the picture of ${title}`, decoding: "async" }), places);
}

// A claim leads to its verdict and its quotes, a quote to its place in the passage.
function follow(part) {
  const activate = (key, target) => {
    for (const one of part.querySelectorAll(".active")) one.classList.remove("active");
    const found = [...part.querySelectorAll("p.text")].flatMap((shown) => markedWith(shown, key)).concat(...part.querySelectorAll(`[data-box="${key}"]`));
    for (const one of found) one.classList.add("active");
    part.querySelector(`li[data-key="${key}"]`)?.classList.add("active");
    const to = target === undefined ? part.querySelector(`li[data-key="${key}"]`) : found.find((one) => one.closest("[data-place]").dataset.place === target);
    to?.scrollIntoView({ block: "center", behavior: "auto" });
  };
  part.addEventListener("click", (event) => {
    const quote = event.target.closest("[data-goto]"), claim = event.target.closest("[data-claim]");
    if (quote) activate(quote.dataset.for, quote.dataset.goto);
    else if (claim) activate(claim.dataset.claim);
  });
  part.addEventListener("keydown", (event) => {
    if (event.target.dataset.claim && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); activate(event.target.dataset.claim); }
  });
}

dialog.addEventListener("close", () => { setHash("#"); grid.focus(); });
dialog.addEventListener("keydown", (event) => {
  if (event.target.closest("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") { event.preventDefault(); step(event.key === "ArrowLeft" ? -1 : 1); }
});
