"""A string evaluator of langchain-classic. Needs `pip install 'assay-langchain[classic]'`."""

from __future__ import annotations

from typing import Any

from assay.errors import MissingExtra
from assay.installing import install_extra
from assay.judges.base import JudgeSpec
from assay.metrics.base import Metric
from assay.records import Sample, ScoredSample
from assay_langchain.functions import cause_of, comment_on, measured_value, one_metric
from assay_langchain.translate import sample_from_values

try:
    from langchain_classic.evaluation.schema import StringEvaluator
except ImportError as error:
    how = install_extra("classic", of="langchain")
    raise MissingExtra(f"AssayStringEvaluator needs langchain-classic: {how}") from error


class AssayStringEvaluator(StringEvaluator):  # type: ignore[misc, unused-ignore]
    """One metric as a string evaluator: `evaluate_strings(prediction=, input=, reference=, contexts=[...])`.

    Returns `{"score", "value", "reasoning"}`; an unscored case has `score` None and its cause as `value`.
    """

    def __init__(self, metric: Metric | str, judge: JudgeSpec = None) -> None:
        self._metric, self._scorer = one_metric(metric, judge)

    @property
    def evaluation_name(self) -> str:
        """The label of the metric."""
        return self._metric.label

    @property
    def requires_input(self) -> bool:
        """Whether the metric needs the question."""
        return "question" in self._metric.needs

    @property
    def requires_reference(self) -> bool:
        """Whether the metric needs a reference answer."""
        return "reference" in self._metric.needs

    def _evaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, contexts: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(self._scorer.score(_sample(prediction, reference, input, contexts)))

    async def _aevaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, contexts: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(await self._scorer.ascore(_sample(prediction, reference, input, contexts)))

    def _row(self, scored: ScoredSample) -> dict[str, Any]:
        score = scored.scores[self._metric.label]
        return {
            "score": measured_value(score),
            "value": cause_of(score),
            "reasoning": comment_on(score, scored.sample),
        }


def _sample(prediction: Any, reference: Any, question: Any, contexts: Any) -> Sample:
    return sample_from_values(inputs=question, outputs=prediction, reference_outputs=reference, contexts=contexts)
