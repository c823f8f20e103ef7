"""Trends of a run's scores over time: means by hour, day or version, and when they changed.

print(trend("live/shop", per="day", timezone="Europe/Rome"))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, get_args

from assay._util.tabular import ResultRows, Tabular
from assay.errors import InputError
from assay.records import Direction
from assay.store.windows import resolve_timezone

if TYPE_CHECKING:
    import numpy as np

    from assay.live.canaries.drift import JudgeChange
    from assay.stats.arrays import Floats
    from assay.stats.canaries import Verdict
    from assay.stats.drop_monitor import LevelChange
    from assay.store.columns import RunColumns
    from assay.store.store import Store

Per = Literal["hour", "day", "version"]
#: Zones differ from UTC by multiples of this many seconds.
_STEP = 900
NO_VERSION = "–"


@dataclass(frozen=True, slots=True)
class TrendMetric:
    """The values of one metric, by row.

    Attributes:
        values: Measured values; NaN where there is none.
        low, high: The range of the metric.
        direction: Which scores are good.
    """

    values: Floats
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"


@dataclass(frozen=True, slots=True)
class TrendData:
    """Rows as arrays of one length.

    Attributes:
        times: When each answer was complete, in seconds since 1970.
        metrics: Label of a metric -> its values.
        weights: Inverse sampling rates. None: all 1.
        clusters: What rows hang together by: a conversation, a user. None: all are independent.
        versions: The version of the application. None: not known.
        refusals: 1.0 where the answer is a refusal, 0.0 where it is none, NaN where it is not known. None: not known.
        calls, tokens: What the judge took for each row; NaN where it is not known. None: not known.
    """

    times: Floats
    metrics: Mapping[str, TrendMetric]
    weights: Floats | None = None
    clusters: Sequence[str | None] | None = None
    versions: Sequence[str | None] | None = None
    refusals: Floats | None = None
    calls: Floats | None = None
    tokens: Floats | None = None


@dataclass(frozen=True, slots=True)
class TrendPoint(Tabular):
    """One metric in one hour, on one day, or of one version.

    Attributes:
        metric: Label of the metric.
        period: The hour or day in the time zone, or the version.
        start: When the period starts, in seconds since 1970; of a version its first row.
        mean: The weighted mean; None without a value.
        low, high: Its 95% interval; clusters count as one.
        rows: Rows of the period.
        scored: Rows with a value.
        volume: Samples that the rows stand for: the sum of their weights.
        effective_n: How many rows of one weight say as much (Kish).
        coverage: The share of the volume that has a value.
        refusals: The share of the volume, as far as it is known, whose answer is a refusal; None: not known.
        calls, tokens: What the judge took for the rows; None: not known.
        change: The difference that a change of the mean in this period makes; None without one.
    """

    _noun = "period"

    metric: str
    period: str
    start: float
    mean: float | None
    low: float | None
    high: float | None
    rows: int
    scored: int
    volume: float
    effective_n: float
    coverage: float
    refusals: float | None
    calls: float | None
    tokens: float | None
    change: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Trend(Tabular):
    """The trend of a run: see `trend`.

    Attributes:
        run: Name of the run.
        per: "hour", "day" or "version".
        timezone: The time zone of the periods.
        points: The points, by metric and time.
        changes: By metric its changes, in the order of time.
        ranges: By metric its range and which scores are good.
        notes: What else has to be known.
        judge: What canary rows say of the judge, by metric; empty without.
        attributions: By metric for each of its changes "judge", "application", "both" or "inconclusive"; None where
            there are no canary rows.
    """

    _item_type = TrendPoint

    run: str
    per: Per
    timezone: str
    points: tuple[TrendPoint, ...]
    changes: Mapping[str, ResultRows[LevelChange]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float, Direction]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judge: tuple[JudgeChange, ...] = ()
    attributions: Mapping[str, tuple[Verdict | None, ...]] = field(default_factory=dict)

    def _items(self) -> tuple[TrendPoint, ...]:
        return self.points

    def _title(self) -> str:
        return f"trend of {self.run} by {self.per}, times in {self.timezone}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The labels of the metrics."""
        return tuple(dict.fromkeys(point.metric for point in self.points))

    def of(self, metric: str) -> tuple[TrendPoint, ...]:
        """The points of one metric, in the order of time."""
        return tuple(point for point in self.points if point.metric == metric)

    def when(self, seconds: float) -> str:
        """A time in the trend's zone, to the minute."""
        return datetime.fromtimestamp(seconds, resolve_timezone(self.timezone)).strftime("%Y-%m-%d %H:%M")


