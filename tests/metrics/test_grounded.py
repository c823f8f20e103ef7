"""One verdict on a whole answer, and the expected share beside the counted one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.metrics import METRICS
from assay.metrics._grounded import least_supported, probability_grounded
from assay.metrics._noise_sensitivity import expected_noise
from assay.metrics.shared_prompts import expected_share
from assay.records import Cell, Verdict
from tests._support.unsure import SAMPLE, Unsure, expects, said


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
        ("nugget_recall_answer", 1.0, "mean_probability", (0.9 + 0.5 * 0.6) / 1.5),
    ],
)
async def test_what_probabilities_lead_one_to_expect_of_counts(
    name: str, value: float, part: str, expected: float
) -> None:
    await expects(METRICS[name](), value, part, expected)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -0.1, 1.7])
def test_a_probability_that_is_none_is_the_judges_mistake(odd: Any) -> None:
    class Odd(Unsure):
        def _unsure(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
            return [replace(verdict, probability=odd) for verdict in verdicts]

    (row,) = evaluate([SAMPLE], ["faithfulness"], Odd(), store=None)
    score = row.scores["faithfulness"]
    assert score.value is None
    assert score.error is not None
    assert f"the probability {odd!r} is not in [0, 1]" in score.error.message


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
    assert score.error is not None
    assert said in score.error.message


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


def test_nothing_is_expected_where_a_probability_is_missing() -> None:
    assert expected_share(said(0.5, None)) == {}
    assert expected_share([]) == {}
