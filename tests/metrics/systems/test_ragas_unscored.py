"""What the metrics of ragas leave skipped, whatever the original gives, and parameters that are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.criteria import AspectCritic, SimpleCriteria
from assay.metrics.ragas.factual_correctness import FactualCorrectness
from assay.metrics.ragas.noise_sensitivity import NoiseSensitivity
from assay.metrics.ragas.ragas_score import RagasScore
from assay.metrics.ragas.response_relevancy import AnswerRelevancy, ResponseRelevancy
from assay.metrics.ragas.rubrics import DomainSpecificRubrics
from assay.metrics.ragas.semantic_similarity import SemanticSimilarity
from assay.metrics.ragas.summarization_score import SummarizationScore
from assay.metrics.systems import system_entries
from assay.prompts import BackQuestions
from assay.records import Context
from tests.metrics.systems.ragas_sample import FULL, original, score


@pytest.mark.parametrize(
    ("name", "changed", "cause", "by_convention"),
    [
        ("faithfulness", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("faithfulness", {"contexts": ()}, Cause.NO_CONTEXT, None),
        ("context_precision", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_precision", {"contexts": ()}, Cause.NO_CONTEXT, None),
        ("context_utilization", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_relevance", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("response_groundedness", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("nv_response_groundedness", {"contexts": ()}, Cause.NO_CONTEXT, 0.0),
        ("faithfulness_with_hhem", {"contexts": ()}, Cause.NO_CONTEXT, 0.0),
        ("noise_sensitivity", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_recall", {"reference": ""}, Cause.MISSING_INPUT, None),
        ("context_recall_attributed", {"reference": ""}, Cause.MISSING_INPUT, 0.0),
        ("context_entity_recall", {"reference": ""}, Cause.MISSING_INPUT, 0.0),
        ("answer_accuracy", {"reference": None}, Cause.MISSING_INPUT, None),
        ("semantic_similarity", {"reference": None}, Cause.MISSING_INPUT, 0.3),
        ("rubrics_score_with_reference", {"reference": None}, Cause.MISSING_INPUT, 3.0),
        ("summarization_score", {"reference_contexts": ()}, Cause.MISSING_INPUT, None),
        ("response_relevancy", {"answer": ""}, Cause.NO_CLAIMS, None),
    ],
)
def test_nothing_to_measure(name: str, changed: dict[str, Any], cause: Cause, by_convention: float | None) -> None:
    rules: dict[str, Any] = {
        "entities": lambda text: ["Rome"],
        "support": {},
        "usefulness": {},
        "similarity": lambda a, b: 0.3,
        "rating": lambda question: 3,
        "back_questions": lambda text: ["Where?"],
        "key_questions": lambda text: ["Rome?"],
        "criterion": lambda question, vote: True,
    }
    sample = replace(FULL, **changed)
    ours = score(f"ragas:{name}", sample, **rules)
    assert ours.error is not None
    assert ours.error.cause is cause
    theirs = score(f"ragas:{name}@original", sample, **rules)
    assert theirs.value == by_convention
    if name != "rubrics_score_with_reference":  # which the judge of the original rates all the same
        assert (theirs.convention is None) == (by_convention is None)


@pytest.mark.parametrize("name", ["context_recall", "context_entity_recall"])
def test_an_empty_retrieval_is_a_recall_of_0(name: str) -> None:
    found = score(f"ragas:{name}", replace(FULL, contexts=()), entities=lambda text: ["Rome"], support={})
    assert (found.value, found.convention) == (0.0, None)


@pytest.mark.parametrize("name", ["response_relevancy", "answer_relevancy"])
def test_a_judge_that_writes_no_question_has_failed_unless_it_found_no_answer(name: str) -> None:
    failed = score(f"ragas:{name}", back_questions=lambda text: [], similarity={})
    assert failed.error is not None
    assert failed.error.cause is Cause.PARSE
    assert score(f"ragas:{name}", back_questions=lambda text: None, similarity={}).value == 0.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ResponseRelevancy(0), "strictness"),
        (lambda: AnswerRelevancy(0), "strictness"),
        (lambda: ContextRelevancy(0), "strictness"),
        (lambda: ContextRelevancy(agreement="cosine"), "agreement"),  # type: ignore[arg-type]
        (lambda: NoiseSensitivity("wrong"), "mode"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness("f2"), "mode"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness(beta=0.0), "beta"),
        (lambda: FactualCorrectness(atomicity="middle"), "atomicity"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness(coverage="middle"), "coverage"),  # type: ignore[arg-type]
        (lambda: AnswerCorrectness((0.0, 0.0)), "weights"),
        (lambda: AnswerCorrectness((-1.0, 2.0)), "weights"),
        (lambda: AnswerCorrectness(beta=float("nan")), "beta"),
        (lambda: SemanticSimilarity(float("inf")), "threshold"),
        (lambda: SummarizationScore(coeff=1.1), "coeff"),
        (lambda: SummarizationScore(questions=0), "questions"),
        (lambda: AspectCritic(" "), "name"),
        (lambda: AspectCritic(strictness=0), "strictness"),
        (lambda: AspectCritic(direction="up"), "direction"),  # type: ignore[arg-type]
        (lambda: SimpleCriteria(low=5), "low"),
        (lambda: DomainSpecificRubrics(rubrics={}), "rubrics"),
        (lambda: RagasScore((ResponseRelevancy(),)), "metrics"),
        (lambda: RagasScore((ResponseRelevancy(), NoiseSensitivity())), "does not fit"),
    ],
)
def test_wrong_parameters_are_named(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_thresholds() -> None:
    rules = {"similarity": lambda a, b: -0.1}
    assert score(SemanticSimilarity(0.0), **rules).value == 0.0
    assert score(original(SemanticSimilarity(0.0)), **rules).value == -0.1  # 0 counts as no threshold there


def test_independent_questions_have_addresses_of_their_own() -> None:
    votes = [BackQuestions("It is in Rome.", 1, vote=vote) for vote in range(4)]
    assert len({one.key("judge") for one in votes}) == 4
    assert votes[0].key("judge") == BackQuestions("It is in Rome.", 1).key("judge")


def test_every_metric_has_a_label_of_its_own() -> None:
    labels = [
        make.label for entry in system_entries("ragas").values() for make in (entry.make(), original(entry.make()))
    ]
    assert len(labels) == len(set(labels)) == 2 * len(system_entries("ragas"))


def test_the_claims_are_read_once_for_all_that_count_them() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported", similarity=lambda a, b: 1.0)
    names = ("faithfulness", "noise_sensitivity", "noise_sensitivity_irrelevant", "answer_correctness")
    factual = ("factual_correctness", "factual_correctness_precision", "factual_correctness_recall")
    asked = [f"ragas:{name}" for name in (*names, *factual)]
    result = assay.evaluate([FULL], ["faithfulness", *asked], judge=judge, store=None)
    assert all(found.value is not None for found in next(iter(result)).scores.values())
    # the claims of two texts; answer by contexts, reference by contexts, and each by the other
    assert (judge.asked["claims"], judge.asked["support"]) == (2, 4)
