"""assay metrics as LlamaIndex evaluators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from assay import Cause, InputError, Metric, Sample, Score
from assay.extension import (
    BY_CONVENTION,
    BaseJudge,
    HostRow,
    JudgeSpec,
    MetricAdapter,
    call_repr,
    join_specs,
    message_of,
    run_sync,
    score_in_words,
)
from assay_llama_index.arguments import row_of_arguments, row_of_response

if TYPE_CHECKING:
    from assay.extension import MetricSpec

DEFAULT_THRESHOLD = 0.5


class AssayEvaluator(BaseEvaluator):
    """One assay metric as a LlamaIndex evaluator.

        evaluator = AssayEvaluator("faithfulness")
        result = evaluator.evaluate_response(query=question, response=query_engine.query(question))

    The result's `score` is the value and `feedback` the evidence in words. What could not be scored has
    `invalid_result` set, the cause in `invalid_reason`, and neither score nor passing: in `BatchEvalRunner` one such
    row leaves the others untouched. NaN and None are missing (missing_input); any other value that is no text, where
    the metric needs one, fails (bad_row). Nothing but cancellation is raised.

    Args:
        metric: A metric, its name, or an adapter with one metric, which has its own judge and deadline.
        judge: A judge, its name, or None for the embedded one.
        threshold: Passing means at least this, or at most this where lower is better. The default is the metric's own,
            where it has one ("llamaindex:correctness" passes from 4 on); else 0.5 for metrics between 0 and 1. For
            other ranges `passing` stays None until a threshold is given.
        deadline: Seconds for one evaluation, whatever the judge does; then it fails (timeout). None: no limit.
    """

    def __init__(
        self,
        metric: Metric | str | MetricAdapter,
        judge: JudgeSpec = None,
        threshold: float | None = None,
        deadline: float | None = 120.0,
    ) -> None:
        self._adapter = metric if isinstance(metric, MetricAdapter) else MetricAdapter(metric, judge, deadline=deadline)
        if len(self._adapter.metrics) != 1:
            raise InputError(f"metric: expected one, got {metric!r}; for several use `evaluators`")
        self.metric = self._adapter.metrics[0]
        self.threshold = _own_threshold(self.metric) if threshold is None else threshold

    @property
    def judge(self) -> BaseJudge:
        """The judge that is asked."""
        return self._adapter.judge

    def __repr__(self) -> str:
        return call_repr(self, self.metric.label, self.judge, threshold=self.threshold)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        reference: str | None = None,
        reference_contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Async form of `evaluate`."""
        return await self._evaluated(
            lambda: row_of_arguments(query, response, contexts, reference, reference_contexts, kwargs)
        )

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> EvaluationResult:
        """Async form of `evaluate_response`."""
        try:
            answer = await _aread(response)
        except Exception as error:
            reason = f"{Cause.BAD_ROW}: response: it could not be read: {message_of(error)}"
            return self._invalid(query, reason)
        return await self._evaluated(lambda: row_of_response(query, response, answer, kwargs))

    def evaluate(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        """Evaluate a question, the answer to it, and the passages it was given; also where an event loop is running.

        Args:
            args: query, response, contexts, reference, reference_contexts, in this order. `query`, `response` and
                `reference` are texts, the other two lists of texts; None: not there.
            kwargs: The same by name. Further ones are the sample's metadata: some metrics need `second_response`.

        Returns:
            The score with its evidence, or the reason why there is none.
        """
        return run_sync(lambda: self.aevaluate(*args, **kwargs))

    def evaluate_response(self, query: str | None = None, response: Any = None, **kwargs: Any) -> EvaluationResult:
        """Evaluate the response of a query or chat engine, with its source nodes; also where an event loop is running.

        Args:
            query: The question.
            response: The response. A stream is read to its end.
            kwargs: reference, reference_contexts, and the sample's metadata.

        Returns:
            The score with its evidence, or the reason why there is none.
        """
        return run_sync(lambda: self.aevaluate_response(query, response, **kwargs))

    async def _evaluated(self, make: Callable[[], HostRow]) -> EvaluationResult:
        scored = await self._adapter.ascore_row(make)
        try:
            return self._result(scored.scores[self.metric.label], scored.sample)
        except Exception as error:  # one exception would abort the whole batch
            return self._invalid(scored.sample.question, f"{Cause.BUG}: {message_of(error)}")

    def _result(self, score: Score, sample: Sample) -> EvaluationResult:
        value = score.value if score.measured else None
        return EvaluationResult(
            query=sample.question,
            response=sample.answer,
            contexts=None if sample.contexts is None else list(sample.passages),
            score=value,
            passing=self._passing(value),
            feedback=score_in_words(score, sample),
            invalid_result=not score.measured,
            invalid_reason=_why_not(score),
        )

    def _invalid(self, query: Any, reason: str) -> EvaluationResult:
        query = query if isinstance(query, str) else None
        return EvaluationResult(query=query, invalid_result=True, invalid_reason=reason)

    def _passing(self, value: float | None) -> bool | None:
        if value is None or self.threshold is None:
            return None
        return value <= self.threshold if self.metric.direction == "lower" else value >= self.threshold

    # the prompts belong to the judge, and are part of its judgements' identity
    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None


def _why_not(score: Score) -> str | None:
    """Why there is no measured value; None where there is one."""
    if score.convention is not None:
        return f"{BY_CONVENTION}: {score.convention}"
    return None if score.error is None else f"{score.error.cause}: {score.error.message}"


def evaluators(
    *metrics: MetricSpec,
    judge: JudgeSpec = None,
    deadline: float | None = 120.0,
) -> dict[str, BaseEvaluator]:
    """Make one evaluator per metric, by name, as `BatchEvalRunner` wants them.

    They share one judge, and so its judgements: what two metrics ask alike is answered once.

        BatchEvalRunner(evaluators("faithfulness", "context_relevance"))

    Args:
        metrics: Names or metrics, or a list of them.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one evaluation; None: no limit.

    Returns:
        The evaluators, by the metrics' labels.
    """
    adapter = MetricAdapter(join_specs(metrics), judge, deadline=deadline)
    return {one.labels[0]: AssayEvaluator(one) for one in adapter.each()}


def _own_threshold(metric: Metric) -> float | None:
    """From where a metric passes when nobody says; None where that is not known."""
    own = getattr(metric, "threshold", None)
    if isinstance(own, (int, float)) and not isinstance(own, bool):
        return float(own)
    return DEFAULT_THRESHOLD if (metric.low, metric.high) == (0.0, 1.0) else None


async def _aread(response: Any) -> Any:
    """The answer in a response, streamed or not: a text, or the value that stands in its place."""
    read = getattr(response, "get_response", None)
    if read is not None and hasattr(response, "response_txt"):  # the sync and the async stream of a query engine
        whole = read()
        response = await whole if isinstance(whole, Awaitable) else whole
    return getattr(response, "response", response)
