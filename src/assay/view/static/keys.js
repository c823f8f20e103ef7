// Keys: j and k go to the next and the previous row. On a list they move the focus and Enter opens; on a row they follow
// the links of the page. They can be turned off: single keys collide with some assistive programs.
"use strict";
const KEPT = "assay-view-keys";
const links = () => [...document.querySelectorAll("a.row-link")];

function turn(step) {
  const follow = document.querySelector(`a[rel="${step > 0 ? "next" : "prev"}"]`);
  const all = links(), at = all.indexOf(document.activeElement);
  const to = all[at < 0 ? (step > 0 ? 0 : -1) : at + step];
  if (to) { to.focus(); to.scrollIntoView({ block: "nearest" }); } else if (follow) follow.click();
}

function on() { try { return localStorage.getItem(KEPT) !== "off"; } catch { return true; } }

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !on()) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (event.key === "j" || event.key === "k") { event.preventDefault(); turn(event.key === "j" ? 1 : -1); }
});

const place = document.getElementById("keys");
if (place) {
  const button = document.createElement("button");
  button.type = "button";
  const say = () => { button.textContent = `keys j and k: ${on() ? "on" : "off"}`; button.setAttribute("aria-pressed", String(on())); };
  button.addEventListener("click", () => { try { localStorage.setItem(KEPT, on() ? "off" : "on"); } catch { /* kept nowhere */ } say(); });
  say();
  place.append("· ", button);
  place.hidden = false;
}
