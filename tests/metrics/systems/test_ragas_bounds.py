"""Where ragas' parameters end: the last value that is allowed makes a metric, the next one names what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import InputError
from assay.metrics.ragas.answer_correctness import AnswerCorrectness
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.context_texts import NonLLMContextRecall
from assay.metrics.ragas.criteria import AspectCritic, SimpleCriteria
from assay.metrics.ragas.custom import DiscreteMetric, NumericMetric
from assay.metrics.ragas.factual_correctness import FactualCorrectness
from assay.metrics.ragas.ragas_score import RagasScore
from assay.metrics.ragas.response_relevancy import AnswerRelevancy, ResponseRelevancy
from assay.metrics.ragas.summarization_score import SummarizationScore


@pytest.mark.parametrize(
    "make",
    [
        lambda: ResponseRelevancy(1),
        lambda: AnswerRelevancy(1),
        lambda: ContextRelevancy(1),
        lambda: AspectCritic(strictness=1),
        lambda: SimpleCriteria(low=4, high=5),
        lambda: SummarizationScore(coeff=0.0, questions=1),
        lambda: SummarizationScore(coeff=1.0),
        lambda: AnswerCorrectness((0.0, 1.0)),
        lambda: AnswerCorrectness((0.2, 0.3)),
        lambda: NonLLMContextRecall(0.0),
        lambda: NonLLMContextRecall(1.0),
        lambda: DiscreteMetric("polite", "{response}?", {"yes": 1.0, "no": 0.0}),
        lambda: NumericMetric("depth", "{response}?", (0.0, 1.0), steps=1),
        lambda: RagasScore((ResponseRelevancy(), ContextRelevancy())),
    ],
)
def test_the_last_value_that_is_allowed(make: Callable[[], Any]) -> None:
    assert make() == make()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: NonLLMContextRecall(-0.01), "threshold"),
        (lambda: NonLLMContextRecall(1.01), "threshold"),
        (lambda: SummarizationScore(coeff=-0.01), "coeff"),
        (lambda: AnswerCorrectness((1.0,)), "weights"),  # type: ignore[arg-type]
        (lambda: AnswerCorrectness((1.0, -0.5)), "weights"),
        (lambda: AnswerCorrectness((float("inf"), 1.0)), "weights"),
        (lambda: AnswerCorrectness(beta=0.0), "beta"),
        (lambda: AnswerCorrectness(beta=float("inf")), "beta"),
        (lambda: FactualCorrectness(beta=float("inf")), "beta"),
        (lambda: SimpleCriteria(low=5, high=5), "low"),
        (lambda: DiscreteMetric("x", "y", {"a": 1.1, "b": 0.0}), "allowed_values"),
        (lambda: DiscreteMetric("x", "y", {"a": 0.5, "b": -0.1}), "allowed_values"),
        (lambda: NumericMetric("x", "y", (0.0, 1.0), steps=0), "NumericMetric"),
        (lambda: NumericMetric("x", "y", (1.0, 1.0)), "allowed_values"),
    ],
)
def test_the_first_value_that_is_not(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
