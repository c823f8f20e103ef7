"""TruLens' numbers on 48 samples, driven by the same verdicts, and ours; and what no profile gives a number for."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.base import Metric
from assay.metrics.systems import named, system_entries
from assay.metrics.systems.base import ORIGINAL
from assay.metrics.trulens import (
    absolute_error,
    comprehensiveness,
    groundedness,
    memory,
    repetition,
    requirements,
    retrieval,
    scale,
)
from assay.metrics.trulens import lexical as trulens_lexical
from assay.prompts import Classification, Criterion, Rating, RatingResult
from assay.prompts.base import JudgePrompt
from assay.records import Context, Message, Sample, Score
from tests.metrics.systems.golden import CASES, agrees, golden, judge_of, sample_of
from tests.metrics.systems.scoring import prompts

import trulens_worlds as world  # isort: skip  # on the path once `golden` is imported
import worlds  # isort: skip

GOLDEN = golden("trulens")["values"]


class PassageJudge(ScriptedJudge):
    """Rates each passage by itself."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [Answer(judgement=_rated(prompt)) if isinstance(prompt, Rating) else None for prompt in prompts]  # type: ignore[misc]

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> None:
        return None


def _rated(prompt: Rating) -> RatingResult:
    texts = dict(prompt.material)
    return RatingResult(level=world.level("context_relevance", texts["QUESTION"], texts["PASSAGE"]))


def metric_of(name: str) -> Metric:
    """The metric, with its parameters, that a row of the golden file is about; in the profile "original"."""
    varied: dict[str, tuple[str, dict[str, Any]]] = {
        "relevance_0_to_10": ("relevance", {"max_score_val": 10}),
        "mrr_by_score": ("mrr", {"by_score": True}),
        "ir_hit_rate_at_1": ("ir_hit_rate", {"k": 1}),
        "memory_recall_alike": ("memory_recall", {"similarity_threshold": 0.9}),
        "memory_mrr_alike": ("memory_mrr", {"similarity_threshold": 0.9}),
        **{f"{one}_at_2": (f"{one}_at_k", {"k": 2}) for one in ("precision", "recall", "ndcg")},
        **{
            f"{one}_at_2_by_score": (f"{one}_at_k", {"k": 2, "by_score": True})
            for one in ("precision", "recall", "ndcg")
        },
    }
    base, parameters = varied.get(name, (name, {}))
    return replace(named(f"trulens:{base}@{ORIGINAL}"), **parameters)


def row_of(case: worlds.Case) -> Sample:
    """The sample of a case with all that TruLens needs besides texts."""
    score, expected = world.given_scores(case)
    metadata: dict[str, Any] = {
        "reference_topics": world.topics(case),
        "expected_memories": world.memories(case),
        "score": score,
        **({"expected_score": expected} if expected is not None else {}),
    }
    contexts = zip(case.contexts, world.scores(case), strict=True)
    return replace(
        sample_of(case),
        contexts=tuple(Context(text=text, score=given) for text, given in contexts),
        reference_contexts=tuple(Context(text=text, score=gain) for text, gain in world.expected_chunks(case)),
        messages=tuple(Message(role=role, content=said) for role, said in world.conversation(case)),  # type: ignore[arg-type]
        metadata=metadata,
    )


def judge_for(name: str, case: worlds.Case) -> ScriptedJudge:
    """A judge that says of a case what the scripted server told TruLens."""
    if name == "context_relevance":
        return PassageJudge()
    sort: dict[str, Callable[[str], str]] = {
        "groundedness": lambda item: world.sentence(item, case.contexts),
        "inclusion": lambda item: str(world.level("inclusion", item, case.answer)),
        "requirement": lambda item: world.fulfilled(item, case),
    }
    lists = {
        "key points": world.key_points(case),
        "requirements": world.requirements(case),
        "own answer": ["An answer of my own."],
    }
    return judge_of(
        case,
        rating=lambda question: world.rating(name, case),
        classification=lambda what, item, texts: sort[what](item),
        extraction=lambda what, texts: lists[what],
        criterion=lambda question, vote: world.answerable(case),
        rules={"distance": lambda a, b, measure: manhattan(worlds.embedding(a), worlds.embedding(b))},
    )


def manhattan(a: Sequence[float], b: Sequence[float]) -> float:
    """The sum of the differences of coordinates."""
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def score_of(metric: Metric, sample: Sample, judge: ScriptedJudge | None = None) -> Score:
    return asyncio.run(metric.score(sample, judge or ScriptedJudge()))


