"""The pages of `assay view` in a real browser: looked at, gone through by keys, without scripts, by WCAG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.report.conftest import HOSTILE, WRONG
from tests.report.conftest import chromium as chromium
from tests.view.conftest import ROWS, Client

pytestmark = pytest.mark.needs(name="browser")

NOW = f"now {HOSTILE}"
PAGES = {
    "runs": "/",
    "rows": "/rows?" + urlencode({"run": NOW}),
    "row": "/row?" + urlencode({"run": NOW, "row": "row:1"}),
    "hostile row": "/row?" + urlencode({"run": NOW, "row": f"row:{ROWS}"}),
    "compare": "/compare?" + urlencode([("run", "before"), ("run", NOW)]),
    "failures": "/failures?" + urlencode({"run": NOW}),
    "trend": "/trend?" + urlencode({"run": "live/shop"}),
}

#: Texts with too little contrast, controls without a name, headings out of order, ids that are there twice.
CHECK = """() => {
  const found = [];
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const back = one => {
    for (let at = one; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || one.closest(".hidden, .skip, svg, script, option")) continue;
    const style = getComputedStyle(one), [a, b] = [light(numbers(style.color)), light(back(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${one.textContent.slice(0, 40)}`);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, button, a, summary")) {
    const name = one.getAttribute("aria-label") || one.textContent.trim() || (one.labels && one.labels.length);
    if (!name) found.push(`no name: ${one.outerHTML.slice(0, 80)}`);
    const box = one.getBoundingClientRect();
    if (["INPUT", "SELECT", "BUTTON"].includes(one.tagName) && (box.width < 24 || box.height < 24))
      found.push(`target of ${box.width} x ${box.height}: ${one.outerHTML.slice(0, 80)}`);
  }
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(one.tagName[1]);
    if (next > level + 1) found.push(`heading ${one.tagName} after h${level}: ${one.textContent.slice(0, 40)}`);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1 || !document.documentElement.lang)
    found.push("no main, or no language");
  const ids = [...document.querySelectorAll("[id]")].map(one => one.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`id twice: ${id}`);
  for (const nav of document.querySelectorAll("nav"))
    if (!nav.getAttribute("aria-label")) found.push("a nav without a name");
  for (const one of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(one.getAttribute("aria-labelledby"))) found.push("a label that is not there");
  for (const one of document.querySelectorAll("svg"))
    if (!one.getAttribute("aria-label")) found.push("a drawing without a name");
  return found;
}"""


@pytest.fixture
def tab(chromium: Any, client: Client) -> Iterator[Any]:
    """A page of the browser that reaches this server alone; what it says on its console is an error."""
    base = f"http://127.0.0.1:{client.port}"
    context = chromium.new_context(base_url=base)
    said: list[str] = []
    asked: list[str] = []
    page = context.new_page()
    context.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [url for url in asked if not url.startswith((base, "data:"))] == []
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_readable_and_has_names_for_all(tab: Any, name: str, scheme: str):
    tab.emulate_media(color_scheme=scheme)
    tab.goto(PAGES[name])
    assert tab.evaluate(CHECK) == []
    back = [int(n) for n in re.findall(r"\d+", tab.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]]
    assert (sum(back) / 3 > 128) == (scheme == "light")
    assert tab.evaluate("window.bad") is None
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 1


@pytest.mark.parametrize("width", [360, 2560])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_a_phone_and_a_wide_screen_and_weighs_little(tab: Any, name: str, width: int):
    sizes: list[int] = []
    tab.on("response", lambda response: sizes.append(len(response.body())))
    tab.set_viewport_size({"width": width, "height": 800})
    tab.goto(PAGES[name], wait_until="networkidle")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert 0 < sum(sizes) < 300_000


def test_a_regression_is_found_by_keys_alone(tab: Any):
    tab.goto("/")
    boxes = tab.locator("input[name=run]")
    for place in (1, 2):  # the second run and the first, below the live one
        boxes.nth(place).focus()
        tab.keyboard.press("Space")
    tab.get_by_role("button", name="Compare the chosen runs").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#moved")
    assert tab.locator("#moved").inner_text() == f"{WRONG} rows that became worse"
    tab.locator("a.row-link", has_text="now").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#passages")
    assert tab.locator("h1").inner_text() == "Row 1 q0"
    tab.keyboard.press("j")
    tab.wait_for_url("**row%3A2**")
    assert tab.locator("h1").inner_text() == "Row 2 q1"
    tab.keyboard.press("k")
    tab.wait_for_url("**row%3A1")
    tab.get_by_role("button", name="keys j and k: on").click()
    tab.keyboard.press("j")
    assert tab.locator("#keys button").inner_text() == "keys j and k: off"
    assert tab.locator("h1").inner_text() == "Row 1 q0"
    tab.locator("#keys button").click()


def test_keys_move_through_a_list_and_leave_fields_alone(tab: Any):
    tab.goto(PAGES["rows"])
    for _ in range(2):
        tab.keyboard.press("j")
    assert tab.evaluate("document.activeElement.textContent").startswith("2 q1")
    tab.keyboard.press("k")
    assert tab.evaluate("document.activeElement.textContent").startswith("1 q0")
    tab.locator("input[name=id]").focus()
    tab.keyboard.type("jk")
    assert tab.locator("input[name=id]").input_value() == "jk"


def test_pages_work_without_scripts(chromium: Any, client: Client):
    context = chromium.new_context(base_url=f"http://127.0.0.1:{client.port}", java_script_enabled=False)
    page = context.new_page()
    page.goto(PAGES["rows"])
    page.select_option("select[name=metric]", "faithfulness")
    page.fill("input[name=below]", "0.75")
    page.get_by_role("button", name="Show").click()
    assert page.locator("a.row-link").count() == WRONG
    address = page.url
    page.goto("/")
    page.goto(address)  # the address holds what the page shows
    assert page.locator("a.row-link").count() == WRONG
    page.locator("a.row-link").first.click()
    page.get_by_role("link", name="Next →").first.click()
    assert page.locator("h1").inner_text() == "Row 2 q1"
    context.close()


def test_what_is_printed_has_no_forms(tab: Any):
    tab.goto(PAGES["rows"])
    tab.emulate_media(media="print")
    assert not tab.locator("form.tools").is_visible()
    assert tab.locator("a.row-link").first.is_visible()
