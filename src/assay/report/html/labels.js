// What a person says of verdicts: kept in this browser, downloaded as lines of JSON, as `assay.analysis.judges.alignment` reads them: of a
// claim its text and its number among the verdicts of its reading, of a passage its number, of a sample its metric.
const CHOICES = [["supported", "contradicted", "not_mentioned"], ["useful", "not_useful"], ["direct", "indirect"], ["yes", "no"]];
const SAMPLE_CHOICES = ["good", "bad"];
const STORE = `assay-labels ${meta.run} ${meta.started}`;
const labels = new Map();
try {
  for (const one of JSON.parse(localStorage.getItem(STORE) ?? "[]")) labels.set(keyOf(one), one);
} catch { /* a browser that keeps nothing for files: the labels live as long as the page */ }

function keyOf(one) {
  return JSON.stringify([one.row, one.metric, one.reading ?? null, one.claim ?? null, one.passage ?? null, one.index ?? 0]);
}

function setLabel(one, label) {
  if (label) labels.set(keyOf(one), { ...one, label });
  else labels.delete(keyOf(one));
  try { localStorage.setItem(STORE, JSON.stringify([...labels.values()])); } catch { /* as above */ }
  for (const button of document.querySelectorAll("[data-download]")) showCount(button);
}

function showCount(button) {
  button.textContent = `Download labels (${labels.size})`;
  button.disabled = labels.size === 0;
}

function downloadButton() {
  const button = el("button", { type: "button", "data-download": true, onclick: download });
  showCount(button);
  return button;
}

function download() {
  const lines = [...labels.values()].map((one) => JSON.stringify(one) + "\n");
  const url = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  const link = el("a", { download: `labels-${meta.run.replace(/[^\w.-]+/g, "-")}.jsonl` });
  link.href = url;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A choice of labels for what `one` names; nothing where the verdict's labels are none of the known ones.
function chooser(one, said, choices = CHOICES.find((known) => known.includes(said))) {
  if (!choices) return null;
  const given = labels.get(keyOf(one))?.label ?? "";
  const options = ["", ...choices].map((label) => el("option", { value: label, selected: label === given }, label || "–"));
  const select = el("select", { "aria-label": `Your label: ${(one.claim ?? one.metric).slice(0, 100)}`, onchange: (event) => setLabel(one, event.target.value) }, options);
  return el("label", { class: "mine" }, "your label ", select);
}
