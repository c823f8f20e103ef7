"""Variance of a target's scores: between repeats of one question, apart from variance between questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from assay._util.tabular import Tabular
from assay.evaluation.result import Result
from assay.evaluation.targets.asking import ITEM
from assay.stats.components import components
from assay.stats.intervals import estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatVariance(Tabular):
    """Variance components of one metric over repeated answers (one-way layout, Searle, Casella and McCulloch, 1992).

    Attributes:
        questions: With a score.
        scores: Of all repeats.
        mean: Of the questions' means; `low`, `high` are its 95% interval, with the question as the unit.
        between: Variance between questions: of their true means.
        within: Variance between repeats of one question: of generation and judge together.
        share: Share of the variance that is between repeats, 0 to 1; 0 where scores do not vary.
    """

    _noun = "metric"

    metric: str
    questions: int
    scores: int
    mean: float
    low: float
    high: float
    between: float
    within: float
    share: float

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.mean:.3f} (95% CI {self.low:.3f} to {self.high:.3f}, {self.questions} questions, "
            f"{self.scores} answers): standard deviation {math.sqrt(self.between):.3f} between questions, "
            f"{math.sqrt(self.within):.3f} between repeats ({100 * self.share:.0f}% of the variance)"
        )


def repeat_variances(result: Result) -> Iterator[RepeatVariance]:
    """Estimate the variances of each metric of a run with repeats.

    Args:
        result: A run whose rows have a `question_id`.

    Yields:
        The variances of each metric; none of a metric without two scores of any question.
    """
    columns = result.score_columns()
    items = columns.column(ITEM)
    for metric in result.metrics:
        scores, ends = columns.scores(metric), columns.metrics.get(metric)
        groups: dict[str, list[float]] = {}
        for item, code, value in zip(items, scores.codes.tolist(), scores.values.tolist(), strict=True):
            if code == 0 and item is not None:
                groups.setdefault(item, []).append(value)
        found = components(groups.values())
        if found is None or ends is None:
            continue
        means = [math.fsum(group) / len(group) for group in groups.values()]
        mean = estimate(means, ends.low, ends.high)
        if mean is None:
            continue
        total = found.between + found.within
        yield RepeatVariance(
            metric=metric,
            questions=len(groups),
            scores=sum(map(len, groups.values())),
            mean=mean.mean,
            low=mean.low,
            high=mean.high,
            between=found.between,
            within=found.within,
            share=found.within / total if total else 0.0,
        )