@pytest.mark.parametrize("name", sorted(name for name in GOLDEN if not name.startswith("jury_")))
def test_every_number_of_trulens_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= 40
    metric = metric_of(name)
    for case, expected in GOLDEN[name].items():
        sample = row_of(CASES[case])
        if name == "requirement_satisfaction":
            sample = replace(sample, messages=())  # driven with question and answer
        agrees(score_of(metric, sample, judge_for(name, CASES[case])), expected)


def test_the_numbers_that_are_compared_differ_and_are_there() -> None:
    for name, values in GOLDEN.items():
        told = {value for value in values.values() if value is not None}
        assert len(told) > 1, name


# ---- the formulas


@pytest.mark.parametrize(
    ("rating", "low", "high", "value"),
    [(2, 0, 3, 2 / 3), (0, 0, 3, 0.0), (7, 0, 10, 0.7), (1, 0, 1, 1.0), (2, 1, 5, 0.25)],
)
def test_normalized(rating: int, low: int, high: int, value: float) -> None:
    assert scale.normalized(rating, low, high) == pytest.approx(value)


def test_levels_say_what_lies_between() -> None:
    told = dict(scale.levels("none", "all", 0, 10))
    assert (told[0], told[10], told[5]) == ("none", "all", "half-way")
    assert told[4].endswith("nearer to 0")
    assert told[6].endswith("nearer to 10")


def test_other_scales_are_refused() -> None:
    with pytest.raises(InputError, match="max_score_val: expected 0 to 3, 0 to 10, 0 to 1; found 1 to 5"):
        replace(named("trulens:relevance"), min_score_val=1, max_score_val=5)  # type: ignore[call-arg]


def test_groundedness() -> None:
    of_three = groundedness.grades(0, 3)
    # (3/3 + 1/3 + 1 for the abstention) / 3; what is trivial does not count
    labels = ["3", "1", "trivial", "abstention"]
    assert groundedness.groundedness(labels, of_three) == pytest.approx((1 + 1 / 3 + 1) / 3)
    # the same where the question could have been answered: (1 + 1/3 + 0) / 3
    assert groundedness.groundedness(labels, groundedness.grades(0, 3, 0.0)) == pytest.approx((1 + 1 / 3) / 3)
    assert groundedness.groundedness(["trivial"], of_three) is None
    assert groundedness.grades(0, 10)["7"] == pytest.approx(0.7)


def test_numbers_of_a_list_are_no_sentences() -> None:
    told = groundedness.sentences_of("It opened in 1931.\n\n2)\n\nIt is red.", "en")
    assert [claim.text.strip() for claim in told] == ["It opened in 1931.", "It is red."]


def test_requirements() -> None:
    # (1 + 0.5 + 0 + 1) / 4
    assert requirements.satisfaction(["met", "partly_met", "not_met", "met"]) == 0.625


EXPECTED = {"a": 3.0, "b": 1.0, "c": 2.0}


def test_precision_counts_a_chunk_as_often_as_it_comes() -> None:
    assert retrieval.precision(["a", "x", "a"], EXPECTED) == pytest.approx(2 / 3)
    assert retrieval.recall(["a", "x", "a"], EXPECTED) == pytest.approx(1 / 3)


def test_ndcg() -> None:
    # found a at rank 2 and b at rank 3; the best order is a, c, b
    gained = 3 / math.log2(3) + 1 / math.log2(4)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert retrieval.ndcg(["x", "a", "b"], EXPECTED, 3) == pytest.approx(gained / best)
    assert retrieval.ndcg(["x", "a", "b"], EXPECTED, 2) == pytest.approx(
        3 / math.log2(3) / (3 / math.log2(2) + 2 / math.log2(3))
    )
    assert retrieval.ndcg(["a", "a"], {"a": 1.0}, 2) == 1.0  # once
    assert retrieval.ndcg([], EXPECTED, 0) is None
    assert retrieval.ndcg(["a"], {"a": 0.0}, 1) is None


def test_reciprocal_rank() -> None:
    assert retrieval.reciprocal_rank(["x", "y", "b", "a"], EXPECTED) == pytest.approx(1 / 3)
    assert retrieval.reciprocal_rank(["x"], EXPECTED) == 0.0


