"""From scores to an outcome: thresholds, and what is said of them. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Literal

from assay.errors import SETTLED, Cause, InputError
from assay.live.guards.decision import Outcome
from assay.metrics.base import Metric
from assay.records import Sample, Score
from assay.records.phrases import headline, score_in_words

GuardAction = Literal["pass", "block"]


def thresholds_of(metrics: Sequence[Metric], threshold: float | Mapping[str, float]) -> dict[str, float]:
    """Assign a threshold to each metric.

    Args:
        metrics: The metrics.
        threshold: One number for all metrics, or label -> number for each.

    Returns:
        Label -> threshold, in the order of the metrics.

    Raises:
        InputError: A metric has no threshold, a label belongs to no metric, or a threshold is not a number from the
            metric's `low` to its `high`.
    """
    labels = [metric.label for metric in metrics]
    if isinstance(threshold, Mapping):
        unknown = [name for name in threshold if name not in labels]
        if unknown:
            raise InputError(f"threshold: there is no metric {unknown[0]!r} here; the metrics are {', '.join(labels)}")
        without = [label for label in labels if label not in threshold]
        if without:
            raise InputError(f"threshold: none is given for {without[0]!r}")
        given = dict(threshold)
    else:
        given = dict.fromkeys(labels, threshold)
    return {metric.label: _within(metric, given[metric.label]) for metric in metrics}


def _within(metric: Metric, threshold: object) -> float:
    wanted = f"a number from {metric.low:g} to {metric.high:g} for {metric.label!r}"
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise InputError(f"threshold: expected {wanted}, got {threshold!r}")
    number = float(threshold)
    if math.isnan(number) or not metric.low <= number <= metric.high:
        raise InputError(f"threshold: expected {wanted}, got {threshold!r}")
    return number


def misses(score: Score, threshold: float) -> bool:
    """Whether a score was measured and is on the wrong side; a score that equals its threshold keeps it."""
    if score.value is None or not score.measured:
        return False
    return score.value > threshold if score.direction == "lower" else score.value < threshold


def outcome_of(scores: Mapping[str, Score], thresholds: Mapping[str, float]) -> tuple[Outcome, tuple[str, ...]]:
    """The outcome, and the metrics that miss their threshold.

    One metric that was measured and misses its threshold decides, whatever became of the others. After that the
    order is timeout, error, skipped: what could have been measured weighs more than what could not. A value that
    another system gives by convention is no measurement, whatever it is.
    """
    failed = tuple(name for name, score in scores.items() if misses(score, thresholds[name]))
    if failed:
        return "blocked", failed
    causes = {score.error.cause for score in scores.values() if score.error is not None}
    if Cause.TIMEOUT in causes:
        return "timeout", ()
    if causes - SETTLED:
        return "error", ()
    measured = all(score.measured for score in scores.values())
    return ("passed" if measured else "skipped"), ()


def in_words(
    outcome: Outcome, allowed: bool, scores: Mapping[str, Score], thresholds: Mapping[str, float], sample: Sample
) -> str:
    """The reason: one line with the numbers, then the evidence for what failed or has no number."""
    numbers = "; ".join(
        f"{headline(score)}, {'at most' if score.direction == 'lower' else 'at least'} {thresholds[name]:g} wanted"
        if score.measured
        else headline(score)
        if score.error is None
        else f"{name} not scored ({score.error.cause})"
        for name, score in scores.items()
    )
    telling = [score for name, score in scores.items() if not score.measured or misses(score, thresholds[name])]
    return "\n".join([_outcome_text(outcome, allowed, numbers), *(score_in_words(score, sample) for score in telling)])


def failure_in_words(allowed: bool, error: Exception) -> str:
    """The reason where the guard itself failed."""
    kind = type(error).__name__
    return _outcome_text("error", allowed, f"the guard failed ({kind})") + f"\n{kind}: {error}"


def _outcome_text(outcome: Outcome, allowed: bool, what: str) -> str:
    if outcome in ("passed", "blocked"):
        return f"{outcome}: {what}"
    return f"{outcome}: {what}; {'let pass' if allowed else 'blocked'}, as on_{outcome} says"
