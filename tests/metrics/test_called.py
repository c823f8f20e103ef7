"""Variants of one metric: told apart by a label of their own, else no run begins, and what differs is said."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

import assay
from assay.errors import Cause, InputError
from assay.evaluation.result import Result
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import (
    METRICS,
    AspectCritique,
    Faithfulness,
    HarmonicMean,
    LabelledMetric,
    Metric,
    NuggetRecall,
    metric,
)
from assay.metrics.langchain.matching import ExactMatch
from assay.metrics.names import resolve_metrics
from assay.metrics.systems import named
from assay.metrics.trulens.jury import Jury
from assay.records import Sample
from assay.testing import check_metric

NUGGETS = ["A.", {"text": "D.", "importance": "okay"}]
ROWS = [{"answer": "A. B. C.", "metadata": {"nuggets": NUGGETS}}, {"answer": "D.", "metadata": {"nuggets": NUGGETS}}]


def reader() -> ScriptedJudge:
    return ScriptedJudge(support=lambda claim, text: "supported" if claim in text else "not_mentioned")


def test_two_variants_stand_side_by_side_in_a_run_and_in_its_store(tmp_path: Any) -> None:
    """Nuggets A (vital) and D (okay): A found gives 1 / 1.5 and 1 / 1.25, D found 0.5 / 1.5 and 0.25 / 1.25."""
    judge = reader()
    variants = [NuggetRecall(), LabelledMetric(NuggetRecall(okay=0.25), "nuggets, okay 0.25")]
    result = assay.evaluate(ROWS, variants, judge, store=tmp_path)
    means = {label: summary.mean for label, summary in result.metrics.items()}
    assert means == {
        "nugget_recall_answer": pytest.approx((1 / 1.5 + 0.5 / 1.5) / 2),
        "nuggets, okay 0.25": pytest.approx((1 / 1.25 + 0.25 / 1.25) / 2),
    }
    assert judge.asked["support"] == 2  # the nuggets of a row are read once for both
    stored = Result.load(result.run, tmp_path)
    assert {label: summary.mean for label, summary in stored.metrics.items()} == means
    assert "okay=0.25" in stored.parameters["nuggets, okay 0.25"]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (NuggetRecall(), NuggetRecall(okay=0.25), "They differ in okay (0.5 and 0.25): give one another label"),
        (ExactMatch(), ExactMatch(ignore_case=True, ignore_numbers=True), "in ignore_case (False and True), ignore_nu"),
        # what is long is named alone
        (AspectCritique("a", "Is the ANSWER short?" * 9), AspectCritique("a", "Is it polite?"), "in definition: give"),
        (Jury(metric=Faithfulness()), Jury(metric=Faithfulness(), votes=3), "in votes (5 and 3)"),
        (
            LabelledMetric(Faithfulness(), "a"),
            AspectCritique("a", "Is it?"),
            "in class (LabelledMetric and AspectCritique)",
        ),
    ],
)
def test_two_of_one_label_are_refused_with_what_differs_and_the_way_out(one: Any, other: Any, said: str) -> None:
    for refused in (lambda: resolve_metrics([one, other]), lambda: HarmonicMean(one, other)):
        with pytest.raises(InputError) as raised:
            refused()
        assert f"{one.label!r} is given twice; scores are told apart by this label" in str(raised.value)
        assert said in str(raised.value)
        assert 'assay.metrics.LabelledMetric(metric, "LABEL")' in str(raised.value)
    assert [each.label for each in resolve_metrics([one, LabelledMetric(other, "other")])] == [one.label, "other"]


def test_the_same_twice_differs_in_nothing() -> None:
    one = NuggetRecall()
    for twice in ([one, one], [NuggetRecall(), NuggetRecall()], "faithfulness,faithfulness"):
        with pytest.raises(InputError, match=r"scores are told apart by this label$"):
            resolve_metrics(twice)


def test_two_functions_of_one_name_are_refused() -> None:
    @metric(name="mine")
    def one(answer: str) -> bool:
        return True

    @metric(name="mine")
    def other(answer: str) -> bool:
        return False

    with pytest.raises(InputError, match=r"'mine' is given twice.*differ in function"):
        resolve_metrics([one, other])
    assert [each.label for each in resolve_metrics([one, LabelledMetric(other, "theirs")])] == ["mine", "theirs"]


def test_all_but_the_label_is_the_metrics() -> None:
    """Each attribute that a metric has, of assay's own and of one that reads pictures, one that asks nobody."""
    names = {name for name in vars(Metric) if not name.startswith("_") and not callable(getattr(Metric, name))}
    assert {"needs", "columns", "low", "direction", "consults", "reads_texts", "needed_columns"} <= names
    others = [named("multimodal:faithfulness"), named("langchain:exact_match"), named("langchain:regex_match")]
    for inside in [*(make() for make in METRICS.values()), *others]:
        called = LabelledMetric(inside, "mine")
        assert called.label == "mine"
        for name in names - {"label"}:
            assert getattr(called, name) == getattr(inside, name), (inside.label, name)
        for judge in (reader(), ScriptedJudge()):
            assert repr(called.cannot(judge)) == repr(inside.cannot(judge))
        assert called.missing(Sample()) == inside.missing(Sample())
        assert pickle.loads(pickle.dumps(called)) == called


def test_a_score_without_a_value_has_the_label_too() -> None:
    found = asyncio.run(LabelledMetric(Faithfulness(), "mine").score(Sample(), reader()))
    assert found.metric == "mine"
    assert found.error is not None
    assert found.error.cause is Cause.MISSING_INPUT
    original = asyncio.run(LabelledMetric(named("ragchecker:recall@original"), "mine").score(Sample(), reader()))
    assert original.metric == "mine"


@pytest.mark.long
def test_it_keeps_what_a_metric_promises() -> None:
    check_metric(LabelledMetric(Faithfulness(), "mine"))


def test_what_cannot_be_called() -> None:
    with pytest.raises(InputError, match="LabelledMetric: metric: expected a metric, got 'faithfulness'"):
        LabelledMetric("faithfulness", "mine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="LabelledMetric: title: expected a text"):
        LabelledMetric(Faithfulness(), 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="LabelledMetric: title: it is blank"):
        LabelledMetric(Faithfulness(), " ")


def test_options_of_forty_characters_are_shown() -> None:
    for length, shown in ((38, True), (39, False)):  # with two quotation marks
        one, other = AspectCritique("a", "x" * length), AspectCritique("a", "y")
        with pytest.raises(InputError) as raised:
            resolve_metrics([one, other])
        assert ("They differ in definition ('xx" in str(raised.value)) is shown
        assert ("They differ in definition: give" in str(raised.value)) is not shown