def test_by_score_takes_all_that_score_as_high_as_the_last() -> None:
    assert retrieval.first(["a", "b", "c", "d"], [0.5, 0.9, 0.5, 0.1], 2) == ["a", "b", "c"]
    assert retrieval.first(["a", "b", "c"], [], 2) == ["a", "b"]
    assert retrieval.first(["a", "b"], [0.1, 0.2], None) == ["a", "b"]
    assert retrieval.ranked(["a", "b", "c"], [0.5, 0.9, 0.5]) == ["b", "a", "c"]


def test_a_chunk_without_a_score_is_worth_1() -> None:
    """Beside one that is worth 0.5, and found behind it."""
    found, half = (Context(text="b"), Context(text="a")), Context(text="b", score=0.5)
    values = [
        score_of(named("trulens:ndcg_at_k"), Sample(contexts=found, reference_contexts=(one, half))).value
        for one in (Context(text="a"), Context(text="a", score=1.0), Context(text="a", score=1.1))
    ]
    assert values[0] == values[1] != values[2]


def test_retrieval_by_id() -> None:
    sample = Sample(
        contexts=(Context(text="The bridge.", id="7"), Context(text="The lake.", id="8")),
        reference_contexts=(Context(text="The bridge, revised.", id="7"),),
    )
    by_id = replace(named("trulens:precision_at_k"), by="id")  # type: ignore[call-arg]
    assert score_of(by_id, sample).value == 0.5
    assert score_of(named("trulens:precision_at_k"), sample).value == 0.0


def test_k_stands_in_the_label() -> None:
    at_5 = replace(named("trulens:ndcg_at_k@original"), k=5)  # type: ignore[call-arg]
    assert at_5.label == "trulens:ndcg_at_5@original"
    assert replace(named("trulens:mrr"), k=3).label == "trulens:mrr_at_3"  # type: ignore[call-arg]


@pytest.mark.parametrize(("name", "given"), [("k", 0), ("k", True), ("by", "place")])
def test_wrong_parameters_of_retrieval(name: str, given: Any) -> None:
    with pytest.raises(InputError, match=rf"(precision_at_k|PrecisionAtK): {name}: expected"):
        replace(named("trulens:precision_at_k"), **{name: given})


def test_memories() -> None:
    same = str.__eq__
    assert memory.recall(["a", "b", "a"], ["b", "x"], same) == 0.5  # a and b, each once
    assert memory.reciprocal_rank(["a", "b"], ["x", "b", "a"], same) == 0.5
    assert memory.reciprocal_rank(["a"], ["x"], same) == 0.0
    with pytest.raises(InputError, match="similarity_threshold: expected more than 0 and at most 1; found 0"):
        memory.MemoryRecall(similarity_threshold=0)
    with pytest.raises(InputError, match=r"at most 1; found 1\.5"):
        memory.MemoryRecall(similarity_threshold=1.5)


def test_alike() -> None:
    alike = memory.MemoryRecall(similarity_threshold=0.9)
    assert alike.alike("it was sold in 1974", "it was sold in 1975")  # 18 of 19 characters: 36 / 38 = 0.947
    assert not alike.alike("it was sold", "it was built")
    assert not memory.MemoryRecall().alike("it was sold in 1974", "it was sold in 1975")
    long = "a" * memory.LONGEST
    assert not alike.alike(long + "b", long + "c")


def test_absolute_error() -> None:
    assert absolute_error.absolute_error(0.2, 0.9) == pytest.approx(0.7)
    four = absolute_error.AbsoluteError(high=4.0)
    sample = Sample(metadata={"score": 1, "expected_score": 3})
    assert score_of(four, sample).value == 2.0
    assert cause_of(score_of(named("trulens:absolute_error"), sample)) is Cause.NOT_APPLICABLE
    with pytest.raises(InputError, match="high: expected a number above 0; found 0"):
        absolute_error.AbsoluteError(high=0)
    with pytest.raises(InputError, match="high: expected a number above 0; found inf"):
        absolute_error.AbsoluteError(high=math.inf)


