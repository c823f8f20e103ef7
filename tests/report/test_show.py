"""`assay show`, `assay report` and `assay compare` in a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay._util.rich_text import render_text
from assay.evaluation.display.explanation import Explanation
from assay.records import Sample, Score, ScoredSample
from assay.report.sample_view import ViewPart, painted, sample_view
from assay.store.store import Row
from tests.report.conftest import HOSTILE, METRICS, Two, judge, row

GREEN, RED = "\x1b[32m", "\x1b[31m"


def test_of_pieces_that_overlap_the_shortest_is_seen_and_no_character_is_lost():
    text = painted("abcdef", [ViewPart(0, 6, "red"), ViewPart(2, 4, "green"), ViewPart(3, 99, "blue")])
    assert text.plain == "abcdef"
    assert [(text.plain[span.start : span.end], str(span.style)) for span in text.spans] == [
        *(("ab", "red"), ("cd", "green"), ("ef", "red")),
    ]


def test_a_sample_has_its_claims_and_quotes_in_the_colours_of_the_verdicts(two: Two):
    shown = render_text(sample_view(two.now.store.get_row(two.now.run, 1)), 100, colour=True)
    assert f"{GREEN}Thing 0 is red." in shown
    assert f"{RED}It is made of cheese." in shown
    assert "It is made of \x1b[0m\x1b[4;39mcheese\x1b[0m" in shown  # in the list of claims, underlined
    assert "\x1b[7;32mThing 0 is red" in shown  # the quote, in the passage
    plain = render_text(sample_view(two.now.store.get_row(two.now.run, 1)), 100)
    assert "\x1b" not in plain
    assert "faithfulness: 1 supported / 2 claims = 0.500" in plain


def test_a_hostile_sample_steers_no_terminal(two: Two):
    shown = render_text(sample_view(two.now.store.get_row(two.now.run, 40), full=True), 100)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\u202eevil" in shown


def stored(tmp_path: Path) -> None:
    from assay import evaluate

    evaluate([row(n) for n in range(8)], METRICS, judge(), store=tmp_path / ".assay", run="one")
    evaluate([row(n, "Nothing of it.") for n in range(8)], METRICS, judge(), store=tmp_path / ".assay", run="two")


def test_a_run_is_shown_with_what_got_worse(command_line, tmp_path: Path):
    stored(tmp_path)
    code, out, _ = command_line("show", "two", "--baseline", "one")
    assert code == 0
    assert out.startswith("worse on faithfulness; unchanged on context_precision (8 rows in both)\ntwo against one\n")
    assert "what got worse" in out
    assert "faithfulness: 5 of 8 rows that got worse shown" in out
    assert 'added: "Nothing of it." (not in the passages)' in out
    code, out, _ = command_line("show", "two")
    assert code == 0
    assert "1: 0.00, 2: 0.00, 3: 0.00, 4: 0.00, 5: 0.00" in out
    code, out, _ = command_line("show", "one")
    assert "the rows with the worst values" not in out.split("faithfulness")[-1]


def test_a_row_is_shown_by_number_and_by_id(command_line, tmp_path: Path):
    stored(tmp_path)
    for name in ("3", "q2", "row:3"):
        code, out, _ = command_line("show", "one", name)
        assert code == 0
        assert out.startswith("row 3  q2\nquestion: What is thing 2?")
    code, _, err = command_line("show", "one", "99")
    assert (code, "row '99' is not in run 'one'" in err) == (2, True)
    code, _, err = command_line("show", "one", "--metric", "nope")
    assert (code, "--metric: 'nope' is not in this run" in err) == (2, True)


def test_verdicts_are_in_colour_on_a_terminal_and_plain_in_a_pipe(command_line, tmp_path, monkeypatch):
    stored(tmp_path)
    _, plain, _ = command_line("compare", "one", "two")
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, coloured, _ = command_line("compare", "one", "two")
    assert "\x1b[1;31mworse\x1b[0m on faithfulness" in coloured
    assert re.search(r"\x1b\[31m *0\.00", coloured)


@pytest.mark.parametrize("suffix", ["md", "xml", "csv"])
def test_report_writes_what_the_suffix_says_and_tells_the_verdict(command_line, tmp_path: Path, suffix: str):
    stored(tmp_path)
    code, out, err = command_line("report", "two", "--baseline", "one", "-o", f"r.{suffix}")
    assert code == 0
    assert out.startswith("two against one: worse on faithfulness")
    assert err == f"report: r.{suffix}\n"
    assert (tmp_path / f"r.{suffix}").stat().st_size > 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "r.txt"], "-o: expected a file that ends in"),
        (["-o", "r.md", "--fail-below", "faithfulness=0.5"], "--fail-below: goes with -o FILE.xml"),
        (["-o", "r.xml", "--fail-below", "faithfulness"], "--fail-below: expected METRIC=NUMBER"),
        (["-o", "r.xml", "--fail-below", "faithfulness=nan"], "--fail-below: expected METRIC=NUMBER"),
        (["-o", "r.md", "--baseline", "nope"], "run 'nope' is not in the store"),
        (["-o", "r.md", "--slice", "nope"], "slice: no row has the column 'nope'"),
    ],
)
def test_wrong_use_is_said_in_one_line(command_line, tmp_path: Path, arguments: list[str], said: str):
    stored(tmp_path)
    code, _, err = command_line("report", "two", *arguments)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
    assert HOSTILE not in err


def test_of_a_row_that_was_kept_lean_it_is_said_that_there_are_no_texts() -> None:
    score = Score(metric="faithfulness", value=0.5)
    lean = Row(number=3, scored=ScoredSample(sample=Sample(id="q3"), scores={"faithfulness": score}))
    for said in (render_text(sample_view(lean), 80), Explanation(lean).text(80)):
        assert "no texts of this row are kept (--lean)" in said
        assert "faithfulness = 0.500" in said
        assert "question" not in said
