"""ragas' numbers on 50 samples, driven by the same verdicts, and ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics._composite import harmonic_mean
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.aspect_critique import AspectCritique
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.double_judge import (
    AnswerAccuracy,
    ContextRelevance,
    DoubleJudge,
    NvResponseGroundedness,
    ResponseGroundedness,
)
from assay.metrics.ragas.factual_correctness import FactualCorrectness
from assay.metrics.ragas.semantic_similarity import SemanticSimilarity
from assay.metrics.ragas.summarization_score import SummarizationScore
from assay.metrics.systems import system_entries
from assay.metrics.systems.base import SystemMetric
from assay.prompts import BackQuestions, BackQuestionsJudgement, Extraction, JudgePrompt, Support
from assay.records import Context, Sample, Verdict
from tests.metrics.systems.golden import NEAR, agrees, golden, sample_of, worlds

import ragas_world as world  # isort: skip  # found where tests.metrics.systems.golden says

DRIVERS = ("ragas", "ragas02", "ragas0022", "ragas0011")
VALUES = {(driver, name): found for driver in DRIVERS for name, found in golden(driver)["values"].items()}
COMPARED = {"ragas": "ragas 0.4.3", "ragas02": "ragas 0.2.15", "ragas0022": "ragas 0.0.22", "ragas0011": "ragas 0.0.11"}
CASES = {case.id: case for case in world.all_cases()}
DOUBLE: dict[str, type[DoubleJudge]] = {
    "answer_accuracy": AnswerAccuracy,
    "context_relevance": ContextRelevance,
    "response_groundedness": ResponseGroundedness,
    "nv_response_groundedness": NvResponseGroundedness,
}
#: Metrics with other parameters than the defaults, by their names in the golden files.
OTHERWISE: dict[str, SystemMetric] = {
    "factual_correctness/beta": FactualCorrectness(beta=2.0),
    "answer_correctness/weights": AnswerCorrectness((2.0, 1.0), 0.5),
    "semantic_similarity/threshold": SemanticSimilarity(0.7),
    "summarization_score/coeff": SummarizationScore(coeff=0.2),
    "summarization_score/plain": SummarizationScore(length_penalty=False),
    "context_relevancy/once": ContextRelevancy(strictness=1),
    "context_relevancy_jaccard/thrice": ContextRelevancy(3, "jaccard"),
    "aspect_critique/thrice": AspectCritique(strictness=3),
}
LEVELS = {"simple_criteria": (0, 1, 2, 3, 4, 5), "instance_specific_rubrics": (0, 2, 4)}


class Assumptions(ScriptedJudge):
    """Says of one case what the drivers said of it to ragas, for one metric."""

    def __init__(self, case: worlds.Case, metric: str) -> None:
        self._case, self._metric = case, metric
        statements = {case.answer: case.said, case.reference: case.known}
        useful_for = {"context_utilization": case.answer, "context_precision_0_0_22": ""}.get(metric, case.reference)
        super().__init__(
            claims=lambda text: statements.get(text, ()),
            support=worlds.label,
            similarity=worlds.cosine,
            usefulness=lambda question, passage: worlds.useful(question, passage, useful_for),
            entities=world.entities,
            key_questions=world.key_questions,
            criterion=self._criterion,
            rating=self._rating,
            back_questions=lambda text: (),
            extraction=lambda what, texts: (),
        )

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        found = [self._vote(prompt) for prompt in prompts]
        rest = iter(await super().answer([one for one, own in zip(prompts, found, strict=True) if own is None]))
        return [next(rest) if own is None else Answer(judgement=own) for own in found]

    def _vote(self, prompt: JudgePrompt[Any]) -> Any:
        """The judgement where it depends on the number of the vote, or has probabilities; None elsewhere."""
        if isinstance(prompt, BackQuestions):
            question, flagged = world.back_question(self._case, prompt.vote)
            return BackQuestionsJudgement(questions=(question,), noncommittal=flagged)
        if isinstance(prompt, Extraction):
            return tuple(world.extraction(self._case, prompt.vote or 1))
        if isinstance(prompt, Support) and self._metric == "faithfulness_with_hhem":
            contexts = "\n".join(prompt.passages)
            odds = [world.probability(claim.text, contexts) for claim in prompt.claims]
            return tuple(
                Verdict(label="supported" if odd > 0.5 else "not_mentioned", probability=odd, claim=claim)
                for odd, claim in zip(odds, prompt.claims, strict=True)
            )
        return None

    def _criterion(self, question: str, vote: int) -> bool:
        if self._metric == "summarization_score":
            return world.answered(self._case, question)
        return world.holds(self._metric, self._case, vote)

    def _rating(self, question: str) -> int | JudgeFailure:
        if self._metric not in DOUBLE:
            return world.level(self._metric, self._case, LEVELS.get(self._metric, (1, 2, 3, 4, 5)))
        metric = DOUBLE[self._metric]
        number = metric.questions.index(question) + 1
        level = world.rating(self._metric, self._case, number, tuple(level for level, _ in metric.levels))
        return JudgeFailure(Cause.PARSE, "no level that there is") if level is None else level


def sample(case: worlds.Case) -> Sample:
    contexts = tuple(Context(text=text) for text in case.contexts)
    return sample_of(
        case, reference_contexts=contexts, metadata={"rubrics": world.RUBRIC, "definition": "A definition"}
    )


@pytest.mark.parametrize(("driver", "metric"), [key for key in VALUES if key[1] != "ragas_score"])
def test_every_number_of_ragas_is_ours(driver: str, metric: str) -> None:
    name = metric.partition("/")[0]
    known = system_entries("ragas")[name]
    assert known.compared == COMPARED[driver]
    ours = replace(OTHERWISE[metric] if metric in OTHERWISE else known.make(), profile="original")
    assert len(VALUES[driver, metric]) >= 40
    for case, expected in VALUES[driver, metric].items():
        score = asyncio.run(ours.score(sample(CASES[case]), Assumptions(CASES[case], name)))
        agrees(score, expected)


def test_the_ragas_score_of_the_means_of_a_run_is_the_harmonic_mean() -> None:
    for case, expected in VALUES["ragas0011", "ragas_score"].items():
        assert harmonic_mean(list(world.means(CASES[case]).values())) == pytest.approx(expected, abs=NEAR, rel=0)


@pytest.mark.parametrize("metric", system_entries("ragas"))
def test_no_metric_gives_a_number_by_convention_without_the_original_profile(metric: str) -> None:
    for case in CASES.values():
        score = asyncio.run(system_entries("ragas")[metric].make().score(sample(case), Assumptions(case, metric)))
        assert score.convention is None
        assert score.error is None or score.error.cause is not Cause.BUG, score
