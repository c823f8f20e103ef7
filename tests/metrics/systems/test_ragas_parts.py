"""What ragas' metrics show beside their numbers, what they ask the judge, and how they are labelled: by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas import topic_adherence
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.custom import RankingMetric
from assay.metrics.ragas.double_judge import AnswerAccuracy
from assay.metrics.ragas.factual_correctness import ATOMICITY, COVERAGE, FactualCorrectness
from assay.metrics.ragas.quoted_spans import QuotedSpansAlignment
from assay.metrics.ragas.response_relevancy import AnswerRelevancy, ResponseRelevancy
from assay.metrics.ragas.rubrics import levels_of
from assay.metrics.ragas.text_pairs import NonLLMStringSimilarity
from assay.metrics.ragas.tool_calls import ToolCallAccuracy
from assay.metrics.systems.base import SystemMetric
from assay.prompts import BackQuestions, Claims, Classification, Extraction, JudgePrompt
from assay.records import Context, Message, Sample, ToolCall
from tests.metrics.systems.ragas_sample import FULL, close, original, score


def asked(metric: SystemMetric, sample: Sample = FULL, **rules: Any) -> list[JudgePrompt[Any]]:
    """What a metric asks of a judge."""
    found: list[JudgePrompt[Any]] = []

    class Keeping(ScriptedJudge):
        async def answer(self, prompts):  # type: ignore[no-untyped-def]
            found.extend(prompts)
            return await super().answer(prompts)

    asyncio.run(metric.score(sample, Keeping(**rules)))
    return found


def test_conciseness_is_exact_and_guarded_by_1e_10_in_the_original_alone() -> None:
    sample = Sample(answer="abc", reference_contexts=(Context(text="abcdefghij"),))
    rules: dict[str, Any] = {"key_questions": lambda text: ["Is it?"], "criterion": lambda question, vote: True}
    ours, theirs = (score(f"ragas:summarization_score{end}", sample, **rules) for end in ("", "@original"))
    assert ours.parts["conciseness"] == 1 - 3 / 10
    assert theirs.parts["conciseness"] == 1 - 3 / (10 + 1e-10) != 1 - 3 / 10
    assert ours.value == close(0.85)  # 0.5 * 1 + 0.5 * 0.7


def test_quotations_found_and_not_found() -> None:
    sample = Sample(
        answer='"the red house" and "a big garden" and "no such thing"',
        contexts=(Context(text=" "), Context(text="The red house has a big garden.")),
    )
    found = score("ragas:quoted_spans_alignment", sample)
    assert found.value == 2 / 3
    assert found.parts == {"found": 2, "quotations": 3}
    assert found.texts == {"not_found": ("no such thing",)}
    all_there = Sample(answer='"the red house"', contexts=sample.contexts)
    assert score("ragas:quoted_spans_alignment", all_there).texts == {}
    one_word = Sample(answer='"house"', contexts=sample.contexts)
    assert score(QuotedSpansAlignment(min_span_words=1), one_word).value == 1.0


def test_apostrophes_of_two_forms_are_one() -> None:
    sample = Sample(answer='"the dog\'s red bone"', contexts=(Context(text="It is the dog’s red bone."),))
    assert score("ragas:quoted_spans_alignment", sample).value == 1.0


def test_relevancy_asks_once_for_all_questions_and_the_original_for_one_each_time() -> None:
    rules: dict[str, Any] = {"back_questions": lambda text: ["Where?"], "similarity": lambda a, b: 0.5}
    ours = [one for one in asked(ResponseRelevancy(2), **rules) if isinstance(one, BackQuestions)]
    theirs = [one for one in asked(original(ResponseRelevancy(2)), **rules) if isinstance(one, BackQuestions)]
    assert [(one.text, one.count, one.vote) for one in ours] == [(FULL.answer, 2, 0)]
    assert [(one.text, one.count, one.vote) for one in theirs] == [(FULL.answer, 1, 1), (FULL.answer, 1, 2)]


def test_relevancy_counts_flags_and_numbers_its_cosines() -> None:
    said = iter((None, None, ["Where?"]))
    found = score(original(ResponseRelevancy()), back_questions=lambda text: next(said), similarity=lambda a, b: 0.5)
    assert found.parts == {"noncommittal": 2, "cosine_1": 0.5}
    assert found.value == 0.5  # two flags of three
    some = iter((None, [], []))
    nothing = score(original(AnswerRelevancy()), back_questions=lambda text: next(some), similarity={})
    assert nothing.value == 0.0  # one reply says that it is no answer, and nobody wrote a question


def test_the_part_without_a_weight_is_0() -> None:
    found = score(AnswerCorrectness((1.0, 0.0)), support=lambda claim, text: "supported")
    assert (found.value, found.parts["similarity"]) == (1.0, 0.0)


def test_a_ranking_has_as_many_places_as_there_are_contexts() -> None:
    (ranking,) = asked(RankingMetric("order", "By {question}."), classification=lambda what, item, texts: "rank_1")
    assert isinstance(ranking, Classification)
    assert ranking.labels() == ("rank_1", "rank_2")


def test_two_ratings_are_shown() -> None:
    found = score("ragas:answer_accuracy", rating=lambda question: 4 if question == AnswerAccuracy.questions[0] else 2)
    assert (found.value, found.parts) == (0.75, {"rating_1": 4.0, "rating_2": 2.0})


def test_levels_of_a_rubric_have_nine_digits_at_most() -> None:
    assert levels_of({"123456789": "good", "1": "bad"}) == ((1, "bad"), (123456789, "good"))
    with pytest.raises(InputError, match="rubrics"):
        levels_of({"1234567890": "good", "1": "bad"})


def test_factual_correctness_shows_both_readings() -> None:
    said = {"claims": {FULL.answer: ["a"], FULL.reference: ["b", "c"]}, "support": {}}
    found = score("ragas:factual_correctness", **said)
    assert [len(found.verdicts[name]) for name in ("answer/reference", "reference/answer")] == [1, 2]


def test_factual_correctness_shares_claims_that_are_fine_and_complete_and_asks_for_coarser_ones() -> None:
    assert FactualCorrectness(atomicity="high").asks[0] is Claims
    assert FactualCorrectness(coverage="high").asks[0] is Claims
    rules: dict[str, Any] = {"extraction": lambda what, texts: ["It is in Rome."], "support": {}}
    for metric, atomicity, coverage in (
        (FactualCorrectness(atomicity="low"), "low", "high"),
        (FactualCorrectness(coverage="low"), "high", "low"),
    ):
        tasks = {one.task for one in asked(metric, **rules) if isinstance(one, Extraction)}
        assert len(tasks) == 1
        assert ATOMICITY[atomicity] in tasks.pop()
        assert COVERAGE[coverage] in next(one.task for one in asked(metric, **rules) if isinstance(one, Extraction))
    found = score(FactualCorrectness(atomicity="low"), **rules)
    (verdict,) = found.verdicts["answer/reference"]
    assert verdict.claim is not None
    assert verdict.claim.span.of(FULL.answer or "") == FULL.answer


@pytest.mark.parametrize(
    ("mode", "tp", "fp", "fn", "expected"),
    [("precision", 1, 1, 0, 1 / 2), ("recall", 1, 0, 1, 1 / 2), ("f1", 1, 2, 1, 2 / 5)],  # f1: 2 * 1 / (2 * 1 + 2 + 1)
)
def test_as_many_wrong_topics_as_right_ones_leave_a_number(
    mode: Any, tp: int, fp: int, fn: int, expected: float
) -> None:
    assert topic_adherence.value_of(mode, tp, fp, fn) == close(expected)


def test_a_tool_called_where_none_was_wanted_is_0() -> None:
    call = Message(role="assistant", content="", tool_calls=(ToolCall(name="find", arguments={}),))
    found = score("ragas:tool_call_f1", Sample(messages=(call,), metadata={"reference_tool_calls": []}))
    assert (found.value, found.convention) == (0.0, None)  # 2 * 0 / (1 + 0)


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        (ToolCallAccuracy(), ToolCallAccuracy(strict_order=False)),
        (NonLLMStringSimilarity(), NonLLMStringSimilarity(distance_measure="jaro")),
        (QuotedSpansAlignment(), QuotedSpansAlignment(casefold=False)),
        (QuotedSpansAlignment(), QuotedSpansAlignment(min_span_words=4)),
    ],
)
def test_parameters_are_named_in_a_label_where_they_are_not_the_systems(
    plain: SystemMetric, other: SystemMetric
) -> None:
    assert plain.label == plain.name
    assert other.label.startswith(f"{plain.name}(")