def test_repetition_of_a_reply() -> None:
    words = ["to", "be", "or", "not", "to", "be"]
    # 2-grams: 5, 4 of them different; 3-grams and 4-grams: all different
    assert repetition.repeated_ngrams(words, 2) == pytest.approx(1 / 5)
    assert repetition.repeated_ngrams(words, 3) == 0.0
    assert repetition.repeated_ngrams(["to"], 2) == 0.0
    # 6 words, 4 of them different: 1/3 are repeated, 1/30 above 0.3, of 0.7
    assert repetition.repeated_words(words) == pytest.approx((1 - 4 / 6 - 0.3) / 0.7)
    assert repetition.repeated_words(["a", "a", "a"]) == 0.0
    assert repetition.repeated_words(["a"] * 4) == pytest.approx((1 - 1 / 4 - 0.3) / 0.7)  # four are enough
    assert repetition.repeated_words(["a", "b", "c", "d"]) == 0.0
    assert repetition.combined((0.5, 0.2, 0.0)) == pytest.approx(1 - 0.5 * 0.8)


def test_overlap_with_the_reply_before() -> None:
    # "a c d" stands in both, in this order: precision 3/4, recall 3/5, F1 2/3, squared 4/9
    assert repetition.longest_common(["a", "b", "c", "d"], ["a", "x", "c", "y", "d"]) == 3
    assert repetition.overlap(["a", "b", "c", "d"], ["a", "x", "c", "y", "d"]) == pytest.approx(4 / 9)
    assert repetition.longest_common(["x", "b"], ["b", "b"]) == 1  # "b" stands once
    assert repetition.overlap(["a"], ["b"]) == 0.0
    assert repetition.overlap([], ["b"]) == 0.0


def test_original_repetition_is_rounded() -> None:
    sample = Sample(messages=tuple(Message(role="assistant", content=one) for one in ("a b c d e f", "a b c x y z q")))
    exact = score_of(named("trulens:conversation_repetition"), sample).value
    assert exact == pytest.approx(1 - (2 * (3 / 7) * (3 / 6) / (3 / 7 + 3 / 6)) ** 2)
    assert score_of(named("trulens:conversation_repetition@original"), sample).value == round(exact or 0.0, 4) != exact


def test_repetition_is_shown_for_each_reply() -> None:
    sample = Sample(
        messages=tuple(
            Message(role="assistant", content=one) for one in ("a b c d", "Could you rephrase your question?")
        )
    )
    # the first reply repeats nothing; the second is a fallback phrase, and shares no word with the first
    assert score_of(named("trulens:conversation_repetition"), sample).parts == {"reply 1": 0.0, "reply 2": 1.0}


def test_a_fallback_phrase_is_a_repetition() -> None:
    sample = Sample(question="Why?", answer="Could you REPHRASE your question?")
    assert score_of(named("trulens:conversation_repetition"), sample).value == 0.0
    other = repetition.ConversationRepetition(fallback_phrases=("No idea",))
    assert score_of(other, sample).value == 1.0


def test_bleu() -> None:
    said, expected = ["the", "bridge", "opened", "in", "1931"], ["the", "old", "bridge", "opened", "in", "1931", "too"]
    # shared: 5 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours; 5 words against 7
    precisions = 1 * 3 / 4 * 2 / 3 * 1 / 2
    assert trulens_lexical.bleu_of(said, expected) == pytest.approx(math.exp(1 - 7 / 5) * precisions ** (1 / 4))
    # longer than the reference: no penalty
    assert trulens_lexical.bleu_of([*expected, "and"], expected) == pytest.approx(
        (7 / 8 * 6 / 7 * 5 / 6 * 4 / 5) ** (1 / 4)
    )
    assert trulens_lexical.bleu_of(["a", "b", "c"], ["a", "b", "c"]) == 0.0  # no four words in a row
    assert trulens_lexical.bleu_of([], expected) == 0.0


def test_bleu_and_rouge_of_samples() -> None:
    sample = Sample(answer="The bridge opened in 1931.", reference="The bridges opened in 1931.")
    # six tokens with the stop; shared: 5 of 6, 3 of 5, 2 of 4, 1 of 3
    assert score_of(named("trulens:bleu"), sample).value == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))
    assert score_of(named("trulens:rouge"), sample).value == pytest.approx(4 / 5)  # "bridges" is not stemmed


# ---- what has no number


def cause_of(score: Score) -> Cause | None:
    return score.error.cause if score.error is not None else None


FULL = Sample(question="When did it open?", contexts=(Context(text="It opened in 1931."),), answer="It opened in 1931.")
MEANINGLESS = ScriptedJudge(classification=lambda what, item, texts: "trivial", extraction=lambda what, texts: [])


