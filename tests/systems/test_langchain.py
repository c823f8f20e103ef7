"""LangChain's evaluators: its numbers on scripted samples and ours, formulas by hand, and where there is no number."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.inquiries import Ask, Criterion, Distance, Inquiry, Rating
from assay.inquiries.base import Inquiry as AnyInquiry
from assay.judges.base import Answer, BaseJudge
from assay.judges.scripted import ScriptedJudge
from assay.records import Message, Sample, Score, ToolCall
from assay.systems import entries, named
from assay.systems.base import SystemMetric
from assay.systems.langchain.criteria import FAULTS, QUESTIONS, Criteria, LabeledCriteria
from assay.systems.langchain.embedding_distance import EmbeddingDistance, of_cosine
from assay.systems.langchain.json_checks import equal
from assay.systems.langchain.json_text import NotJson, read_broken, read_strictly
from assay.systems.langchain.matching import ExactMatch, RegexMatch, stripped
from assay.systems.langchain.pairwise_string import PairwiseString, agree, preference
from assay.systems.langchain.score_string import LabeledScoreString, ScoreString, normalised
from assay.systems.langchain.string_distance import PairwiseStringDistance, StringDistance
from assay.systems.langchain.trajectory import share_of, steps_of
from tests.systems.golden import CASES, agrees, golden, sample_of

import texts  # isort: skip  # beside worlds, on the path that golden.py adds
import worlds  # isort: skip

GOLDEN: Mapping[str, Mapping[str, float | None]] = golden("langchain")["values"]
TEXTS = texts.text_pairs()
JSON = texts.json_pairs()


def score(metric: SystemMetric, sample: Sample, judge: BaseJudge | None = None) -> Score:
    return asyncio.run(metric.score(sample, judge or ScriptedJudge()))


def metric_of(key: str) -> SystemMetric:
    """The metric that a name of the golden file means: the type, and after a space how it was made."""
    name, _, how = key.partition(" ")
    metric = named(f"langchain:{name}@original")
    if how == "counted":
        assert isinstance(metric, StringDistance)
        return StringDistance(metric.distance, normalize_score=False, profile="original")
    return ExactMatch(True, True, True, profile="original") if how else metric


def judge_for(name: str, case: str) -> ScriptedJudge:
    """The judge that says what the driver's script said."""
    chance = worlds.share(name, case)
    return ScriptedJudge(
        criterion=lambda question, vote: chance < 0.5,
        rating=lambda question: 1 + int(chance * (5 if name == "trajectory" else 10)),
        ask=lambda question: worlds.pick(("first", "second", "neither"), name, case),
        similarity=worlds.cosine,
        rules={"distance": apart},
    )


def apart(a: str, b: str, measure: Any) -> float:
    import numpy as np

    return Distance(a, (b,), measure).compare(np.array(worlds.embedding(a)), np.array(worlds.embedding(b)))


def sample_for(name: str, case: str) -> Sample:
    if name == "json_schema_validation":
        return Sample(id=case, answer=JSON[case][0], metadata={"schema": texts.SCHEMA})
    if name.startswith("json"):
        return Sample(id=case, answer=JSON[case][0], reference=JSON[case][1])
    if (
        case not in CASES
        or name.split(" ")[0] in ("exact_match", "regex_match")
        or ("embedding" not in name and (name.split(" ")[0].endswith("distance") and not name.startswith("pairwise")))
    ):
        return Sample(id=case, answer=TEXTS[case][0], reference=TEXTS[case][1])
    call = ToolCall(name="search", arguments={"query": "x"}, output="y")
    return sample_of(
        CASES[case],
        metadata={"prediction_b": texts.second(CASES[case])},
        messages=(Message(role="assistant", tool_calls=(call,)),),
    )


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_every_number_of_langchain_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= 40
    for case, expected in GOLDEN[name].items():
        agrees(score(metric_of(name), sample_for(name, case), judge_for(name, case)), expected)


def test_every_type_of_evaluator_has_an_entry() -> None:
    assert set(golden("langchain")["exports"]) <= set(entries("langchain"))


def test_every_entry_has_a_label_of_its_own() -> None:
    labels = [entry.make().label for entry in entries("langchain").values()]
    assert len(set(labels)) == len(labels)


