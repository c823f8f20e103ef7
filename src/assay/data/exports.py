"""Exports of trace stores: their records from files, and those of one trace together, in bounded memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from assay._util.byte_limits import cause_of, check_json
from assay._util.sqlite import scratch
from assay._util.timestamps import seconds_at
from assay.data.files import from_path, json_of_file
from assay.data.rows import RowError
from assay.data.sources import UnreadableRow
from assay.errors import InputError
from assay.records import Sample
from assay.records.field_names import describe

IN_MEMORY = 5_000  # records held before all go to a temporary file

ExportRecord = dict[str, Any]

T = TypeVar("T")


def _dumped(record: Any) -> str:
    return json.dumps(record, default=str)


def read_records(path: str | Path) -> Iterator[ExportRecord | RowError]:
    """Read the records of a file, one at a time.

    It reads JSON lines, JSON, CSV, TSV (all also gzipped) and Parquet (with `assay-rag[parquet]`). JSON is a list, one
    object, or a page of an API: an object with a list under `data`. A line may be a page too. JSON that is not JSON
    lines is held in memory.

    Args:
        path: Path of the file. "~" is the home folder.

    Returns:
        An iterator over the records. A `RowError` takes the place of each record that cannot be read.

    Raises:
        InputError: The file cannot be opened.
        MissingExtra: The file is Parquet and pyarrow is not installed.
    """
    path = Path(path).expanduser()
    try:
        rows = from_path(path).open()
    except InputError:
        single = _single(path)
        if single is None:
            raise
        rows = iter([single])
    return _records(rows)


def by_trace(
    records: Iterable[T | RowError],
    trace_of: Callable[[T], str],
    start_of: Callable[[T], float | None],
    *,
    in_memory: int = IN_MEMORY,
    dump: Callable[[T], str] = _dumped,
    load: Callable[[str], T] = json.loads,
) -> Iterator[list[T] | RowError]:
    """Group records by trace, in bounded memory.

    All records are read before the first trace is yielded. Traces are in order of their first start. Those without a
    start come first.

    Args:
        records: The records. A `RowError` is passed on at once.
        trace_of: Function that returns the trace id of a record.
        start_of: Function that returns the start of a record in seconds. None: the record has no start.
        in_memory: Records to hold in memory. Above that, all records go to a temporary file.
        dump: Function that writes a record as text. Default: JSON, with `str` for other types.
        load: Function that reads the text of `dump`. Default: JSON.

    Yields:
        The records of one trace, in the order of the input. A `RowError` for each record that `trace_of` or `start_of`
        refuses with an InputError.
    """
    held: list[tuple[str, float | None, T]] = []
    rest = _keyed(records, trace_of, start_of)
    for item in rest:
        if isinstance(item, RowError):
            yield item
            continue
        held.append(item)
        if len(held) > in_memory:
            yield from _by_file(held, rest, in_memory, dump, load)
            return
    traces: dict[str, list[T]] = {}
    starts: dict[str, float] = {}
    for trace, start, record in held:
        traces.setdefault(trace, []).append(record)
        if start is not None:
            starts[trace] = min(start, starts.get(trace, start))
    yield from (traces[trace] for trace in sorted(traces, key=lambda trace: (starts.get(trace, 0.0), trace)))


def json_of(value: Any) -> Any:
    """Parse a text that holds JSON, as stores write it into columns.

    Args:
        value: Any value.

    Returns:
        The value in the JSON. The same object if it is not a text of a JSON object, list or string.

    Raises:
        InputError: Its values would take more memory than a row may (`ASSAY_MAX_LINE_MIB`).
    """
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        check_json(value)
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def in_time_range(
    samples: Iterable[Sample | RowError],
    since: float | str | datetime | None = None,
    until: float | str | datetime | None = None,
    limit: int | None = None,
) -> Iterator[Sample | RowError]:
    """Filter samples by the time at which they ended.

    A sample without a time in `metadata["ended"]` passes only if there is neither `since` nor `until`.

    Args:
        samples: The samples. Each `RowError` passes, and does not count against `limit`.
        since: Earliest end, inclusive: a datetime, a text in ISO 8601, or seconds since 1970. None: no limit.
        until: Latest end, exclusive, in the same forms. None: no limit.
        limit: Maximum number of samples, at least 1. None: no limit.

    Returns:
        An iterator over the samples and errors, in the order of the input.

    Raises:
        InputError: `since` or `until` is not a time, or `limit` is below 1.
    """
    low, high = seconds_at(since, "since"), seconds_at(until, "until")
    if limit is not None and limit < 1:
        raise InputError(f"limit: expected at least 1, found {limit}")
    found = (item for item in samples if isinstance(item, RowError) or _ended_within(item, low, high))
    return found if limit is None else _first(found, limit)


def _first(items: Iterator[Sample | RowError], limit: int) -> Iterator[Sample | RowError]:
    for item in items:
        yield item
        limit -= isinstance(item, Sample)
        if not limit:
            return


def _ended_within(sample: Sample, low: float | None, high: float | None) -> bool:
    ended = sample.metadata.get("ended")
    if not isinstance(ended, (int, float)):
        return low is None and high is None
    return (low is None or ended >= low) and (high is None or ended < high)


def _single(path: Path) -> ExportRecord | None:
    """The object that a file of JSON holds, where it holds no rows; None where it does not."""
    if ".json" not in path.suffixes[-2:] or not path.is_file():
        return None
    try:
        found = json_of_file(path)
    except InputError:
        return None
    return found if isinstance(found, dict) else None


def _records(rows: Iterator[object]) -> Iterator[ExportRecord | RowError]:
    for number, row in enumerate(rows, 1):
        if isinstance(row, UnreadableRow):
            yield RowError(number=number, id=None, message=row.message)
        elif not isinstance(row, Mapping):
            yield RowError(number=number, id=None, message=f"row {number}: expected an object, found {describe(row)}")
        elif "id" not in row and isinstance(row.get("data"), list):
            yield from _page(row["data"], number)
        else:
            yield dict(row)


def _page(items: list[Any], number: int) -> Iterator[ExportRecord | RowError]:
    for place, item in enumerate(items, 1):
        if isinstance(item, dict):
            yield item
        else:
            message = f"row {number}, item {place}: expected an object, found {describe(item)}"
            yield RowError(number=number, id=None, message=message)


def _keyed(
    records: Iterable[T | RowError], trace_of: Callable[[T], str], start_of: Callable[[T], float | None]
) -> Iterator[tuple[str, float | None, T] | RowError]:
    for number, record in enumerate(records, 1):
        if isinstance(record, RowError):
            yield record
            continue
        try:
            yield trace_of(record), start_of(record), record
        except InputError as error:
            yield RowError(number=number, id=None, message=f"record {number}: {error}", cause=cause_of(error))


def _by_file(
    held: list[tuple[str, float | None, T]],
    rest: Iterator[tuple[str, float | None, T] | RowError],
    batch: int,
    dump: Callable[[T], str],
    load: Callable[[str], T],
) -> Iterator[list[T] | RowError]:
    with (
        tempfile.TemporaryDirectory(prefix="assay-") as folder,
        scratch(Path(folder) / "records.db") as database,
    ):
        database.execute("create table records (trace text not null, started real, record text not null)")
        while held:
            rows = ((trace, start, dump(record)) for trace, start, record in held)
            database.executemany("insert into records values (?, ?, ?)", rows)
            held.clear()
            for item in rest:
                if isinstance(item, RowError):
                    yield item
                    continue
                held.append(item)
                if len(held) >= batch:
                    break
        database.execute("create index by_trace on records (trace)")
        for (trace,) in database.execute("select trace from records group by trace order by min(started), trace"):
            found = database.execute("select record from records where trace = ? order by rowid", (trace,))
            yield [load(text) for (text,) in found]
