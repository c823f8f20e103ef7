"""Rows from Parquet files, one row group after the other, in memory that the limits of bytes bound.

A column that is mostly a dictionary is read as one, so that a text which many rows share is in memory once, and the
size of each row is known before Python texts are made of it. Writers end a dictionary that grows, and what follows is
plain: read as a dictionary such a column would be in memory as a whole, so it is read as texts, a few rows at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

from assay._util import byte_limits
from assay._util.byte_limits import MIB, LargeRows, raised
from assay._util.install_hints import install_extra
from assay.data.arrow_rows import rows_of_batch
from assay.data.sources import BATCH, Source, unique
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause, InputError, MissingExtra

#: Rows read at a time from a row group that takes more bytes than a row may: some of them may be large.
FEW = 16
#: Bytes that each item of a list takes in memory, also a null: its levels and its place.
LEVELS = 8
#: Encodings of a dictionary, and the one in which a text repeats the start of the text before.
_DICTIONARY, _DELTA = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"}), "DELTA_BYTE_ARRAY"


def from_parquet(path: Path) -> Source:
    """Open a Parquet file.

    Args:
        path: Path of the file.

    Returns:
        The source.

    Raises:
        InputError: The file is no sound Parquet file.
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(f"reading Parquet needs pyarrow: {install_extra('parquet')}") from None
    try:
        with parquet.ParquetFile(path) as opened:
            known = opened.metadata
            groups = [known.row_group(number) for number in range(known.num_row_groups)]
            lengths = [group.num_rows for group in groups]
            dictionaries = _dictionary_columns(groups)
            # pandas stores an index without a name under this prefix; it only counts the rows
            names = [name for name in opened.schema_arrow.names if not name.startswith("__index_level_")]
    except Exception as error:  # damaged bytes make pyarrow raise errors of many types
        raise InputError(f"{path.name!r} is no sound Parquet file: {error}") from None
    starts = list(accumulate(lengths, initial=0))[:-1] or [0]

    def rows(start: int = 0) -> Iterator[object]:
        try:
            # page by page: the default holds the whole row group, often the whole file
            # who begins further on does so often, and of many row groups the metadata are long
            with parquet.ParquetFile(
                path,
                metadata=known if start else None,
                buffer_size=MIB,
                pre_buffer=False,
                read_dictionary=dictionaries,
            ) as opened:
                for number in range(bisect_left(starts, start), len(groups)):
                    yield from _rows_of_group(opened, number, groups[number], names, dictionaries)
        except Exception as error:
            yield UnreadableRow(f"the Parquet file is damaged, and what follows is lost: {error}")

    return Source(
        what=repr(path.name), open=rows, names=unique(names), total=known.num_rows, starts=starts, open_at=rows
    )


def _rows_of_group(opened: Any, number: int, group: Any, names: list[str], dictionaries: list[str]) -> Iterator[object]:
    columns = [_Column(group.column(place), opened.schema.column(place)) for place in range(group.num_columns)]
    packed = sum(column.known.total_compressed_size for column in columns)
    large, unpacked = LargeRows(packed), sum(column.unpacked for column in columns)
    refused = _refused(columns, unpacked, large.limit)
    if refused is not None:
        yield from repeat(UnreadableRow(refused, Cause.TOO_LARGE), group.num_rows)
        return
    at_once = _rows_at_once(columns, unpacked, dictionaries)
    for batch in opened.iter_batches(batch_size=at_once, row_groups=[number], columns=names):
        yield from rows_of_batch(batch, large)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a row group: what the file says of its bytes, and of its type."""

    known: Any
    kind: Any

    @property
    def width(self) -> int:
        """The bytes of each value, where all have the same number by the type."""
        return int(self.kind.length) if self.known.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0

    @property
    def unpacked(self) -> int:
        """The bytes that it takes at least where it cannot be read in parts: all of it may be in the list of one row.

        Nulls take a bit in the file, and a dictionary has each value once.
        """
        size = int(self.known.total_uncompressed_size)
        if not self.kind.max_repetition_level:
            return size
        return max(size, int(self.known.num_values) * LEVELS + self._values * self.width)

    @property
    def _values(self) -> int:
        statistics = self.known.statistics
        nulls = statistics.null_count if statistics is not None and statistics.has_null_count else 0
        return max(0, int(self.known.num_values) - int(nulls))


def _refused(columns: list[_Column], unpacked: int, limit: int) -> str | None:
    """Why no row of a group is read, by what the file says of it; None where they can be read."""
    if unpacked > limit:
        return (
            f"its row group unpacks to {unpacked // MIB} MiB, more than {limit // MIB} MiB and more than "
            f"{byte_limits.RATIO} times its size; write the file with smaller row groups or without compression"
        )
    wide = next((column for column in columns if column.width > byte_limits.ROW), None)
    if wide is None:
        return None
    return (
        f"each value of the column {wide.known.path_in_schema!r} takes {wide.width // MIB} MiB, more than "
        f"{byte_limits.ROW // MIB} MiB{raised()}"
    )


def _rows_at_once(columns: list[_Column], unpacked: int, dictionaries: list[str]) -> int:
    """How many rows may be in memory, if each of them holds the longest text that its column can have."""
    texts = [column.known for column in columns if column.known.physical_type == "BYTE_ARRAY"]
    repeating = [column.total_uncompressed_size for column in texts if _DELTA in column.encodings]
    mixed = [
        column.total_uncompressed_size
        for column in texts
        if _DICTIONARY.intersection(column.encodings) and column.path_in_schema not in dictionaries
    ]
    fixed = [sum(column.width for column in columns)]
    most = BATCH if unpacked <= byte_limits.ROW else FEW
    for sizes, limit in ((repeating, byte_limits.ROW), (mixed, byte_limits.ROW // 2), (fixed, byte_limits.ROW)):
        most = max(1, min([most, *(limit // max(1, size) for size in sizes)]))
    return most


def _dictionary_columns(groups: list[Any]) -> list[str]:
    """The paths of the columns of texts that are mostly a dictionary in each row group that has one."""
    mostly: dict[str, bool] = {}
    for group in groups:
        for column in (group.column(place) for place in range(group.num_columns)):
            if column.physical_type == "BYTE_ARRAY" and _DICTIONARY.intersection(column.encodings):
                path = column.path_in_schema
                mostly[path] = mostly.get(path, True) and _is_mostly_a_dictionary(column)
    return sorted(path for path, yes in mostly.items() if yes)


def _is_mostly_a_dictionary(column: Any) -> bool:
    start = column.dictionary_page_offset
    return bool(start) and 2 * (column.data_page_offset - start) >= column.total_compressed_size
