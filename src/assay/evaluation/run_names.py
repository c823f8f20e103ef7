"""Runs by name: every run has a name of its own, and none is continued or overwritten by accident."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.tabular import ResultRows, Tabular
from assay.errors import Cause, InputError, StoreError
from assay.evaluation.completeness import UNSCORED, rows_not_reached, run_end_in
from assay.evaluation.stored_figures import FIGURES
from assay.evaluation.summary import Summary
from assay.store.store import RowCounts, Store, StoredRun
from assay.store.tables import check_run_name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine(Tabular):
    """One run of a store, as lists show it. `started` counts seconds since 1970; what is not known is None.

    `rows` are all that belong to the run; `missing` of them are not in the store any more, `pruned` were deleted.
    """

    _noun = "run"
    _columns = "run started rows errors metrics judge note data stopped ended missing pruned dollars"

    run: str
    started: float
    rows: int
    metrics: Mapping[str, Summary] = field(default_factory=dict)
    judge: str | None = None
    note: str | None = None
    data: str | None = None
    stopped: str | None = None
    ended: str | None = None
    missing: int = 0
    pruned: int = 0
    dollars: float | None = None

    @property
    def errors(self) -> int:
        """Scores without a value."""
        return sum(summary.total - summary.scored for summary in self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """The line as plain JSON values."""
        summaries = {name: summary.to_dict() for name, summary in self.metrics.items()}
        names = ("run", "started", "rows", "judge", "note", "data", "stopped", "ended", "missing", "pruned", "errors",
                 "dollars")  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, "metrics": summaries}


def runs_of(store: Store, limit: int | None = None) -> ResultRows[RunLine]:
    """The runs of a store, the one started last first; `limit` of them.

    Of a run that was ended by force, or that other samples were added to, the rows are read to know the means.
    """
    return ResultRows([run_line(store, found) for found in store.runs()[:limit]], RunLine)


def run_line(store: Store, found: StoredRun) -> RunLine:
    """The line of one run: see `runs_of`."""
    run, started, info, rows = found
    kept = info.get("summaries")
    gone = rows.missing + rows.pruned
    figures = info.get(FIGURES)
    unchanged = figures is None or rows.digest is None or figures["digest"] == rows.digest
    if kept is not None and info.get("rows") == rows.stored and unchanged and not gone:
        metrics = {name: Summary.from_dict(name, summary) for name, summary in kept.items()}
    else:
        metrics = _summaries(store, run, info, rows)
    said = {name: info.get(name) for name in ("judge", "note", "data", "stopped", "dollars")}
    return RunLine(
        run=run,
        started=started,
        rows=rows.stored + gone,
        missing=rows.missing,
        pruned=rows.pruned,
        metrics=metrics,
        ended=run_end_in(info),
        **said,
    )


def _summaries(store: Store, run: str, info: Mapping[str, Any], counts: RowCounts) -> dict[str, Summary]:
    from assay.store.columns import RunColumns

    columns = RunColumns(store, run)
    metrics = {name: Summary(metric=name) for name in info.get("metrics", ())}
    metrics |= {name: Summary.of_columns(name, ends, columns.scores(name)) for name, ends in columns.metrics.items()}
    readable = len(columns)
    lost, ended = counts.missing + counts.pruned + max(0, counts.stored - readable), run_end_in(info)
    missing = {Cause.LOST: lost}
    if ended in UNSCORED:
        missing[UNSCORED[ended]] = rows_not_reached(ended, info.get("expected"), readable + lost)
    for summary in metrics.values():
        summary.add_missing(missing)
    return metrics


def start_run(store: Store, name: str | None, info: Mapping[str, Any], *, replace: bool = False) -> tuple[str, float]:
    """Make a run in the store and give its name and its start. Without a name it gets a new one that sorts by time.

    Raises InputError for a name that the store has, unless it is to be replaced: its rows are then deleted.
    """
    if name is None:
        return _new_run(store, info)
    name = check_run_name(name)
    if store.has_run(name):
        if not replace:
            raise InputError(
                f"run: {name!r} is in the store {store.name!r} already; give another name, or replace=True to "
                "score anew under this one (judgements stay, so nothing is asked twice)"
            )
        store.delete_run(name)
    return name, store.create_run(name, info)  # refuses it if another process was quicker


def _new_run(store: Store, info: Mapping[str, Any]) -> tuple[str, float]:
    for _ in range(10):
        name = new_name()
        try:
            return name, store.create_run(name, info)
        except InputError:  # somebody drew the same bits in the same second
            continue
    raise StoreError(f"store {store.name!r}: ten new run names were all taken")


def new_name() -> str:
    """Create a name for a run.

    Returns:
        "YYYYMMDD-HHMMSS-" in local time, and 16 random hexadecimal digits. The names sort by local time. The digits
        distinguish runs that start in the same second.
    """
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(8)


def same_model_at_other_address(judge: str, store: Store) -> str | None:
    """A judge with judgements in the store, where this one has none, that differs from it by its address alone.

    Judges are told apart by their fingerprints, `kind/model@address#parameters`. None where there is none.
    """
    if "@" not in judge:
        return None
    known = store.judges()
    if judge in known:
        return None
    return next((other for other in sorted(known) if _without_address(other) == _without_address(judge)), None)


def _without_address(judge: str) -> tuple[str, str] | None:
    model, at, rest = judge.partition("@")
    return (model, rest.rpartition("#")[2]) if at else None
