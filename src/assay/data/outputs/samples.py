"""The samples of a file of scored rows, as rows of data: `assay score rows.jsonl` scores them again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from assay.data.outputs.reading import find_output
from assay.data.outputs.records import Output, ScoreRange
from assay.data.rows import RowError
from assay.data.sources import Source
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause, InputError
from assay.records import Sample
from assay.records.missing_rows import is_missing_row

_ANY = ScoreRange(-math.inf, math.inf)


def scored_source(path: Path) -> Source | None:
    """The samples of a file that assay wrote with their scores; None for any other file, and for one of no rows."""
    try:
        path = path.expanduser()
        if not path.is_file():  # of a pipe the first bytes can be read once
            return None
        output = find_output(path, lambda _: _ANY, exact=True)
    except (InputError, OSError, RuntimeError, ValueError):  # what is wrong with it is said where it is read as data
        return None
    if output is None:
        return None
    found = output
    doubt = f"{path.name!r} has scores of an earlier run: only its samples are read"
    return Source(what=repr(path.name), open=lambda: samples_of(found), doubts=(doubt,), folder=path.parent)


def samples_of(output: Output) -> Iterator[Sample | RowError | UnreadableRow]:
    """The samples of scored rows, each once, in order. A row that cannot be read, or was lost, is an error.

    A file of `JsonlSink` may hold a sample several times: the first one stands.
    """
    seen: set[str] = set()
    for place, row in enumerate(output.rows(), 1):
        if isinstance(row.scored, UnreadableRow):
            yield row.scored
            continue
        sample = row.scored.sample
        if is_missing_row(sample):
            message = f"row {place}: the export has no texts of this row, which was lost or not reached in its run"
            yield RowError(number=place, id=sample.id, message=message, cause=Cause.LOST)
        elif row.number is not None:
            yield sample
        elif (key := sample.key()) not in seen:
            seen.add(key)
            yield sample
