"""One verdict on a whole answer, and the expected share beside the counted one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate, systems
from assay.judges.scripted import ScriptedJudge
from assay.metrics import METRICS
from assay.metrics.answer_correctness import AnswerCorrectness
from assay.metrics.grounded import least_supported, probability_grounded
from assay.metrics.noise_sensitivity import expected_noise
from assay.metrics.readings import expected_share
from assay.records import Cell, Context, Sample, Verdict
from assay.systems.ragas.answer_correctness import AnswerCorrectness as RagasAnswerCorrectness
from assay.systems.ragchecker.tables import chances, expected_found

SAMPLE = Sample(
    question="Where?", contexts=(Context(text="All of it."),), answer="A is so. B is so. C is so.", reference="A is so."
)


def said(*probabilities: float | None) -> list[Verdict]:
    return [Verdict(label="supported" if (p or 0) >= 0.5 else "not_mentioned", probability=p) for p in probabilities]


class Unsure(ScriptedJudge):
    """Gives the claims of an answer these probabilities, in order."""

    def __init__(self, *probabilities: float) -> None:
        super().__init__(support=lambda claim, passage: "supported")
        self.probabilities = probabilities

    async def answer(self, inquiries: Sequence[Any]) -> Sequence[Any]:
        answers = await super().answer(inquiries)
        return [
            replace(answer, finding=tuple(self._unsure(answer.finding))) if inquiry.name == "support" else answer
            for inquiry, answer in zip(inquiries, answers, strict=True)
        ]

    def _unsure(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        changes = [
            {"probability": p, "label": "supported" if p >= 0.5 else "not_mentioned"} for p in self.probabilities
        ]
        return [
            replace(verdict, **change, cells=tuple(replace(cell, **change) for cell in verdict.cells))
            for verdict, change in zip(verdicts, changes, strict=False)
        ]


def test_two_claims_decide() -> None:
    # log-odds of 0.2 and 0.8: ln(1/4) and ln 4, so even odds
    assert probability_grounded(said(0.99, 0.2, 0.8)) == pytest.approx(0.5)
    # of 0.2 and 0.5: mean -0.693 = ln(1/2)
    assert probability_grounded(said(0.99, 0.2, 0.5)) == pytest.approx(1 / 3)
    assert probability_grounded(said(0.7)) == pytest.approx(0.7)


def test_a_sure_claim_does_not_outweigh_one_that_is_surely_not_supported() -> None:
    # log-odds of 0.06: ln(6/94) = -2.752; those of 0.95 are 2.944 and count as 1.5: their mean is -0.626
    assert probability_grounded(said(0.95, 0.06)) == pytest.approx(1 / (1 + math.exp(0.6258)), abs=1e-4)
    assert probability_grounded(said(0.99, 0.95, 0.06)) == probability_grounded(said(0.95, 0.06))
    assert probability_grounded(said(0.99, 0.99)) == pytest.approx(0.99)  # where all are sure, so is the answer


@given(st.lists(st.floats(0.5, 1), max_size=8), st.floats(0, 0.18))
def test_one_claim_below_018_is_enough(others: list[float], low: float) -> None:
    assert probability_grounded(said(*others, low)) < 0.5


def test_without_probabilities_every_claim_has_to_be_supported() -> None:
    supported, missing = Verdict(label="supported"), Verdict(label="not_mentioned")
    assert probability_grounded([supported, supported]) == 1.0
    assert probability_grounded([supported, missing]) == 0.0
    assert probability_grounded([Verdict(label="supported", probability=0.2), supported]) == 1.0  # one is not known


def test_certainty_is_no_division_by_nothing() -> None:
    assert probability_grounded(said(1.0, 1.0)) == pytest.approx(1.0, abs=1e-5)
    # log-odds of one in a million, -13.8155, and 1.5: their mean is -6.1578
    assert probability_grounded(said(0.0, 1.0)) == pytest.approx(1 / (1 + math.exp(6.1578)), abs=1e-5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_it_lies_between_the_two_least_and_does_not_depend_on_order(probabilities: list[float]) -> None:
    found = probability_grounded(said(*probabilities))
    low, *rest = sorted(probabilities)
    high = rest[0] if rest else low
    assert low - 2e-6 <= found <= high + 2e-6
    assert math.isclose(found, probability_grounded(said(*reversed(probabilities))))
    assert [one.probability for one in least_supported(said(*probabilities))] == sorted(probabilities)[:2]


async def test_the_score_names_its_verdict_and_what_decided() -> None:
    score = await METRICS["grounded"]().score(SAMPLE, Unsure(0.99, 0.2, 0.5))
    assert score.value == pytest.approx(1 / 3)
    assert score.parts == {"grounded": 0.0}
    assert score.texts["decided_by"] == ("B is so.", "C is so.")
    assert len(score.verdicts["answer/contexts"]) == 3


async def test_the_expected_share_stands_beside_the_counted_one() -> None:
    judge = Unsure(0.9, 0.6, 0.3)
    faithful = await METRICS["faithfulness"]().score(SAMPLE, judge)
    assert (faithful.value, faithful.parts) == (pytest.approx(2 / 3), {"mean_probability": pytest.approx(0.6)})
    made_up = await METRICS["hallucination"]().score(SAMPLE, judge)
    assert (made_up.value, made_up.parts) == (pytest.approx(1 / 3), {"mean_probability": pytest.approx(0.4)})
    against = await METRICS["hallucination_contradicted"]().score(SAMPLE, judge)
    assert against.parts == {}  # the probabilities are those of support
    recall = await METRICS["context_recall"]().score(SAMPLE, judge)
    assert (recall.value, recall.parts) == (1.0, {"mean_probability": pytest.approx(0.9)})


@pytest.mark.parametrize(
    ("name", "value", "part", "expected"),
    [
        # answer: 2 of 3 by the reference; reference: 1 of 1. F1 = 2 * 2 / (2 * 2 + 1); 2 * 1.8 / (2 * 1.8 + 1.2 + 0.1)
        ("answer_correctness", 4 / 5, "expected_factual", 3.6 / 4.9),
        ("ragas:factual_correctness", 4 / 5, "expected", 3.6 / 4.9),
        ("ragas:factual_correctness_precision", 2 / 3, "expected", 0.6),
        ("ragas:answer_correctness", 4 / 5, "expected_factual", 3.6 / 4.9),
        ("deepeval:contextual_recall", 1.0, "mean_probability", 0.9),
        ("ragchecker:precision", 2 / 3, "mean_probability", 0.6),
        ("ragchecker:recall", 1.0, "mean_probability", 0.9),
        ("ragchecker:f1", 4 / 5, "mean_probability", 2 * 0.6 * 0.9 / 1.5),
        # one passage: what it most probably entails is what it probably entails
        ("ragchecker:faithfulness", 2 / 3, "mean_probability", 0.6),
        ("ragchecker:claim_recall", 1.0, "mean_probability", 0.9),
        # neither in the passage nor in the reference, which are read alike: 0.1 * 0.1, 0.4 * 0.4, 0.7 * 0.7
        ("ragchecker:hallucination", 1 / 3, "mean_probability", (0.01 + 0.16 + 0.49) / 3),
        ("ragchecker:self_knowledge", 0.0, "mean_probability", (0.1 * 0.9 + 0.4 * 0.6 + 0.7 * 0.3) / 3),
        # the passage is relevant: wrong by the reference, and in it
        ("ragchecker:noise_sensitivity_in_relevant", 0.0, "mean_probability", (0.09 + 0.24 + 0.21) / 3),
        ("nugget_recall_answer", 1.0, "mean_probability", (0.9 + 0.5 * 0.6) / 1.5),
    ],
)
async def test_what_probabilities_lead_one_to_expect_of_counts(
    name: str, value: float, part: str, expected: float
) -> None:
    metric = systems.named(name) if ":" in name else METRICS[name]()
    if isinstance(metric, (AnswerCorrectness, RagasAnswerCorrectness)):
        metric = replace(metric, weights=(1.0, 0.0))
    nuggets = [{"text": "A is so."}, {"text": "B is so.", "importance": "okay"}]
    sample = replace(SAMPLE, metadata={"nuggets": nuggets})
    score = await metric.score(sample, Unsure(0.9, 0.6, 0.3))
    assert score.value == pytest.approx(value)
    assert score.parts[part] == pytest.approx(expected)
    sure = await metric.score(sample, ScriptedJudge(support=lambda claim, passage: "supported"))
    assert part not in sure.parts  # this judge gives no probabilities


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -0.1, 1.7])
def test_a_probability_that_is_none_is_the_judges_mistake(odd: Any) -> None:
    class Odd(Unsure):
        def _unsure(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
            return [replace(verdict, probability=odd) for verdict in verdicts]

    (row,) = evaluate([SAMPLE], ["faithfulness"], Odd(), store=None)
    score = row.scores["faithfulness"]
    assert score.value is None
    assert score.unscored is not None
    assert f"the probability {odd!r} is not in [0, 1]" in score.unscored.message


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (Cell(label="SUPPORTED"), "ValidationError"),  # type: ignore[arg-type]
        (Cell(label="supported", probability=float("nan")), "the probability nan is not in [0, 1]"),
    ],
)
def test_what_is_said_of_one_passage_is_held_to_the_same(cell: Cell, said: str) -> None:
    """Else `noise_sensitivity` would count a label that it does not know as a passage that says nothing."""

    class Odd(Unsure):
        def _unsure(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
            return [replace(verdict, cells=(cell,)) for verdict in verdicts]

    (row,) = evaluate([SAMPLE], ["noise_sensitivity_relevant"], Odd(), store=None)
    score = row.scores["noise_sensitivity_relevant"]
    assert score.value is None
    assert score.unscored is not None
    assert said in score.unscored.message


async def test_ragas_faithfulness_of_probabilities_tells_them_before_they_are_rounded() -> None:
    score = await systems.named("ragas:faithfulness_with_hhem").score(SAMPLE, Unsure(0.9, 0.6, 0.3))
    assert (score.value, score.parts["mean_probability"]) == (pytest.approx(2 / 3), pytest.approx(0.6))


async def test_a_citation_of_no_passage_is_expected_to_be_wrong() -> None:
    sample = replace(SAMPLE, answer="A is so [1]. B is so [1]. C is so [3].")
    score = await METRICS["citation_accuracy"]().score(sample, Unsure(0.9, 0.6))
    assert score.value == pytest.approx(2 / 3)
    assert score.parts["mean_probability"] == pytest.approx((0.9 + 0.6 + 0) / 3)


def test_noise_is_expected_where_a_claim_may_be_wrong_and_a_passage_may_say_it() -> None:
    def read(*cells: float) -> Verdict:
        return Verdict(label="not_mentioned", cells=tuple(Cell(label="not_mentioned", probability=p) for p in cells))

    correct, contexts = said(0.9, 0.2), [read(0.8, 0.1), read(0.5, 0.6)]
    # passage 1 alone is relevant: 0.1 * 0.8 and 0.8 * 0.5; of passage 2 what passage 1 does not say as well
    assert expected_noise(correct, contexts, {0}) == pytest.approx((0.08 + 0.4) / 2)
    alone = (0.1 * 0.1 * 0.2 + 0.8 * 0.6 * 0.5) / 2
    assert expected_noise(correct, contexts, {0}, "irrelevant") == pytest.approx(alone)
    assert expected_noise(correct, contexts, set()) == 0.0
    # none is relevant: the likelier of both, 0.1 * 0.8 and 0.8 * 0.6; all are: nothing is from an irrelevant one
    assert expected_noise(correct, contexts, set(), "irrelevant") == pytest.approx((0.08 + 0.48) / 2)
    assert expected_noise(correct, contexts, {0, 1}) == pytest.approx((0.08 + 0.48) / 2)
    assert expected_noise(correct, contexts, {0, 1}, "irrelevant") == 0.0
    assert expected_noise(said(None, 0.2), contexts, {0}) is None
    assert expected_noise(correct, said(0.9, 0.2), {0}) is None  # nobody said anything of a passage alone


def test_of_several_passages_the_one_that_most_probably_entails_a_claim_stands_for_all() -> None:
    def read(*cells: float | None) -> Verdict:
        return Verdict(label="not_mentioned", cells=tuple(Cell(label="not_mentioned", probability=p) for p in cells))

    assert chances([read(0.2, 0.7), read(0.4, 0.1)]) == [0.7, 0.4]
    assert expected_found([read(0.2, 0.7), read(0.4, 0.1)]) == {"mean_probability": pytest.approx(0.55)}
    for unknown in ([read(0.2, 0.7), read(0.4, None)], [read(0.2), read()], []):
        assert expected_found(unknown) == {}


def test_nothing_is_expected_where_a_probability_is_missing() -> None:
    assert expected_share(said(0.5, None)) == {}
    assert expected_share([]) == {}
