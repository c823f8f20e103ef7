"""The overview of a run: grounded answers, answered questions, retrieval that found it, as shares of rows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Result, ScriptedJudge, evaluate
from assay.analysis.diagnosis import find_causes
from assay.errors import Cause
from assay.evaluation.display.overview_table import overview_note
from assay.evaluation.external_runs import load_external_run
from assay.evaluation.overview import Overview
from assay.evaluation.stored_facts import is_answerable, is_refusal
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.stats.intervals import estimate
from tests.conftest import literal_support

Run = Callable[..., tuple[int, str, str]]

PASSAGE = "It is red. It is big. It is old."
REFUSAL = "I don't know."


def row(answer: str | None, reference: str | None = None, passage: str | None = PASSAGE, **more: Any) -> dict[str, Any]:
    found = {"question": "What is it?", "answer": answer, "reference": reference, **more}
    return {**found, **({} if passage is None else {"contexts": [passage] if passage else []})}


#: Faithfulness of five: 2/2, 1/2, 0/1, of a refusal 0/1, 1/1; the passages have the reference of two of three.
ROWS = [
    row("It is red. It is big.", "It is red."),  # grounded, answerable, answered
    row("It is red. It is hot.", "It is big."),  # 0.5 is below 0.8
    row("It is hot."),  # not grounded; nothing is known of its question
    row(REFUSAL, "It is wet."),  # the passages do not have the reference
    row("It is old.", REFUSAL),  # the reference says that it cannot be answered
]


def run_of(rows: list[dict[str, Any]], folder: Path, metrics: str | None = None, **more: Any) -> Result:
    return evaluate(rows, metrics, ScriptedJudge(support=literal_support), store=folder, progress=False, **more)


@pytest.fixture
def result(tmp_path: Path) -> Result:
    return run_of(ROWS, tmp_path / ".assay", "faithfulness,context_recall")


def counts(result: Result) -> dict[str, tuple[int, int]]:
    found = result.overview.to_dict()
    return {name: (one["count"], one["total"]) for name, one in found.items() if name != "answerability"}


def test_counts_of_rows(result: Result) -> None:
    # the scripted judge reads a refusal as a claim, which no passage supports: it is no ungrounded answer
    assert [one.scores["faithfulness"].value for one in result] == [1.0, 0.5, 0.0, 0.0, 1.0]
    # 2 of the 4 other answers have 0.8 or more; 4 of 5 are no refusal; 2 of 3 answerable rows have the reference
    assert counts(result) == {"grounded": (2, 4), "answered": (4, 5), "refused": (1, 5), "retrieval_hits": (2, 3)}
    assert result.overview.to_dict()["grounded"]["share"] == 2 / 4
    assert result.overview.to_dict()["grounded"]["metric"] == "faithfulness"
    assert result.overview.to_dict()["grounded"]["threshold"] == 0.8


def test_the_table_of_questions_and_replies_is_that_of_the_causes(result: Result) -> None:
    table = result.overview.to_dict()["answerability"]
    assert {kind: (of["answered"], of["refused"]) for kind, of in table.items()} == {
        "answerable": (2, 0),
        "answerable, not retrieved": (0, 1),
        "unanswerable": (1, 0),
        "unknown": (1, 0),
    }
    assert table == find_causes(result).answered.to_dict()


def test_intervals_are_those_of_means_of_zeros_and_ones(result: Result) -> None:
    expected = estimate([1.0, 0.0, 0.0, 1.0])  # Wilson's, as nothing lies between
    assert expected is not None
    assert result.overview.to_dict()["grounded"]["interval"] == pytest.approx([expected.low, expected.high])
    refused, answered = result.overview.refused, result.overview.answered
    assert refused is not None
    assert answered is not None
    assert refused.share == pytest.approx(1 - answered.share)
    assert refused.interval.low == pytest.approx(1 - answered.interval.high)


def test_it_prints_as_lines(result: Result) -> None:
    lines = str(result.overview).splitlines()
    assert lines[0] == "grounded answers 2 of 4 (50%, 95% CI 6% to 94%)"
    assert len(lines) == 3
    assert repr(result.overview).splitlines()[2].split()[:4] == ["grounded", "answers", "2", "4"]


def test_clusters_widen_the_intervals(tmp_path: Path) -> None:
    """Two documents with ten equal rows each are two answers, not twenty."""
    rows = [row("It is red." if n % 2 else "It is hot.", doc=f"d{n % 2}", id=f"{n}") for n in range(20)]
    alone = run_of(rows, tmp_path, "faithfulness")
    together = alone.cluster_by("doc")
    assert counts(alone) == counts(together)
    first, second = (one.overview.to_dict()["grounded"]["interval"] for one in (alone, together))
    assert second[1] - second[0] > 1.5 * (first[1] - first[0])


def test_a_loaded_run_has_the_same_overview(result: Result) -> None:
    loaded = Result.load(result.run, result.store)
    assert loaded.overview.to_dict() == result.overview.to_dict()
    assert loaded.to_dict()["overview"] == result.overview.to_dict()
    json.dumps(loaded.to_dict(), allow_nan=False)


def test_it_leads_only_where_no_metrics_were_named(result: Result, tmp_path: Path) -> None:
    assert "grounded answers" not in str(result)
    unnamed = run_of(ROWS, tmp_path / "other")
    for one in (unnamed, Result.load("last", tmp_path / "other")):
        lines = str(one).splitlines()
        assert [line.split("  ")[0].strip() for line in lines if "↑" in line][:3] == [
            "grounded answers ↑", "answered questions ↑", "retrieval found it ↑",
        ]  # fmt: skip
        assert "refused: 1 of 5 (20%); grounded: faithfulness of 0.8 or more" in lines
        assert lines[-1] == "what a metric measures: assay metrics NAME"
        shown = one._repr_html_()
        assert shown.index("grounded answers") < shown.index("faithfulness ↑")
        assert 'title="What share of the answer&#x27;s claims do the retrieved contexts support? Higher' in shown


def test_grounded_comes_before_faithfulness_and_ours_before_those_of_others() -> None:
    def share(*names: str) -> str | None:
        overview = Overview()
        scores = {name: Score(metric=name, value=0.6) for name in names}
        overview.add(1, ScoredSample(sample=Sample(answer="It is red."), scores=scores))
        assert overview.grounded is None or overview.grounded.count == (overview.grounded.threshold == 0.5)
        return None if overview.grounded is None else overview.grounded.metric

    assert share("ragas:faithfulness", "faithfulness", "grounded") == "grounded"
    assert share("ragas:faithfulness", "faithfulness") == "faithfulness"
    assert share("ragas:faithfulness") == "ragas:faithfulness"
    assert share("multimodal:deepeval_faithfulness", "context_relevance") is None


def test_values_by_convention_and_other_ranges_do_not_count() -> None:
    overview = Overview()
    scores = {
        "faithfulness": Score(metric="faithfulness", value=1.0, convention="the original gives 1"),
        "llamaindex:faithfulness": Score(metric="llamaindex:faithfulness", value=4.0, high=5.0),
    }
    overview.add(1, ScoredSample(sample=Sample(), scores=scores))
    assert overview.grounded is None
    assert overview.to_dict() == {}
    assert not overview


def test_nothing_is_said_where_nothing_is_known(tmp_path: Path, command_line: Run) -> None:
    result = run_of([row(None)], tmp_path / ".assay", "context_relevance")
    assert result.overview.to_dict() == {}
    out = command_line("show")[1]
    assert "answered questions" not in out
    assert "what a metric measures" not in out


def test_a_run_without_rows(tmp_path: Path) -> None:
    assert Overview().to_dict() == {}
    assert overview_note(Overview()) == ""


def test_all_rows_refused(tmp_path: Path) -> None:
    result = run_of([row(REFUSAL, id=f"{n}") for n in range(7)], tmp_path)
    assert counts(result) == {"answered": (0, 7), "refused": (7, 7)}
    assert "answered questions ↑   0 of 7      0%" in str(result)
    assert "refused: 7 of 7 (100%)" in str(result).splitlines()  # and nothing of grounded answers


def test_rows_without_passages_are_not_retrieved_where_references_are_read(tmp_path: Path) -> None:
    rows = [row("It is red.", "It is red."), row("It is red.", "It is red.", passage="")]
    assert counts(run_of(rows, tmp_path / "one", "faithfulness,context_recall"))["retrieval_hits"] == (1, 2)
    assert "retrieval_hits" not in counts(run_of(rows, tmp_path / "two", "faithfulness"))  # nothing was read


def test_rows_that_failed_in_every_metric_say_what_their_texts_say() -> None:
    overview = Overview()
    for number, answer in enumerate(("It is red.", REFUSAL, None, ""), 1):
        error = ScoreError(cause=Cause.CONNECTION, message="refused")
        scores = {name: Score(metric=name, error=error) for name in ("faithfulness", "context_recall")}
        overview.add(number, ScoredSample(sample=Sample(answer=answer, reference="It is red."), scores=scores))
    found = overview.to_dict()
    assert (found["answered"]["count"], found["answered"]["total"]) == (1, 3)  # the third has no answer
    assert set(found) == {"answered", "refused", "answerability"}


def test_small_talk_that_no_rule_knows_is_a_refusal_by_its_score() -> None:
    """A metric that found no claims in the answer says so; one of the reference says nothing of the answer."""
    sample = Sample(answer="Roses are what everybody in the village likes to look at.")
    error = ScoreError(cause=Cause.NO_CLAIMS, message="none")
    assert is_refusal(sample, {"faithfulness": Score(metric="faithfulness", error=error)}) is True
    assert is_refusal(sample, {"context_recall": Score(metric="context_recall", error=error)}) is False


def test_refusals_of_languages_without_rules_are_not_known() -> None:
    text = "東京は日本の首都であり、世界で最も人口の多い都市の一つです。"
    assert is_refusal(Sample(answer=text), {}) is None
    assert is_refusal(Sample(answer="No lo sé.", language="es"), {}) is True


@pytest.mark.parametrize(
    ("column", "reference", "answerable"),
    [("no", "It is red.", False), (True, None, True), (0.0, None, False), (None, None, None), (None, " ", None),
     ("perhaps", REFUSAL, False)],
)  # fmt: skip
def test_whether_a_question_can_be_answered(column: Any, reference: str | None, answerable: bool | None) -> None:
    sample = Sample(reference=reference, metadata={} if column is None else {"answerable": column})
    assert is_answerable(sample) is answerable


def test_a_run_of_another_system_has_one(tmp_path: Path, command_line: Run) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        "user_input,retrieved_contexts,response,faithfulness\n"
        "What?,['It is red.'],It is red.,0.9\n"
        "What?,['It is red.'],It is hot.,0.1\n"
        "What?,['It is red.'],I don't know.,\n"
    )
    result = load_external_run(f"ragas:{file}")
    assert counts(result) == {"grounded": (1, 2), "answered": (2, 3), "refused": (1, 3)}
    out = command_line("show", f"ragas:{file}")[1]
    assert "grounded answers ↑     1 of 2" in out


def test_a_run_of_an_older_store_shows_what_its_scores_hold(tmp_path: Path) -> None:
    """Older runs do not say whether metrics were named: then the overview leads in `assay show` alone."""
    result = run_of(ROWS, tmp_path)
    info = {name: value for name, value in result.info().items() if name != "default_metrics"}
    result.store.put_run(result.run, info, started=result.started)
    loaded = Result.load(result.run, result.store)
    assert "grounded answers" not in str(loaded)
    assert loaded.overview.to_dict() == result.overview.to_dict()


def test_show_score_and_reports_have_it(tmp_path: Path, command_line: Run) -> None:
    run_of(ROWS, tmp_path / ".assay", run="one")
    assert "retrieval found it ↑   2 of 3" in command_line("show", "one")[1]
    assert "retrieval found it ↑   2 of 3" in command_line("show", "one", "--slice", "language")[1]
    assert json.loads(command_line("show", "one", "--json")[1])["overview"]["refused"]["count"] == 1
    for file in ("r.md", "r.html", "r.json"):
        assert command_line("report", "one", "-o", file)[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert page.index('id="overview"') < page.index('id="coverage"')
    assert "<strong>2 of 3</strong>" in page
    assert "| retrieval found it ↑ | 2 of 3 | 67% |" in (tmp_path / "r.md").read_text()
    assert json.loads((tmp_path / "r.json").read_text())["overview"]["retrieval_hits"]["count"] == 2


def test_it_costs_little_on_many_rows() -> None:
    """Under 2 ms a row; reading a row from a store takes 1 ms."""
    score = Score(metric="faithfulness", value=0.9)
    rows = [
        ScoredSample(sample=Sample(answer=f"Number {n} is red and it is big. " * 5), scores={"faithfulness": score})
        for n in range(2_000)
    ]
    overview, began = Overview(), time.process_time()
    for number, scored in enumerate(rows, 1):
        overview.add(number, scored)
    assert time.process_time() - began < 2e-3 * len(rows)
    assert overview.answered is not None
    assert overview.answered.count == len(rows)
    assert sum(map(len, overview.answerability.rows.values())) <= 20  # memory does not grow with rows
