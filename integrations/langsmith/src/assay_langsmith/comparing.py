"""assay's metrics as LangSmith's other two kinds of evaluators: of pairs of runs, and of whole experiments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from langsmith.evaluation.evaluator import ComparisonEvaluationResult, EvaluationResult, EvaluationResults

from assay import InputError, Metric
from assay.extension import Annotation, Direction, JudgeSpec, MetricAdapter, MetricSpec, PanelOptions
from assay_langsmith.evaluating import row_of_run

#: Scores that are nearer to each other are equal: what two sums of the same numbers may differ by.
EQUAL = 1e-9


def pairwise_evaluator(
    metric: str | Metric | MetricAdapter, judge: JudgeSpec = None, **options: Unpack[PanelOptions]
) -> Callable[[Sequence[Any], Any], ComparisonEvaluationResult]:
    """Make an evaluator that prefers the run which scores better by one metric.

        langsmith.evaluation.evaluate_comparative((before, after), evaluators=[pairwise_evaluator("faithfulness")])

    The best run has 1, the others 0; runs that are equally good share the 1. Each run is scored by itself, so that
    their order plays no part. Where one of them has no score, none is preferred: all have None, and the comment says
    why. Contexts that stand in the runs below alone, those of retrievers, need `load_nested=True` there.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        options: Of `assay.evaluation.adapters.MetricAdapter`: store, budget, deadline, mask, texts.

    Returns:
        A function of runs and their example.

    Raises:
        InputError: A metric that does not exist, or several.
    """
    panel = metric if isinstance(metric, MetricAdapter) else MetricAdapter(metric, judge, **options)
    if len(panel.metrics) != 1:
        raise InputError(f"pairwise_evaluator: expected one metric, got {', '.join(panel.labels)}")
    (measure,) = panel.metrics

    def prefer(runs: Sequence[Any], example: Any) -> ComparisonEvaluationResult:
        told = {run.id: _of_run(panel, run, example)[0] for run in runs}
        return ComparisonEvaluationResult(
            key=measure.label,
            scores=preferences({name: one.value for name, one in told.items()}, measure.direction),
            comment={str(name): one.explanation for name, one in told.items()},  # looked up by the text of the id
        )

    return prefer


def preferences(values: Mapping[Any, float | None], direction: Direction) -> dict[Any, float | None]:
    """1 for the best value, shared by those that are equally good, and 0 for the others; None where one is missing."""
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < len(values) or not known:
        return dict.fromkeys(values)
    best = max(known.values()) if direction == "higher" else min(known.values())
    first = [name for name, value in known.items() if math.isclose(value, best, rel_tol=0, abs_tol=EQUAL)]
    return {name: 1 / len(first) if name in first else 0.0 for name in values}


def summary_evaluator(
    metrics: MetricSpec | MetricAdapter, judge: JudgeSpec = None, **options: Unpack[PanelOptions]
) -> Callable[[Sequence[Any], Sequence[Any]], EvaluationResults]:
    """Make an evaluator of a whole experiment: the mean of each metric over the rows that have a score.

    It says how many rows those are.

        judge = OpenAIJudge(...)
        langsmith.evaluate(
            target, data=..., evaluators=evaluators("faithfulness", judge=judge),
            summary_evaluators=[summary_evaluator("faithfulness", judge)],
        )

    The result is called after the metric, with "_mean" behind. Without a scored row it has no score. With the same
    judge object as the evaluators of rows (or the embedded one), what was read for them is not asked again.

    Args:
        metrics: Names or metrics.
        judge: A judge, its name, or None for the embedded one.
        options: Of `assay.evaluation.adapters.MetricAdapter`: store, budget, deadline, mask, texts.

    Returns:
        A function of runs and their examples.
    """
    panel = metrics if isinstance(metrics, MetricAdapter) else MetricAdapter(metrics, judge, **options)

    def summarise(runs: Sequence[Any], examples: Sequence[Any]) -> EvaluationResults:
        rows = [_of_run(panel, run, example) for run, example in zip(runs, examples, strict=True)]
        columns = zip(*rows, strict=True) if rows else [()] * len(panel.metrics)
        return {"results": [_mean(*one) for one in zip(panel.metrics, columns, strict=True)]}

    return summarise


def _of_run(panel: MetricAdapter, run: Any, example: Any) -> list[Annotation]:
    return panel.score(lambda: row_of_run(run, example), str(run.id))


def _mean(metric: Metric, told: Sequence[Annotation]) -> EvaluationResult:
    values = [one.value for one in told if one.value is not None]
    causes = Counter(one.cause for one in told if one.cause is not None)
    gaps, total = len(told) - len(values), math.fsum(values)
    coverage: dict[str, Any] = {"scored": len(values), "total": len(told), "causes": dict(causes)}
    comment = f"mean of {len(values)} of {len(told)} rows"
    if gaps:
        low, high = ((total + gaps * end) / len(told) for end in (metric.low, metric.high))
        coverage["bounds"] = [low, high]
        missing = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
        comment += f"; without a score: {missing}; with them it would lie between {low:.3f} and {high:.3f}"
    return EvaluationResult(
        key=f"{metric.label}_mean",
        score=total / len(values) if values else None,
        value=None if values else "skipped",
        comment=comment,
        metadata=coverage,
        evaluator_info=coverage,
    )
