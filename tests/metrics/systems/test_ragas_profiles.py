"""What the original's profile changes in the metrics of ragas, and what their parameters do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import assay
from assay.errors import Cause, JudgeFailure
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.aspect_critique import AspectCritique
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.criteria import AspectCritic
from assay.metrics.ragas.double_judge import AnswerAccuracy
from assay.metrics.ragas.factual_correctness import FactualCorrectness
from assay.metrics.ragas.rubrics import DomainSpecificRubrics
from assay.prompts import Claims, Criterion, Extraction, Support
from assay.records import Context, Turn
from tests.metrics.systems.ragas_sample import FULL, close, original, score


def test_answer_correctness_of_a_refusal_is_1_by_convention_in_the_original_alone() -> None:
    rules: dict[str, Any] = {
        "claims": {FULL.answer: [], FULL.reference: ["It is in Rome."]},
        "support": {},
        "similarity": lambda a, b: 0.2,
    }
    ours = score("ragas:answer_correctness", **rules)
    theirs = score("ragas:answer_correctness@original", **rules)
    assert ours.value == close(0.05)  # 0.75 * 0 + 0.25 * 0.2
    assert theirs.value == close(0.8)  # 0.75 * 1 + 0.25 * 0.2
    assert theirs.convention == "the factual part is 1 where a text makes no claim"
    nothing = score("ragas:answer_correctness", claims=lambda text: [], support={}, similarity=lambda a, b: 0.2)
    assert nothing.error is not None
    assert nothing.error.cause is Cause.NO_CLAIMS


def test_answer_correctness_weighs_its_parts() -> None:
    def supports(claim: str, text: str) -> str:
        return "supported" if claim in text else "not_mentioned"

    sample = replace(FULL, answer="It is in Rome. It is new.")
    found = score(AnswerCorrectness((3.0, 1.0)), sample, support=supports, similarity=lambda a, b: 0.4)
    assert found.parts == {"tp": 1, "fp": 1, "fn": 1, "factual": 0.5, "similarity": 0.4}
    assert found.value == close(0.475)  # (3 * 0.5 + 1 * 0.4) / 4
    weighed = score(AnswerCorrectness((1.0, 0.0), 2.0), replace(sample, answer="It is in Rome."), support=supports)
    assert weighed.value == close(5 / 9)  # tp 1, fn 1: 5 * 1 / (5 * 1 + 4 * 1)


def test_factual_correctness_has_no_value_where_nothing_is_counted() -> None:
    rules: dict[str, Any] = {"claims": lambda text: [], "support": {}}
    for name in ("factual_correctness", "factual_correctness_precision", "factual_correctness_recall"):
        ours, theirs = score(f"ragas:{name}", **rules), score(f"ragas:{name}@original", **rules)
        assert ours.error is not None
        assert ours.error.cause is Cause.NO_CLAIMS
        assert theirs.value == 0.0
    said = {"claims": {FULL.answer: ["a"], FULL.reference: ["b", "c"]}, "support": {("a", FULL.reference): "supported"}}
    assert score("ragas:factual_correctness_recall", **said).value == close(1 / 3)  # 1 / (1 + 2)
    assert score("ragas:factual_correctness_recall@original", **said).value == 0.33


def test_factual_correctness_asks_for_claims_of_its_own_where_they_are_to_be_coarser() -> None:
    fine, coarse = FactualCorrectness(), FactualCorrectness(atomicity="low")
    assert fine.asks == FactualCorrectness(atomicity="high", coverage="high").asks == (Claims, Support)
    assert coarse.asks == FactualCorrectness(coverage="low").asks == (Extraction, Support)
    listed = {FULL.answer: ["a", "b"], FULL.reference: ["c"]}
    found = score(coarse, extraction=lambda what, texts: listed[texts[0]], support={("a", FULL.reference): "supported"})
    assert found.parts["fp"] == found.parts["fn"] == 1


def test_one_failing_judge_of_two_leaves_the_other_in_the_original_alone() -> None:
    def rating(question: str) -> int | JudgeFailure:
        first = question == AnswerAccuracy.questions[0]
        return 4 if first else JudgeFailure(Cause.PARSE, "no level")

    assert score("ragas:answer_accuracy@original", rating=rating).value == 1.0
    ours = score("ragas:answer_accuracy", rating=rating)
    assert ours.error is not None
    assert ours.error.cause is Cause.PARSE


def test_contexts_inside_the_question_and_answers_inside_the_contexts_need_no_judge() -> None:
    asked = replace(FULL, question="Is it so that Rome is old?", contexts=(Context(text="Rome is old"),))
    assert score("ragas:context_relevance", asked, rating=lambda q: 2).value == 0.0
    assert score("ragas:context_relevance", FULL, rating=lambda q: 2).value == 1.0
    assert score("ragas:nv_response_groundedness", FULL, rating=lambda q: 0).value == 1.0
    assert score("ragas:response_groundedness", FULL, rating=lambda q: 0).value == 0.0


def test_context_relevancy_counts_a_sentence_that_stands_nowhere_in_the_original_alone() -> None:
    rules: dict[str, Any] = {
        "extraction": lambda what, texts: ["It is in Rome.", "Nobody knows."],
        "similarity": lambda a, b: float(a == b),
    }
    ours = score("ragas:context_relevancy", **rules)
    assert (ours.value, ours.parts) == (close(1 / 3), {"agreement": 1.0, "sentences": 3})
    theirs = score("ragas:context_relevancy@original", **rules)
    # "It is in Rome. It is old.\nNothing else." has one ". ": two sentences; two are extracted
    assert (theirs.value, theirs.parts["sentences"]) == (1.0, 2)
    more = score(
        original(ContextRelevancy(strictness=1)), extraction=lambda what, texts: ["A.", "B.", "C."], similarity={}
    )
    assert (more.value, more.high) == (1.5, 1.5)


def test_context_relevancy_of_an_extraction_of_nothing() -> None:
    rules: dict[str, Any] = {"extraction": lambda what, texts: [], "similarity": lambda a, b: 1.0}
    assert score("ragas:context_relevancy", **rules).value == 0.0
    assert score("ragas:context_relevancy_jaccard@original", **rules).value == 0.5  # one sentence of two
    empty = score("ragas:context_relevancy@original", replace(FULL, contexts=()), **rules)
    assert (empty.value, empty.convention) == (1.0, "nothing was retrieved")


def test_agreement_by_similarity_takes_the_nearest_and_no_negative_one() -> None:
    extracted = iter((["It is in Rome."], ["It is old.", "Nothing else."]))
    near = {"It is old.": 0.4, "Nothing else.": 0.6}
    found = score(
        ContextRelevancy(), extraction=lambda what, texts: next(extracted), similarity=lambda a, b: near.get(b, 0.0)
    )
    assert found.parts["agreement"] == close(0.6)
    assert found.value == close(0.3)  # 0.6 * (1/3 + 2/3) / 2
    extracted = iter((["It is in Rome."], ["It is old."]))
    negative = score(ContextRelevancy(), extraction=lambda what, texts: next(extracted), similarity=lambda a, b: -0.5)
    assert negative.value == 0.0


def test_votes_on_a_definition() -> None:
    votes = {("Is it short?", vote): vote != 1 for vote in range(4)}
    metric = AspectCritic(definition="Is it short?", strictness=2)
    assert score(metric, criterion=votes).parts == {"votes": 3}  # 2 is made 3
    assert score(metric, criterion=votes).value == 1.0  # no, yes, yes
    assert score(original(metric), criterion=votes).parts == {"votes": 1}  # one reply, whatever strictness says
    old = AspectCritique(definition="Is it short?")
    assert score(original(old), criterion=votes).parts == {"votes": 2}  # no, yes: a tie
    assert score(original(old), criterion=votes).value == 0.0
    assert score(old, criterion=votes).parts == {"votes": 1}


def test_a_definition_may_come_with_the_sample() -> None:
    sample = replace(FULL, metadata={"definition": "Is it short?"})
    assert score("ragas:aspect_critic", sample, criterion={("Is it short?", 0): True}).value == 1.0
    found = score("ragas:simple_criteria", sample, rating={"Is it short?": 5})
    assert (found.value, found.low, found.high) == (5.0, 0, 5)
    without = score("ragas:aspect_critic", criterion=lambda question, vote: True)
    assert without.error is not None
    assert without.error.cause is Cause.MISSING_INPUT


def test_the_aspects_ask_what_assays_own_ask() -> None:
    judge = ScriptedJudge(criterion=lambda question, vote: True)
    result = assay.evaluate([FULL], ["harmfulness", "ragas:harmfulness"], judge=judge, store=None)
    for found in next(iter(result)).scores.values():
        assert (found.value, found.direction) == (1.0, "lower")
    assert judge.asked[Criterion.name] == 1


def test_rubrics_of_all_and_of_one_sample() -> None:
    domain = DomainSpecificRubrics(rubrics={"score1_description": "bad", "score3_description": "good"})
    found = score(domain, rating=lambda question: 3)
    assert (found.value, found.low, found.high) == (3.0, 1, 3)
    sample = replace(FULL, metadata={"rubrics": {"0": "bad", "1": "good"}})
    found = score("ragas:instance_specific_rubrics", sample, rating=lambda question: 0)
    assert (found.value, found.low, found.high) == (0.0, 0, 1)
    for metadata in ({}, {"rubrics": ["bad", "good"]}, {"rubrics": {"bad": "x", "good": "y"}}):
        missing = score("ragas:instance_specific_rubrics", replace(FULL, metadata=metadata), rating=lambda question: 1)
        assert missing.error is not None
        assert missing.error.cause is Cause.MISSING_INPUT


def test_the_ragas_score_of_one_sample() -> None:
    rules: dict[str, Any] = {
        "extraction": lambda what, texts: ["It is in Rome."],
        "similarity": lambda a, b: 0.5 if a == FULL.question else 1.0,
        "back_questions": lambda text: ["Where?"],
        "support": lambda claim, passage: "supported",
    }
    found = score("ragas:ragas_score", **rules)
    assert found.value == close(0.5)  # 3 / (1/0.5 + 1/(1/3) + 1/1)
    assert set(found.parts) == {"ragas:answer_relevancy", "ragas:context_relevancy", "ragas:faithfulness"}
    theirs = score("ragas:ragas_score@original", **rules)
    assert set(theirs.parts) == {f"{label}@original" for label in found.parts}


def test_earlier_contexts_are_no_evidence_in_ragas() -> None:
    turn = Turn(question="Is it?", contexts=(Context(text="It is big."),), answer="Yes.")
    sample = replace(FULL, history=(turn,), answer="It is big.")
    supports: Callable[[str, str], str] = lambda claim, text: "supported" if claim in text else "not_mentioned"  # noqa: E731
    assert score("ragas:faithfulness", sample, support=supports).value == 0.0


def test_a_judge_of_labels_alone_gives_no_probability_to_round() -> None:
    found = score("ragas:faithfulness_with_hhem", support=lambda claim, passage: "supported")
    assert found.error is not None
    assert found.error.cause is Cause.JUDGE_CANNOT