def trend(
    run: str,
    store: Store | str = ".assay",
    *,
    per: Per = "day",
    timezone: str = "UTC",
    metrics: Sequence[str] | None = None,
    cluster: str | None = "conversation",
    version: str = "version",
    since: float | None = None,
    until: float | None = None,
    where: Mapping[str, str] | None = None,
    costs: bool = False,
) -> Trend:
    """Compute the trend of a run in a store.

    Args:
        run: Name of the run.
        store: The store, or its folder or address.
        per: "hour", "day" or "version".
        timezone: Name of the time zone in which hours and days are counted, such as "Europe/Rome".
        metrics: Labels of metrics. None: all of the run.
        cluster: Slice key by which rows hang together. Without it, or where no row has it: rows are independent.
        version: Slice key of the version.
        since, until: Only rows from this time on, and before this time, in seconds since 1970.
        where: Only rows with these values of slice keys.
        costs: Count calls and tokens of the judge. Reads every row whole.

    Returns:
        The trend.

    Raises:
        InputError: The run has no such metric, `per` or the time zone is unknown, or there is no run.
    """
    from assay.store.columns import RunColumns
    from assay.store.store import Store

    _check(per, timezone)
    opened = store if isinstance(store, Store) else Store(store)
    if not opened.has_run(run):
        raise InputError(f"run: there is no run {run!r}")
    columns = RunColumns(opened, run, since=since, until=until, where=where)
    data = data_of(columns, metrics=metrics, cluster=cluster, version=version, costs=costs)
    return _with_canaries(trend_of(data, per=per, timezone=timezone, run=run), opened)


def _with_canaries(found: Trend, store: Store) -> Trend:
    """The trend with what canary rows say of its metrics; the same one without any."""
    from assay.live.canaries.drift import attribute_level_change, judge_changes
    from assay.store.canary_scorings import scorings_of_run

    scorings = scorings_of_run(store, found.run)
    if not scorings:
        return found
    attributions: dict[str, tuple[Verdict | None, ...]] = {}
    for name, changes in found.changes.items():
        whose = [attribute_level_change(name, scorings, one) for one in changes]
        attributions[name] = tuple(None if one is None else one.verdict for one in whose)
    judge = tuple(one for one in judge_changes(scorings) if one.metric in found.metrics)
    return replace(found, judge=judge, attributions=attributions)


def data_of(
    columns: RunColumns,
    *,
    metrics: Sequence[str] | None = None,
    cluster: str | None = "conversation",
    version: str = "version",
    costs: bool = False,
) -> TrendData:
    """Take the arrays of a trend from a run's columns; arguments as of `trend`.

    Raises:
        InputError: The run has no such metric.
    """
    import numpy as np

    from assay.evaluation.stored_figures import facts_of

    wanted = list(columns.metrics) if metrics is None else list(metrics)
    for name in wanted:
        if name not in columns.metrics:
            raise InputError(f"metrics: the run has no {name!r}; it has {', '.join(columns.metrics) or 'none'}")
    kinds = {"refused": 1.0, "answered": 0.0}
    calls, tokens = _costs(columns) if costs else (None, None)
    return TrendData(
        times=columns.times,
        metrics={name: TrendMetric(columns.values(name), *columns.metrics[name]) for name in wanted},
        weights=columns.weights,
        clusters=None if cluster is None else columns.column(cluster),
        versions=columns.column(version),
        refusals=np.array([kinds.get(facts.reply, math.nan) for facts in facts_of(columns)], dtype=float),
        calls=calls,
        tokens=tokens,
    )


