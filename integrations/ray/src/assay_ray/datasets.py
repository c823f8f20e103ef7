"""Rows that Ray reads: a `ray.data.Dataset`, or files in an object store. They come to the driver in their order, are
cut there by what they hold, and wait in Ray's memory for their worker.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, Self

import ray
from ray.exceptions import RayError

from assay import InputError, Sample
from assay.extension import (
    HEAD_ROWS,
    ROWS_PER_SHARD,
    ColumnMap,
    Data,
    OpenSource,
    RowError,
    Shard,
    Source,
    cut_shards,
    expand_pattern,
    is_address,
    next_shard_size,
    rows_of_batch,
    rows_of_lines,
)

PATH = "path"  # what Ray calls the column that says where a row is from
NAME = "dataset"  # stands for the file's name in the shards of a Dataset
LINES = ("jsonl", "ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedShard(Shard):
    """A shard whose rows are at hand.

    Attributes:
        handed: Refers to them in Ray's memory, where they stay for as long as somebody holds it.
        path: Where they are from; empty unless there are several files.
    """

    handed: Any = None
    path: str = ""

    def to_dict(self) -> dict[str, Any]:
        """See `Shard.to_dict`: what can be written down."""
        return {known.name: getattr(self, known.name) for known in fields(Shard)}


@dataclass(frozen=True)
class HandedRows:
    """Reads such shards: how items become samples. `names`: the columns."""

    what: str
    names: tuple[str, ...]
    column_map: ColumnMap | None
    language: str | None

    def data(self) -> Data:
        """The columns, as their names tell. Raises InputError where none is known."""
        source = Source(what=self.what, open=partial(iter, ()), names=self.names, head=0)
        return Data([OpenSource(source, self.column_map, self.what)], language=self.language)

    def rows(self, shard: Shard) -> list[tuple[int, Sample | RowError]]:
        """See `Rows.rows`."""
        assert isinstance(shard, HandedShard)
        data, items = self.data(), ray.get(shard.handed)
        read = (data.sample(item, number) for number, item in enumerate(items, shard.first + 1))
        return list(enumerate((_with_file(shard.path, row) for row in read), shard.first + 1))


def _with_file(path: str, row: Sample | RowError) -> Sample | RowError:
    if not path:
        return row
    if isinstance(row, RowError):
        return replace(row, message=f"{path}: {row.message}")
    return replace(row, metadata={"file": path, **row.metadata})


@dataclass
class DatasetRows:
    """A Dataset as a job reads it; see `assay.evaluation.sharded.shards.Cut`.

    Attributes:
        paths: Of the files behind it, where they were named; lines: which hold JSON lines.
        most: Rows of a shard.
    """

    dataset: Any
    paths: tuple[str, ...]
    lines: bool
    most: int
    column_map: ColumnMap | None
    language: str | None

    @classmethod
    def of(
        cls, data: Any, *, column_map: ColumnMap | None = None, format: str | None = None, language: str | None = None,
        rows: int = ROWS_PER_SHARD,
    ) -> Self:  # fmt: skip
        """Of a Dataset, or of addresses of files. Raises InputError for files of other kinds than Parquet and JSONL."""
        if rows < 1:
            raise InputError(f"rows: expected at least 1 in a shard, got {rows}")
        if _is_dataset(data):
            if format is not None:
                raise InputError("format: goes with files, not with a Dataset")
            return cls(data, (), False, rows, column_map, language)
        import ray.data  # here, since workers go without: it takes half a second, and pandas along

        paths = tuple(path for one in _listed(data) for path in expand_pattern(str(one)))
        kinds = {format or PurePosixPath(path.removesuffix(".gz")).suffix.lower()[1:] for path in paths}
        if kinds == {"parquet"}:
            read = partial(ray.data.read_parquet, list(paths), include_paths=True, partitioning=None)
        elif kinds <= set(LINES):
            read = partial(ray.data.read_text, list(paths), include_paths=True, drop_empty_lines=False)
        else:
            raise InputError(
                f"data: expected addresses that all end in .parquet, or all in .jsonl, got {', '.join(sorted(kinds))}; "
                "give a ray.data.Dataset of what Ray reads"
            )
        with _as_input_error():
            return cls(read(), paths, kinds != {"parquet"}, rows, column_map, language)

    def __getstate__(self) -> dict[str, Any]:
        """Workers read what they are handed."""
        return {**self.__dict__, "dataset": None, "_reader": self.reader()}

    @property
    def named(self) -> tuple[str, ...]:
        """See `Cut.named`. A Dataset has no name: what is asked tells its job, and what they hold its shards."""
        return self.paths or (NAME,)

    def data(self) -> Data:
        """See `Cut.data`."""
        return self.reader().data()

    def reader(self) -> HandedRows:
        """See `Cut.reader`."""
        known: HandedRows | None = self.__dict__.get("_reader")
        if known is None:
            what = ", ".join(self.paths[:3]) + (f", {len(self.paths) - 3} more" if len(self.paths) > 3 else "")
            known = HandedRows(what or "the Dataset", self._names(), self.column_map, self.language)
            self.__dict__["_reader"] = known
        return known

    def plan(self) -> Iterator[Shard]:
        """See `Cut.plan`. Each shard comes with its rows. Raises InputError where Ray cannot, or there are none."""
        seen: Counter[str] = Counter()
        for file, (path, items) in enumerate(groupby(self._items(), itemgetter(0))):
            name = PurePosixPath(path).name or NAME
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name} ({seen[name]})"
            shown = path if len(self.paths) > 1 else ""
            rows = (item for _, item in items)
            for shard, held in cut_shards(rows, file, name, partial(next_shard_size, most=self.most)):
                yield HandedShard(**shard.to_dict(), handed=ray.put(held), path=shown)
        if not seen:
            raise self._no_rows()

    def _names(self) -> tuple[str, ...]:
        """The columns: by the schema, or of JSON lines by the first rows."""
        if self.lines:
            first = (item for _, item in islice(self._items(), HEAD_ROWS))
            return tuple(dict.fromkeys(name for item in first if isinstance(item, dict) for name in item))
        with _as_input_error(), _in_order(self.dataset):
            schema = self.dataset.schema()
        if schema is None:
            raise self._no_rows()
        return tuple(name for name in schema.names if not self._is_extra(name))

    def _no_rows(self) -> InputError:
        return InputError(f"data: {', '.join(self.paths) or 'the Dataset'} has no rows")

    def _is_extra(self, name: str) -> bool:
        return name.startswith("__index_level_") or (bool(self.paths) and name == PATH)

    def _items(self) -> Iterator[tuple[str, object]]:
        """Rows in their order, each with its path."""
        return _rows_of_texts(self._read()) if self.lines else self._read()

    def _read(self) -> Iterator[tuple[str, object]]:
        with _as_input_error(), _in_order(self.dataset):
            for batch in self.dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
                paths = batch.column(PATH).to_pylist() if self.paths else [""] * batch.num_rows
                kept = batch.select([name for name in batch.column_names if not self._is_extra(name)])
                yield from zip(paths, (row for part in kept.to_batches() for row in rows_of_batch(part)), strict=True)


def _rows_of_texts(texts: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, object]]:
    """The rows in lines of text, as `assay.data` reads them from a disk."""
    for path, group in groupby(texts, itemgetter(0)):
        lines = ((item["text"] + "\n").encode() for _, item in group)
        yield from ((path, row) for _, row in rows_of_lines(lines) if row is not None)


@contextmanager
def _in_order(dataset: Any) -> Iterator[None]:
    """Within, the blocks come in the order of the data, and Ray draws no bars: the job has its own."""
    context = dataset.context
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before


@contextmanager
def _as_input_error() -> Iterator[None]:
    try:
        yield
    except (RayError, OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        named = [line for line in said if "Error" in line.partition(":")[0]]  # of tracebacks, what was raised
        raise InputError(f"data: Ray cannot read it: {(named or said)[-1].strip()}") from error


def is_read_by_ray(data: object) -> bool:
    """Whether this is a Dataset, or addresses of files."""
    return _is_dataset(data) or any(is_address(one) for one in _listed(data))


def _is_dataset(data: object) -> bool:
    """Whoever has one has imported what it is made of."""
    made = sys.modules.get("ray.data")
    return made is not None and isinstance(data, made.Dataset)


def _listed(data: object) -> list[object]:
    return list(data) if isinstance(data, (list, tuple)) else [data]