@pytest.mark.parametrize("name", ["groundedness", "comprehensiveness"])
def test_nothing_to_count_is_zero_by_convention_there_and_no_number_here(name: str) -> None:
    assert cause_of(score_of(named(f"trulens:{name}"), FULL, MEANINGLESS)) is Cause.NO_CLAIMS
    original = score_of(named(f"trulens:{name}@original"), FULL, MEANINGLESS)
    assert (original.value, original.measured) == (0.0, False)


def test_unfiltered_groundedness_has_no_convention() -> None:
    unfiltered = groundedness.Groundedness(filter_trivial_statements=False, profile="original")
    assert cause_of(score_of(unfiltered, replace(FULL, answer="2)"), MEANINGLESS)) is Cause.NO_CLAIMS


@pytest.mark.parametrize(
    ("name", "sample", "cause"),
    [
        ("groundedness", replace(FULL, contexts=()), Cause.NO_CONTEXT),
        ("context_relevance", replace(FULL, contexts=()), Cause.NO_CONTEXT),
        ("context_relevance@original", replace(FULL, contexts=()), Cause.NO_CONTEXT),
        ("agreement_measure", FULL, Cause.MISSING_INPUT),
        ("agreement_measure", replace(FULL, answer=" ", reference="1931."), Cause.NO_CLAIMS),
        ("requirement_satisfaction", FULL, Cause.NOT_APPLICABLE),
        ("requirement_satisfaction", replace(FULL, metadata={"reference_requirements": [" "]}), Cause.MISSING_INPUT),
        ("requirement_satisfaction", replace(FULL, question=None), Cause.MISSING_INPUT),
        ("model_agreement", FULL, Cause.NOT_APPLICABLE),
        ("topic_adherence", FULL, Cause.MISSING_INPUT),
        ("topic_adherence", replace(FULL, metadata={"reference_topics": []}), Cause.MISSING_INPUT),
        ("conversation_helpfulness", Sample(question="Why?"), Cause.MISSING_INPUT),
        ("plan_quality", FULL, Cause.MISSING_INPUT),
        ("conversation_repetition", Sample(question="Why?"), Cause.MISSING_INPUT),
        ("precision_at_k", FULL, Cause.MISSING_INPUT),
        ("precision_at_k", replace(FULL, reference_contexts=()), Cause.MISSING_INPUT),
        ("precision_at_k", replace(FULL, contexts=(), reference_contexts=FULL.contexts), Cause.NO_CONTEXT),
        ("memory_recall", replace(FULL, metadata={"expected_memories": []}), Cause.NOT_APPLICABLE),
        ("absolute_error", FULL, Cause.MISSING_INPUT),
        ("absolute_error", replace(FULL, metadata={"score": "much", "expected_score": 1}), Cause.MISSING_INPUT),
        ("language_match", FULL, Cause.NOT_APPLICABLE),
    ],
)
def test_no_number_without_a_measurement(name: str, sample: Sample, cause: Cause) -> None:
    judge = ScriptedJudge(
        classification=lambda what, item, texts: "3", extraction=lambda what, texts: [], rating=lambda question: 2
    )
    assert cause_of(score_of(named(f"trulens:{name}"), sample, judge)) is cause


def test_scores_by_which_chunks_are_ordered_must_be_there() -> None:
    sample = replace(FULL, reference_contexts=FULL.contexts)
    by_score = replace(named("trulens:mrr"), by_score=True)  # type: ignore[call-arg]
    assert cause_of(score_of(by_score, sample)) is Cause.MISSING_INPUT


def test_requirements_that_are_given_are_not_asked_for() -> None:
    judge = ScriptedJudge(classification=lambda what, item, texts: "met" if "year" in item else "partly_met")
    sample = replace(FULL, metadata={"reference_requirements": ["Name the year", "Be brief"]})
    assert cause_of(score_of(named("trulens:requirement_satisfaction"), sample, judge)) is Cause.JUDGE_CANNOT
    able = ScriptedJudge(
        classification=lambda what, item, texts: "met" if "year" in item else "partly_met", extraction={}
    )
    assert score_of(named("trulens:requirement_satisfaction"), sample, able).value == 0.75  # (1 + 0.5) / 2
    assert able.asked["extraction"] == 0


def test_harm_is_lower_and_the_rest_is_higher() -> None:
    lower = {name for name, entry in system_entries("trulens").items() if entry.make().direction == "lower"}
    assert lower == {
        *("harmfulness", "maliciousness", "misogyny", "criminality", "insensitivity", "stereotypes"),
        *("controversiality", "cosine_distance", "euclidean_distance", "manhattan_distance"),
        "absolute_error",
    }


