"""The formulas of ragas by tables with the arithmetic shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assay.errors import InputError
from assay.metrics.ragas.aspect_critique import even
from assay.metrics.ragas.context_entity_recall import exact_recall
from assay.metrics.ragas.context_precision import guarded_average_precision
from assay.metrics.ragas.context_relevancy import by_full_stops, jaccard, nearness, relevancy
from assay.metrics.ragas.criteria import most_frequent, odd
from assay.metrics.ragas.double_judge import mean_rating
from assay.metrics.ragas.factual_correctness import f_score, hundredths, share
from assay.metrics.ragas.faithfulness_hhem import share_rounded
from assay.metrics.ragas.response_relevancy import relevancy as answer_relevancy
from assay.metrics.ragas.rubrics import levels_of
from assay.metrics.ragas.semantic_similarity import reached
from assay.metrics.ragas.summarization_score import conciseness, weighted
from tests.metrics.systems.ragas_sample import close


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        ([True, False, True], (1 + 2 / 3) / (2 + 1e-10)),  # precision 1/1 at 1, 2/3 at 3; two are useful
        ([False, True], (1 / 2) / (1 + 1e-10)),
        ([True], 1 / (1 + 1e-10)),
        ([False, False], 0.0),  # 0 / 1e-10
        ([], 0.0),
    ],
)
def test_guarded_average_precision(useful: list[bool], expected: float) -> None:
    assert guarded_average_precision(useful) == close(expected)
    assert guarded_average_precision([True]) < 1


@pytest.mark.parametrize(
    ("similar", "flags", "every", "some"),
    [
        ([0.9, 0.6, 0.3], [False, False, False], 0.6, 0.6),  # 1.8 / 3
        ([0.9, 0.6, 0.3], [False, True, False], 0.6, 0.0),  # one flag of three
        ([0.9, 0.6, 0.3], [True, True, True], 0.0, 0.0),
        ([-0.5], [False], -0.5, -0.5),
    ],
)
def test_answer_relevancy(similar: list[float], flags: list[bool], every: float, some: float) -> None:
    assert answer_relevancy(similar, flags, "all") == close(every)
    assert answer_relevancy(similar, flags, "any") == close(some)


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0.9, 0.4, 0.51], 2 / 3),  # 1, 0, 1
        ([0.5], 0.0),  # halves go to the even number
        ([0.0, 1.0], 0.5),
    ],
)
def test_rounded_probabilities(probabilities: list[float], expected: float) -> None:
    assert share_rounded(probabilities) == close(expected)


def test_entities_are_compared_letter_by_letter() -> None:
    assert exact_recall(["Rome", "the Tiber", "1931"], ["Rome", "The Tiber", "1931"]) == close(2 / 3)
    assert exact_recall(["Rome"], ["Rome"], 1e-8) == close(1 / (1 + 1e-8))
    assert exact_recall([], ["Rome"], 1e-8) == 0.0


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "beta", "expected"),
    [
        (2, 1, 2, 1.0, 4 / 7),  # P = 2/3, R = 2/4; 2 * (1/3) / (7/6)
        (2, 1, 2, 2.0, 10 / 19),  # 5 * (1/3) / (4 * 2/3 + 1/2) = (5/3) / (19/6)
        (3, 0, 0, 0.5, 1.0),
        (0, 2, 3, 1.0, 0.0),
        (0, 0, 1, 1.0, 0.0),  # nothing said, something missing
        (0, 0, 0, 1.0, None),
    ],
)
def test_f_score(tp: int, fp: int, fn: int, beta: float, expected: float | None) -> None:
    found = f_score(tp, fp, fn, beta)
    assert found is None if expected is None else found == close(expected)


def test_shares_and_their_rounding() -> None:
    assert share(1, 2) == close(1 / 3)
    assert share(1, 1, 1.0) == close(1 / 3)  # 1 / (1 + 1 + 1)
    assert share(0, 0) is None
    assert share(0, 0, 1e-8) == 0.0
    assert hundredths(2 / 3) == 0.67
    assert hundredths(0.125) == 0.12  # 12.5 is rounded to the even 12
    assert hundredths(0.375) == 0.38


def test_two_ratings() -> None:
    assert mean_rating([4, 2], 4) == 0.75  # (4/4 + 2/4) / 2
    assert mean_rating([1], 2) == 0.5
    assert mean_rating([0, 0], 2) == 0.0


def test_summaries() -> None:
    assert conciseness("abc", "abcdefghij") == close(0.7)  # 1 - 3/10
    assert conciseness("abcdef", "abc") == 0.0  # longer than the text: 1 - 3/3
    assert conciseness("abc", "abc", 1.0) == 0.25  # 1 - 3/4
    assert weighted(0.8, 0.4, 0.25) == close(0.7)  # 0.8 * 0.75 + 0.4 * 0.25


def test_a_threshold_is_reached_where_it_is_met() -> None:
    assert (reached(0.7, 0.7), reached(0.69, 0.7)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is old. It is in Rome.", ("It is old", "It is in Rome")),
        ("It is old.\nIt is in Rome.", ("It is old.\nIt is in Rome",)),  # a line break parts nothing
        ("  No stop ", ("No stop",)),
        ("", ("",)),
    ],
)
def test_sentences_as_ragas_0_0_11_parts_them(text: str, expected: tuple[str, ...]) -> None:
    assert by_full_stops(text) == expected


def test_agreement_and_relevancy() -> None:
    assert jaccard(["a", "b"], ["b", "c"]) == close(1 / 3)
    assert jaccard([], []) == 1.0
    assert nearness([[0.2, 0.8], [0.4, 0.1], [-0.5, -0.1]]) == close(0.4)  # (0.8 + 0.4 + 0) / 3
    assert relevancy(0.5, [2, 1], 4) == close(0.1875)  # 0.5 * (2/4 + 1/4) / 2


def test_numbers_of_votes() -> None:
    assert [odd(n) for n in (1, 2, 3)] == [1, 3, 3]
    assert [even(n) for n in (1, 2, 3)] == [2, 2, 4]
    assert most_frequent(["no", "yes", "yes"]) == "yes"
    assert most_frequent(["no", "yes"]) == "no"  # a tie goes to the first


def test_levels_of_a_rubric() -> None:
    assert levels_of({"score2_description": "good", "1": "bad"}) == ((1, "bad"), (2, "good"))
    wrong: list[Mapping[Any, Any]] = [
        {"best": "x", "1": "y"},
        {"1": "x"},
        {"1": "x", "score1": "y"},
        {"1": 2, "2": "y"},
    ]
    for rubric in wrong:
        with pytest.raises(InputError, match="rubrics"):
            levels_of(rubric)
