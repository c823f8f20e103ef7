"""The report in a notebook: one frame, escaped, limited in size; in a browser it neither gives nor takes styles."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from assay import InputError, show_report
from assay.report import inline
from assay.report.build import ReportOptions
from tests.report.conftest import Two


class Frame(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(autouse=True)
def needs_the_extra() -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")


def test_it_is_one_frame_that_holds_the_page(two: Two) -> None:
    shown = show_report(two.now, two.before, options=ReportOptions(slices=("topic",)), height=500)
    ((tag, attributes),) = Frame(shown._repr_html_()).found
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"  # not allow-same-origin: nothing of the notebook
    assert attributes["srcdoc"] == shown.page
    assert "height:500px" in str(attributes["style"])
    assert shown.page.startswith("<!doctype html>")
    assert "Content-Security-Policy" in shown.page
    assert len(repr(shown)) <= 160
    assert repr(shown).endswith("40 of 40 rows listed, 0.1 MB>")


def test_it_lists_the_first_rows_and_counts_all(two: Two) -> None:
    """13 of 40 rows are listed; the figures are of all: 40 of 40."""
    shown = show_report(two.now, rows=13)
    assert shown.listed == 13
    assert "Samples lists the first 13 of 40 rows" in shown.page
    assert '"count":13' in shown.page
    assert re.search(r"40\s*/\s*40|40 of 40", shown.page)
    assert "Samples lists" not in show_report(two.now, rows=40).page


def test_a_page_that_is_too_large_lists_fewer_rows(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    few, none = (len(show_report(two.now, rows=rows).page) for rows in (4, 0))
    monkeypatch.setattr(inline, "MOST", few)
    assert show_report(two.now, rows=40).listed == 4
    monkeypatch.setattr(inline, "MOST", none)
    assert show_report(two.now, rows=40).listed == 0


def test_wrong_arguments_are_named(two: Two) -> None:
    with pytest.raises(InputError, match="rows"):
        show_report(two.now, rows=-1)
    with pytest.raises(InputError, match="height"):
        show_report(two.now, height=-1)


@pytest.mark.needs(name="browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_notebook_and_the_report_leave_each_other_alone(chromium: Any, two: Two, tmp_path: Path, scheme: str) -> None:
    """The table opens, links within the report open rows, and the page around keeps its styles and its address."""
    file = tmp_path / "notebook.html"
    style = "<style>h1 { color: rgb(1, 2, 3) } body { margin: 7px }</style>"
    frame = show_report(two.now, two.before)._repr_html_()
    tables = two.now.worst("faithfulness", 3)._repr_html_()
    file.write_text(f"<!doctype html><meta charset=utf-8>{style}<h1>Notebook</h1>{tables}{frame}", encoding="utf-8")
    context = chromium.new_context(color_scheme=scheme)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    inner = page.frames[1]
    inner.wait_for_selector("html[data-ready=all][data-answers=read]")
    assert inner.locator("#count").inner_text() == "40 rows"
    inner.locator("a[href^='#row=']").first.click()
    inner.wait_for_selector("dialog[open] #sample-title")
    assert inner.url == "about:srcdoc"
    inner.get_by_text("Close", exact=True).click()
    inner.locator("#table .row").nth(2).click()
    inner.wait_for_selector("dialog[open] #sample-title")
    inner.get_by_text("Close", exact=True).click()
    assert page.url == file.as_uri()
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
    assert inner.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
    assert page.evaluate("getComputedStyle(document.body).margin") == "7px"
    assert page.locator("table").first.inner_text().splitlines()[0].split()[:2] == ["row", "id"]
    context.close()
    assert said == []