def test_both_groundednesses_and_all_ratings_explain_themselves() -> None:
    judge = ScriptedJudge(
        classification=lambda what, item, texts: "abstention" if "know" in item else "2",
        criterion=lambda question, vote: True,
    )
    sample = replace(FULL, answer="It opened in 1931. I do not know more.")
    plain = score_of(named("trulens:groundedness"), sample, judge)
    assert plain.value == pytest.approx((2 / 3 + 1) / 2)
    assert [verdict.claim.text.strip() for verdict in plain.verdicts["answer_sentences/contexts"] if verdict.claim] == [
        "It opened in 1931.",
        "I do not know more.",
    ]
    assert plain.parts == {"sentences": 2.0, "abstention": 1.0, "trivial": 0.0}
    strict = score_of(named("trulens:groundedness_consider_answerability"), sample, judge)
    assert strict.value == pytest.approx((2 / 3 + 0) / 2)
    assert dict(judge.asked) == {"classification": 2, "criterion": 1}


def test_both_groundednesses_ask_one_question() -> None:
    found = []

    class Listening(ScriptedJudge):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            found.extend(prompts)
            return await super().answer(prompts)

    judge = Listening(classification=lambda what, item, texts: "2", criterion=lambda question, vote: True)
    score_of(named("trulens:groundedness"), FULL, judge)
    score_of(named("trulens:groundedness_consider_answerability"), FULL, judge)
    assert len(found) == len(set(found)) + 1 == 2


def test_language_match() -> None:
    english = "When was the old bridge over the river in this town opened to the public?"
    german = "Die alte Brücke über den Fluss in dieser Stadt wurde im Jahr 1931 für alle geöffnet."
    same = "The old bridge over the river in this town was opened to everybody in the year 1931."
    assert score_of(named("trulens:language_match"), Sample(question=english, answer=same)).value == 1.0
    assert score_of(named("trulens:language_match"), Sample(question=english, answer=german)).value == 0.0


def test_comprehensiveness_says_which_points() -> None:
    judge = ScriptedJudge(
        extraction=lambda what, texts: ["It opened.", "It is red."],
        classification=lambda what, item, texts: "3" if "opened" in item else "1",
    )
    score = score_of(comprehensiveness.Comprehensiveness(), FULL, judge)
    assert score.value == pytest.approx((1 + 1 / 3) / 2)
    assert score.texts["key_points"] == ("It opened.", "It is red.")


def test_edges() -> None:
    far = Sample(metadata={"score": 0.0, "expected_score": 1.0})
    assert asyncio.run(named("trulens:absolute_error").score(far, ScriptedJudge())).value == 1.0  # as far as can be
    assert (scale.normalized(1.5), scale.normalized(0), scale.normalized(3)) == (0.5, 0.0, 1.0)
    assert [level for level, _ in scale.levels("no", "yes")] == [0, 1, 2, 3]
    assert groundedness.grades(0, 3) == {"0": 0.0, "1": 1 / 3, "2": 2 / 3, "3": 1.0, "abstention": 1.0}
    assert [claim.text for claim in groundedness.sentences_of("3d.", "en")] == ["3d."]
    assert len(repetition.words_of("word " * 10_001)) == 10_000


def test_memories_are_alike_from_the_threshold_on_and_long_ones_when_equal() -> None:
    half = memory.MemoryRecall(0.5)
    assert half.alike("ab", "ac")  # one letter of two: 2 * 1 / 4
    assert not half.alike("abcd", "dcba")  # the same letters, one of four in order: 2 * 1 / 8
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 2001)))
    assert half.alike(letters[:2000], letters[1:2000])
    assert not half.alike(letters, letters[1:])
    assert half.alike(letters, letters)


def test_whether_the_contexts_hold_the_answer_is_asked_once_where_a_sentence_abstains() -> None:
    sample = Sample(question="Why?", answer="I do not know.", contexts=(Context(text="It is so."),))
    name = "trulens:groundedness_consider_answerability"
    asked = prompts(name, sample, classification=lambda *_: "abstention", criterion=lambda question, vote: True)
    assert [(type(one), getattr(one, "vote", None)) for one in asked] == [(Classification, 0), (Criterion, 0)]
    assert len(prompts(name, sample, classification=lambda *_: "3")) == 1
