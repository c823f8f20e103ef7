"""Metrics of a user's own, by a prompt and allowed values."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas.custom import DiscreteMetric, NumericMetric, RankingMetric, agreement
from assay.records import Context, Sample, Score

SAMPLE = Sample(
    question="Who?",
    answer="Ann.",
    contexts=(Context(text="a"), Context(text="b"), Context(text="c")),
    metadata={"tone": "dry"},
)


def score(metric: Any, **rules: Any) -> Score:
    found: Score = asyncio.run(metric.score(SAMPLE, ScriptedJudge(**rules)))
    return found


def test_the_judge_reads_titles_in_the_prompt_and_texts_as_material() -> None:
    metric = DiscreteMetric("polite", "Is {response} to {user_input} {tone}? See {retrieved_contexts}.")
    assert metric.question() == "Is ANSWER to QUESTION TONE? See PASSAGE."
    assert metric.material(SAMPLE) == (
        ("ANSWER", "Ann."), ("QUESTION", "Who?"), ("TONE", "dry"),
        ("PASSAGE 1", "a"), ("PASSAGE 2", "b"), ("PASSAGE 3", "c"),
    )  # fmt: skip


def test_labels_count_by_place_or_by_what_is_said() -> None:
    metric = DiscreteMetric("polite", "{response}?", ("good", "fair", "poor"))
    assert [score(metric, question=lambda _, label=label: label).value for label in ("good", "fair", "poor")] == [
        1,
        0,
        0,
    ]
    weighed = DiscreteMetric("polite", "{response}?", {"good": 1.0, "fair": 0.5, "poor": 0.0})
    assert score(weighed, question=lambda _: "fair").value == 0.5


def test_numbers_lie_on_equal_steps() -> None:
    assert score(NumericMetric("depth", "{response}?", (1.0, 5.0)), rating=lambda _: 5).value == 1 + 4 * 5 / 10
    found = score(NumericMetric("depth", "{response}?", range(1, 6)), rating=lambda _: 3)
    assert (found.value, found.low, found.high) == (4, 1, 5)


def test_a_ranking_is_held_against_the_order() -> None:
    assert agreement([1, 2, 3]) == 1
    assert agreement([3, 2, 1]) == 0
    assert agreement([1, 3, 2]) == 2 / 3
    assert agreement([1, 1]) == 1 / 2
    ranks = {"a": "rank_2", "b": "rank_1", "c": "rank_3"}
    assert (
        score(RankingMetric("order", "By {question}."), classification=lambda what, item, texts: ranks[item]).value
        == 2 / 3
    )


@pytest.mark.parametrize("variable", ["reference", "mood"])
def test_a_text_that_is_missing(variable: str) -> None:
    found = score(DiscreteMetric("polite", f"Is {{{variable}}} so?"), question=lambda _: "pass")
    assert found.error is not None
    assert found.error.cause == Cause.MISSING_INPUT


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: DiscreteMetric("", "x"), "name is empty"),
        (lambda: DiscreteMetric("x", "{"), "prompt"),
        (lambda: DiscreteMetric("x", "y", ("one",)), "allowed_values"),
        (lambda: NumericMetric("x", "y", (1.0, 0.0)), "allowed_values"),
    ],
)
def test_wrong_arguments_are_named(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