def _costs(columns: RunColumns) -> tuple[Floats, Floats]:
    """Calls and tokens of the judge by row."""
    import numpy as np

    numbers = columns.numbers.tolist()
    place = {number: at for at, number in enumerate(numbers)}
    calls, tokens = np.full(len(numbers), np.nan), np.full(len(numbers), np.nan)
    for number, used in columns.store.usages(columns.run, numbers):
        at = place[number]
        calls[at] = sum(one.calls for one in used)
        parts = [part for one in used if one.calls for part in (one.prompt_tokens, one.completion_tokens)]
        tokens[at] = math.nan if None in parts else sum(part for part in parts if part is not None)
    return calls, tokens


def trend_of(data: TrendData, *, per: Per = "day", timezone: str = "UTC", run: str = "") -> Trend:
    """Compute the trend of rows in arrays.

    Args:
        data: The rows.
        per: "hour", "day" or "version".
        timezone: Name of the time zone in which hours and days are counted.
        run: What the rows are called.

    Returns:
        The trend. Without rows it has no points.

    Raises:
        InputError: `per` or the time zone is unknown, arrays have other lengths, or a value is out of range.
    """
    import numpy as np

    from assay.stats.drop_monitor import REFERENCE_DAYS

    zone = _check(per, timezone)
    rows = _checked(data)
    periods = list(_periods(rows, per, zone))
    points: list[TrendPoint] = []
    changes: dict[str, ResultRows[LevelChange]] = {}
    notes: list[str] = []
    for name, metric in rows.metrics.items():
        low, high = _range_of(metric)
        bounded = TrendMetric(metric.values, low, high, metric.direction)
        changes[name] = _changes(rows, bounded)
        starts = [start for start, _, _ in periods]
        marked = {}
        for change in changes[name] if per != "version" else ():
            marked[max(0, int(np.searchsorted(starts, change.at, side="right")) - 1)] = change.after - change.before
        points += [
            _point(rows, name, metric, start, label, chosen, marked.get(place))
            for place, (start, label, chosen) in enumerate(periods)
        ]
    if rows.times.size and float(rows.times.max() - rows.times.min()) < REFERENCE_DAYS * 86400.0:
        notes.append(f"less than {REFERENCE_DAYS} days of rows: no change points")
    ranges = {name: (one.low, one.high, one.direction) for name, one in rows.metrics.items()}
    return Trend(run, per, timezone, tuple(points), changes, ranges, tuple(notes))


def _check(per: str, timezone: str) -> tzinfo:
    if per not in get_args(Per):
        raise InputError(f"per: expected {', '.join(get_args(Per))}, got {per!r}")
    return resolve_timezone(timezone)


def _checked(data: TrendData) -> TrendData:
    """The rows, with a weight each. Raises InputError for other lengths, and what is no time or weight."""
    import numpy as np

    times = np.asarray(data.times, dtype=float)
    weights = np.ones(times.size) if data.weights is None else np.asarray(data.weights, dtype=float)
    metrics = {
        name: TrendMetric(np.asarray(one.values, dtype=float), one.low, one.high, one.direction)
        for name, one in data.metrics.items()
    }
    columns: dict[str, Any] = {"weights": weights, "clusters": data.clusters, "versions": data.versions}
    columns |= {"refusals": data.refusals, "calls": data.calls, "tokens": data.tokens}
    columns |= {f"metrics[{name!r}]": one.values for name, one in metrics.items()}
    for name, column in columns.items():
        if column is not None and len(column) != times.size:
            raise InputError(f"{name}: expected one for each of {times.size} times, got {len(column)}")
    if not bool(np.isfinite(times).all()):
        raise InputError("times: expected seconds since 1970")
    if not bool(((weights > 0.0) & np.isfinite(weights)).all()):
        raise InputError("weights: expected numbers above 0")
    clusters = data.clusters
    if clusters is not None and all(one is None for one in clusters):
        clusters = None
    return TrendData(times, metrics, weights, clusters, data.versions, data.refusals, data.calls, data.tokens)


def _periods(rows: TrendData, per: Per, zone: tzinfo) -> Iterator[tuple[float, str, np.ndarray[Any, Any]]]:
    """Start, label and places of the rows of each period, in the order of time."""
    import numpy as np

    if not rows.times.size:
        return
    if per == "version":
        yield from _versions(rows)
        return
    period = _period_of(per, zone)
    steps = np.floor(rows.times / _STEP).astype(np.int64)
    known, inverse = np.unique(steps, return_inverse=True)
    found = [period(int(step) * _STEP) for step in known.tolist()]
    starts = np.array([start for start, _ in found])[inverse]
    labels = dict(found)
    order = np.argsort(starts, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(starts[order])) + 1):
        start = float(starts[places[0]])
        yield start, labels[start], places


