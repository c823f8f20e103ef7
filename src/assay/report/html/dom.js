"use strict";
// Texts of others become text nodes and nothing else; what cannot be seen in them is spelled out.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u180e\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const spelled = (found) => {
  const code = found.charCodeAt(0);
  return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
};
const visible = (text) => String(text).replaceAll("\r\n", "\n").replace(UNSEEN, spelled);

// An element with attributes (`on...` are listeners) and children: elements, texts, or null for nothing.
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value; // compared, never shown
    else made.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return made;
}
const byId = (id) => document.getElementById(id);
const words = (name) => String(name).replaceAll("_", " ");
const number = (value) => value.toFixed(3);
// A name that may be broken after its underscores.
const breaking = (name) => visible(name).split("_").flatMap((piece, n, all) => (n < all.length - 1 ? [piece + "_", el("wbr")] : [piece]));
const data = (text) => el("bdi", {}, text);

// Whether the page is the text of a frame (a notebook's): it has no address of its own then.
const FRAMED = location.href.startsWith("about:srcdoc");
function setHash(hash) { if (!FRAMED) history.replaceState(null, "", hash); }
