"""assay metrics as LlamaIndex retrieval metrics, for `RetrieverEvaluator`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from assay import Context, InputError, Metric, Sample, Score
from assay.extension import BaseJudge, JudgeSpec, resolve_judge, resolve_metrics, run_sync

#: What `compute` calls a sample's fields.
_ARGUMENTS = {
    "question": "query",
    "contexts": "retrieved_ids or retrieved_texts",
    "reference_contexts": "expected_ids or expected_texts",
}


class AssayRetrievalMetric(BaseRetrievalMetric):
    """One assay metric of what a retriever found.

        RetrieverEvaluator(metrics=[AssayRetrievalMetric("llamaindex:ndcg")], retriever=retriever)

    Raises ValueError where there is no score, with the reason, as LlamaIndex' own metrics do.

    Args:
        metric: A metric, or its name, of the question, the passages retrieved and the passages expected.
        judge: A judge, its name, or None for the embedded one; metrics that compare ids ask none.
    """

    _metric: Metric = PrivateAttr()
    _judge: BaseJudge = PrivateAttr()

    def __init__(self, metric: Metric | str, judge: JudgeSpec = None) -> None:
        super().__init__()
        metrics = resolve_metrics(metric)
        if len(metrics) != 1:
            raise InputError(f"metric: expected one, got {metric!r}")
        self._metric, self._judge = metrics[0], resolve_judge(judge)

    @property
    def metric_name(self) -> str:  # type: ignore[override]  # a class has one name there, and here each metric
        """The metric's label, under which the result is listed."""
        return self._metric.label

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> RetrievalMetricResult:
        """Score one query.

        Args:
            query: The question.
            expected_ids: Ids of the nodes that should be found.
            retrieved_ids: Ids of the nodes that were found, best first.
            expected_texts: Their texts, in the order of the ids.
            retrieved_texts: Their texts, in the order of the ids.
            kwargs: Metadata of the sample, such as `relevance`.

        Returns:
            The score, and its parts as metadata.

        Raises:
            ValueError: There is no score, with the reason.
        """
        sample = Sample(
            question=query,
            contexts=_passages(retrieved_ids, retrieved_texts),
            reference_contexts=_passages(expected_ids, expected_texts),
            metadata=kwargs,
        )
        score = run_sync(lambda: self._score(sample))
        if score.value is None:
            raise ValueError(_in_arguments(score))
        return RetrievalMetricResult(score=score.value, metadata=dict(score.parts))

    async def _score(self, sample: Sample) -> Score:
        try:
            return await self._metric.score(sample, self._judge)
        finally:
            await self._judge.release()  # its connections belong to a loop that ends now


def _passages(ids: Sequence[str] | None, texts: Sequence[str] | None) -> tuple[Context, ...] | None:
    if ids is None and texts is None:
        return None
    return tuple(Context(id=one, text=said or "") for one, said in zip_longest(ids or (), texts or ()))


def _in_arguments(score: Score) -> str:
    """Why there is no score, in the words of `compute`."""
    message = score.error.message if score.error else "no score"
    for field, argument in _ARGUMENTS.items():
        message = message.replace(f"{field!r}", argument)
    return message if message.startswith(score.metric) else f"{score.metric}: {message}"
