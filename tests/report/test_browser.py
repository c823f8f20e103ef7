"""The HTML report in a real browser: looked at, filtered, sorted, opened, followed, labelled; nothing is fetched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.judges.alignment.alignment import align
from assay.report.build import report_of
from assay.report.html import packing
from assay.report.html.page import write_page
from tests.report.conftest import HOSTILE, WRONG, Opened, Two

pytestmark = pytest.mark.needs(name="browser")


def open_row(opened: Opened, number: int) -> None:
    opened.page.evaluate(f"location.hash = '#row={number}'")
    opened.page.wait_for_selector("dialog[open] #sample-title")


def test_the_order_is_verdict_overview_coverage_metrics_regressions_causes_slices_distributions_cost_samples(
    opened: Opened,
):
    titles = opened.page.locator("main h2").all_inner_texts()
    assert titles == [
        "Overview",
        "Coverage",
        "Metrics",
        "Regressions",
        "Root causes",
        "Slices",
        "Distributions",
        "Cost and time",
        "Samples",
    ]
    assert opened.page.locator("main > section").first.inner_text().startswith("worse")


def test_words_of_the_question_the_answer_and_the_id_find_rows(opened: Opened):
    assert opened.count() == "40 rows"
    for typed, found in (
        ("cheese", "8 of 40 rows"),
        ("thing 17?", "1 of 40 rows"),
        ("Q12", "1 of 40 rows"),
        ("", "40 rows"),
    ):
        opened.page.fill("#search", typed)
        opened.page.locator("#count", has_text=re.compile(f"^{found}$")).wait_for()
        assert opened.count() == found
    opened.page.fill("#search", "nowhere to be found")
    opened.page.locator("#table .empty").wait_for()
    assert opened.count() == "0 of 40 rows"


def test_rows_are_filtered_by_value_by_slice_and_by_what_got_worse(opened: Opened):
    page = opened.page
    page.select_option("#show", "worse")
    assert opened.rows() == [str(n) for n in range(1, WRONG + 1)]
    page.select_option("#slice-0", "odd")  # row 2 is thing 1
    assert opened.rows() == ["2", "4", "6", "8"]
    page.select_option("#show", "all")
    page.select_option("#slice-0", "")
    page.fill("#most", "0.5")  # faithfulness: one of two claims
    assert opened.rows()[:WRONG] == [str(n) for n in range(1, WRONG + 1)]
    page.select_option("#show", "better")
    assert opened.count() == "0 of 40 rows"


def test_rows_are_sorted_the_worst_first_and_the_best_first(opened: Opened):
    page = opened.page
    page.click("#table [role=columnheader]:nth-child(3) button")
    first = page.locator("#table .row").first
    assert opened.rows()[:WRONG] == [str(n) for n in range(1, WRONG + 1)]
    assert "0.50" in first.inner_text()
    assert "−0.50" in first.inner_text()  # the baseline's value was 1
    assert page.locator("#table [role=columnheader]:nth-child(3)").get_attribute("aria-sort") == "ascending"
    page.click("#table [role=columnheader]:nth-child(3) button")
    assert "1.00" in first.inner_text()
    page.select_option("#sort", "d0")
    assert opened.rows()[0] == "1"


def test_keys_choose_open_and_close_a_sample_and_go_to_the_next(opened: Opened):
    page = opened.page
    page.focus("#table")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.locator("dialog[open] #sample-title", has_text="Row 2 · q1").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator("dialog[open] #sample-title", has_text="Row 3 · q2").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog:not([open])").wait_for(state="attached")
    assert page.evaluate("document.activeElement.id") == "table"
    page.keyboard.press("End")
    assert "40" in opened.rows()


def test_a_sample_shows_both_runs_claims_in_colour_and_the_formula(opened: Opened):
    open_row(opened, 1)
    before, now = opened.page.locator(".side").all()
    assert before.locator(".claim").evaluate_all("all => all.map(one => one.className)") == ["claim supported"] * 2
    assert now.locator(".claim").evaluate_all("all => all.map(one => [one.className, one.textContent])") == [
        ["claim supported", "Thing 0 is red."],
        ["claim not_mentioned", "It is made of "],
        ["claim not_mentioned wrong", "cheese"],  # by which it is not supported
        ["claim not_mentioned", "."],
    ]
    assert now.locator(".verdicts .wrong").all_inner_texts() == ["cheese"]
    assert now.locator(".formula").inner_text() == "1 supported / 2 claims = 0.500"
    assert "not_mentioned" in now.locator(".verdicts").inner_text()


def test_a_claim_leads_to_its_verdict_and_the_quote_to_its_place(opened: Opened):
    open_row(opened, 1)
    before = opened.page.locator(".side").first
    before.locator(".claim").nth(1).click()
    assert before.locator("li.active").count() == 1
    before.locator("li.active [data-goto]").click()
    mark = before.locator("mark.active")
    assert mark.inner_text() == "It is 😀 round"  # beyond a character of two units of UTF-16
    assert mark.is_visible()
    assert mark.evaluate("one => one.closest('.passage').querySelector('b').textContent") == "passage 1"


def test_a_regression_in_the_list_opens_its_sample(opened: Opened):
    opened.page.locator("#regressions ~ .wide a").first.click()
    opened.page.locator("dialog[open] #sample-title", has_text="Row 1 · q0").wait_for()


def test_labels_are_given_kept_over_a_reload_and_downloaded(opened: Opened, two: Two):
    page = opened.page
    open_row(opened, 1)
    now = page.locator(".side").nth(1)
    now.locator(".verdicts select").nth(1).select_option("contradicted")
    now.locator("select").first.select_option("bad")
    with page.expect_download() as download:
        page.locator("dialog [data-download]").click()
    lines = [json.loads(line) for line in Path(download.value.path()).read_text("utf-8").splitlines()]
    assert lines == [
        {"id": "q0", "row": 1, "metric": "faithfulness", "reading": "answer/contexts", "index": 2,
         "claim": "It is made of cheese.", "label": "contradicted"},
        {"id": "q0", "row": 1, "metric": "faithfulness", "label": "bad"},
    ]  # fmt: skip
    assert download.value.suggested_filename.endswith(".jsonl")
    found = align(two.now, lines)  # what `assay judge align` makes of the file
    assert (found.labels, found.matched) == (2, 2)
    assert {name: len(group.pairs) for name, group in found.groups.items()} == {"answer/contexts": 1, "faithfulness": 1}
    page.keyboard.press("Escape")
    page.reload()
    opened.ready()
    assert page.locator("#tools [data-download]").inner_text() == "Download labels (2)"
    page.select_option("#show", "labelled")
    assert opened.rows() == ["1"]


def test_hostile_texts_stay_texts_wherever_they_are_shown(opened: Opened):
    page = opened.page
    open_row(opened, 40)
    shown = page.locator("dialog").inner_text()
    assert "</script><script>window.bad=1</script><img src=x onerror=" in shown
    assert "\\u202eevil\\u202c \\x1b[31m {{7*7}}" in shown
    assert "\u202e" not in page.locator("body").inner_text()
    assert page.evaluate("window.bad") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2 + 2  # meta, its own, and one piece of two parts
    page.keyboard.press("Escape")
    page.select_option("#slice-0", HOSTILE)
    assert opened.rows() == ["40"]
    assert page.evaluate("window.bad") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_on_a_phone_and_follows_the_colours_of_the_system(opened: Opened, scheme: str):
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    open_row(opened, 1)
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 380
    back = page.evaluate("getComputedStyle(document.querySelector('dialog')).backgroundColor")
    light = sum(map(int, back[4:-1].split(",")[:3])) / 3
    assert (light > 128) == (scheme == "light")


def test_what_is_printed_has_the_rows_and_no_tools(opened: Opened):
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("#tools").is_visible()
    assert page.locator("#table .row").count() == 40
    tops = page.locator("#table .row").evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    assert tops == sorted(set(tops)), "one below the other"


READ = """async (place) => {
  const row = await readRow(place), side = row.sides[0];
  const passages = (side.contexts ?? []).map((one) => row.passages[one.passage]);
  return [columns.question[place], side.answer, side.reference, passages];
}"""


def test_texts_and_passages_of_other_blocks_are_those_of_the_row(
    chromium: Any, two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Blocks of three rows: "It is blue" is a passage of every other row, and each block has it."""
    monkeypatch.setattr(packing, "ROWS", 3)
    path = write_page(report_of(two.now, two.before), tmp_path / "pieces.html")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-answers=read]")
    assert page.locator("script").count() == 2 + 2 * 14  # 40 rows
    for place, scored in enumerate(two.now):
        sample = scored.sample
        assert page.evaluate(READ, place) == [sample.question, sample.answer, sample.reference, list(sample.passages)]
    page.fill("#search", "cheese")
    page.locator("#count", has_text=re.compile("^8 of 40 rows$")).wait_for()
    page.close()
