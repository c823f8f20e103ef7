"""Evaluators as plain functions in the shape that LangSmith and openevals share, and how all of ours ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay import InputError, Metric, Sample, Score, ScoredSample
from assay.extension import (
    HostRow,
    JudgementCache,
    JudgeSpec,
    missing,
    read_host_row,
    resolve_judge,
    run_sync,
    score_host_row,
)
from assay_langchain.translate import row_from_values

if TYPE_CHECKING:
    from assay.extension import MetricSpec


class Scorer:
    """Metrics and the judge they ask, for one sample at a time."""

    def __init__(self, metrics: MetricSpec, judge: JudgeSpec) -> None:
        from assay.extension import resolve_metrics

        self.metrics: Sequence[Metric] = resolve_metrics(metrics)
        self.judge = resolve_judge(judge)

    async def ascore(self, make: Callable[[], HostRow]) -> ScoredSample:
        """The row that `make` returns, with its scores. A row that cannot be made is skipped (bad_row)."""
        return await score_host_row(read_host_row(make), self.metrics, JudgementCache(self.judge))

    def score(self, make: Callable[[], HostRow]) -> ScoredSample:
        """The same from sync code, whether or not a loop is running."""

        async def main() -> ScoredSample:
            try:
                return await self.ascore(make)
            finally:
                await self.judge.release()  # this loop ends here

        return run_sync(main)


def one_metric(metric: MetricSpec, judge: JudgeSpec) -> tuple[Metric, Scorer]:
    """A scorer with exactly one metric. Raises InputError for more."""
    scorer = Scorer(metric, judge)
    if len(scorer.metrics) != 1:
        raise InputError(f"metric: expected one, got {len(scorer.metrics)}")
    return scorer.metrics[0], scorer


def comment_on(score: Score, sample: Sample) -> str:
    """The score and its evidence in words; for an skipped one, the reason."""
    from assay.extension import score_in_words

    return score_in_words(score, sample)


def measured_value(score: Score) -> float | None:
    """The value; None where there is none, or one by convention, which nobody should take for a measurement."""
    return score.value if score.measured else None


def details_of(score: Score) -> dict[str, Any]:
    """The score as JSON values: range, direction, verdicts with evidence, judge, usage."""
    return score.to_dict()


def as_evaluator(metric: Metric | str, judge: JudgeSpec = None) -> Callable[..., dict[str, Any]]:
    """Make a plain function of a metric, in the shape that LangSmith and openevals share.

    `langsmith.evaluate(evaluators=[...])` takes it, and so does whoever calls openevals' evaluators; there the passages
    may come as `contexts` or `context`. Otherwise they are looked for in outputs, inputs and reference outputs. A
    skipped case has `score` None, the reason as `comment` and its cause in `metadata["error"]["cause"]`. A value
    that is no text where the metric needs one is such a case (bad_row); nothing is raised for it.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.

    Returns:
        A function of inputs, outputs, reference_outputs and contexts. It returns a dict: key, score, comment, metadata.

    Raises:
        InputError: A metric that does not exist, or several.
    """
    one, scorer = one_metric(metric, judge)

    def evaluator(
        *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, contexts: Any = None, **more: Any
    ) -> dict[str, Any]:
        passages = more.get("context") if missing(contexts) else contexts
        scored = scorer.score(
            lambda: row_from_values(
                inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, contexts=passages
            )
        )
        score = scored.scores[one.label]
        return {
            "key": one.label,
            "score": measured_value(score),
            "comment": comment_on(score, scored.sample),
            "metadata": details_of(score),
        }

    evaluator.__name__ = evaluator.__qualname__ = one.label
    return evaluator
