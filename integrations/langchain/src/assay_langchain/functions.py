"""Evaluators as plain functions in the shape that LangSmith and openevals share, and how all of ours ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assay import InputError, Metric, Sample, Score
from assay.extension import HostRow, JudgeSpec, MetricAdapter, missing
from assay_langchain.translate import row_from_values

if TYPE_CHECKING:
    from assay.extension import MetricSpec

DEADLINE = 120.0  # seconds for one sample


def one_metric(metric: MetricSpec, judge: JudgeSpec, deadline: float | None = DEADLINE) -> tuple[Metric, MetricAdapter]:
    """An adapter with exactly one metric. Raises InputError for more."""
    adapter = MetricAdapter(metric, judge, deadline=deadline)
    if len(adapter.metrics) != 1:
        raise InputError(f"metric: expected one, got {len(adapter.metrics)}")
    return adapter.metrics[0], adapter


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


def as_evaluator(
    metric: Metric | str, judge: JudgeSpec = None, *, deadline: float | None = DEADLINE
) -> Callable[..., dict[str, Any]]:
    """Make a plain function of a metric, in the shape that LangSmith and openevals share.

    `langsmith.evaluate(evaluators=[...])` takes it, and so does whoever calls openevals' evaluators; there the passages
    may come as `contexts` or `context`. Otherwise they are looked for in outputs, inputs and reference outputs. A
    skipped case has `score` None, the reason as `comment` and its cause in `metadata["error"]["cause"]`. A value
    that is no text where the metric needs one is such a case (bad_row); nothing is raised for it.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one sample; what is not measured by then fails (timeout). None: no limit.

    Returns:
        A function of inputs, outputs, reference_outputs and contexts. It returns a dict: key, score, comment, metadata.

    Raises:
        InputError: A metric that does not exist or that this judge can never score, or several.
    """
    one, adapter = one_metric(metric, judge, deadline)

    def evaluator(
        *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, contexts: Any = None, **more: Any
    ) -> dict[str, Any]:
        def row() -> HostRow:
            passages = more.get("context") if missing(contexts) else contexts
            return row_from_values(
                inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, contexts=passages
            )

        scored = adapter.score_row(row)
        score = scored.scores[one.label]
        return {
            "key": one.label,
            "score": measured_value(score),
            "comment": comment_on(score, scored.sample),
            "metadata": details_of(score),
        }

    evaluator.__name__ = evaluator.__qualname__ = one.label
    return evaluator
