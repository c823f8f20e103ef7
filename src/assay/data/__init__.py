"""Rows from wherever they are, as samples: `open_data`.

    data = open_data("answers.csv")
    for number, sample in data:
        ...

No data library is imported unless an object of it, or a Parquet file, is given.
"""

from __future__ import annotations

import dataclasses
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from assay._util.call_repr import call_repr
from assay.data.columns import ColumnMap, columns_of
from assay.data.files import from_path
from assay.data.images import placed
from assay.data.named_sources import from_name, is_source_name, without_secrets
from assay.data.nested import flattened
from assay.data.paths import STDIN, from_stdin, paths_of
from assay.data.rows import RowError, as_row, sample_from_row
from assay.data.sources import Source, UnreadableRow, from_object
from assay.errors import InputError
from assay.records import Sample
from assay.records.field_names import ACCEPTED, describe, field_of, find_columns, missing

__all__ = ["ColumnMap", "Data", "RowError", "Rows", "missing_columns", "open_data", "sample_from_row"]

#: Fields that a sample may lack; the others have a value in every sample.
_MAY_LACK = ("question", "contexts", "answer", "reference", "reference_contexts")


class Data:
    """Rows, read one at a time: iterating gives pairs (number of the row, counted from 1; Sample or RowError).

    columns  the fields of `Sample` that the data has: by the header or schema where there is one, else by the first
             1,000 rows (of a generator, by the first row); later rows may bring more, and they are read
    unknown  names of columns that are no field of a sample: they go to the metadata
    doubts   columns that were passed over though their names fit a field that another column holds by its own name,
             one sentence each
    total    the number of rows, where it is known without reading all of them
    name     what is read: a file as it was named, or a kind of object

    A row that cannot be read gives a RowError in its place. A generator can be iterated once, all else again.
    """

    columns: frozenset[str]
    unknown: tuple[str, ...]
    doubts: tuple[str, ...]
    total: int | None
    name: str

    def __init__(
        self,
        source: Source,
        column_map: ColumnMap | None = None,
        limit: int | None = None,
        name: str | None = None,
        language: str | None = None,
    ):
        if limit is not None and limit < 1:
            raise InputError(f"limit: expected at least 1, found {limit}")
        self._source = source
        if language is not None and not (isinstance(language, str) and language.strip()):
            raise InputError(f"language: expected a code like 'en', found {language!r}")
        self._limit = limit
        self._language = language
        self._spent = False
        self._counted = False
        self._count: int | None = None
        head, self._rows = _opened(source)
        total = source.total if source.total is not None or len(head) == source.head else len(head)
        self.total = min(total, limit) if total is not None and limit is not None else total
        names, filled = _names_and_fields(source, head)
        self._names = names.keys()
        self.name = name or source.what
        self._columns, self._several = columns_of(names, column_map)
        self.columns = frozenset(filled | self._columns.keys() | source.fields)
        used = {*self._columns.values(), *chain.from_iterable(self._several.values())}
        rest = [name for name in names if name not in used]
        self.unknown = (*source.unknown, *rest)
        self.doubts = (*source.doubts, *_doubts(rest, self._columns, column_map or {}))
        if not self.columns & set(_MAY_LACK):
            raise InputError(_no_columns_message(source, names))

    def __iter__(self) -> Iterator[tuple[int, Sample | RowError]]:
        if self._spent:
            raise InputError(f"{self._source.what} can be read only once; give a list or a file to read it again")
        rows, self._rows = self._rows, None
        if self._source.once:
            self._spent = True
        return self._read(self._source.open() if rows is None else rows)

    def total_for_estimates(self) -> int | None:
        """The number of rows, counted where it is not known and counting is quick; None where it is neither."""
        if self.total is not None or self._source.count is None:
            return self.total
        if not self._counted:
            self._count, self._counted = self._source.count(), True
        return self._count if self._count is None or self._limit is None else min(self._count, self._limit)

    def _read(self, rows: Iterator[object]) -> Iterator[tuple[int, Sample | RowError]]:
        number = 0
        for number, item in enumerate(islice(rows, self._limit), 1):
            yield number, self.sample(item, number)
        if number == 0:
            raise InputError(f"{self._source.what} has no rows")

    def __repr__(self) -> str:
        return call_repr(self, self.name, rows=self.total)

    def start_before(self, row: int) -> int:
        """The last place at or before `row`, counted from 0, at which `items` can begin."""
        starts = self._source.starts
        return starts[max(0, bisect_right(starts, row) - 1)]

    def items(self, start: int = 0) -> Iterator[object]:
        """The rows as the source has them, for who reads a part of them: `sample` makes samples of them.

        start  0, or what `start_before` gave: the first of them
        """
        return self._source.open() if self._source.open_at is None else self._source.open_at(start)

    def sample(self, item: object, number: int) -> Sample | RowError:
        """One of `items` as a sample, by the columns of the whole; `number` counts from 1."""
        found = self._sample(item, number)
        if self._language is not None and isinstance(found, Sample) and not found.language:
            return dataclasses.replace(found, language=self._language)
        return found

    def _sample(self, item: object, number: int) -> Sample | RowError:
        if isinstance(item, UnreadableRow):
            return RowError(number=number, id=None, message=f"row {number}: {item.message}")
        if isinstance(item, RowError):
            return dataclasses.replace(item, number=number)
        row = _row_of(item)
        if isinstance(row, Sample):
            return row
        if row is None:
            return RowError(number=number, id=None, message=f"row {number}: {_no_row(item)}")
        columns = self._columns
        try:
            unseen = [str(name) for name in row if name not in self._names]
            if unseen:  # a name that appears late, for a field that this row has nowhere else
                late = find_columns(unseen).items()
                columns = {**columns, **{field: name for field, name in late if columns.get(field) not in row}}
            return placed(sample_from_row(row, columns, number, self._several), self._source.folder)
        except InputError as error:
            message = str(error)
            named = message if message.startswith("row ") else f"row {number}: {message}"
            return RowError(number=number, id=_id_of(row, columns), message=named)


