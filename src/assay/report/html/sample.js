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
  history.replaceState(null, "", `#row=${columns.number[place]}`);
}

// The first metric that has verdicts on claims, else the first with any value.
function mostTelling(side) {
  const found = METRICS.findIndex((_, n) => (side.s[n]?.[2] ?? []).some((reading) => side.v[reading][1].some((verdict) => verdict[3])));
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
  const { place, sides, text } = row;
  const cause = columns.cause[place];
  const sideOf = (side, n) => sidePart(row, side, metric, n);
  const history = sides[0].h.map(([question, answer]) => el("div", { class: "block" }, el("p", { class: "text soft" }, text(question)), el("p", { class: "text" }, text(answer))));
  return el("div", { class: "body" },
    el("p", { class: "text", dir: "auto" }, el("b", {}, columns.question[place] ?? "no question")),
    text(sides[0].m) === null ? null : el("p", { class: "soft data" }, text(sides[0].m)),
    history.length ? el("details", {}, el("summary", {}, `${history.length} earlier turns`), history) : null,
    cause ? el("p", {}, el("b", {}, `${words(cause[0])}: `), data(cause[1])) : null,
    el("div", { class: "chips", role: "group", "aria-label": "Metric" }, METRICS.map((_, n) => chip(row, n, metric))),
    el("div", { class: sides.length > 1 ? "sides two" : "sides" }, sides.length > 1 ? [sideOf(sides[1], 1), sideOf(sides[0], 0)] : sideOf(sides[0], 0)));
}

function chip({ place, sides }, n, metric) {
  const score = sides[0].s[n], was = sides[1]?.s[n];
  const value = score?.[0] ?? columns[`v${n}`][place], before = was?.[0] ?? null;
  const said = value === null ? "not scored" : number(value);
  const change = before === null || value === before ? "" : ` (was ${number(before)})`;
  return el("button", { type: "button", "aria-pressed": String(n === metric), onclick: () => { openSample(place, n); } }, data(METRICS[n].name), ` ${said}${change}`);
}

