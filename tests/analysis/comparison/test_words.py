"""What a comparison says: one line for the headline, a metric and a flip; refusals; how many rows are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge, evaluate
from assay.analysis.comparison.compare import Comparison, compare
from assay.analysis.comparison.flips import Flip, flips_of
from assay.analysis.comparison.headline import HEADLINE
from assay.analysis.comparison.metric_diff import MetricDiff
from assay.records import Claim, Evidence, Score, Span, Verdict
from assay.records.phrases import label_in_prose
from assay.report.build import report_of
from assay.report.comparison_table import comparison_lines, moved_lines
from assay.report.html.page import page
from assay.report.markdown import as_markdown
from tests.analysis.comparison.equal_runs import made

SIX = ("faithfulness", "answer_correctness", "context_utilization", "context_relevance", "context_recall",
       "answer_relevancy")  # fmt: skip


def six_metrics() -> Comparison:
    """60 rows: one metric worse, one better, two in which few rows moved, two in which none did."""
    before = [0.75] * 60
    moved = {0: [0.25] * 12, 1: [1.0] * 10, 2: [0.5, 1.0], 3: [0.5]}
    after = [[*moved.get(n, []), *before[len(moved.get(n, [])) :]] for n in range(6)]
    return compare(*made([before] * 6, after), moved=0)


def test_the_headline_is_one_line_of_80_columns_with_six_metrics() -> None:
    """p of 12 falls is 2·0.5¹², of 10 rises 2·0.5¹⁰: the strongest first, then the inconclusive, then the unchanged."""
    found = six_metrics()
    assert set(list(found.metrics)[:2]) == {"m0", "m1"}
    assert [one.verdict for one in found.metrics.values()] == [
        *("worse", "better", "inconclusive", "inconclusive", "unchanged", "unchanged")
    ]
    named = {name: MetricDiff(name, one.direction, one.pairs, 0, one.difference, one.p, one.verdict)
             for name, one in zip(SIX, found.metrics.values(), strict=True)}  # fmt: skip
    long = Comparison("monday", "tuesday", 60, 0, 0, named)
    assert long.headline == "worse on faithfulness; 1 better, 2 inconclusive, 2 unchanged (60 rows in both)"
    assert long.title_lines() == [long.headline, "tuesday against monday"]
    assert len(long.headline) <= HEADLINE
    wide = [line.plain for line in comparison_lines(long, 120)]
    narrow = [line.plain for line in comparison_lines(long, 80)]
    for lines, limit in ((wide, 120), (narrow, 80)):
        assert len(lines) == 2 + 1 + 6 + 1  # title, heads, metrics, what MDE is
        assert max(map(len, lines)) <= limit
    assert wide[3].startswith("faithfulness         worse         0.750 -> 0.650   -0.100 (")
    assert narrow[5].split()[:2] == ["context_utilization", "inconclusive"]
    assert narrow[7].split() == ["context_recall", "unchanged", "0.75->0.75", "0.00", "60"]


def test_a_metric_with_a_long_name_stands_above_its_line_in_a_narrow_terminal() -> None:
    found = six_metrics()
    one = found.metrics["m2"]
    name = "multimodal:deepeval_faithfulness_of_pictures"
    long = Comparison("a", "b", 60, 0, 0, {name: MetricDiff(name, "higher", 60, 0, one.difference, 1.0)})
    lines = [line.plain for line in comparison_lines(long, 80)]
    assert lines[3] == name
    assert lines[4].startswith("  inconclusive 0.75->0.75")
    assert len(long.headline) <= HEADLINE


def test_the_metrics_asked_for_stand_first_in_their_order() -> None:
    before = [0.75] * 60
    found = compare(*made([before] * 2, [before, [0.25] * 12 + before[12:]]), ["m0", "m1"], moved=0)
    assert list(found.metrics) == ["m0", "m1"]
    assert found.headline == "unchanged on m0; worse on m1 (60 rows in both)"


def score(*claims: tuple[str, str], quote: str | None = None) -> Score:
    evidence = () if quote is None else (Evidence(passage=0, span=Span(0, len(quote)), text=quote),)
    verdicts = tuple(
        Verdict(label=label, claim=Claim(text=text, span=Span(0, len(text))), evidence=evidence)
        for text, label in claims
    )
    return Score(metric="m", value=0.5, verdicts={"answer/contexts": verdicts})


def test_a_changed_claim_is_one_flip_with_what_the_evidence_says() -> None:
    first = score(("The discount is 20 % for members.", "supported"), ("It is open.", "supported"))
    second = score(
        ("The discount is 12 % for members.", "contradicted"), ("It is open.", "supported"),
        quote="Members get 20 % off all tickets.",
    )  # fmt: skip
    (flip,) = flips_of(first, second)
    assert str(flip) == (
        '"The discount is 20 % for members." (supported) -> "The discount is 12 % for members." (contradicted) '
        '[passage 1: "Members get 20 % off all tickets."]'
    )
    assert flip.line(120) == (
        '"… discount is 20 % for …" (supported) -> "… discount is 12 % for …" (contradicted) '
        '[passage 1: "Members get 20 % off…"]'
    )
    assert flip.line(80) == '"… 20 …" (supported) -> "… 12 …" (contradicted) [passage 1: "Members get 20 %…"]'
    for width in (60, 80, 100, 140):
        assert len(flip.line(width)) <= width


def test_claims_without_a_counterpart_are_added_or_removed() -> None:
    """Two claims before and one after: the same text stays, the others have no word in common."""
    first = score(("It is open.", "supported"), ("Dogs may enter.", "not_mentioned"))
    second = score(("It is open.", "contradicted"))
    assert [str(flip) for flip in flips_of(first, second)] == [
        '"It is open." (supported -> contradicted)',
        'removed: "Dogs may enter." (not in the passages)',
    ]
    assert str(flips_of(second, first)[1]) == 'added: "Dogs may enter." (not in the passages)'


def test_a_claim_in_other_words_with_the_same_label_is_no_flip() -> None:
    assert flips_of(score(("It opens at nine.", "supported")), score(("It opens at 9.", "supported"))) == ()


def test_labels_have_one_spelling_in_prose() -> None:
    assert [label_in_prose(label) for label in ("supported", "contradicted", "not_mentioned", "not_useful")] == [
        *("supported", "contradicted", "not in the passages", "not useful")
    ]
    assert label_in_prose("not_mentioned", "reference") == "not in the reference"
    assert Flip("A.", "A.", "supported", "not_mentioned", "answer").line(80) == (
        '"A." (supported -> not in the answer)'
    )


REFUSAL = "I don't know."


def answers(folder: Path, name: str, said: dict[int, str]) -> Any:
    judge = ScriptedJudge(
        claims=lambda text: [] if text == REFUSAL else [text],
        support=lambda claim, passage: "not_mentioned" if "false" in claim else "supported",
    )
    rows = [{"id": f"r{n}", "question": f"Q{n}?", "contexts": ["It is so."], "answer": said.get(n, "It is true.")}
            for n in range(20)]  # fmt: skip
    return evaluate(rows, "faithfulness, ragas:faithfulness", judge, store=folder, run=name, progress=False)


def test_answers_that_became_refusals_are_counted_once_a_pair_of_runs(tmp_path: Path) -> None:
    """r0 to r2 are refusals in the second run, r3 in the first, r4 in both; two metrics lack them."""
    before = answers(tmp_path, "monday", dict.fromkeys((3, 4), REFUSAL))
    now = answers(tmp_path, "tuesday", dict.fromkeys((0, 1, 2, 4), REFUSAL))
    found = compare(before, now)
    assert (found.new_refusals, found.new_answers) == (3, 1)
    assert found.refusals == "3 answers became refusals, 1 refusal became an answer"
    assert {one.pairs for one in found.metrics.values()} == {15}
    assert compare(before, now, "faithfulness").refusals == found.refusals
    assert str(found).count("became") == 2
    report = report_of(now, before)
    assert as_markdown(report).count("3 answers became refusals, 1 refusal became an answer.") == 1
    assert "".join(page(report)).count("3 answers became refusals, 1 refusal became an answer.") == 1
    assert compare(before, before).refusals is None
    assert found.to_dict()["new_refusals"] == 3


@pytest.mark.parametrize(("moved", "head"), [(5, "5 of 14 moved rows shown"), (20, "14 moved rows")])
def test_it_says_how_many_moved_rows_there_are(tmp_path: Path, moved: int, head: str) -> None:
    before = answers(tmp_path, "monday", {})
    now = answers(tmp_path, "tuesday", dict.fromkeys(range(14), "It is false."))
    lines = [line.plain for line in moved_lines(compare(before, now, "faithfulness", moved=moved), 80)]
    assert lines[0] == f"faithfulness: {head}"
    assert len(lines) == 1 + 2 * min(moved, 14)  # each row has one flip
    markdown = as_markdown(report_of(now, before))
    assert "**Regressions** (10 of 28 rows that got worse shown)" in markdown
    assert "15 of 28 shown" in "".join(page(report_of(now, before)))