def _opened(source: Source) -> tuple[list[object], Iterator[object] | None]:
    """The first rows of a source, looked at to learn its columns; and, where it is read once, all of its rows.

    Raises InputError for a source without rows.
    """
    rows = source.open()
    head = list(islice(rows, source.head))
    close = None if source.once else getattr(rows, "close", None)
    if close is not None:
        close()  # lets go of the file
    if source.total == 0 or (source.head and not head):
        raise InputError(f"{source.what} has no rows")
    return head, chain(head, rows) if source.once else None


def _row_of(item: object) -> Mapping[str, Any] | Sample | None:
    row = as_row(item)
    return flattened(row) if isinstance(row, Mapping) else row


def _names_and_fields(source: Source, head: list[object]) -> tuple[dict[str, None], set[str]]:
    """The names of the columns, in order, as far as a header, a schema or the first rows tell; and, where those are
    Samples, the fields that have values. Raises InputError where none of the rows can be read.
    """
    items = [item if isinstance(item, (UnreadableRow, RowError)) else _row_of(item) for item in head]
    names = dict.fromkeys(source.names or ())
    if source.names is None:
        if items and not any(isinstance(item, (Mapping, Sample)) for item in items):
            found = head[0]
            why = found.message if isinstance(found, (UnreadableRow, RowError)) else _no_row(found)
            raise InputError(f"{source.what}: {why}")
        names = dict.fromkeys(str(name) for item in items if isinstance(item, Mapping) for name in item)
    filled: set[str] = set()
    for sample in (item for item in items if isinstance(item, Sample)):
        filled.update(name for name in _MAY_LACK if getattr(sample, name) is not None)
        filled.update(name for name in ("history", "id") if getattr(sample, name))
    return names, filled


def _doubts(passed_over: Iterable[str], columns: Mapping[str, str], told: ColumnMap) -> Iterator[str]:
    """A gold `answer` may stand beside the `response` that was to be scored: what was chosen is said, unless told."""
    settled = {field_of(key) for key in told}
    for name in passed_over:
        field = field_of(name)
        if field in _MAY_LACK and field in columns and field not in settled:
            yield (
                f"the column {columns[field]!r} was read as the {field}, and {name!r} could be it too; "
                "column_map= (--map) says which is meant"
            )


def _no_columns_message(source: Source, names: Iterable[str]) -> str:
    return (
        f"{source.what}: no column is known as a field of a sample. The columns are "
        f"{', '.join(map(repr, names)) or 'none'}; accepted are "
        f"{', '.join(f'{field} ({ACCEPTED[field][1]}, …)' for field in _MAY_LACK)}. "
        'Name others with column_map={"question": "your column"}'
    )


class Frame(Protocol):
    """A DataFrame of pandas or polars, as far as type checkers need to know it."""

    @property
    def columns(self) -> Any: ...


class ArrowTable(Protocol):
    """A pyarrow table or a Hugging Face data set, as far as type checkers need to know it."""

    @property
    def column_names(self) -> Any: ...