function sidePart(row, side, metric, which) {
  const { place, text } = row;
  const score = side.s[metric];
  const readings = (score?.[2] ?? []).map((n) => side.v[n]);
  const pieces = new Map(); // place of a text -> what is marked in it
  const mark = (where, piece) => { if (!pieces.has(where)) pieces.set(where, []); pieces.get(where).push(piece); };
  const lists = readings.map((reading, r) => readingPart(row, side, reading, { metric, which, r, mark }));
  const block = (title, body, attributes = {}) => [el("h3", {}, title), el("div", { class: "block", ...attributes }, body)];
  const answer = text(side.a), reference = text(side.r);
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

function scorePart({ place, text }, side, score, lists, { metric, which }) {
  const [, formula, , parts = {}, gap = 0, more = []] = score;
  const rest = Object.entries(parts).map(([name, value]) => `${words(name)} ${value === null ? "–" : Number(value.toFixed(4))}`);
  const mine = which === 0 ? chooser({ id: columns.id[place], row: columns.number[place], metric: METRICS[metric].name }, "", SAMPLE_CHOICES) : null;
  return [
    gap ? el("p", { class: "formula" }, el("span", { class: "tag not_mentioned" }, words(text(gap[0]))), text(gap[1])) : el("p", { class: "formula" }, text(formula)),
    gap && text(gap[2]) !== null ? el("details", {}, el("summary", {}, "the judge's reply"), el("p", { class: "text block" }, text(gap[2]))) : null,
    rest.length && !gap ? el("p", { class: "soft" }, rest.join(" · ")) : null,
    mine ? el("p", {}, mine, el("span", { class: "mine" }, " of the whole sample")) : null,
    lists,
    more.map(([name, said]) => el("p", { class: "soft data" }, `${words(text(name))}: ${said.map((one) => text(one)).join("; ") || "–"}`)),
  ];
}

const AGAINST = { contexts: "the passages", conversation: "the passages of all turns", tools: "what tools gave back", answer: "the answer", reference: "the reference" };

function readingPart(row, side, [name, verdicts], { metric, which, r, mark }) {
  const { place, text } = row;
  const reading = text(name);
  const [of, against] = reading.split("/");
  const items = verdicts.map(([label, probability = null, reason = -1, subject = 0, quotes = [], unlocated = 0, cells = "", parts = []], n) => {
    const key = `${which}-${r}-${n}`, said = text(label);
    const one = { id: columns.id[place], row: columns.number[place], metric: METRICS[metric].name, reading };
    let about = null;
    if (subject && subject[0] === "c") {
      const at = of === "reference" ? -2 : -1;
      const source = at === -2 ? text(side.r) : text(side.a);
      one.index = n + 1;
      about = one.claim = subject.length > 3 ? text(subject[3]) : source.slice(subject[1], subject[2]);
      mark(at, { start: subject[1], end: subject[2], key, label: said, claim: true });
      if (subject.length === 3) for (const [start, end] of pairs(parts)) mark(at, { start: subject[1] + start, end: subject[1] + end, key, label: said, claim: true, wrong: true });
    } else if (subject && subject[0] === "u") {
      const whole = textAt(row, side, subject[1]);
      const covers = subject.length === 2;
      about = covers ? titleOf(side, subject[1]) : whole.slice(subject[2], subject[3]);
      if (covers) one.passage = subject[1] + 1;
      else { one.index = n + 1; one.sentence = about; }
      if (said === "useful" && !covers) mark(subject[1], { start: subject[2], end: subject[3], key, label: said });
    } else if (subject) { one.index = n + 1; about = one.claim = text(subject[1]); }
    if (about === null) one.index = n + 1;
    const links = quotes.map((quote) => quotePart(row, side, quote, key, mark));
    return el("li", { "data-key": key, tabindex: -1 },
      el("span", { class: `tag ${said}` }, words(said)), about === null ? null : one.claim === about ? claimPart(about, pairs(parts)) : data(brief(about, CLAIMED)),
      probability === null ? null : el("span", { class: "soft" }, ` ${chanceIn(said, probability)}`),
      cells.length > 1 ? el("span", { class: "soft" }, ` · ${cellsIn(cells)}`) : null,
      text(reason) === null ? null : el("p", { class: "reason data" }, text(reason)),
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
const pairs = (flat) => flat.flatMap((start, n) => (n % 2 ? [] : [[start, flat[n + 1]]]));

// The probability is that of the favourable label, which is named where it is another.
function chanceIn(label, probability) {
  const [favourable] = CHOICES.find((known) => known.includes(label)) ?? [label];
  return `p${favourable === label ? "" : ` of ${words(favourable)}`} ${probability.toFixed(2)}`;
}

// Which passages alone support a claim: "alone: 1 supported, 3 contradicted".
function cellsIn(cells) {
  const name = { s: "supported", c: "contradicted" };
  const said = [...cells].map((cell, n) => (name[cell] ? `${n + 1} ${name[cell]}` : null)).filter(Boolean);
  return `alone: ${said.join(", ") || "by none"}`;
}

function quotePart(row, side, quote, key, mark) {
  if (quote.length === 1) return el("q", {}, row.text(quote[0]));
  if (quote.length > 3) {
    const [said, at, ...box] = quote;
    mark(at, { box, key });
    return el("button", { type: "button", "data-goto": at, "data-for": key }, `“${brief(row.text(said), QUOTED)}” `, el("small", {}, titleOf(side, at)));
  }
  const [place, start, end] = quote;
  mark(place, { start, end, key });
  return el("button", { type: "button", "data-goto": place, "data-for": key }, `“${brief(textAt(row, side, place).slice(start, end), QUOTED)}” `, el("small", {}, titleOf(side, place)));
}

function textAt(row, side, place) {
  if (place < 0) return row.text(place === -1 ? side.a : side.r) ?? "";
  return row.passages.get(passageAt(side, place)) ?? "";
}
function passageAt(side, place) {
  const own = side.c?.length ?? 0;
  return place < own ? side.c[place][0] : place < own + side.e.length ? side.e[place - own] : side.t[place - own - side.e.length];
}

function titleOf(side, place) {
  if (place < 0) return place === -1 ? "answer" : "reference";
  const own = (side.c ?? []).length;
  if (place < own) return `passage ${place + 1}`;
  return place < own + side.e.length ? `earlier turns, passage ${place - own + 1}` : `tool output ${place - own - side.e.length + 1}`;
}

function passagesPart(row, side, pieces) {
  const { text } = row;
  const all = [...(side.c ?? []), ...side.e.map((n) => [n]), ...side.t.map((n) => [n])];
  if (side.c === null && !all.length) return [el("h3", {}, "Passages"), el("p", { class: "soft" }, "It is not known what was retrieved.")];
  const cards = all.map(([passage, id = -1, score = null, inPrompt = null, image = -1, note = -1, drawn = -1], place) => el("div", { class: "block passage", "data-place": place },
    el("header", {}, el("b", {}, titleOf(side, place)),
      id === -1 ? null : data(text(id)),
      typeof score === "number" ? `retriever's score ${Number(score.toPrecision(4))}` : null,
      inPrompt === false ? "not in the prompt" : null,
      image === -1 ? null : ["picture ", data(text(image))],
      note === -1 ? null : data(text(note))),
    drawn === -1 ? null : picturePart(row.passages.get(drawn), (pieces.get(place) ?? []).filter((piece) => piece.box), titleOf(side, place)),
    painted(row.passages.get(passage), (pieces.get(place) ?? []).filter((piece) => !piece.box))));
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

dialog.addEventListener("close", () => { history.replaceState(null, "", "#"); grid.focus(); });
dialog.addEventListener("keydown", (event) => {
  if (event.target.closest("select, input") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") { event.preventDefault(); step(event.key === "ArrowLeft" ? -1 : 1); }
});
