"""The share of rows that people would call good, by the threshold of a metric that was found on labelled samples.

Rows at or above the threshold are not the good ones: some good rows lie below, and some others above. How many was
counted on the labels, and corrects the share (`assay.stats.shares`). The fewer labels, the wider its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from assay.analysis.gates.evidence import Clusters, LimitEvidence, smallest
from assay.analysis.gates.rules import Gate
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.calibrated_judge import Calibration
from assay.judges.thresholds import Threshold
from assay.records import Direction
from assay.stats import estimate
from assay.stats.arrays import effective
from assay.stats.shares import ConfusionCounts, true_share


def thresholds_for(gate: Gate, result: Result) -> dict[str, Threshold]:
    """The threshold of each metric that a rule asks the share of good rows of, {} where none does.

    Raises InputError where the gate names no calibration or one that cannot be read, for one of another judge, and for
    metrics of which it has no threshold, or one of other parameters.
    """
    found = thresholds_of_judge(gate, result.judge)
    for name, one in found.items():
        now = result.parameters.get(name)
        if one.metric is not None and now is not None and one.metric != now:
            raise InputError(
                f"gate {name}: good_share: its threshold was found for {one.metric}, and run {result.run!r} measured "
                f"{now}; align labels with a run that measures this"
            )
    return found


def thresholds_of_judge(gate: Gate, judge: str) -> dict[str, Threshold]:
    """The same as far as it is known before anything is scored: by the fingerprint of the judge."""
    wanted = [rule.metric for rule in gate.rules if rule.kind == "good_share"]
    if not wanted:
        return {}
    if gate.thresholds is None:
        raise InputError(
            f"gate {wanted[0]}: good_share goes by a threshold that was found on labels; name the file that `assay "
            "judge align LABELS --write FILE` made: thresholds in [gates], or --thresholds"
        )
    held = gate.thresholds if isinstance(gate.thresholds, Calibration) else Calibration.load(gate.thresholds)
    if held.judge != judge:
        raise InputError(
            f"thresholds: they were found on values of the judge {held.judge}, and this run is by {judge}; align "
            "labels with a run of this judge (`assay judge align LABELS RUN --write FILE`)"
        )
    for metric in wanted:
        if metric not in held.thresholds:
            known = f"it has {', '.join(held.thresholds)}" if held.thresholds else "it has none"
            why = held.without.get(metric, f"no labels of samples were about it; {known}")
            raise InputError(f"gate {metric}: good_share: there is no threshold in the calibration: {why}")
        if _confusion_counts(held.thresholds[metric], "higher").tells <= 0.0:
            raise InputError(f"gate {metric}: good_share: by its threshold nothing is told apart")
    return {metric: held.thresholds[metric] for metric in wanted}


def is_good(value: float, threshold: float, direction: Direction) -> bool:
    """Whether a value is on the good side; one that equals its threshold is a yes."""
    return (value >= threshold) == (direction == "higher")


def of_share(
    values: Sequence[float | None],
    threshold: Threshold,
    direction: Direction,
    limit: float,
    *,
    clusters: Clusters,
    alpha: float,
) -> LimitEvidence:
    """Whether people would call at least a share `limit` of many such rows good; `values` as they were scored.

    At least one value is known. Missing ones are good or not, whichever speaks against the verdict.
    """
    told = _confusion_counts(threshold, direction)
    rows = [None if one is None else _goodness(one, threshold, direction) for one in values]

    def ends(fill: float | None, level: float) -> tuple[float, float, float]:
        """The share, and its interval; without a fill of the known rows alone."""
        kept = [(fill if one is None else one, n) for n, one in enumerate(rows) if one is not None or fill is not None]
        passes = [one for one, _ in kept if one is not None]
        names = None if clusters is None else [clusters[n] for _, n in kept]
        said, n = _positive_share(passes, names)
        return true_share(said, n, told, 1.0 - level)

    share, low, high = ends(None, alpha)
    worst, best = ends(0.0, alpha), ends(1.0, alpha)
    p = smallest(lambda level: ends(1.0, level)[2] < limit) if best[0] < limit else 1.0
    good = sum(one is not None and is_good(one, threshold.value, direction) for one in values)
    return LimitEvidence(share, (low, high), (worst[0], best[0]), worst[1] >= limit, p, p < alpha, threshold, good)


def _confusion_counts(threshold: Threshold, direction: Direction) -> ConfusionCounts:
    told = ConfusionCounts(threshold.yes, threshold.no, threshold.found, threshold.left)
    return told if direction == "higher" else told.turned


def _goodness(value: float, threshold: Threshold, direction: Direction) -> float:
    reached = threshold.reached(value)
    return reached if direction == "higher" else 1.0 - reached


def _positive_share(passes: Sequence[float], names: Clusters) -> tuple[float, float]:
    """The share that is said to be good, and how many independent rows would say as much."""
    found = estimate(passes, clusters=names)
    assert found is not None  # there is a row
    said, n = min(1.0, max(0.0, found.mean)), float(found.n)
    if found.error is None:
        return said, 1.0
    if found.error > 1e-12 and 0.0 < said < 1.0:
        return said, max(1.0, min(n, said * (1.0 - said) / found.error**2))
    return said, n if names is None else effective(np.array(list(Counter(names).values()), dtype=float))
