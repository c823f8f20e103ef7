"""The table, the explanation and the progress bar."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import ScriptedJudge, evaluate
from assay._util.rich_text import render_text
from assay.errors import Cause
from assay.evaluation.display.explanation import score_in_words
from assay.evaluation.display.notebook import as_html
from assay.evaluation.display.table import footer, table_of
from assay.evaluation.summary import Summary
from assay.records import Score, ScoreError, Usage

ROW = {"id": "a", "question": "Age?", "contexts": ["Rome is old."], "answer": "Rome is old. <b>Rome</b> is huge."}


@pytest.fixture
def result(tmp_path):
    judge = ScriptedJudge(support=lambda c, p: "Rome is old" if "old" in c else "not_mentioned")
    return evaluate([ROW], "faithfulness", judge, store=tmp_path)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=200))
def test_summary_is_the_mean_of_what_was_measured_and_bounds_hold(values):
    summary = Summary(metric="m")
    for value in values:
        gap = ScoreError(cause=Cause.PARSE, message="x") if value is None else None
        summary.add(Score(metric="m", value=value, error=gap))
    known = [value for value in values if value is not None]
    assert (summary.scored, summary.total) == (len(known), len(values))
    assert summary.causes.total() == len(values) - len(known)
    if known:
        assert summary.mean == pytest.approx(math.fsum(known) / len(known), abs=1e-12)
    else:
        assert summary.mean is None
    if values:
        low, high = summary.bounds
        filled = [[v if v is not None else gap for v in values] for gap in (0.0, 1.0)]
        assert low == pytest.approx(math.fsum(filled[0]) / len(values), abs=1e-12)
        assert high == pytest.approx(math.fsum(filled[1]) / len(values), abs=1e-12)


def test_many_additions_lose_no_digit():
    summary = Summary(metric="m")
    for _ in range(100_000):
        summary.add(Score(metric="m", value=0.1))
    assert summary.mean == 0.1  # naive summation gives 0.10000000000018848


def test_long_names_leave_the_causes_of_a_table_whole():
    def summary(name):
        summary = Summary(metric=name)
        for score in (
            Score(metric=name, value=0.5),
            Score(metric=name, error=ScoreError(cause=Cause.NOT_APPLICABLE, message="x")),
        ):
            summary.add(score)
        return summary

    names = ("deepeval:faithfulness@original", "ragchecker:noise_sensitivity_in_relevant")
    for shown in (names[:1], names):
        text = render_text(table_of({name: summary(name) for name in shown}), 80)
        assert f" {names[0]} ↑ " in text
        assert "not_applicable" in text
        assert max(map(len, text.splitlines())) <= 80


def test_the_score_in_words_names_claim_label_quote_and_place(result):
    scored = next(iter(result))
    words = score_in_words(scored.scores["faithfulness"], scored.sample)
    assert words.splitlines() == [
        "faithfulness = 0.500",
        "- supported: Rome is old. [passage 1, characters 0–11: “Rome is old”]",
        "- not_mentioned: <b>Rome</b> is huge.",
    ]


def test_skipped_in_words_says_why():
    gap = Score(metric="m", error=ScoreError(cause=Cause.TIMEOUT, message="no reply within 2 s"))
    assert score_in_words(gap, None) == "Not scored (timeout): no reply within 2 s"


def test_what_was_not_judged_is_shown_with_scores_and_with_gaps(tmp_path):
    row = ROW | {"answer": "Sure! Rome is old. Would you like more?"}
    judge = ScriptedJudge(claims={row["answer"]: ["Rome is old."]}, support=lambda c, p: "supported")
    result = evaluate([row], "faithfulness", judge, store=tmp_path)
    shown = str(result.explain(row["id"]))
    assert "not judged: 2 sentences\n      Sure!\n      Would you like more?" in shown
    (scored,) = result
    assert "not judged: 2 sentences" in score_in_words(scored.scores["faithfulness"], scored.sample)

    silent = evaluate(
        [row], "faithfulness", ScriptedJudge(claims=lambda text: [], support={}), store=tmp_path / "silent"
    )
    shown = str(silent.explain(row["id"]))
    assert "not scored (no_claims)" in shown
    assert "not judged: 3 sentences" in shown


def test_html_escapes_every_text(result):
    result.stopped = "<script>alert(1)</script>"
    assert "<script>" not in as_html(result)


def test_a_notebook_shows_the_mean_with_its_interval_and_no_script(result):
    """One row of value 0.5: nothing is known of how much rows differ, and the interval is the whole range."""
    shown = result._repr_html_()
    assert "<strong>0.500</strong></td><td>0.000 to 1.000</td><td><svg" in shown
    assert "<td>1/1</td>" in shown
    assert "<script" not in shown


def test_an_explanation_shows_itself_in_a_notebook(result):
    shown = result.explain("a")._repr_html_()
    assert "&lt;b&gt;Rome&lt;/b&gt; is huge." in shown
    assert "<b>" not in shown


def test_the_footer_says_what_it_cost(result):
    assert "1 row in" in footer(result)
    result.usage = Usage(calls=3, prompt_tokens=100, completion_tokens=20)
    assert "3 calls, 120 tokens" in footer(result)
    result.usage = Usage(calls=3, prompt_tokens=None, completion_tokens=20)
    assert "3 calls, unknown tokens" in footer(result)


def test_the_progress_bar_goes_to_stderr_and_leaves_the_result_alone(tmp_path, capsys):
    judge = ScriptedJudge(support=lambda c, p: "supported")
    result = evaluate([ROW] * 3, "faithfulness", judge, store=tmp_path, progress=True)
    out, _ = capsys.readouterr()
    assert result.rows == 3
    assert out == ""
