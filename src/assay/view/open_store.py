"""The store behind the pages: runs that were opened stay open until they change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.evaluation.completeness import NOT_FINISHED
from assay.evaluation.result import Result
from assay.evaluation.run_names import RunLine, run_line
from assay.records import Usage
from assay.report.model import LONG
from assay.store.run_versions import run_versions, stored_run
from assay.store.windows import UTC_NAME, resolve_run
from assay.view.cache import SizedCache

if TYPE_CHECKING:
    import numpy as np

    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.matrix import ComparisonMatrix
    from assay.analysis.diagnosis import Causes
    from assay.live.trends import Trend
    from assay.store.columns import Codes, Integers, MetricScores
    from assay.store.store import Store

CAUSES = 5_000  # rows of a long run whose causes are looked for
#: A run that grows is read again at the earliest after this many times what reading it took, and after these seconds.
_PATIENCE, _SECONDS = 20.0, 2.0
WINDOW_SECONDS = 30.0  # that a window such as "the last 7 days" stands still
_SMALL = 20_000  # bytes, for what is no array


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run in the list of runs.

    Attributes:
        line: Its name, start, means and notes.
        usage: Calls and tokens of its judge; None where they are not known.
        version: What is another text when the run has changed.
    """

    line: RunLine
    usage: Usage | None
    version: str

    @property
    def is_live(self) -> bool:
        """Whether an application adds rows to it."""
        return self.line.run.startswith("live/")

    @property
    def state(self) -> str:
        """ "not finished", or why it stopped; empty for a run that has ended well, and for a live one."""
        if self.line.stopped is None or (self.is_live and self.line.stopped == NOT_FINISHED):
            return ""
        return self.line.stopped


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that pages show. `key` is its name and version: what was computed of it is kept by that."""

    name: str
    key: tuple[Any, ...]
    result: Result
    cache: SizedCache

    @property
    def numbers(self) -> Integers:
        """The numbers of the rows, rising [n]."""
        return self.result.score_columns().numbers

    def scores(self, metric: str) -> MetricScores:
        """The scores of a metric as arrays. Raises InputError for one that the run has not."""
        if metric not in self.result.metrics:
            known = ", ".join(self.result.metrics) or "none"
            raise InputError(f"metric: {metric!r} is not in run {self.name!r}; it has {known}")
        columns = self.result.score_columns()
        return self.cache.get(
            (*self.key, "scores", metric), lambda: columns.scores(metric), lambda _: 15 * len(columns)
        )

    def column(self, name: str) -> tuple[Codes, list[str]]:
        """The values of a slice key: see `RunColumns.coded_column`."""
        columns = self.result.score_columns()

        def size(found: tuple[np.ndarray, list[str]]) -> int:
            return int(found[0].nbytes) + 80 * len(found[1])

        return self.cache.get((*self.key, "column", name), lambda: columns.coded_column(name), size)

    def causes(self, themes: bool = False) -> Causes | None:
        """Why its rows failed; None where no metric of it says by itself which rows failed."""
        from assay.analysis.diagnosis import find_causes

        def find() -> Causes | None:
            try:
                return find_causes(self.result, limit=CAUSES if self.result.rows > LONG else None, themes=themes)
            except InputError:  # no metric of it has a default threshold
                return None

        return self.cache.get(
            (*self.key, "causes", themes), find, lambda one: 0 if one is None else _SMALL + 600 * one.failed
        )


class OpenStore:
    """A store with the runs that pages have opened.

    Args:
        store: The store.
        timezone: IANA name of the time zone of days in windows and trends.
        budget: Bytes that kept values may take.
    """

    def __init__(self, store: Store, timezone: str = UTC_NAME, cache: SizedCache | None = None) -> None:
        self.store, self.timezone = store, timezone
        self.cache = cache or SizedCache()
        self._entries: dict[str, tuple[RunEntry, float, float]] = {}  # with when, and how long reading it took
        self._opened: dict[str, tuple[str, float, float]] = {}  # the version that is shown, likewise

    def entries(self) -> list[RunEntry]:
        """Every run, the one started last first. Only runs that changed are read."""
        versions = run_versions(self.store)
        found = [self._entry(run, version) for run, version in versions.items()]
        for gone in [
            run for run in list(self._entries) if run not in versions
        ]:  # a list: other threads add runs meanwhile
            self._entries.pop(gone, None)
        return [one for one in found if one is not None]

    def _entry(self, run: str, version: str) -> RunEntry | None:
        kept = self._entries.get(run)
        if kept is not None and (kept[0].version == version or _is_recent(*kept[1:])):
            return kept[0]
        began = time.monotonic()
        found = stored_run(self.store, run)
        if found is None:  # deleted meanwhile
            return None
        usage = found.info.get("usage")
        entry = RunEntry(run_line(self.store, found), Usage.from_dict(usage) if usage else None, version)
        self._entries[run] = entry, time.monotonic(), time.monotonic() - began
        return entry

    def open(self, name: str) -> OpenRun:
        """Open a run of the store, or a window of one, such as "live/shop@7d".

        Args:
            name: As in `Result.load`. Files and other stores are not opened, whatever they are named.

        Returns:
            The run. One that is being written may be some seconds old.

        Raises:
            InputError: There is no such run, or the window cannot be read.
            StoreError: It cannot be read.
        """
        run, window = resolve_run(name, self.store.has_run)
        run = self.store.run_id(run)
        version = self._version(run)
        tick = () if window is None else (int(time.time() / WINDOW_SECONDS),)
        key = (run if window is None else name, version, *tick)

        def load() -> Result:
            began = time.monotonic()
            result = Result.load(run if window is None else name, self.store, timezone=self.timezone)
            result.score_columns()
            self._opened[run] = version, time.monotonic(), time.monotonic() - began
            return result

        result = self.cache.get((*key, "result"), load, lambda one: _SMALL + 24 * one.rows)
        return OpenRun(result.run, key, result, self.cache)

    def _version(self, run: str) -> str:
        """The version of a run that is to be shown: that of a moment ago where it grows all the time."""
        now = run_versions(self.store).get(run, "")
        version, at, took = self._opened.get(run, ("", 0.0, 0.0))
        return version if version not in ("", now) and _is_recent(at, took) else now

    def compare(self, runs: Sequence[OpenRun], any_judge: bool) -> ComparisonMatrix:
        """Each run with the first: see `compare_runs`."""
        from assay.analysis.comparison.matrix import compare_runs

        key = ("matrix", any_judge, *(one.key for one in runs))
        results = [one.result for one in runs]
        return self.cache.get(key, lambda: compare_runs(results, any_judge=any_judge), lambda _: _SMALL)

    def compare_windows(self, runs: Sequence[OpenRun], any_judge: bool) -> list[Comparison]:
        """Each run with the first, as independent samples: see `compare`."""
        from assay.analysis.comparison.compare import compare

        def pair(other: OpenRun) -> Comparison:
            key = ("pair", any_judge, runs[0].key, other.key)
            return self.cache.get(
                key, lambda: compare(runs[0].result, other.result, moved=0, any_judge=any_judge), lambda _: _SMALL
            )

        return [pair(other) for other in runs[1:]]

    def trend(self, run: OpenRun, per: str) -> Trend:
        """The means of a run over time: see `assay.live.trends.trend`."""
        from assay.live.trends import trend

        selection = run.result.selection
        window = None if selection is None else selection.window

        def find() -> Trend:
            return trend(
                run.result.stored_run,
                self.store,
                per=per,  # type: ignore[arg-type]  # it is checked there
                timezone=self.timezone,
                since=None if window is None else window.since,
                until=None if window is None else window.until,
            )

        return self.cache.get((*run.key, "trend", per), find, lambda one: _SMALL + 400 * len(one.points))


def _is_recent(at: float, took: float) -> bool:
    return time.monotonic() - at < max(_SECONDS, _PATIENCE * took)
