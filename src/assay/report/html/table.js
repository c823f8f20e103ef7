// The table of samples: filtered, sorted, and only the rows in sight are drawn.
const grid = byId("table");
const state = { search: "", show: "all", metric: 0, most: null, cause: "", slices: meta.slices.map(() => ""), sort: "row", down: false };
let view = []; // places of the rows that pass the filters, in order
let active = 0;
const head = el("div", { class: "head", role: "row" });
const rowsBox = el("div", { class: "rows", role: "rowgroup" });

const worse = (n, value, before) => value !== null && before !== null && value !== before && (value < before) === METRICS[n].higher;
const moved = (place, wanted) => METRICS.some((_, n) => {
  const value = columns[`v${n}`][place], before = columns[`b${n}`][place] ?? null;
  return value !== null && before !== null && value !== before && worse(n, value, before) === wanted;
});
const SHOW = {
  all: ["all rows", () => true],
  gaps: ["with a score missing", (place) => METRICS.some((_, n) => columns[`u${n}`][place])],
  worse: ["worse than before", (place) => moved(place, true)],
  better: ["better than before", (place) => moved(place, false)],
  labelled: ["labelled by you", (place) => [...labels.values()].some((one) => one.row === columns.number[place])],
};

function passing() {
  const search = state.search.trim().toLowerCase();
  const [, test] = SHOW[state.show];
  const values = columns[`v${state.metric}`];
  const found = [];
  for (let place = 0; place < columns.number.length; place++) {
    if (search && !columns.text[place].includes(search)) continue;
    if (state.most !== null && !(values[place] !== null && (METRICS[state.metric].higher ? values[place] <= state.most : values[place] >= state.most))) continue;
    if (state.cause && columns.cause[place]?.[0] !== state.cause) continue;
    if (!state.slices.every((value, n) => !value || columns[`s${n}`][place] === value)) continue;
    if (state.show !== "all" && !test(place)) continue;
    found.push(place);
  }
  return found;
}

// What a column is sorted by; rows without it come last, whatever the direction.
function sortKeys() {
  if (state.sort === "row") return null;
  const [kind, n] = [state.sort[0], Number(state.sort.slice(1))];
  const now = columns[`v${n}`], before = columns[`b${n}`];
  const sign = METRICS[n].higher ? 1 : -1;
  if (kind === "d") return (place) => (now[place] === null || (before[place] ?? null) === null ? NaN : sign * (now[place] - before[place]));
  return (place) => (now[place] === null ? NaN : sign * now[place]);
}

function update() {
  view = passing();
  const key = sortKeys();
  if (key) {
    const keys = new Map(view.map((place) => [place, key(place)]));
    const sign = state.down ? -1 : 1;
    view.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return sign * (x - y) || a - b;
    });
  } else if (state.down) view.reverse();
  active = 0;
  grid.scrollTop = 0;
  const all = columns.number.length;
  byId("count").textContent = view.length === all ? `${all.toLocaleString("en")} rows` : `${view.length.toLocaleString("en")} of ${all.toLocaleString("en")} rows`;
  drawHead();
  draw();
}

function rowHeight() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 44; }

function draw(all = false) {
  const height = rowHeight();
  const first = all ? 0 : Math.max(0, Math.floor(grid.scrollTop / height) - 6);
  const last = Math.min(view.length, all ? 60 : Math.ceil((grid.scrollTop + grid.clientHeight) / height) + 6);
  rowsBox.style.height = `${view.length * height}px`;
  const rows = [];
  for (let at = first; at < last; at++) rows.push(rowPart(at, height));
  if (!view.length) rows.push(el("p", { class: "empty" }, "No row passes these filters."));
  rowsBox.replaceChildren(...rows);
  grid.setAttribute("aria-rowcount", view.length + 1);
  grid.setAttribute("aria-activedescendant", view.length ? `row-${active}` : "");
}

function rowPart(at, height) {
  const place = view[at];
  const id = columns.id[place];
  const row = el("div", { class: at === active ? "row active" : "row", role: "row", id: `row-${at}`, "aria-rowindex": at + 2, "aria-selected": String(at === active), onclick: () => { setActive(at); openSample(place, state.sort === "row" ? undefined : Number(state.sort.slice(1))); } },
    el("span", { role: "gridcell", class: "soft", title: id }, columns.number[place]),
    el("span", { role: "gridcell", dir: "auto" }, columns.question[place] ?? columns.title[place] ?? "–"),
    METRICS.map((metric, n) => cellPart(place, n)));
  row.style.transform = `translateY(${at * height}px)`;
  return row;
}

function cellPart(place, n) {
  const value = columns[`v${n}`][place], before = columns[`b${n}`][place] ?? null, gap = columns[`u${n}`][place];
  if (value === null) return el("span", { role: "gridcell", class: "number gap", title: gap }, gap ? words(gap) : "–");
  const by = before === null ? 0 : value - before;
  const change = meta.baseline === null ? null : el("small", { class: by ? (worse(n, value, before) ? "down" : "up") : "soft" }, by ? ` ${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(2)}` : "");
  return el("span", { role: "gridcell", class: "number" }, value.toFixed(2), change);
}

function drawHead() {
  const arrow = (sort) => (state.sort === sort ? (state.down ? " ▼" : " ▲") : "");
  const header = (sort, text, name) => el("span", { role: "columnheader", class: sort === "row" ? null : "number", "aria-sort": state.sort === sort ? (state.down ? "descending" : "ascending") : "none" },
    el("button", { type: "button", title: name, onclick: () => sortBy(sort, state.sort === sort && !state.down) }, breaking(text), arrow(sort)));
  head.replaceChildren(header("row", "row"), el("span", { role: "columnheader" }, el("button", { type: "button", disabled: true }, "question")),
    ...METRICS.map((metric, n) => header(`v${n}`, metric.name, "Sort: the worst first, then the best first")));
}

function sortBy(sort, down) {
  state.sort = sort;
  state.down = down;
  const select = byId("sort");
  if (select) select.value = sort === "row" ? "row" : `${sort}${down ? "-" : ""}`;
  update();
}

function setActive(at) {
  if (!view.length) return;
  active = Math.max(0, Math.min(view.length - 1, at));
  const height = rowHeight(), top = active * height, room = grid.clientHeight - head.offsetHeight - height;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top > grid.scrollTop + room) grid.scrollTop = top - room;
  draw();
}

grid.addEventListener("keydown", (event) => {
  if (event.target !== grid) return;
  const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight()) - 2);
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: view.length - 1 }[event.key];
  if (to !== undefined) { event.preventDefault(); setActive(to); }
  else if (event.key === "Enter" && view.length) { event.preventDefault(); rowsBox.querySelector(".active")?.click(); }
});
grid.addEventListener("scroll", () => requestAnimationFrame(() => draw()));
addEventListener("resize", () => draw());
addEventListener("beforeprint", () => draw(true));
addEventListener("afterprint", () => draw());
