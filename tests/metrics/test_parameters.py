"""What the parameters of metrics do, and which values are refused, by name."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy
import pytest

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import (
    AnswerCorrectness,
    AnswerRelevancy,
    AspectCritique,
    ContextEntityRecall,
    ContextRecall,
    ContextRelevance,
    Faithfulness,
    Hallucination,
    HarmonicMean,
    Metric,
    NoiseSensitivity,
    SemanticSimilarity,
    SummarizationScore,
)
from assay.metrics._aspect_critique import ASPECTS, Field, material_of
from assay.records import Context, Sample
from tests.metrics.test_grounded import Unsure

SAMPLE = Sample(
    question="Where?",
    contexts=(Context(text="One."), Context(text=" "), Context(text="Two.")),
    answer="Said.",
    reference="Right.",
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hallucination(kind="other"), "kind: expected one of 'unsupported', 'contradicted', not 'other'"),  # type: ignore[arg-type]
        (lambda: ContextRelevance(unit="word"), "unit: expected one of 'sentence', 'passage', not 'word'"),  # type: ignore[arg-type]
        (lambda: NoiseSensitivity(mode="both"), "mode: expected one of 'relevant', 'irrelevant', not 'both'"),  # type: ignore[arg-type]
        (lambda: AnswerRelevancy(questions=0), "questions must be"),
        (lambda: AnswerCorrectness(weights=(0, 0)), "weights must be"),
        (lambda: AnswerCorrectness(weights=(-1, 2)), "weights must be"),
        (lambda: AnswerCorrectness(weights=(float("nan"), 1)), "weights must be"),
        (lambda: AnswerCorrectness(weights=(1,)), "weights must be"),  # type: ignore[arg-type]
        (lambda: AnswerCorrectness(beta=0), "beta must be"),
        (lambda: AnswerCorrectness(beta=float("inf")), "beta must be"),
        (lambda: SummarizationScore(coeff=1.5), "coeff must be"),
        (lambda: SummarizationScore(coeff=float("nan")), "coeff must be"),
        (lambda: SummarizationScore(questions=0), "questions must be"),
        (lambda: AspectCritique("a", "b?", strictness=2), "strictness must be"),
        (lambda: AspectCritique("a", "b?", strictness=0), "strictness must be"),
        (lambda: AspectCritique("a", "b?", strictness=-1), "strictness must be"),
        (lambda: AspectCritique(" ", "b?"), "name is empty"),
        (lambda: AspectCritique("a", ""), "definition is empty"),
        (lambda: AspectCritique("a", "b?", include=("question",)), "include must be"),
        (lambda: AspectCritique("a", "b?", include=("answer", "context")), "include must be"),  # type: ignore[arg-type]
        (lambda: AspectCritique("a", "b?", direction="up"), "direction: expected one of 'higher', 'lower', not"),  # type: ignore[arg-type]
        (lambda: HarmonicMean(), "at least one"),
        (lambda: HarmonicMean(Faithfulness(), Faithfulness()), "'faithfulness' is given twice"),
        (lambda: HarmonicMean(Faithfulness(), Hallucination()), "'hallucination' .* lower is better"),
        (lambda: HarmonicMean("faithfulness"), "expected metrics"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameter_is_refused_by_name(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


# ---- answer_correctness ----------------------------------------------------------------------------------------


def correctness_judge(**rules: Any) -> ScriptedJudge:
    return ScriptedJudge(**{"support": lambda *_: "supported", "similarity": lambda *_: 0.5, **rules})


@pytest.mark.parametrize(
    ("weights", "expected", "asked"),
    [
        ((0.75, 0.25), 0.875, {"claims": 2, "support": 2, "similarity": 1}),  # 0.75 * 1 + 0.25 * 0.5
        ((3, 1), 0.875, {"claims": 2, "support": 2, "similarity": 1}),
        ((1, 0), 1.0, {"claims": 2, "support": 2}),
        ((0, 2), 0.5, {"similarity": 1}),
    ],
)
async def test_weight_of_0_is_not_asked(weights: tuple[float, float], expected: float, asked: dict[str, int]) -> None:
    judge = correctness_judge()
    assert (await AnswerCorrectness(weights=weights).score(SAMPLE, judge)).value == expected
    assert judge.asked == asked


@pytest.mark.parametrize(("beta", "expected"), [(1, 2 / 3), (2, 5 / 9)])
async def test_beta_weighs_what_is_missing(beta: float, expected: float) -> None:
    """TP 1, FP 0, FN 1: F1 = 2 / (2 + 1), F2 = 5 / (5 + 4)."""
    judge = correctness_judge(
        claims={"Said.": ["Said."], "Right.": ["Said.", "More."]},
        support=lambda claim, _: "supported" if claim == "Said." else "not_mentioned",
    )
    score = await AnswerCorrectness(weights=(1, 0), beta=beta).score(SAMPLE, judge)
    assert score.value == pytest.approx(expected)


async def test_negative_cosine_counts_as_0() -> None:
    score = await AnswerCorrectness().score(SAMPLE, correctness_judge(similarity=lambda *_: -0.5))
    assert score.value == 0.75


@pytest.mark.parametrize(
    ("claims", "counts"),
    [({"Said.": [], "Right.": ["Right."]}, (0, 0, 1)), ({"Said.": ["Said."], "Right.": []}, (0, 1, 0))],
)
async def test_one_text_without_claims_makes_the_factual_part_0(claims: Any, counts: tuple[int, ...]) -> None:
    judge = correctness_judge(claims=claims)
    score = await AnswerCorrectness().score(SAMPLE, judge)
    assert score.value == 0.125  # 0.75 * 0 + 0.25 * 0.5
    assert tuple(score.parts[name] for name in ("tp", "fp", "fn")) == counts
    assert judge.asked["support"] == 0


async def test_no_claims_anywhere_is_skipped() -> None:
    score = await AnswerCorrectness().score(SAMPLE, correctness_judge(claims=lambda _: []))
    assert score.error is not None
    assert score.error.cause == Cause.NO_CLAIMS


async def test_judge_without_embeddings_is_told_how_to_do_without() -> None:
    judge = ScriptedJudge(support=lambda *_: "supported")
    score = await AnswerCorrectness().score(SAMPLE, judge)
    assert score.error is not None
    assert score.error.cause == Cause.JUDGE_CANNOT
    assert "weights=(1, 0)" in score.error.message
    assert (await AnswerCorrectness(weights=(1, 0)).score(SAMPLE, judge)).value == 1.0


@pytest.mark.parametrize("metric", [AnswerCorrectness(), AnswerCorrectness(weights=(0, 1)), SemanticSimilarity()])
async def test_identical_texts_score_1_without_asking(metric: AnswerCorrectness | SemanticSimilarity) -> None:
    judge = correctness_judge()
    score = await metric.score(Sample(answer=" Paris.\n", reference="Paris."), judge)
    assert (score.value, score.parts) == (1.0, {"identical": 1.0})
    assert not judge.asked


# ---- answer_relevancy ------------------------------------------------------------------------------------------


async def test_noncommittal_answer_scores_0_and_compares_nothing() -> None:
    judge = ScriptedJudge(back_questions=lambda _: None, similarity=lambda *_: 1.0)
    score = await AnswerRelevancy().score(SAMPLE, judge)
    assert (score.value, score.parts) == (0.0, {"noncommittal": 1.0})
    assert judge.asked["similarity"] == 0


async def test_relevancy_may_be_negative() -> None:
    judge = ScriptedJudge(back_questions=lambda _: ["A?"], similarity=lambda *_: -0.25)
    assert (await AnswerRelevancy().score(SAMPLE, judge)).value == -0.25


async def test_judge_that_writes_no_question_leaves_relevancy_skipped() -> None:
    judge = ScriptedJudge(back_questions=lambda _: [], similarity=lambda *_: 1.0)
    score = await AnswerRelevancy().score(SAMPLE, judge)
    assert score.error is not None
    assert score.error.cause == Cause.PARSE


# ---- aspect_critique -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strictness", "yes", "value", "seen"),
    [
        (1, {0}, 1.0, [0]),
        (1, set(), 0.0, [0]),
        (3, {1, 3}, 1.0, [1, 2, 3]),
        (3, {2}, 0.0, [1, 2, 3]),
        (5, {1, 2, 3}, 1.0, [1, 2, 3, 4, 5]),
    ],
)
async def test_majority_of_independent_votes(strictness: int, yes: set[int], value: float, seen: list[int]) -> None:
    votes = []

    def criterion(question: str, vote: int) -> bool:
        votes.append(vote)
        return vote in yes

    metric = AspectCritique("short", "Is the ANSWER short?", strictness=strictness)
    score = await metric.score(SAMPLE, ScriptedJudge(criterion=criterion))
    assert (score.metric, score.value) == ("short", value)
    assert score.parts == {"votes_yes": len(yes), "votes": strictness}
    assert sorted(votes) == seen


def test_material_shows_what_is_there_in_the_usual_order() -> None:
    every: tuple[Field, ...] = ("answer", "reference", "question", "contexts")
    assert material_of(SAMPLE, every) == (
        ("PASSAGE P1", "One."),
        ("PASSAGE P3", "Two."),
        ("QUESTION", "Where?"),
        ("ANSWER", "Said."),
        ("REFERENCE", "Right."),
    )
    assert material_of(Sample(answer="Said."), every) == (("ANSWER", "Said."),)
    assert material_of(SAMPLE, ("answer",)) == (("ANSWER", "Said."),)


def test_presets_say_which_end_is_good() -> None:
    lower = {name for name, aspect in ASPECTS.items() if aspect.direction == "lower"}
    assert lower == {"harmfulness", "maliciousness"}


# ---- context_relevance and context_recall ----------------------------------------------------------------------


async def test_relevance_by_sentence_and_by_passage_differ() -> None:
    """A long passage with one useful sentence: 1 of 3 sentences, 1 of 1 passages."""
    passage = "Ulm is a city. Einstein was born in Ulm. It has a minster."
    judge = ScriptedJudge(usefulness=lambda _, text: "Einstein" in text)
    sample = Sample(question="Where was Einstein born?", contexts=(Context(text=passage),))
    by_sentence = await ContextRelevance().score(sample, judge)
    assert by_sentence.value == pytest.approx(1 / 3)
    assert by_sentence.texts["sentences"][1] == "Einstein was born in Ulm."
    assert (await ContextRelevance(unit="passage").score(sample, judge)).value == 1.0


async def test_recall_of_an_empty_retrieval_asks_only_for_claims() -> None:
    judge = ScriptedJudge(support={})
    score = await ContextRecall().score(Sample(contexts=(), reference="One. Two."), judge)
    assert score.value == 0.0
    assert [verdict.label for verdict in score.verdicts["reference/contexts"]] == ["not_mentioned"] * 2
    assert judge.asked == {"claims": 1}


async def test_recall_of_a_reference_without_claims_is_skipped() -> None:
    judge = ScriptedJudge(claims=lambda _: [], support={})
    score = await ContextRecall().score(Sample(contexts=(), reference="Who knows?"), judge)
    assert score.error is not None
    assert score.error.cause == Cause.NO_CLAIMS


async def test_entity_recall_of_an_empty_retrieval_asks_only_about_the_reference() -> None:
    judge = ScriptedJudge(entities=lambda text: ["Ulm"])
    score = await ContextEntityRecall().score(Sample(contexts=(), reference="In Ulm."), judge)
    assert score.value == 0.0
    assert score.texts == {"reference": ("Ulm",), "contexts": (), "shared": ()}
    assert judge.asked == {"entities": 1}


async def test_reference_without_entities_is_skipped() -> None:
    judge = ScriptedJudge(entities=lambda text: ["Ulm"] if "Ulm" in text else [])
    score = await ContextEntityRecall().score(Sample(contexts=(Context(text="Ulm."),), reference="He left."), judge)
    assert score.error is not None
    assert score.error.cause == Cause.NOT_APPLICABLE


# ---- composite -------------------------------------------------------------------------------------------------


async def test_composite_names_every_part_without_a_value() -> None:
    judge = ScriptedJudge(
        claims=lambda _: [], support={}, back_questions=lambda _: JudgeFailure(Cause.TIMEOUT, "slow"),
        similarity=lambda *_: 1.0,
    )  # fmt: skip
    score = await HarmonicMean(AnswerRelevancy(), Faithfulness()).score(SAMPLE, judge)
    assert score.error is not None
    assert score.error.cause == Cause.TIMEOUT
    assert "answer_relevancy: slow" in score.error.message
    assert "faithfulness: the answer makes no" in score.error.message


async def test_composite_counts_negative_values_as_0() -> None:
    judge = ScriptedJudge(support=lambda *_: "supported", back_questions=lambda _: ["A?"], similarity=lambda *_: -0.5)
    score = await HarmonicMean(AnswerRelevancy(), Faithfulness(), label="overall").score(SAMPLE, judge)
    assert (score.metric, score.value) == ("overall", 0.0)
    assert score.parts == {"answer_relevancy": -0.5, "faithfulness": 1.0}


async def test_composite_pays_for_its_parts() -> None:
    judge = ScriptedJudge(support=lambda *_: "supported")
    score = await HarmonicMean(Faithfulness(), ContextRecall()).score(SAMPLE, judge)
    assert score.usage.calls == judge.asked.total() == 4  # claims and support, twice
    assert set(score.verdicts) == {"answer/contexts", "reference/contexts"}


async def test_composite_says_which_part_the_judge_cannot_do() -> None:
    score = await HarmonicMean(Faithfulness(), AnswerCorrectness()).score(SAMPLE, ScriptedJudge(support={}))
    assert score.error is not None
    assert score.error.message.startswith("answer_correctness: ")
    assert "weights=(1, 0)" in score.error.message


@pytest.mark.parametrize(
    ("answer", "reference", "factual"),
    [
        ("It comes from Wales. It is old. Many bear it.", "Wales", 1.0),  # other claims are not held against it
        ("It comes from Cymru.", "Wales | Cymru", 1.0),
        ("It comes from Kent.", "Wales | Cymru", 0.0),
    ],
)
async def test_a_reference_of_a_few_words_is_looked_for(answer: str, reference: str, factual: float) -> None:
    """0.75 * factual + 0.25 * 0.5, as the cosine is 0.5; the judge is asked only where no spelling stands there."""
    judge = correctness_judge(support=lambda *_: "not_mentioned")
    sample = Sample(question="Where from?", answer=answer, reference=reference)
    score = await AnswerCorrectness().score(sample, judge)
    assert score.value == 0.75 * factual + 0.125
    assert (score.parts["tp"], score.parts["fp"], score.parts["fn"]) == (factual, 0, 1 - factual)
    assert judge.asked == ({"similarity": 1} if factual else {"similarity": 1, "support": 1})
    (verdict,) = score.verdicts["reference/answer"]
    assert verdict.claim is not None
    assert verdict.claim.span.of(reference) in ("Wales", "Cymru")
    assert [evidence.text for evidence in verdict.evidence] == ([verdict.claim.text] if factual else [])


@pytest.mark.parametrize(("probability", "factual"), [(0.9, 1.0), (0.84, 0.0)])
async def test_other_words_count_where_the_judge_is_sure(probability: float, factual: float) -> None:
    sample = Sample(question="Why?", answer="So as to keep slaves.", reference="to preserve slavery")
    score = await AnswerCorrectness(weights=(1, 0)).score(sample, Unsure(probability))
    assert score.value == factual
    (verdict,) = score.verdicts["reference/answer"]
    assert verdict.claim is not None
    assert verdict.claim.text == "Why? to preserve slavery"
    assert verdict.label == ("supported" if factual else "not_mentioned")


async def test_other_words_count_by_the_label_where_there_is_no_probability() -> None:
    sample = Sample(question="Why?", answer="So as to keep slaves.", reference="to preserve slavery")
    judge = correctness_judge(support=lambda claim, passage: passage)
    assert (await AnswerCorrectness(weights=(1, 0)).score(sample, judge)).value == 1.0


@pytest.mark.parametrize("reference", ["I don't know", "It is Paris.", "Nobody knows."])
async def test_other_references_are_read_claim_by_claim(reference: str) -> None:
    judge = correctness_judge()
    await AnswerCorrectness(weights=(1, 0)).score(Sample(answer="It is in Paris.", reference=reference), judge)
    assert judge.asked["claims"] == 2


@pytest.mark.parametrize(
    ("answer", "reference", "factual", "asked"),
    [
        ("Yes, on Mondays too.", "yes", 1.0, None),
        ("No, never.", "Yes", 0.0, None),
        ("There is no doubt that it is open on Mondays.", "no", 0.0, "No, the library is not open on Mondays."),
        ("It opens every day.", "true", 1.0, "Yes, the library is open on Mondays."),
        ("It opens every day.", "yes | true", 1.0, "Yes, the library is open on Mondays."),
    ],
)
async def test_yes_and_no_are_no_words_to_look_for(
    answer: str, reference: str, factual: float, asked: str | None
) -> None:
    claims = []

    def says(claim: str, passage: str) -> str:
        claims.append(claim)
        return "not_mentioned" if claim.startswith("No,") else "supported"

    sample = Sample(question="Is the library open on Mondays?", answer=answer, reference=reference)
    score = await AnswerCorrectness(weights=(1, 0)).score(sample, correctness_judge(support=says))
    assert score.value == factual
    assert claims == ([] if asked is None else [asked])


class Nothing:
    """Of no kind that any parameter takes."""


def test_values_of_other_libraries_are_taken() -> None:
    assert SummarizationScore(questions=numpy.int64(3)).questions == 3
    assert AnswerCorrectness(beta=numpy.float32(0.5)).beta == 0.5
    assert AnswerCorrectness(weights=[0.5, 0.5]).weights == [0.5, 0.5]  # type: ignore[arg-type]


def test_true_is_no_number_and_a_number_is_not_true() -> None:
    with pytest.raises(InputError, match="SummarizationScore: questions: expected a whole number, not True"):
        SummarizationScore(questions=True)
    with pytest.raises(InputError, match="AnswerCorrectness: beta: expected a number, not '1'"):
        AnswerCorrectness(beta="1")  # type: ignore[arg-type]


def test_parameters_of_a_metric_of_ones_own_are_looked_at_too() -> None:
    @dataclass(frozen=True)
    class Own(Metric):
        words: int = 3
        about: Nothing | None = None

        async def measure(self, sample: Sample, judge: Judge) -> float:
            return 1.0

    assert Own(words=5).words == 5
    assert isinstance(Own(about=Nothing()).about, Nothing)
    with pytest.raises(InputError, match="Own: words: expected a whole number, not 'five'"):
        Own("five")  # type: ignore[arg-type]


def test_copies_and_pickles_are_made_as_ever() -> None:
    metric = Hallucination(kind="contradicted")
    assert pickle.loads(pickle.dumps(metric)) == copy.deepcopy(metric) == replace(metric) == metric