#: What rows can be read from: see `open_data`.
Rows: TypeAlias = "str | os.PathLike[str] | Data | Sample | Mapping[str, Any] | Iterable[Any] | Frame | ArrowTable"


def _no_row(item: object) -> str:
    return f"expected a dict or a Sample, found {describe(item)}"


def _id_of(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    value = row.get(columns.get("id", ""))
    return str(value) if isinstance(value, (str, int)) and not missing(value) else None


def open_data(
    data: Rows,
    *,
    column_map: ColumnMap | None = None,
    limit: int | None = None,
    format: str | None = None,
    language: str | None = None,
) -> Data:
    """Read rows of any common kind as samples, without holding them in memory.

    A .json file is read whole. A row that cannot be read is a RowError in its place.

    Args:
        data: List, iterable or generator of dicts or Samples; a Sample; a dict of lists; a pandas or polars frame; a
            Hugging Face data set; a pyarrow table; or the path of a .jsonl, .ndjson, .json, .csv or .tsv file (also
            .gz) or of a .parquet file (with `assay-rag[parquet]`). Several files are a list of paths or a pattern,
            `answers/*.jsonl`; the metadata of each sample then has its `file`. `"-"` is standard input.
            `NAME:ADDRESS` is a source of traces, whose samples can be read once: `otel:spans.jsonl`,
            `phoenix:http://localhost:6006`; see `assay.data.named_sources`.
        column_map: Field -> column, for contexts also several columns, where the name of a column is not recognised.
            Sources of traces take it only if they have columns (`openai-evals`).
        limit: Read at most this many rows.
        format: Format of files whose names do not show it: "jsonl", "csv" and the like.
        language: ISO 639-1 code of the rows that do not name theirs.

    Returns:
        The samples, as an iterable with the columns that were recognised.

    Raises:
        InputError: The data cannot be read as a whole.
    """
    if isinstance(data, Data):
        if column_map is not None or limit is not None or language is not None:
            raise InputError("this data is already open; give column_map, limit and language where it is opened")
        return data
    if isinstance(data, str) and is_source_name(data):
        return Data(from_name(data, limit, column_map), None, limit, without_secrets(data), language)
    several = paths_of(data)
    if several is None:
        if format is not None:
            raise InputError("format: goes with files and standard input")
        return Data(from_object(data), column_map, limit, language=language)
    names = ["standard input" if str(path) == STDIN else str(path) for path in several]
    if len(several) == 1:
        return Data(_file(several[0], format), column_map, limit, names[0], language)
    parts = [(name, Data(_file(path, format), column_map)) for name, path in zip(names, several, strict=True)]
    shown = names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"]
    return Data(_joined(parts), limit=limit, name=", ".join(shown), language=language)


def _file(path: Path, format: str | None) -> Source:
    if str(path) == STDIN:
        return from_stdin(format)
    return dataclasses.replace(from_path(path, format), folder=Path(path).parent)


def _joined(parts: Sequence[tuple[str, Data]]) -> Source:
    """Several files one after the other. Where a row has no `file` of its own, its metadata say which one it is of."""

    def rows() -> Iterator[object]:
        for name, data in parts:
            for _, item in data:
                if isinstance(item, RowError):
                    yield dataclasses.replace(item, message=f"{name}: {item.message}")
                else:
                    yield dataclasses.replace(item, metadata={"file": name, **item.metadata})

    totals = [data.total for _, data in parts]
    return Source(
        what=f"{len(parts)} files",
        open=rows,
        total=None if None in totals else sum(total for total in totals if total is not None),
        head=1,
        fields=frozenset().union(*(data.columns for _, data in parts)),
        unknown=tuple(dict.fromkeys(name for _, data in parts for name in data.unknown)),
        doubts=tuple(dict.fromkeys(doubt for _, data in parts for doubt in data.doubts)),
        count=lambda: _sum(data.total_for_estimates() for _, data in parts),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)


class HasNeeds(Protocol):
    """What of a metric the check of columns looks at."""

    @property
    def label(self) -> str: ...
    @property
    def needs(self) -> tuple[str, ...]: ...


def missing_columns(present: Iterable[str], metrics: Iterable[HasNeeds]) -> dict[str, tuple[str, ...]]:
    """Which metrics need fields that the data does not have: label -> those fields. Empty where all is there."""
    present = frozenset(present)
    lacking = {
        metric.label: tuple(need for need in metric.needs if need in _MAY_LACK and need not in present)
        for metric in metrics
    }
    return {label: fields for label, fields in lacking.items() if fields}