# ---- formulas


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
    """Answers an `Ask` by its texts."""

    budgeted = True

    def __init__(self, rule: Callable[[dict[str, str]], str]) -> None:
        self.rule = rule
        self.seen: list[dict[str, str]] = []

    @property
    def fingerprint(self) -> str:
        return "by material"

    async def answer(self, inquiries: Any) -> list[Answer]:
        return [self._one(inquiry) for inquiry in inquiries]

    def _one(self, inquiry: AnyInquiry[Any]) -> Answer:
        assert isinstance(inquiry, Ask)
        shown = dict(inquiry.material)
        self.seen.append(shown)
        return Answer(finding=inquiry.scripted(lambda question: self.rule(shown)))


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


@pytest.mark.parametrize("finding", [(-0.1,), (float("nan"),), (1.0, 2.0)])
def test_a_distance_is_a_number_from_0_on(finding: tuple[float, ...]) -> None:
    assert Distance("a", ("b",)).check(finding) is not None
    assert Distance("a", ("b",)).check((17.0,)) is None


def test_cosine_and_euclidean_distance_are_one_finding() -> None:
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
    assert StringDistance("jaro_winkler").high < 3.0 < metric.high < float("inf")


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


# ---- where there is no number


@pytest.mark.parametrize(
    ("name", "sample", "cause"),
    [
        ("qa", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("qa", Sample(question="q", answer=" ", reference="r"), Cause.NO_CLAIMS),
        ("context_qa", Sample(question="q", answer="a", contexts=()), Cause.NO_CONTEXT),
        ("criteria", Sample(answer="a"), Cause.MISSING_INPUT),
        ("labeled_criteria", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("score_string", Sample(answer="a"), Cause.MISSING_INPUT),
        ("pairwise_string", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("trajectory", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("string_distance", Sample(answer="", reference="r"), Cause.NO_CLAIMS),
        ("pairwise_string_distance", Sample(answer="a"), Cause.MISSING_INPUT),
        ("embedding_distance", Sample(answer="a"), Cause.MISSING_INPUT),
        ("exact_match", Sample(answer="a"), Cause.MISSING_INPUT),
        ("exact_match@original", Sample(answer="a"), Cause.MISSING_INPUT),
        ("regex_match", Sample(answer="a", reference="(["), Cause.MISSING_INPUT),
        ("json_equality", Sample(answer="no json", reference="{}"), Cause.NOT_APPLICABLE),
        ("json_edit_distance", Sample(answer="{}", reference="no json"), Cause.NOT_APPLICABLE),
        ("json_schema_validation", Sample(answer="{}"), Cause.MISSING_INPUT),
        ("json_schema_validation", Sample(answer="{}", reference='{"type": "nothing"}'), Cause.NOT_APPLICABLE),
    ],
)
def test_nothing_to_measure_is_unscored(name: str, sample: Sample, cause: Cause) -> None:
    judge = ScriptedJudge(
        criterion=lambda *_: True, rating=lambda _: 1, ask=lambda _: "first", similarity=worlds.cosine
    )
    found = score(named(f"langchain:{name}"), sample, judge)
    assert found.value is None
    assert found.unscored is not None
    assert found.unscored.cause is cause


@pytest.mark.parametrize(
    ("kind", "argument"), [(StringDistance, "cosine"), (EmbeddingDistance, "jaro"), (PairwiseStringDistance, "x")]
)
def test_unknown_distances_are_refused(kind: Any, argument: str) -> None:
    with pytest.raises(InputError, match="distance"):
        kind(argument)


def test_what_is_judged_stands_in_no_question() -> None:
    seen: list[Inquiry[Any]] = []

    class Listening(ScriptedJudge):
        async def answer(self, inquiries: Any) -> Any:
            seen.extend(inquiries)
            return await super().answer(inquiries)

    sample = Sample(
        question="QQQ",
        answer="AAA",
        reference="RRR",
        metadata={"prediction_b": "BBB"},
        messages=(Message(role="assistant", tool_calls=(ToolCall(name="TTT"),)),),
    )
    judge = Listening(criterion=lambda *_: True, rating=lambda _: 1, ask=lambda _: "first")
    for name in ("qa", "labeled_criteria", "labeled_score_string", "labeled_pairwise_string", "trajectory"):
        assert score(named(f"langchain:{name}"), sample, judge).value is not None
    assert {type(inquiry) for inquiry in seen} == {Criterion, Rating, Ask}
    for inquiry in seen:
        prompt = inquiry.prompt()
        assert prompt is not None
        assert not any(text in prompt.task for text in ("QQQ", "AAA", "RRR", "BBB", "TTT"))
