"""Harmonic mean: one number for several metrics, low as soon as one of them is.

    n / (1/v_1 + ... + 1/v_n), and 0.0 when one of the values is 0

Range 0 to 1, higher is better. Source: the overall `ragas_score` of ragas 0.0.x; there it was the mean over data-set
means, here each sample has its own. A faithful answer (1) that does not address the question (0) gets 0, where the
arithmetic mean gives 0.5. All metrics must have direction "higher" and a range that ends at 1; negative values (a
cosine) count as 0. When a metric has no value the mean has none: leaving it out would change what is averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from assay.errors import InputError, JudgeFailure
from assay.judges.protocol import METER, Judge
from assay.metrics.base import Metric
from assay.metrics.labels import check_unique_labels
from assay.metrics.shared_prompts import gather
from assay.prompts import JudgePrompt
from assay.records import Sample, Score, ScoreError


def harmonic_mean(values: Sequence[float]) -> float:
    """The harmonic mean of values in [-1, 1], at least one; 0.0 when one is 0 or negative."""
    if min(values) <= 0:
        return 0.0
    return float(len(values) / sum(1 / Fraction(value) for value in values))


@dataclass(frozen=True, init=False)
class HarmonicMean(Metric):
    """The harmonic mean of what these metrics give one sample; `parts` holds each value."""

    name: ClassVar[str] = "harmonic_mean"

    metrics: tuple[Metric, ...]
    title: str

    def __init__(self, *metrics: Metric, label: str = "composite") -> None:
        object.__setattr__(self, "metrics", metrics)
        object.__setattr__(self, "title", label)
        if not metrics:
            raise InputError("HarmonicMean: give at least one metric")
        for metric in metrics:
            if not isinstance(metric, Metric):
                raise InputError(f"HarmonicMean: expected metrics, got {metric!r}")
            if metric.direction != "higher" or metric.high != 1:
                raise InputError(
                    f"HarmonicMean: {metric.label!r} (range {metric.low:g} to {metric.high:g}, {metric.direction} is "
                    "better) does not fit; every metric must end at 1, and higher must be better"
                )
        check_unique_labels(metrics, "HarmonicMean")

    @property
    def label(self) -> str:
        return self.title

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # all that its metrics need
        return tuple(dict.fromkeys(field for metric in self.metrics for field in metric.needs))

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]  # all that its metrics need
        return tuple(dict.fromkeys(column for metric in self.metrics for column in metric.columns))

    @property
    def may_read(self) -> tuple[str, ...]:  # type: ignore[override]  # all that its metrics may read
        return tuple(dict.fromkeys(column for metric in self.metrics for column in metric.may_read))

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # all that its metrics ask
        return tuple(dict.fromkeys(prompt for metric in self.metrics for prompt in metric.asks))

    @property
    def may_ask(self) -> bool:
        return any(metric.may_ask for metric in self.metrics)

    @property
    def needs_contradiction(self) -> bool:
        return any(metric.needs_contradiction for metric in self.metrics)

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        for metric in self.metrics:
            reason = metric.cannot(judge, language)
            if reason is not None:
                message = f"{metric.label}: {reason.message}"
                return JudgeFailure(reason.cause, message, raw=reason.raw, detail=reason.detail)
        return None

    def missing(self, sample: Sample) -> ScoreError | None:
        return next(filter(None, (metric.missing(sample) for metric in self.metrics)), None)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        scores = await gather(*(metric.score(sample, judge) for metric in self.metrics))
        meter = METER.get()
        if meter is not None:  # each of them kept its own
            for score in scores:
                meter.add(score.usage)
        verdicts = {key: reading for score in scores for key, reading in score.verdicts.items()}
        reasons = [(score.metric, score.error) for score in scores if score.error is not None]
        if reasons:
            message = "no value for " + "; ".join(f"{label}: {reason.message}" for label, reason in reasons)
            return self.skip(reasons[0][1].cause, message, raw=reasons[0][1].raw, verdicts=verdicts)
        parts = {score.metric: score.value for score in scores if score.value is not None}
        texts = {key: text for score in scores for key, text in score.texts.items()}
        return self.make_score(harmonic_mean(list(parts.values())), verdicts=verdicts, parts=parts, texts=texts)
