"""Runs that other tools hold, as results: `mlflow:RUN` for `assay compare`.

Packages add theirs under the entry point group `assay.runs`: a callable that takes the part after the colon, and gives
the judge's name and the scored rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import entry_points

from assay.errors import InputError
from assay.plugins import load
from assay.records import ScoredSample
from assay.result import Result
from assay.store import Store

GROUP = "assay.runs"

#: What a package gives: who judged, and the rows.
Held = tuple[str, Iterable[ScoredSample]]


def run_elsewhere(spec: str) -> Result:
    """The run that NAME:RUN means, in a store that is deleted when it is no longer used.

    Raises InputError for an unknown NAME and a run without rows, MissingExtra for a missing package, StoreError where
    nothing can be read.
    """
    name, _, address = spec.partition(":")
    points = {point.name: point for point in entry_points(group=GROUP)}
    make: Callable[[str], Held] | None = load("run", name, points)
    if make is None:
        raise InputError(f"run {spec!r}: no package reads runs of {name!r}; there are {', '.join(points) or 'none'}")
    return result_of(spec, *make(address))


def result_of(run: str, judge: str, rows: Iterable[ScoredSample]) -> Result:
    """Scored rows as a run of this name. Raises InputError where there are none."""
    store = Store.temporary()
    result = Result(run=run, store=store, judge=judge)
    store.create_run(run, {"judge": judge, "metrics": []})
    for scored in rows:
        result.add(scored)
        store.put_row(run, result.rows, scored)
    if not result.rows:
        raise InputError(f"run {run!r} has no rows")
    store.put_run(run, result.info())
    return result
