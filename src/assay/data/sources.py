"""Where rows come from, besides files: lists, generators, dicts of columns and the objects of data libraries.

A library's object is recognised by the names of its classes, so that no library is imported to say no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.data.arrow_rows import rows_of_batch as rows_of_batch
from assay.data.unreadable import UnreadableRow as UnreadableRow
from assay.errors import InputError
from assay.records import Sample
from assay.records.field_names import describe, find_columns

#: Rows looked at on opening to learn which columns there are, where no schema or header says.
HEAD_ROWS = 1000
#: Rows fetched at a time from frames, tables and Parquet files.
BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows that can be opened.

    Attributes:
        what: Kind of the source, for messages.
        open: Starts from the first row each time, unless `once`.
        names: The columns, where a schema or header gives them.
        total: Number of rows, where it is known without reading them.
        head: How many rows may be looked at on opening.
        once: Whether the rows can be read only once.
        fields: Fields of a sample that are there, as far as that is known without looking.
        unknown: Columns that are no field of a sample.
        doubts: What is not sure about the columns, one sentence each.
        count: Reads the number of rows, where `total` is not known: for estimates.
        folder: Where relative paths of pictures begin, and below which they must lie. None: rows that the caller made;
            their paths begin where the process runs, and may lead anywhere.
        starts: The places, counted from 0 and rising, at which `open_at` can begin.
        open_at: Opens the rows from one of `starts` on; None: rows are read from the first one.
    """

    what: str
    open: Callable[[], Iterator[object]]
    names: tuple[str, ...] | None = None
    total: int | None = None
    head: int = HEAD_ROWS
    once: bool = False
    fields: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    count: Callable[[], int | None] | None = None
    folder: Path | None = None
    starts: Sequence[int] = (0,)
    open_at: Callable[[int], Iterator[object]] | None = None


def from_object(data: object) -> Source:
    """The source in an object that is no path. Raises InputError for what holds no rows."""
    kinds = {f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(data).__mro__}
    for names, reader in _LIBRARIES.items():
        if kinds & set(names):
            return reader(data)
    if isinstance(data, Sample):
        return from_sequence([data])
    if isinstance(data, Mapping):
        return from_mapping(data)
    if isinstance(data, Iterator):
        return Source(what="the iterator", open=lambda: data, head=1, once=True)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray)):
        return from_sequence(data)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, bytearray)):
        total = len(data) if isinstance(data, Sized) else None
        return Source(what=f"the {type(data).__name__}", open=lambda: iter(data), total=total, head=1)
    collect = " (collect an async iterable into a list first)" if hasattr(data, "__aiter__") else ""
    raise InputError(
        "expected a list or generator of dicts or Samples, a dict of lists, a path, a DataFrame, a Dataset or a Table; "
        f"found {describe(data)}{collect}"
    )


def from_sequence(rows: Sequence[object], what: str = "") -> Source:
    """Rows in memory."""
    return Source(what=what or f"the {type(rows).__name__}", open=lambda: iter(rows), total=len(rows))


def from_mapping(data: Mapping[Any, Any], what: str = "the dict") -> Source:
    """A dict of equally long lists, one per column; or, where the texts are no lists, one row."""
    names = tuple(str(name) for name in data)
    lists = {str(name): values for name, values in data.items() if _is_column(values)}
    found = find_columns(names)
    if not any(found.get(field) in lists for field in ("question", "answer", "id")) and len(lists) < len(data):
        return from_sequence([data], what)
    for name, values in data.items():
        if str(name) not in lists:
            raise InputError(
                f"{what}: column {str(name)!r}: expected a list as in the others, found {describe(values)}"
            )
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name!r} has {count}" for name, count in lengths.items())
        raise InputError(f"{what}: the columns must be equally long; {counts}")

    def rows() -> Iterator[object]:
        for values in zip(*lists.values(), strict=True):
            yield dict(zip(lists, values, strict=True))

    return Source(what=what, open=rows, names=names, total=next(iter(lengths.values()), 0))


def _is_column(values: object) -> bool:
    return isinstance(values, (list, tuple)) or (hasattr(values, "__array__") and isinstance(values, Sized))


