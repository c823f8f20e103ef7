"""Which rows failed: those with a measured score on the wrong side of a threshold. What is skipped fails no row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from assay.errors import InputError
from assay.evaluation.default_thresholds import DEFAULTS as DEFAULTS
from assay.evaluation.default_thresholds import default_threshold
from assay.evaluation.result import Result
from assay.records import ScoredSample


def thresholds_for(result: Result, wanted: Mapping[str, float] | None = None) -> dict[str, float]:
    """The thresholds of a run's metrics: those that are wanted, and no others; without any the defaults.

    Raises InputError for a metric that the run has not, for what is no number or outside of the metric's range, and
    where the run has no metric that a default is known for.
    """
    if wanted:
        for name, value in wanted.items():
            summary = result.metrics.get(name)
            if summary is None:
                raise InputError(f"thresholds: {name!r} is not in this run; it has {', '.join(result.metrics)}")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise InputError(f"thresholds: {name}: expected a number, got {value!r}")
            if summary.total and not summary.low <= value <= summary.high:
                raise InputError(f"thresholds: {name}: expected {summary.low:g} to {summary.high:g}, got {value!r}")
        return dict(wanted)
    defaults = {
        name: default_threshold(name, summary.low, summary.high, summary.direction)
        for name, summary in result.metrics.items()
    }
    found = {name: limit for name, limit in defaults.items() if limit is not None}
    if not found:
        raise InputError(
            f"thresholds: this run has no metric that says by itself what failed; name one of "
            f"{', '.join(result.metrics) or 'its metrics'} with a number"
        )
    return found


def failed_by(scored: ScoredSample, thresholds: Mapping[str, float], *, by_claims: bool = False) -> dict[str, float]:
    """The values on the wrong side of their thresholds, by metric; empty where none is.

    Args:
        by_claims: Where a metric looked for the reference's claims in the answer, a row fails if the answer lacks one,
            whatever the value: F1 falls as well where an answer says more than the reference.
    """
    found: dict[str, float] = {}
    for name, limit in thresholds.items():
        score = scored.scores.get(name)
        if score is None or not score.measured or score.value is None:
            continue
        given = score.verdicts.get("reference/answer") if by_claims else None
        if given:
            fails = any(verdict.label != "supported" for verdict in given)
        else:
            fails = score.value > limit if score.direction == "lower" else score.value < limit
        if fails:
            found[name] = score.value
    return found


def is_measured(scored: ScoredSample, names: Iterable[str]) -> bool:
    """Whether at least one of these metrics has a value that was measured."""
    return any((score := scored.scores.get(name)) is not None and score.measured for name in names)
