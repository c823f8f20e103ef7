"""Rows from anywhere as samples: resolve the data to sources, open each, map its columns, and read."""

from __future__ import annotations

import dataclasses
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol, TypeAlias

from assay._util.call_repr import call_repr
from assay.data.columns import ColumnMap
from assay.data.field_mapping import OPTIONAL_FIELDS
from assay.data.open_source import OpenSource
from assay.data.resolve import resolve_sources
from assay.data.rows import RowError
from assay.errors import InputError
from assay.records import Sample


class Data:
    """Rows, read one at a time: iterating gives pairs (number of the row, counted from 1; Sample or RowError).

    A row that cannot be read gives a RowError in its place. A generator can be iterated once, all else again.

    Attributes:
        columns: Fields of `Sample` that the data has: by the header or schema where there is one, else by the first
            1,000 rows (of a generator, by the first row). Later rows may bring more, and they are read.
        unknown: Names of columns that are no field of a sample: they go to the metadata.
        doubts: One sentence for each column that was passed over though its name fits a field that another column
            holds by its own name, and for each way of reading that is not plain from the names.
        suggestions: Field that has no column -> a column, or a path within one, that may hold it.
        total: Number of rows, where it is known without reading all of them.
        name: What is read: a file as it was named, or a kind of object.
    """

    columns: frozenset[str]
    unknown: tuple[str, ...]
    doubts: tuple[str, ...]
    suggestions: Mapping[str, str]
    total: int | None
    name: str

    def __init__(self, sources: Sequence[OpenSource], limit: int | None = None, language: str | None = None) -> None:
        """Put sources one after the other. The metadata of each sample of several has the name as its `file`.

        Args:
            sources: At least one.
            limit: Read at most this many rows, at least 1.
            language: ISO 639-1 code for samples without a language.

        Raises:
            InputError: `limit` or `language` is out of range.
        """
        check_options(limit, language)
        self._sources = tuple(sources)
        self._limit = limit
        self._language = language
        self._counted: int | None = None
        mappings = [one.mapping for one in sources]
        self.columns = frozenset().union(*(one.fields for one in mappings))
        self.unknown = _distinct(name for one in sources for name in (*one.source.unknown, *one.mapping.unknown))
        self.suggestions = {field: name for one in reversed(mappings) for field, name in one.suggestions.items()}
        self.doubts = _distinct(doubt for one in sources for doubt in (*one.source.doubts, *one.mapping.doubts))
        self.total = self._limited(_sum(one.total for one in sources))
        self.name = _joined_name([one.name for one in sources])

    def __iter__(self) -> Iterator[tuple[int, Sample | RowError]]:
        return self._read(self._rows_with_file() if len(self._sources) > 1 else self._sources[0].read_items())

    def __repr__(self) -> str:
        return call_repr(self, self.name, rows=self.total)

    def total_for_estimates(self) -> int | None:
        """Count the rows if the number is not known and counting is quick.

        Returns:
            The number of rows that are read at most; None where it is not known.
        """
        if self.total is None and self._counted is None:
            self._counted = self._limited(_sum(one.count() for one in self._sources))
        return self.total if self.total is not None else self._counted

    def start_before(self, row: int) -> int:
        """Find the last place at or before a row at which `items` can begin.

        Args:
            row: Number of the row, counted from 0.

        Returns:
            The place, counted from 0.
        """
        if len(self._sources) > 1:
            return 0
        starts = self._sources[0].source.starts
        return starts[max(0, bisect_right(starts, row) - 1)]

    def items(self, start: int = 0) -> Iterator[object]:
        """Iterate over rows as the source has them, to read a part of them. `sample` makes samples of them.

        Args:
            start: 0, or what `start_before` returned: the first row.

        Returns:
            The rows.
        """
        return self._rows_with_file() if len(self._sources) > 1 else self._sources[0].items(start)

    def sample(self, item: object, number: int) -> Sample | RowError:
        """Make a sample of one of `items`.

        Args:
            item: The row.
            number: Its number, counted from 1.

        Returns:
            The sample, or why the row cannot be read.
        """
        made = self._sources[0].sample(item, number)
        if self._language is not None and isinstance(made, Sample) and not made.language:
            return dataclasses.replace(made, language=self._language)
        return made

    def _read(self, rows: Iterator[object]) -> Iterator[tuple[int, Sample | RowError]]:
        number = 0
        for number, item in enumerate(islice(rows, self._limit), 1):
            yield number, self.sample(item, number)
        if number == 0:
            raise InputError(f"{self._sources[0].source.what} has no rows")

    def _rows_with_file(self) -> Iterator[object]:
        """The samples of several sources. A `file` in the metadata of a row stays."""
        for one in self._sources:
            for number, item in enumerate(one.read_items(), 1):
                row = one.sample(item, number)
                if isinstance(row, RowError):
                    yield dataclasses.replace(row, message=f"{one.name}: {row.message}")
                else:
                    yield dataclasses.replace(row, metadata={"file": one.name, **row.metadata})

    def _limited(self, total: int | None) -> int | None:
        return total if total is None or self._limit is None else min(total, self._limit)


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
    check_options(limit, language)
    resolved = resolve_sources(data, column_map, limit, format)
    return Data([OpenSource(one.source, one.column_map, one.name) for one in resolved], limit, language)


def check_options(limit: int | None, language: str | None) -> None:
    """Raise InputError for a limit or a language that is out of range."""
    if limit is not None and limit < 1:
        raise InputError(f"limit: expected at least 1, found {limit}")
    if language is not None and not (isinstance(language, str) and language.strip()):
        raise InputError(f"language: expected a code like 'en', found {language!r}")


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _joined_name(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"])


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
    """Find the metrics that need fields which the data does not have.

    Args:
        present: Fields of the data.
        metrics: The metrics.

    Returns:
        Label of a metric -> the fields that it lacks; empty where all is there.
    """
    present = frozenset(present)
    lacking = {
        metric.label: tuple(need for need in metric.needs if need in OPTIONAL_FIELDS and need not in present)
        for metric in metrics
    }
    return {label: fields for label, fields in lacking.items() if fields}
