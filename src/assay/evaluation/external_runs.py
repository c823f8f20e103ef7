"""Runs by address, as results: of a store, in files that assay wrote, in a queue, and those that other tools hold.

    open_run("baseline")                        a run of the store at hand
    open_run("rows.jsonl")                      a file, recognised by its content
    open_run("old/.assay#baseline")             a run of another store; without #RUN its last one
    open_run("postgresql://me@host/eval#main")  the same in a database
    open_run("spool")                           the scored samples in a queue's folder
    open_run("ragas:scores.csv")                what another tool holds

Packages add theirs under the entry point group `assay.runs`: a callable that takes the part after the colon, and gives
the judge's name, the scored rows, and where it has some notes on them. Result files of other systems are read by
`assay.evaluation.imports`. One that takes `scales` is given what the user states of metrics: name -> the worst and
the best value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from assay._util.normalise import well_formed
from assay._util.plugins import load
from assay.data.named_sources import is_source_name
from assay.data.outputs.reading import find_output, refuse_file
from assay.data.outputs.records import Output, RangeOf, ScoreRange
from assay.errors import InputError
from assay.evaluation.imports.scales import Stated, scale_of
from assay.evaluation.output_runs import run_of_output
from assay.evaluation.overview import overview_facts
from assay.evaluation.result import Result
from assay.evaluation.run_addresses import path_at, queue_at, refuse_folder, stored_run_at
from assay.records import ScoredSample
from assay.store.store import Store
from assay.store.tables import store_may_exist
from assay.store.temporary import TemporaryStore
from assay.store.windows import UTC_NAME

GROUP = "assay.runs"

#: What a package gives: who judged, and the rows; notes may follow, one sentence each.
Held = tuple[str, Iterable[ScoredSample]] | tuple[str, Iterable[ScoredSample], tuple[str, ...]]

#: Readers of our own, which are there wherever assay is: in a clone, too, that nobody installed anew.
_OURS: Mapping[str, str] = {
    "ragas": "csv_files:open_ragas",
    "trulens": "csv_files:open_trulens",
    "langsmith": "csv_files:open_langsmith",
    "deepeval": "json_files:open_deepeval",
    "ragchecker": "json_files:open_ragchecker",
    "llamaindex": "json_files:open_llamaindex",
    "bedrock": "json_files:open_bedrock",
    "openai-evals": "json_files:open_openai_evals",
    "phoenix": "phoenix:open_phoenix",
    "langfuse": "langfuse:open_langfuse",
}
#: Endings of names that mean files.
_FILES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".gz", ".db", ".html", ".md", ".xml"})
#: Whose result files are read, by the name before the colon.
FILES = tuple(_OURS)


def open_run(
    run: str | PathLike[str] = "last",
    store: Store | str | Path = ".assay",
    *,
    scales: Stated | None = None,
    where: Mapping[str, str] | None = None,
    timezone: str = UTC_NAME,
    check: bool | None = None,
) -> Result:
    """Open a run, wherever it is.

    A run of the store comes before a file of the same name. What a file or a queue holds becomes a run in a store that
    is deleted when it is no longer used.

    Args:
        run: Name of a run of the store, or "last"; a file that assay wrote with scores (`JsonlSink`, `--out`,
            `assay report -o` as JSON, CSV and Parquet), whatever its name; the folder of a queue; another store, or a
            run in it as `STORE#RUN`; `NAME:ADDRESS` of what another tool holds.
        store: The store at hand, its folder or its database URL.
        scales: Worst and best value of metrics of which a file does not say them: {"tone": (1, 5)}.
        where: Only rows with these values of slice keys: {"version": "1.4"}.
        timezone: IANA name of the time zone of days in windows, such as "live/shop@yesterday".
        check: See `Result.load`.

    Returns:
        The run. Its notes say what the file lacks.

    Raises:
        InputError: There is no such run, or the file holds none; the message says what to give.
        MissingExtra: A package is missing that reads it.
        StoreError: A store or a queue cannot be read.
    """
    found = _open_run(run, store, scales, timezone, check)
    return found.select(where) if where else found


def _open_run(
    run: str | PathLike[str], store: Store | str | Path, scales: Stated | None, timezone: str, check: bool | None
) -> Result:
    """All rows of a run, or of the window that its name has."""
    if not isinstance(run, str):
        found = _run_at(fspath(run), scales)
        if found is None:
            raise InputError(f"run: there is no file or folder {fspath(run)!r}")
        return found
    kept = _opened(store)
    if run == "last" or (kept is not None and kept.has_run(run)):
        return Result.load(run, _there(kept, store), timezone=timezone, check=check)
    if is_source_name(run):
        return load_external_run(run, scales)
    found = _run_at(run, scales)
    if found is not None:
        return found
    if Path(run).suffix.lower() in _FILES:
        raise InputError(f"run: there is no file {run!r}, and no run of this name in the store {str(store)!r}")
    return Result.load(run, _there(kept, store), timezone=timezone, check=check)


def find_scored_rows(address: str, scales: Stated | None = None) -> Output | None:
    """Find rows with scores in a file or a queue.

    Args:
        address: The file, or the folder of the queue.
        scales: See `open_run`.

    Returns:
        The rows; None where nothing of that name is there.

    Raises:
        InputError: There is something else of that name.
    """
    path = path_at(address)
    if path is None:
        return None
    queue = queue_at(path)
    if queue is not None:
        return queue
    if path.is_dir():
        raise refuse_folder(path)
    if not path.is_file():
        raise InputError(f"{address}: is no regular file; write what it gives to a file first")
    found = find_output(path, _range_of(scales or {})) or refuse_file(path, FILES, _tool_of)
    before = path.with_name(f"{path.name}.1")  # as `JsonlSink(max_bytes=)` names it
    if not before.is_file():
        return found
    return replace(found, notes=(*found.notes, f"{before} has earlier rows of {path.name}, which are not read"))


def _run_at(address: str, scales: Stated | None) -> Result | None:
    """The run at an address outside of the store at hand; None where there is nothing."""
    stored = stored_run_at(address)
    if stored is not None:
        return Result.load(stored.run, Store(stored.store))
    output = find_scored_rows(address, scales)
    if output is None:
        return None
    path = Path(address).expanduser()
    return run_of_output(address, output, folder=path if path.is_dir() else path.parent, started=path.stat().st_mtime)


def _opened(store: Store | str | Path) -> Store | None:
    """The store at hand; None where there is none: looking makes no store."""
    if isinstance(store, Store):
        return store
    return Store(store) if store_may_exist(store) else None


def _there(kept: Store | None, store: Store | str | Path) -> Store:
    if kept is None:
        raise InputError(f"store: there is none in {str(store)!r}; name yours with --store, or score something first")
    return kept


def _range_of(scales: Stated) -> RangeOf:
    """What is known of the range of a metric: what the user states, else what the metric of this name says."""

    @cache
    def find(label: str) -> ScoreRange | None:
        found = scale_of("", label, scales) if label in scales else None
        return _known_range(label) if found is None else ScoreRange(found.low, found.high, found.direction)

    return find


def _known_range(label: str) -> ScoreRange | None:
    from assay.metrics.names import resolve_metrics

    try:
        (metric,) = resolve_metrics([label])
    except (InputError, ValueError):  # a user's own
        return None
    return ScoreRange(metric.low, metric.high, metric.direction)


def _tool_of(names: list[str]) -> str | None:
    """The system whose metrics stand among the names of columns; the first of several."""
    from assay.records.field_names import field_of

    columns = [name for name in names if field_of(name) is None]
    return next((tool for tool in FILES if any(scale_of(tool, name, {}) is not None for name in columns)), None)


def load_external_run(spec: str, scales: Mapping[str, tuple[float, float]] | None = None) -> Result:
    """The run that NAME:RUN means, in a store that is deleted when it is no longer used.

    Raises InputError for an unknown NAME and a run without rows, MissingExtra for a missing package, StoreError where
    nothing can be read.

    Args:
        scales: The worst and the best value of metrics of which the file does not say them: {"tone": (1, 5)}.
    """
    name, _, address = spec.partition(":")
    points = {one: EntryPoint(one, f"assay.evaluation.imports.{where}", GROUP) for one, where in _OURS.items()}
    points |= {point.name: point for point in entry_points(group=GROUP)}
    make: Callable[..., Held] | None = load("run", name, points)
    if make is None:
        raise InputError(f"run {spec!r}: no package reads runs of {name!r}; there are {', '.join(points) or 'none'}")
    more: dict[str, Any] = {}
    if "scales" in inspect.signature(make).parameters:
        more["scales"] = scales
    elif scales:
        raise InputError(f"run {spec!r}: scales are for result files ({', '.join(FILES)}), not for runs of {name}")
    return result_of(spec, *make(address, **more))


def result_of(run: str, judge: str, rows: Iterable[ScoredSample], notes: tuple[str, ...] = ()) -> Result:
    """Scored rows as a run of this name. Raises InputError where there are none."""
    run, store = well_formed(run), TemporaryStore()
    result = Result(run=run, store=store, judge=judge)
    store.create_run(run, {"judge": judge, "metrics": []})
    for scored in rows:
        facts = overview_facts(scored)
        result.add(scored, facts=facts)
        store.put_row(run, result.rows, scored, facts=facts.to_text())
    if not result.rows:
        raise InputError(f"run {run!r} has no rows")
    result.notes.extend(notes)
    result.save()
    return result
