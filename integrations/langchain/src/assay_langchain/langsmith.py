"""A LangSmith run evaluator. Needs `pip install 'assay-langchain[langsmith]'`."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from assay import MissingExtra, Score, ScoredSample
from assay.extension import JudgeSpec, MetricAdapter, call_repr, install_extra
from assay_langchain.functions import DEADLINE, comment_on, details_of, measured_value
from assay_langchain.translate import row_from_run

try:
    from langsmith.evaluation.evaluator import EvaluationResult, EvaluationResults, RunEvaluator
except ImportError as error:
    how = install_extra("langsmith", of="langchain")
    raise MissingExtra(f"AssayRunEvaluator needs langsmith: {how}") from error

if TYPE_CHECKING:
    from assay.extension import MetricSpec


class AssayRunEvaluator(RunEvaluator):  # type: ignore[misc, unused-ignore]
    """Scores a run of a RAG application with all `metrics` at once; one result per metric.

    Question, answer and reference come from the run and its example, under any accepted name; contexts from the run's
    outputs, its inputs, or its retriever runs. A skipped metric gives `score=None`, the cause as `value` and the
    reason as `comment`.

    Args:
        metrics: Names or metrics.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one run; what is not measured by then fails (timeout). None: no limit.
    """

    def __init__(self, metrics: MetricSpec, judge: JudgeSpec = None, *, deadline: float | None = DEADLINE) -> None:
        self._adapter = MetricAdapter(metrics, judge, deadline=deadline)

    def __repr__(self) -> str:
        return call_repr(self, self.feedback_keys, self._adapter.judge)

    @property
    def feedback_keys(self) -> list[str]:
        """The labels of the metrics."""
        return self._adapter.labels

    def evaluate_run(
        self, run: Any, example: Any = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Score one run.

        Args:
            run: A run of LangSmith, with the runs below it where contexts are to be read from them.
            example: The example it was run on; its outputs hold the reference.
            evaluator_run_id: The id that LangSmith gives this evaluation.

        Returns:
            One result per metric, in a list under the key `results`.
        """
        return _results(self._adapter.score_row(lambda: row_from_run(run, example)), evaluator_run_id)

    async def aevaluate_run(
        self, run: Any, example: Any = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Async form of `evaluate_run`."""
        return _results(await self._adapter.ascore_row(lambda: row_from_run(run, example)), evaluator_run_id)


def _results(scored: ScoredSample, source: uuid.UUID | None) -> EvaluationResults:
    return {"results": [_result(name, score, scored, source) for name, score in scored.scores.items()]}


def _result(name: str, score: Score, scored: ScoredSample, source: uuid.UUID | None) -> EvaluationResult:
    return EvaluationResult(
        key=name,
        score=measured_value(score),
        value=score.why_unmeasured,
        comment=comment_on(score, scored.sample),
        metadata=details_of(score),
        source_run_id=source,
    )
