"""What ragas' metrics are without options, and the last of the small numbers: as its versions have them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.criteria import AspectCritic, SimpleCriteria
from assay.metrics.ragas.custom import NumericMetric
from assay.metrics.ragas.data_compy_score import matching_rows, read_table
from assay.metrics.ragas.quoted_spans import located
from assay.metrics.ragas.response_relevancy import ResponseRelevancy
from assay.metrics.ragas.rubrics import DomainSpecificRubrics
from assay.metrics.ragas.semantic_similarity import SemanticSimilarity
from assay.metrics.ragas.summarization_score import SummarizationScore
from assay.metrics.systems import named
from assay.prompts import Classification, KeyQuestions
from assay.records import Context, Message, Sample, Turn
from tests.metrics.systems.asked import Reasoning
from tests.metrics.systems.ragas_sample import FULL, close, score
from tests.metrics.systems.test_ragas_parts import asked

TALK = Sample(
    messages=(Message(role="user", content="Where?"), Message(role="assistant", content="Rome.")),
    metadata={"reference_topics": ["places"]},
)


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        (ResponseRelevancy(), -1.0, 1.0),  # a cosine
        (SemanticSimilarity(), -1.0, 1.0),
        (AnswerCorrectness(), -1.0, 1.0),  # a part of it is a cosine
        (DomainSpecificRubrics(), 1.0, 5.0),  # the levels of a rubric
        (NumericMetric("depth", "{response}?"), 0.0, 1.0),
        (SimpleCriteria(), 0.0, 5.0),
    ],
)
def test_ranges(metric: Any, low: float, high: float) -> None:
    assert (metric.low, metric.high) == (low, high)
    error = score(metric, Sample())
    assert error.error is not None
    assert (error.low, error.high) == (low, high)


def test_defaults() -> None:
    assert NumericMetric("depth", "{response}?").numbers() == pytest.approx([n / 10 for n in range(11)])
    assert AspectCritic(definition="Good?").direction == SimpleCriteria(definition="Good?").direction == "higher"
    read = replace(FULL, reference_contexts=FULL.contexts)
    rules: dict[str, Any] = {"key_questions": lambda text: ["Where?"], "criterion": lambda question, vote: True}
    (key,) = [one for one in asked(SummarizationScore(), read, **rules) if isinstance(one, KeyQuestions)]
    assert key.count == 5


@pytest.mark.parametrize(
    ("cells", "expected"),
    [("True", True), ("TRUE", True), ("true", True), ("False", False), ("FALSE", False), ("false", False)],
)
def test_words_of_truth_in_a_table(cells: str, expected: bool) -> None:
    table = read_table(f"k\n{cells}\n")
    assert table is not None
    assert table.columns["k"] == [expected]


def test_tables_without_a_common_column_have_no_row_in_common_unless_they_are_asked_for_by_number() -> None:
    a, b = read_table("a\n1\n2\n"), read_table("b\n1\n2\n3\n")
    assert a is not None
    assert b is not None
    assert matching_rows(a, b) == 0
    assert matching_rows(a, b, unnamed=True) == 2


def test_apostrophes_stay_as_they_are_unless_they_are_made_straight() -> None:
    assert located(["dog's"], ["the dog’s bone"], casefold=True) == [False]
    assert located(["dog's"], ["the dog’s bone"], casefold=True, straight=True) == [True]


@pytest.mark.parametrize(("answer", "expected"), [('"the red house"', 0.0), ("It is red.", 1.0), (" ", 1.0)])
def test_quotations_where_nothing_was_retrieved(answer: str, expected: float) -> None:
    sample = Sample(answer=answer, contexts=())  # what is quoted stands nowhere; where nothing is, nothing is missing
    found = score("ragas:quoted_spans_alignment@original", sample)
    assert (found.value, found.convention is None) == (expected, False)
    assert score("ragas:quoted_spans_alignment", sample).value is None


def test_passages_of_earlier_turns_are_no_evidence_for_ragas_faithfulness() -> None:
    earlier = Turn(question="Where?", answer="Rome.", contexts=(Context(text="It is in Rome."),))
    found = score("ragas:faithfulness", replace(FULL, contexts=(), history=(earlier,)), support={})
    assert found.error is not None
    assert found.error.cause is Cause.NO_CONTEXT


def test_a_conversation_may_be_a_history() -> None:
    rules: dict[str, Any] = {"extraction": lambda what, texts: ["a"], "classification": _sorted("answered", "in_scope")}
    told = replace(TALK, messages=(), history=(Turn(question="Where?", answer="Rome."),))
    assert score("ragas:topic_adherence", told, **rules).value == 1.0
    nothing = score("ragas:topic_adherence", replace(TALK, messages=()), **rules)
    assert nothing.error is not None
    assert nothing.error.cause is Cause.MISSING_INPUT


def _sorted(treated: str, placed: str) -> Any:
    return lambda what, item, texts: treated if what == "treatment" else placed


@pytest.mark.parametrize("topics", [[], [1, "places"]])
def test_topics_are_texts(topics: list[Any]) -> None:
    found = score(
        "ragas:topic_adherence", replace(TALK, metadata={"reference_topics": topics}), extraction={}, classification={}
    )
    assert found.error is not None
    assert found.error.cause is Cause.MISSING_INPUT


def test_topic_adherence_is_exact_and_guarded_by_1e_10_in_the_original_alone() -> None:
    rules: dict[str, Any] = {"extraction": lambda what, texts: ["a"], "classification": _sorted("answered", "in_scope")}
    ours, theirs = (score(f"ragas:topic_adherence{end}", TALK, **rules) for end in ("", "@original"))
    assert ours.value == 1.0  # one topic, answered and in scope: precision 1/1, recall 1/1
    part = 1 / (1 + 1e-10)
    assert theirs.value == close(2 * part * part / (2 * part + 1e-10))
    assert theirs.value != 1.0
    rules["classification"] = _sorted("refused", "out_of_scope")
    nothing = score("ragas:topic_adherence@original", TALK, **rules)  # no topic counts: 0 by convention
    assert (nothing.value, nothing.convention is None) == (0.0, False)


def test_topics_of_the_scope_are_numbered_from_1() -> None:
    rules: dict[str, Any] = {"extraction": lambda what, texts: ["a"], "classification": _sorted("answered", "in_scope")}
    metric = named("ragas:topic_adherence")
    found = asked(metric, replace(TALK, metadata={"reference_topics": ["places", "people"]}), **rules)
    (scope,) = [one for one in found if isinstance(one, Classification) and one.what == "scope"]
    assert scope.material == (("TOPICS T1", "places"), ("TOPICS T2", "people"))


def test_a_reason_is_told_where_the_judge_gives_one() -> None:
    metric = NumericMetric("depth", "{response}?")
    assert asyncio.run(metric.score(FULL, Reasoning())).texts == {"reason": ("because",)}
    assert score(metric, rating=lambda question: 3).texts == {}
