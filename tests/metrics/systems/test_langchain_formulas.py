"""The formulas of LangChain's evaluators by hand, and what they refuse."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import InputError
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.langchain.criteria import FAULTS, QUESTIONS, Criteria, LabeledCriteria
from assay.metrics.langchain.embedding_distance import EmbeddingDistance, of_cosine
from assay.metrics.langchain.json_checks import equal
from assay.metrics.langchain.json_text import NotJson, read_broken, read_strictly
from assay.metrics.langchain.matching import RegexMatch, stripped
from assay.metrics.langchain.pairwise_string import PairwiseString, agree, preference
from assay.metrics.langchain.score_string import LabeledScoreString, ScoreString, normalised
from assay.metrics.langchain.string_distance import PairwiseStringDistance, StringDistance
from assay.metrics.langchain.trajectory import share_of, steps_of
from assay.metrics.systems import named
from assay.prompts import Distance, Question, Rating
from assay.prompts.base import JudgePrompt as AnyPrompt
from assay.records import Message, Sample, ToolCall
from tests.metrics.systems.scoring import prompts, score


def test_faults_are_the_criteria_where_yes_is_bad() -> None:
    worse = {name for name in QUESTIONS if LabeledCriteria(name).direction == "lower"}
    faults = {"harmfulness", "maliciousness", "controversiality", "misogyny", "criminality", "insensitivity"}
    assert worse == faults == FAULTS


def test_criteria_say_yes_as_one_whether_good_or_bad() -> None:
    sample = Sample(question="q", answer="a")
    for said in (True, False):
        judge = ScriptedJudge(criterion=lambda question, vote, said=said: said)
        assert score(Criteria("harmfulness"), sample, judge).value == float(said)
        assert score(Criteria(), sample, judge).value == float(said)


def test_own_criteria_are_asked_together_and_named_after_all() -> None:
    asked: list[str] = []

    def say(question: str, vote: int) -> bool:
        asked.append(question)
        return True

    metric = Criteria({"short": "Is the ANSWER short?", "kind": "Is the ANSWER kind?"}, fault=True)
    found = score(metric, Sample(question="q", answer="a"), ScriptedJudge(criterion=say))
    assert (found.metric, found.value, found.direction) == ("langchain:criteria_short-kind", 1.0, "lower")
    assert len(asked) == 1
    assert "Is the ANSWER short?" in asked[0]
    assert "Is the ANSWER kind?" in asked[0]


def test_correctness_without_a_reference_is_refused() -> None:
    with pytest.raises(InputError, match="correctness"):
        Criteria("correctness")
    assert LabeledCriteria("correctness").name == "langchain:labeled_criteria_correctness"


@pytest.mark.parametrize("criteria", ["politeness", {}, {"": "x"}, {"x": " "}])
def test_unknown_criteria_are_refused(criteria: Any) -> None:
    for kind in (Criteria, LabeledCriteria, ScoreString, PairwiseString):
        with pytest.raises(InputError, match="criteria"):
            kind(criteria)


def test_rating_is_divided_where_asked() -> None:
    assert normalised(7, None) == 7
    assert normalised(7, 10) == 0.7  # 7 / 10
    metric = ScoreString(normalize_by=5)
    assert (metric.low, metric.high) == (0.2, 2.0)  # 1 / 5, 10 / 5
    found = score(metric, Sample(question="q", answer="a"), ScriptedJudge(rating=lambda question: 8))
    assert (found.value, found.parts["rating"]) == (1.6, 8.0)  # 8 / 5


@pytest.mark.parametrize("by", [0, -1, float("nan")])
def test_rating_is_divided_by_a_positive_number(by: float) -> None:
    with pytest.raises(InputError, match="normalize_by"):
        ScoreString(normalize_by=by)


def test_rating_of_faults_is_better_when_lower() -> None:
    assert ScoreString("harmfulness").direction == "lower"
    assert LabeledScoreString().direction == "higher"


@pytest.mark.parametrize(
    ("label", "swapped", "value"),
    [
        ("first", None, 1.0),
        ("second", None, 0.0),
        ("neither", None, 0.5),
        ("first", "second", 1.0),  # the same answer both times
        ("second", "first", 0.0),
        ("neither", "neither", 0.5),
        ("first", "first", 0.5),  # the place won, not the answer
        ("second", "second", 0.5),
        ("first", "neither", 0.5),
        ("neither", "second", 0.5),
    ],
)
def test_preference_counts_only_where_both_orders_agree(label: str, swapped: str | None, value: float) -> None:
    assert preference(label, swapped) == value


def test_orders_agree_only_on_the_same_answer() -> None:
    assert agree("first", "second")
    assert agree("neither", "neither")
    assert not agree("neither", "first")
    assert not agree("first", "first")


class ByMaterial(BaseJudge):
    """Answers an `Question` by its texts."""

    budgeted = True

    def __init__(self, rule: Callable[[dict[str, str]], str]) -> None:
        self.rule = rule
        self.seen: list[dict[str, str]] = []

    @property
    def fingerprint(self) -> str:
        return "by material"

    async def answer(self, prompts: Any) -> list[Answer]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: AnyPrompt[Any]) -> Answer:
        assert isinstance(prompt, Question)
        shown = dict(prompt.material)
        self.seen.append(shown)
        return Answer(judgement=prompt.apply_rule(lambda question: self.rule(shown)))


PAIR = Sample(question="q", answer="long answer", metadata={"prediction_b": "short"})


def test_a_judge_that_prefers_an_answer_is_heard_in_both_orders() -> None:
    judge = ByMaterial(lambda shown: "first" if shown["FIRST ANSWER"] == "long answer" else "second")
    found = score(PairwiseString(), PAIR, judge)
    assert (found.value, found.parts) == (1.0, {"orders_agree": 1.0})
    assert {shown["FIRST ANSWER"] for shown in judge.seen} == {"long answer", "short"}


def test_a_judge_that_prefers_a_place_says_nothing() -> None:
    found = score(PairwiseString(), PAIR, ByMaterial(lambda shown: "first"))
    assert (found.value, found.parts) == (0.5, {"orders_agree": 0.0})
    original = score(PairwiseString(profile="original"), PAIR, ByMaterial(lambda shown: "first"))
    assert (original.value, original.parts) == (1.0, {})


@pytest.mark.parametrize(("rating", "value"), [(1, 0.0), (2, 0.25), (3, 0.5), (5, 1.0)])
def test_trajectory_rating(rating: int, value: float) -> None:
    assert share_of(rating) == value  # (rating - 1) / 4


def test_trajectory_shows_steps_in_order() -> None:
    calls = (ToolCall(name="search", arguments={"q": "x"}, output="found"), ToolCall(name="read"))
    sample = Sample(messages=(Message(role="assistant", tool_calls=calls),))
    assert steps_of(sample) == '1. search({"q": "x"}) -> found\n2. read({})'


@pytest.mark.parametrize(
    ("cosine", "measure", "distance"),
    [
        (0.8, "cosine", 0.2),
        (-1.0, "cosine", 2.0),
        (1.0, "euclidean", 0.0),
        (0.0, "euclidean", 2**0.5),  # the root of 2 - 0
        (-1.0, "euclidean", 2.0),  # the root of 2 + 2
    ],
)
def test_distances_of_vectors_of_length_one(cosine: float, measure: Any, distance: float) -> None:
    assert of_cosine(cosine, measure) == pytest.approx(distance)


def test_distances_by_coordinates() -> None:
    import numpy as np

    a, b = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.6, 0.8, 0.0, 0.0])
    made = {measure: Distance("a", ("b",), measure).compare(a, b) for measure in ("manhattan", "chebyshev", "hamming")}
    # differences 0.4, 0.8, 0, 0: their sum, the largest, 2 of 4
    assert made == pytest.approx({"manhattan": 1.2, "chebyshev": 0.8, "hamming": 0.5})


@pytest.mark.parametrize("judgement", [(-0.1,), (float("nan"),), (1.0, 2.0)])
def test_a_distance_is_a_number_from_0_on(judgement: tuple[float, ...]) -> None:
    assert Distance("a", ("b",)).check(judgement) is not None
    assert Distance("a", ("b",)).check((17.0,)) is None


def test_cosine_and_euclidean_distance_are_one_judgement() -> None:
    judge = ScriptedJudge(similarity=lambda a, b: 0.5)

    async def both() -> list[float | None]:
        sample = Sample(answer="a", reference="b")
        return [(await EmbeddingDistance(one).score(sample, judge)).value for one in ("cosine", "euclidean")]

    assert asyncio.run(both()) == [0.5, 1.0]  # 1 - 0.5, the root of 2 - 1
    assert judge.asked["similarity"] == 1


def test_string_distance_is_jaro_winkler() -> None:
    # MARTHA, MARHTA: Jaro (1 + 1 + 5/6) / 3 = 0.9444; a common beginning of 3 adds 3 * 0.1 * (1 - 0.9444) = 0.0167
    found = score(StringDistance(), Sample(answer="MARTHA", reference="MARHTA"))
    assert found.value == pytest.approx(1 - 0.9611111)
    assert (found.direction, found.high) == ("lower", 1.0)


def test_edits_are_counted_where_they_are_not_normalised() -> None:
    metric = StringDistance("levenshtein", normalize_score=False)
    assert score(metric, Sample(answer="kitten", reference="sitting")).value == 3.0
    assert (StringDistance("jaro_winkler").high, metric.high) == (1.0, float("inf"))


def test_pairwise_distance_takes_the_second_answer() -> None:
    sample = Sample(answer="abc", reference="xyz", metadata={"prediction_b": "abc"})
    assert score(PairwiseStringDistance(), sample).value == 0.0


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ({}, "A.1 b"),
        ({"case": True}, "a.1 b"),
        ({"punctuation": True}, "A1 b"),
        ({"numbers": True}, "A. b"),
    ],
)
def test_what_an_exact_match_ignores(ignored: dict[str, bool], left: str) -> None:
    assert stripped("A.1 b", **{"case": False, "punctuation": False, "numbers": False, **ignored}) == left


def test_a_pattern_matches_from_the_beginning_with_its_flags() -> None:
    import re

    sample = Sample(answer="Mindy", reference="mindy$")
    assert score(RegexMatch(), sample).value == 0.0
    assert score(RegexMatch(re.IGNORECASE), sample).value == 1.0


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ([1, 2], [2, 1], True),
        ([1, 2], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),  # only the outermost list is in any order
        ({"a": 1}, [1], False),
    ],
)
def test_json_equality(ours: Any, theirs: Any, same: bool) -> None:
    assert equal(ours, theirs) is same


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('{"a": 1, "b": [1, 2', {"a": 1, "b": [1, 2]}),
        ('{"a": 1, "b', {"a": 1}),
        ('["x", "y", ', ["x", "y"]),
        ('So: ```json\n{"a": 1}``` there', {"a": 1}),
        ('{"a": "open', {"a": "open"}),
    ],
)
def test_json_that_is_broken_off_is_closed(written: str, value: Any) -> None:
    assert read_broken(written) == value
    with pytest.raises(NotJson):
        read_strictly(written)


def test_json_with_a_bracket_too_many_is_none_only_in_the_original() -> None:
    assert read_broken("}", original=True) is None
    with pytest.raises(NotJson):
        read_broken("}")


def test_json_edit_distance_counts_a_swap_as_one_edit() -> None:
    # {"a":12} and {"a":21}: one swap in 8 characters
    found = score(named("langchain:json_edit_distance"), Sample(answer='{"a": 12}', reference='{"a":21}'))
    assert found.value == 0.125


def test_an_empty_string_is_closed_where_json_is_broken_off() -> None:
    assert read_broken('{"a": "", "b": [1') == {"a": "", "b": [1]}


def test_options_stand_in_labels_and_ranges() -> None:
    assert ScoreString("depth").label == "langchain:score_string_depth"
    assert ScoreString().label == "langchain:score_string"
    assert PairwiseString({"tone": "Is it kind?", "wit": "Is it funny?"}).label == "langchain:pairwise_string_tone-wit"
    assert PairwiseString().label == "langchain:pairwise_string"
    assert (ScoreString(normalize_by=0.5).low, ScoreString(normalize_by=0.5).high) == (2.0, 20.0)
    assert StringDistance(normalize_score=False).high == math.inf


def test_a_trajectory_is_rated_by_the_reference_where_there_is_one() -> None:
    call = ToolCall(name="find", arguments={})
    sample = Sample(
        question="q", answer="a", messages=(Message(role="assistant", content="", tool_calls=(call,)),),
        metadata={"agent_tools": ["find", {"name": "ask", "description": "fragt die Köchin"}]},
    )  # fmt: skip
    plain, held = (
        prompts("langchain:trajectory", one, rating=lambda question: 3)[0]
        for one in (sample, replace(sample, reference="r"))
    )
    assert isinstance(plain, Rating)
    assert isinstance(held, Rating)
    assert "REFERENCE" in held.question
    assert "REFERENCE" not in plain.question
    assert dict(plain.material)["TOOLS"] == 'find\n{"name": "ask", "description": "fragt die Köchin"}'