def _pandas(frame: Any) -> Source:
    columns = [str(name) for name in frame.columns]
    twice = duplicate_names(columns)
    if twice:
        raise InputError(f"the DataFrame has several columns of the same name: {', '.join(map(repr, twice))}")
    # set_index("id") is common; an index without a name only counts the rows
    index = [str(name) for name in frame.index.names if name is not None]
    keep_index = len(index) == len(frame.index.names) and not set(index) & set(columns)

    def rows() -> Iterator[object]:
        for start in range(0, len(frame), BATCH):
            part = frame.iloc[start : start + BATCH]
            part = part.reset_index() if keep_index else part
            for row in part.to_dict("records"):
                yield {str(name): value for name, value in row.items()}

    names = (*(index if keep_index else ()), *columns)
    return Source(what="the DataFrame", open=rows, names=names, total=len(frame))


def _polars(frame: Any) -> Source:
    return Source(
        what="the DataFrame",
        open=lambda: frame.iter_rows(named=True),
        names=tuple(frame.columns),
        total=frame.height,
    )


def _polars_lazy(frame: Any) -> Source:
    def rows() -> Iterator[object]:
        if hasattr(frame, "collect_batches"):  # since polars 1.34; older ones hold the whole result in memory
            for batch in frame.collect_batches(chunk_size=BATCH, maintain_order=True):
                yield from batch.iter_rows(named=True)
        else:
            yield from frame.collect().iter_rows(named=True)

    return Source(what="the LazyFrame", open=rows, names=tuple(frame.collect_schema().names()), head=0)


def _arrow(table: Any) -> Source:
    def rows() -> Iterator[object]:
        for batch in table.to_batches(max_chunksize=BATCH):
            yield from rows_of_batch(batch)

    return Source(what="the Table", open=rows, names=unique(table.schema.names), total=table.num_rows)


def _arrow_batch(batch: Any) -> Source:
    def rows() -> Iterator[object]:
        for start in range(0, batch.num_rows, BATCH):
            yield from rows_of_batch(batch.slice(start, BATCH))

    return Source(what="the RecordBatch", open=rows, names=unique(batch.schema.names), total=batch.num_rows)


def _arrow_reader(reader: Any) -> Source:
    def rows() -> Iterator[object]:
        for batch in reader:
            yield from rows_of_batch(batch)

    return Source(what="the RecordBatchReader", open=rows, names=unique(reader.schema.names), head=0, once=True)


def _arrow_dataset(dataset: Any) -> Source:
    def rows() -> Iterator[object]:
        for batch in dataset.to_batches(batch_size=BATCH):
            yield from rows_of_batch(batch)

    return Source(what="the Dataset", open=rows, names=unique(dataset.schema.names), head=0)


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names of columns. Raises InputError where two have the same."""
    names = tuple(names)
    twice = duplicate_names(names)
    if twice:
        raise InputError(f"the table has several columns of the same name: {', '.join(map(repr, twice))}")
    return names


def duplicate_names(names: Iterable[str]) -> list[str]:
    """The names that stand there more than once, sorted. A line of commas is a header of very many."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _hugging_face(dataset: Any) -> Source:
    plain = dataset.with_format(None)  # a torch or numpy format would turn texts' neighbours into tensors

    def rows() -> Iterator[object]:
        for batch in plain.iter(batch_size=BATCH):
            for values in zip(*batch.values(), strict=True):
                yield dict(zip(batch, values, strict=True))

    return Source(what="the Dataset", open=rows, names=tuple(dataset.column_names), total=len(dataset))


def _hugging_face_stream(dataset: Any) -> Source:
    names = dataset.column_names
    return Source(
        what="the IterableDataset",
        open=lambda: iter(dataset.with_format(None)),
        names=tuple(names) if names else None,
        head=0 if names else 1,
    )


def _splits(splits: Mapping[str, Any]) -> Source:
    first = next(iter(splits), "train")
    raise InputError(
        f"a DatasetDict holds several data sets ({', '.join(map(repr, splits))}); "
        f"choose a split, for example data[{first!r}]"
    )


_LIBRARIES: dict[tuple[str, ...], Callable[[Any], Source]] = {
    ("pandas.DataFrame",): _pandas,
    ("polars.DataFrame",): _polars,
    ("polars.LazyFrame",): _polars_lazy,
    ("pyarrow.Table",): _arrow,
    ("pyarrow.RecordBatch",): _arrow_batch,
    ("pyarrow.RecordBatchReader",): _arrow_reader,
    ("pyarrow.Dataset",): _arrow_dataset,
    ("datasets.DatasetDict", "datasets.IterableDatasetDict"): _splits,
    ("datasets.Dataset",): _hugging_face,
    ("datasets.IterableDataset",): _hugging_face_stream,
}
