"""Reading traces that stand in a store or a file into a queue, again and again, so that each is scored once.

A cursor remembers until when, by the time of completion, a source has been read. Every pass starts some time before
it: a trace that took long is later than others that began after it, and a store may show a trace long after it ended.
What is read twice by that the queue has already, by the key of the sample, and leaves out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay._util.sqlite import Database, as_store_error
from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay._util.timestamps import Moment, iso, seconds_at
from assay.data.named_sources import open_named_source
from assay.data.rows import RowError
from assay.errors import InputError
from assay.live.queue.sample_queue import SampleQueue
from assay.records import Record, Sample, fingerprint

FILE_NAME = "cursors.db"
OVERLAP = 3600.0  # seconds
AT_ONCE = 500  # samples submitted before the queue has to have written them
PATIENCE = 60.0  # seconds that it may take to write them
SHOWN = 20  # errors of rows that a report holds


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport(Tabular, Record):
    """What one pass over a source did: read = new + known + left_out + refused.

    Attributes:
        new: Samples that the queue did not have.
        known: Samples that it had.
        left_out: Samples that its sampling left out.
        refused: Samples that it had no room for, or could not write; the cursor stays, so that they are read again.
        unreadable: Rows or spans that could not be read; `errors` are the first of them.
        completed: The cursor: samples completed until then have been read; None: nothing has.
    """

    read: int = 0
    new: int = 0
    known: int = 0
    left_out: int = 0
    refused: int = 0
    unreadable: int = 0
    errors: tuple[str, ...] = ()
    completed: float | None = None

    def text(self) -> str:
        """One line for people."""
        counts = {"known already": self.known, "left out by sampling": self.left_out, "refused": self.refused}
        told = [f"{self.new} new", *(f"{count} {name}" for name, count in counts.items() if count)]
        unreadable = f"; {self.unreadable} unreadable" if self.unreadable else ""
        until = f"; completed until {iso(self.completed)}" if self.completed is not None else ""
        return f"{pluralize(self.read, 'sample')}: {', '.join(told)}{unreadable}{until}"


def ingest(
    source: str | Iterable[Sample | RowError],
    queue: SampleQueue,
    *,
    name: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
    project: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    overlap: float = OVERLAP,
) -> IngestReport:
    """One pass: append the samples of `source` to `queue`, those it has already left out.

    source    NAME:ADDRESS (see `assay.data.named_sources`), or samples of your own, with a `name` to keep a cursor
    under since     samples completed then or later; None: from the cursor of earlier passes, less the overlap
    until     samples completed before then. With `until` or `limit` the cursor stays where it is
    limit     read at most this many samples, to try things out
    project   of stores that have projects or experiments
    metadata  added to the metadata of each sample
    overlap   seconds before the cursor that are read again: how late a trace may come and still be seen

    Raises InputError for wrong arguments, and what reading the source raises; the cursor then stays where it is, and
    what was appended is known to the next pass.
    """
    if overlap < 0:
        raise InputError(f"overlap: expected 0 or more seconds, got {overlap}")
    key = name if name is not None else source if isinstance(source, str) else None
    cursors = Cursors(queue.path)
    before = None if key is None else cursors.completed(key, project)
    start = seconds_at(since, "since")
    if start is None and before is not None:
        start = before - overlap
    items = source
    if isinstance(source, str):
        items = open_named_source(source, since=start, until=seconds_at(until, "until"), limit=limit, project=project)
    report = _append(items, queue, metadata or {})  # type: ignore[arg-type]
    if key is None or report.refused or until is not None or limit is not None:
        return replace(report, completed=before)
    return replace(report, completed=cursors.advance(key, project, report.completed))


class Cursors:
    """Until when each source has been read, in a file of the queue's folder. Addresses are kept as hashes."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._file = Database(Path(folder) / FILE_NAME, _SCHEMA, "cursors", timeout=30)

    def completed(self, source: str, project: str | None = None) -> float | None:
        """The cursor of a source; None where there is none yet."""
        with self._open() as file:
            found = file.rows("SELECT completed FROM cursors WHERE source = ?", _hash(source, project))
        return float(found[0][0]) if found else None

    def advance(self, source: str, project: str | None, completed: float | None) -> float | None:
        """Move the cursor on, never back and never beyond now; where it stands then."""
        if completed is not None:
            with self._open() as file, file.write() as database:
                database.execute(
                    "INSERT INTO cursors VALUES (?, ?) "
                    "ON CONFLICT (source) DO UPDATE SET completed = max(completed, excluded.completed)",
                    (_hash(source, project), min(completed, time.time())),
                )
        return self.completed(source, project)

    @contextmanager
    def _open(self) -> Iterator[Database]:
        with as_store_error(f"the cursors in {str(self._file.path)!r} cannot be read or written"):
            try:
                yield self._file
            finally:
                self._file.close()  # passes are far apart


_SCHEMA = "CREATE TABLE cursors (source TEXT PRIMARY KEY, completed REAL NOT NULL)"


def _hash(source: str, project: str | None) -> str:
    return fingerprint([source, project])


def _append(items: Iterable[Sample | RowError], queue: SampleQueue, metadata: Mapping[str, Any]) -> IngestReport:
    before = queue.health()
    read = unreadable = refused = 0
    errors: list[str] = []
    completed: float | None = None
    for item in items:
        if isinstance(item, RowError):
            unreadable += 1
            if len(errors) < SHOWN:
                errors.append(item.message)
            continue
        read += 1
        ended = item.metadata.get("ended")
        if isinstance(ended, (int, float)) and (completed is None or ended > completed):
            completed = float(ended)
        queue.submit(replace(item, metadata={**item.metadata, **metadata}) if metadata else item)
        if read % AT_ONCE == 0:
            queue.flush(PATIENCE)
    queue.flush(PATIENCE)
    after = queue.health()
    new, known = after.queued - before.queued, after.duplicates - before.duplicates
    left_out = after.sampled_out - before.sampled_out
    refused = read - new - known - left_out
    return IngestReport(
        read=read, new=new, known=known, left_out=left_out, refused=refused, unreadable=unreadable,
        errors=tuple(errors), completed=completed,
    )  # fmt: skip
