"""What a metric may return, as a score: a number, a truth value, a judge's verdict or level, a reason, or a score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from assay.inquiries.rating import Rated
from assay.records import Score, Unscored, Verdict

if TYPE_CHECKING:
    from assay.metrics.base import Metric

#: The labels of assay's own inquiries, by what they say; an `Ask` has its own.
_AFFIRMATIVE = frozenset({"supported", "useful", "direct", "yes"})
_OTHERS = frozenset({"contradicted", "not_mentioned", "not_useful", "indirect", "no"})


class NoScore(TypeError):
    """A metric returned what is no score. The message names the metric and what it returned."""


def as_score(metric: Metric, returned: object, labels: Sequence[str] = ()) -> Score:
    """The score that `returned` means: see `assay.metric`. Raises NoScore.

    labels  those of the question that a returned Verdict answers, the affirmative one first
    """
    if isinstance(returned, Score):
        return returned
    if isinstance(returned, Unscored):
        return metric.unscored(returned.cause, returned.message, raw=returned.raw)
    if isinstance(returned, Verdict):
        value = _checked(metric, _value_of(metric, returned, labels))
        return metric.scored(value, verdicts={metric.label: (returned,)})
    if isinstance(returned, Rated):
        value = _checked(metric, float(returned.level if returned.expected is None else returned.expected))
        texts = {"reason": (returned.reason,)} if returned.reason else {}
        return metric.scored(value, parts={"level": float(returned.level)}, texts=texts)
    number = _number(returned)
    if number is None:
        expected = "expected a number, True or False, a Verdict, a Rated, an Unscored or a Score"
        raise NoScore(f"{metric.label} returned {_described(returned)}; {expected}")
    return metric.scored(_checked(metric, number))


def _value_of(metric: Metric, verdict: Verdict, labels: Sequence[str]) -> float:
    if labels:
        return float(verdict.label == labels[0])
    if verdict.label not in _AFFIRMATIVE | _OTHERS:
        way_out = "return True or False, or a Score with the verdict in its verdicts"
        raise NoScore(f"{metric.label} returned a Verdict {verdict.label!r} of no question that it asked; {way_out}")
    return float(verdict.label in _AFFIRMATIVE)


def _checked(metric: Metric, value: float) -> float:
    if math.isnan(value):
        raise NoScore(f"{metric.label} returned NaN, which is no number; return an Unscored where there is none")
    if not metric.low <= value <= metric.high:
        range_of_it = f"{metric.low:g} to {metric.high:g}"
        raise NoScore(f"{metric.label} returned {value:g}, outside its range {range_of_it}; give it low= and high=")
    return value


def _number(value: object) -> float | None:
    """A number or a truth value as float, numpy's too; None for anything else."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = cast("Any", value).item()
    if not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _described(value: object) -> str:
    if value is None:
        return "nothing (None)"
    shown = repr(value)
    return f"{type(value).__name__} {shown[:60]}{'…' if len(shown) > 60 else ''}"
