"""What the scorings of canary rows say: whether the judge changed, and whose change a drop is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from assay._util.tabular import Tabular
from assay.store.canary_scorings import CanaryScoring

if TYPE_CHECKING:
    from assay.stats.canaries import Attribution, CanaryMonitor
    from assay.stats.drop_monitor import DropState, LevelChange

#: What a verdict of `assay.stats.canaries.Attribution` says of a change.
IN_WORDS: Mapping[str, str] = {
    "judge": "the judge changed",
    "application": "the application changed",
    "both": "both the judge and the application changed",
    "inconclusive": "the canary rows are inconclusive",
}


@dataclass(frozen=True, slots=True)
class JudgeChange(Tabular):
    """Whether a judge scores the canary rows as it did, for one metric.

    Attributes:
        metric: Label of the metric.
        then: Mean of the stored verdicts, or of the first scoring where there are none.
        now: Mean of the last scoring, over the same rows; None where they share no row.
        verdict: "drift", "stable" or "inconclusive".
        since: When the first scoring ended that differs, in seconds since 1970; None without a drift.
        difference: Of a drift the scores since minus those before, else the later half minus the earlier one.
        low, high: Where it lies, valid however often one looks.
        evidence: The e-value of a drift.
        rows: Rows that were scored before and after.
        scorings: How often the rows were scored, stored verdicts included.
        at: When they were last scored, in seconds since 1970.
        judge_then, judge_now: Fingerprints of the judges of the first and the last scoring; "" where it is not known.
    """

    _columns = "metric then now verdict difference low high evidence rows scorings since at judge_then judge_now"
    _noun = "metric"

    metric: str
    then: float
    now: float | None
    verdict: Literal["drift", "stable", "inconclusive"]
    since: float | None
    difference: float | None
    low: float
    high: float
    evidence: float
    rows: int
    scorings: int
    at: float
    judge_then: str
    judge_now: str


def judge_changes(scorings: Sequence[CanaryScoring]) -> tuple[JudgeChange, ...]:
    """Say for each metric whether the judge changed.

    Args:
        scorings: The scorings in the order of time. Those before the stored verdicts are left out: who writes new ones
            makes them the reference.

    Returns:
        What is known of each metric that was scored; empty without scorings.
    """
    start = next((place for place, one in enumerate(scorings) if one.stored), 0)
    usable = scorings[start:]
    # a metric that is in the file alone is not scored any more
    measured = [one for one in usable if not one.stored] or usable
    metrics = dict.fromkeys(name for one in measured for name in one.values)
    return tuple(_change(name, found) for name in metrics if (found := _of(usable, name)))


def _of(scorings: Sequence[CanaryScoring], metric: str) -> list[CanaryScoring]:
    return [one for one in scorings if one.values.get(metric)]


def _change(metric: str, scorings: Sequence[CanaryScoring]) -> JudgeChange:
    since, drift = monitor_of(metric, scorings).locate_drift()
    first, last = scorings[0].values[metric], scorings[-1].values[metric]
    shared = [row for row in first if row in last]
    return JudgeChange(
        metric=metric,
        then=fmean([first[row] for row in shared] or first.values()),
        now=fmean([last[row] for row in shared]) if shared else None,
        verdict=drift.verdict, since=since, difference=drift.difference, low=drift.low, high=drift.high,
        evidence=drift.evidence, rows=drift.rows, scorings=len(scorings), at=scorings[-1].at,
        judge_then=scorings[0].judge, judge_now=scorings[-1].judge,
    )  # fmt: skip


def monitor_of(metric: str, scorings: Sequence[CanaryScoring]) -> CanaryMonitor:
    """Make the monitor of a metric.

    Args:
        metric: Label of the metric.
        scorings: The scorings.

    Returns:
        The monitor, which has those scorings that have the metric.
    """
    from assay.stats.canaries import CanaryMonitor

    found = _of(scorings, metric)
    low, high = _range(metric, found)
    made = CanaryMonitor(low=low, high=high, kept=max(2, len(found)))
    for one in found:
        made.add(one.at, one.values[metric])
    return made


def _range(metric: str, scorings: Sequence[CanaryScoring]) -> tuple[float, float]:
    """The range of a metric; where it has no end, that of its values."""
    values = [value for one in scorings for value in one.values[metric].values()]
    ends = [one.ranges.get(metric, (None, None)) for one in scorings]
    low = min([*values, *(end for end, _ in ends if end is not None)], default=0.0)
    high = max([*values, *(end for _, end in ends if end is not None)], default=1.0)
    return (low, high) if low < high else (low, low + 1.0)


def attribute_drop(metric: str, scorings: Sequence[CanaryScoring], state: DropState) -> Attribution | None:
    """Say whether a drop is the judge's or the application's.

    Args:
        metric: Label of the metric.
        scorings: The scorings in the order of time.
        state: An open state of a `DropMonitor`.

    Returns:
        The attribution; None where the metric has no scorings.
    """
    from assay.stats.canaries import attribute_change

    found = _of(scorings, metric)
    if not found:
        return None
    return attribute_change(state, monitor_of(metric, _about(found, math.inf if state.since is None else state.since)))


def attribute_level_change(metric: str, scorings: Sequence[CanaryScoring], change: LevelChange) -> Attribution | None:
    """Say whether a change of a mean is the judge's or the application's.

    Args:
        metric: Label of the metric.
        scorings: The scorings in the order of time.
        change: The change.

    Returns:
        The attribution; None where the metric has no scorings.
    """
    from assay.stats.drop_monitor import DropState

    difference, region = change.after - change.before, (change.earliest, change.latest)
    state = DropState(True, change.at, change.after, change.before, difference, change.evidence, 0.0, region,
                      change.error)  # fmt: skip
    return attribute_drop(metric, scorings, state)


def _about(scorings: Sequence[CanaryScoring], since: float) -> list[CanaryScoring]:
    """The scorings that tell of a change at a time: of those before, the ones by the judge that was in use last."""
    before = [one for one in scorings if one.at < since]
    kept: list[CanaryScoring] = []
    for one in reversed(before):
        if one.judge != before[-1].judge:
            break
        kept.insert(0, one)
    return kept + [one for one in scorings if one.at >= since]


def in_words(change: JudgeChange, when: str = "") -> str:
    """One line for a metric.

    Args:
        change: What is known of it.
        when: Time of the drift, in words.

    Returns:
        Means, verdict and evidence.
    """
    now = "–" if change.now is None else f"{change.now:.3f}"
    means = f"canary rows of {change.metric}: mean then {change.then:.3f}, now {now}"
    if change.difference is None:
        return f"{means}: inconclusive, no row was scored twice"
    found = f"{change.difference:+.3f} (95% CI {change.low:+.3f} to {change.high:+.3f}, n = {change.rows})"
    verdict = f"drift since {when}" if change.verdict == "drift" and when else change.verdict
    other = "; another judge" if change.judge_then and change.judge_then != change.judge_now else ""
    return f"{means}: {verdict}, {found}; e-value {change.evidence:.3g}{other}"