def _period_of(per: Per, zone: tzinfo) -> Callable[[int], tuple[float, str]]:
    def hour(seconds: int) -> tuple[float, str]:
        local = datetime.fromtimestamp(seconds, zone)
        start = local.replace(minute=0, second=0)  # "fold" stays: the hour that comes twice is two
        return start.timestamp(), start.strftime("%Y-%m-%d %H:00") + ("" if not start.fold else " (again)")

    def day(seconds: int) -> tuple[float, str]:
        start = datetime.fromtimestamp(seconds, zone).replace(hour=0, minute=0, second=0, fold=0)
        return start.timestamp(), start.strftime("%Y-%m-%d")

    return hour if per == "hour" else day


def _versions(rows: TrendData) -> Iterator[tuple[float, str, np.ndarray[Any, Any]]]:
    """The rows of each version, in the order of their first rows."""
    import numpy as np

    names = [NO_VERSION] * rows.times.size if rows.versions is None else [one or NO_VERSION for one in rows.versions]
    groups: dict[str, list[int]] = {}
    for place in np.argsort(rows.times, kind="stable").tolist():
        groups.setdefault(names[place], []).append(place)
    for name, places in groups.items():
        yield float(rows.times[places[0]]), name, np.array(places)


def _range_of(metric: TrendMetric) -> tuple[float, float]:
    """The range of a metric; where it has no end, that of its values, with as much beyond."""
    import numpy as np

    values = metric.values[~np.isnan(metric.values)]
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    beyond = (most - least) / 2.0 or 0.5
    low = metric.low if math.isfinite(metric.low) else least - beyond
    high = metric.high if math.isfinite(metric.high) else most + beyond
    return min(low, least), max(high, most)


def _changes(rows: TrendData, metric: TrendMetric) -> ResultRows[LevelChange]:
    from assay.stats.change_points import change_points

    clusters = rows.clusters
    return change_points(
        rows.times, metric.values, rows.weights, clusters, low=metric.low, high=metric.high, direction=metric.direction
    )


def _point(
    rows: TrendData,
    name: str,
    metric: TrendMetric,
    start: float,
    label: str,
    places: np.ndarray[Any, Any],
    change: float | None,
) -> TrendPoint:
    import numpy as np

    from assay.stats.arrays import effective
    from assay.stats.weighted_means import weighted_estimate

    assert rows.weights is not None
    values, weights = metric.values[places], rows.weights[places]
    there = ~np.isnan(values)
    clusters = None
    if rows.clusters is not None:  # a row without one is a cluster of its own
        clusters = [rows.clusters[place] or ("", place) for place in places[there].tolist()]
    found = weighted_estimate(values[there], weights[there], metric.low, metric.high, clusters=clusters)
    volume = float(weights.sum())
    return TrendPoint(
        metric=name, period=label, start=start,
        mean=None if found is None else found.mean,
        low=None if found is None else found.low,
        high=None if found is None else found.high,
        rows=len(places), scored=int(there.sum()), volume=volume, effective_n=effective(weights[there]),
        coverage=float(weights[there].sum()) / volume,
        refusals=_mean(rows.refusals, places, weights),
        calls=_sum(rows.calls, places), tokens=_sum(rows.tokens, places), change=change,
    )  # fmt: skip


def _mean(column: Floats | None, places: np.ndarray[Any, Any], weights: Floats) -> float | None:
    import numpy as np

    if column is None:
        return None
    found = np.asarray(column, dtype=float)[places]
    known = ~np.isnan(found)
    return float(np.average(found[known], weights=weights[known])) if known.any() else None


def _sum(column: Floats | None, places: np.ndarray[Any, Any]) -> float | None:
    """The sum; None where one is not known: unknown cost is unknown."""
    import numpy as np

    if column is None:
        return None
    total = float(np.asarray(column, dtype=float)[places].sum())
    return None if math.isnan(total) else total
