// The tools above the table, the rows piece by piece, and links to rows.
function field(name, control, of) { return el("label", { class: of }, name, control); }
function choice(id, options, onchange) {
  return el("select", { id, onchange: (event) => { onchange(event.target.value); } }, options.map(([value, text]) => el("option", { value }, text)));
}
const different = (name) => [...new Set(columns[name])].filter((value) => value !== null).sort();

function drawTools() {
  const metrics = METRICS.map((metric, n) => [n, metric.name]);
  const sorts = [["row", "row"], ...METRICS.flatMap((metric, n) => [
    [`v${n}`, `${metric.name}, the worst first`], [`v${n}-`, `${metric.name}, the best first`],
    ...(meta.baseline === null ? [] : [[`d${n}`, `${metric.name}, the largest loss first`]])])];
  const shows = Object.entries(SHOW).filter(([name]) => meta.baseline !== null || !["worse", "better"].includes(name)).map(([name, [text]]) => [name, text]);
  const set = (name, read = (value) => value) => (value) => { state[name] = read(value); update(); };
  let waiting = false;
  const search = el("input", { type: "search", id: "search", placeholder: "question, answer or id", oninput: (event) => {
    state.search = event.target.value;
    if (!waiting) requestAnimationFrame(() => { waiting = false; update(); });
    waiting = true;
  } });
  const most = el("input", { type: "number", id: "most", step: "any", placeholder: "any", oninput: (event) => { state.most = event.target.value === "" ? null : Number(event.target.value); update(); } });
  byId("tools").replaceChildren(
    field("Search", search, "search"), field("Show", choice("show", shows, set("show"))),
    METRICS.length ? field("Where", choice("metric", metrics, set("metric", Number))) : "",
    METRICS.length ? field("is no better than", most) : "",
    field("Sort by", choice("sort", sorts, (value) => sortBy(value.replace("-", ""), value.endsWith("-")))),
    ...meta.slices.map((name, n) => field(name, choice(`slice-${n}`, [["", "all"], ...different(`s${n}`).map((value) => [value, value])], (value) => { state.slices[n] = value; update(); }))),
    meta.causes ? field("Root cause", choice("cause", [["", "all"], ...[...new Set(columns.cause.filter(Boolean).map((one) => one[0]))].sort().map((value) => [value, words(value)])], set("cause"))) : "",
    downloadButton());
}

function openLinked(hash) {
  const wanted = /^#row=(\d+)$/.exec(hash);
  const place = wanted ? columns.number.indexOf(Number(wanted[1])) : -1;
  if (place >= 0) {
    const at = view.indexOf(place);
    if (at >= 0) setActive(at);
    openSample(place);
  }
}

// In the frame of a notebook a link within the page would open the notebook, whose address the page's links have.
if (FRAMED) addEventListener("click", (event) => {
  const hash = event.target.closest?.("a[href^='#']")?.getAttribute("href");
  if (!hash) return;
  event.preventDefault();
  byId(hash.slice(1))?.scrollIntoView();
  openLinked(hash);
});

// An element of the file is whole once the parser is past it.
async function arrived(id) {
  while (!byId(id)?.nextElementSibling && document.readyState === "loading") await new Promise((go) => setTimeout(go, 5));
}

async function start() {
  grid.style.setProperty("--metrics", METRICS.length);
  grid.replaceChildren(head, rowsBox);
  if (!("DecompressionStream" in window)) {
    rowsBox.append(el("p", { class: "empty" }, "This browser is too old to open the samples: it has no DecompressionStream."));
    return;
  }
  try {
    for (let piece = 0; piece < meta.rows.length; piece++) {
      await arrived(`index-${piece}`);
      await readIndex(piece);
      if (piece === 0) update();
    }
    drawTools();
    update();
    document.documentElement.dataset.ready = "all";
    while (document.readyState === "loading") await new Promise((go) => setTimeout(go, 5));
    openLinked(location.hash);
    addEventListener("hashchange", () => openLinked(location.hash));
    for (let piece = 0; piece < meta.rows.length; piece++) await readAnswers(piece);
    document.documentElement.dataset.answers = "read";
    if (state.search) update();
  } catch (error) {
    rowsBox.replaceChildren(el("p", { class: "empty" }, `The samples cannot be opened: ${error.message}`));
    throw error;
  }
}
start();
