"""Nuggets: claims of the reference with an importance, as weights of recall."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import EmbeddedJudge
from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics._nugget_recall import NuggetRecall, weighted_recall
from assay.records import Context, Sample, Score

NUGGETS = [
    {"text": "It opened in 1990.", "importance": "vital"},
    {"text": "It is red.", "importance": "okay"},
    {"text": "It has two floors."},
]
SAMPLE = Sample(
    question="What is it?",
    contexts=(Context(text="It opened in 1990. It is red."),),
    answer="It is red. It has two floors.",
    metadata={"nuggets": NUGGETS},
)
JUDGE = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")


def score(metric: NuggetRecall, sample: Sample = SAMPLE, judge: Any = JUDGE) -> Score:
    return asyncio.run(metric.score(sample, judge))


@pytest.mark.parametrize(
    ("found", "vital", "okay", "expected"),
    [
        ([True, False], [True, True], 0.5, 1 / 2),
        ([True, False], [True, False], 0.5, 1 / 1.5),
        ([False, True], [True, False], 0.5, 0.5 / 1.5),
        ([False, True], [True, False], 0.0, 0.0),
        ([False, True], [True, False], 1.0, 1 / 2),
        ([True, True], [False, False], 0.25, 1.0),
    ],
)
def test_weights(found: list[bool], vital: list[bool], okay: float, expected: float) -> None:
    assert weighted_recall(found, vital, okay) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_judgement_one_more_never_lowers_it(nuggets: list[tuple[bool, bool]]) -> None:
    found, vital = [list(one) for one in zip(*nuggets, strict=True)]
    before = weighted_recall(found, vital)
    assert 0 <= before <= 1
    for n in range(len(found)):
        assert weighted_recall([*found[:n], True, *found[n + 1 :]], vital) >= before


def test_nuggets_of_the_row_are_read_and_no_judge_is_asked_for_their_importance() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")
    answer = score(NuggetRecall(), judge=judge)
    assert answer.value == pytest.approx((0.5 + 1) / 2.5)  # red 0.5 and floors 1 of 1 + 0.5 + 1
    assert answer.parts == {"vital": 2, "okay": 1, "vital_found": 1, "okay_found": 1}
    assert score(NuggetRecall(against="contexts")).value == pytest.approx(1.5 / 2.5)
    assert score(NuggetRecall(okay=0)).value == pytest.approx(1 / 2)
    assert dict(judge.asked) == {"support": 1}


def test_a_judge_that_cannot_weigh_reads_given_nuggets_and_says_what_it_lacks_for_others() -> None:
    judge = EmbeddedJudge()
    assert score(NuggetRecall(), judge=judge).value is not None
    other = score(NuggetRecall(), replace(SAMPLE, metadata={}, reference="It opened in 1990."), judge)
    assert other.error is not None
    assert other.error.cause is Cause.JUDGE_CANNOT
    assert "give the rows nuggets with their importance" in other.error.message


@pytest.mark.parametrize(
    ("nuggets", "said"),
    [
        ("red", "expected a list, found str"),
        ([{"importance": "vital"}], "number 1: expected a text"),
        (["It is red.", {"text": "x", "importance": "high"}], "number 2: importance: expected 'vital' or 'okay'"),
    ],
)
def test_wrong_nuggets_are_named(nuggets: Any, said: str) -> None:
    found = score(NuggetRecall(), replace(SAMPLE, metadata={"nuggets": nuggets}))
    assert found.error is not None
    assert found.error.cause is Cause.MISSING_INPUT
    assert said in found.error.message


def test_nothing_to_weigh_is_skipped() -> None:
    none = score(NuggetRecall(), replace(SAMPLE, metadata={"nuggets": []}))
    okay = score(NuggetRecall(okay=0), replace(SAMPLE, metadata={"nuggets": [{"text": "a", "importance": "okay"}]}))
    assert none.error is not None
    assert okay.error is not None
    assert (none.error.cause, okay.error.cause) == (Cause.NO_CLAIMS, Cause.NOT_APPLICABLE)


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError, match="against"):
        NuggetRecall(against="question")  # type: ignore[arg-type]
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="okay"):
            NuggetRecall(okay=wrong)
