"""Spans by trace, in bounded memory: what exceeds a bound waits in a temporary SQLite file."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from assay.data import RowError
from assay_opentelemetry.spans import SpanData

IN_MEMORY = 5_000  # spans held before all go to the file


def by_trace(items: Iterable[SpanData | RowError], in_memory: int = IN_MEMORY) -> Iterator[list[SpanData] | RowError]:
    """The spans of each trace together, traces in order of their first start. All spans are read before the first.

    What could not be read is passed on at once.
    """
    held: list[SpanData] = []
    rest = iter(items)
    for span in rest:
        if isinstance(span, RowError):
            yield span
            continue
        held.append(span)
        if len(held) > in_memory:
            yield from _by_file(held, rest, in_memory)
            return
    traces: dict[str, list[SpanData]] = {}
    for span in held:
        traces.setdefault(span.trace_id, []).append(span)
    yield from (traces[id] for id in sorted(traces, key=lambda id: (_start(traces[id]), id)))


def _start(spans: Iterable[SpanData]) -> float:
    return min((span.started for span in spans if not span.partial), default=0.0)


def _by_file(
    held: list[SpanData], rest: Iterator[SpanData | RowError], batch: int
) -> Iterator[list[SpanData] | RowError]:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder, _database(Path(folder) / "spans.db") as database:
        while held:
            database.executemany("insert into spans values (?, ?, ?)", map(_row, held))
            held.clear()
            for span in rest:
                if isinstance(span, RowError):
                    yield span
                    continue
                held.append(span)
                if len(held) >= batch:
                    break
        database.execute("create index by_trace on spans (trace)")
        traces = database.execute("select trace from spans group by trace order by min(started), trace")
        for (trace,) in traces:
            rows = database.execute("select span from spans where trace = ? order by rowid", (trace,))
            yield [SpanData.from_dict(json.loads(text)) for (text,) in rows]


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for setting in ("journal_mode = off", "synchronous = off", "temp_store = file", "cache_size = -8000"):
            database.execute(f"pragma {setting}")
        database.execute("create table spans (trace text not null, started real, span text not null)")
        yield database


def _row(span: SpanData) -> tuple[str, float | None, str]:
    text = json.dumps(span.to_dict(), default=_plain)
    return span.trace_id, None if span.partial else span.started, text


def _plain(value: Any) -> Any:
    """What JSON does not know, as SDK and Parquet hold it: tuples' kin as lists, all else as text."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else str(value)
