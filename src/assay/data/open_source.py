"""A source that was opened: its first rows were read once, and its columns are mapped to fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from assay._util.byte_limits import cause_of
from assay.data.cell_paths import at_path
from assay.data.columns import ColumnMap
from assay.data.field_mapping import map_fields, no_row_message, row_of
from assay.data.images import placed
from assay.data.rows import RowError, sample_from_row
from assay.data.sources import Source, UnreadableRow
from assay.errors import Cause, InputError
from assay.records import Sample
from assay.records.field_names import find_columns, missing
from assay.records.missing_rows import is_missing_row

#: Texts of the first rows, which are looked at before the others: their length together.
HEAD_BYTES = 16 << 20


class OpenSource:
    """The rows of one source, which become samples one at a time.

    Attributes:
        name: Display name.
        source: The source.
        mapping: Columns and fields.
        total: Number of rows; None where only reading all of them would tell.
    """

    def __init__(self, source: Source, column_map: ColumnMap | None = None, name: str | None = None) -> None:
        """Read the first rows and map the columns.

        Args:
            source: Where the rows come from.
            column_map: Field -> column, where a name is not recognised.
            name: Display name; default: the kind of the source.

        Raises:
            InputError: There are no rows, or no column is known.
        """
        head, self._rows = _read_head(source)
        self.name = name or source.what
        self.source = source
        try:
            self.mapping = map_fields(source, head, column_map)
        except InputError:
            raise
        except Exception:  # an object of the caller's raises when it is looked at: its row is an error, and no other is
            self.mapping = map_fields(source, [row for row in head if _is_mapped(source, row, column_map)], column_map)
        self.total = source.total if source.total is not None or len(head) == source.head else len(head)
        self._used = False

    def count(self) -> int | None:
        """Count the rows, if that is quick.

        Returns:
            The number of rows; else None.
        """
        return self.source.count() if self.total is None and self.source.count is not None else self.total

    def items(self, start: int = 0) -> Iterator[object]:
        """Iterate over the rows as the source has them.

        Args:
            start: One of the `starts` of the source. A source without `open_at` always begins with the first row.

        Returns:
            The rows.
        """
        return self.source.open() if self.source.open_at is None else self.source.open_at(start)

    def read_items(self) -> Iterator[object]:
        """Iterate over the rows from the first on.

        Returns:
            The rows as the source has them.

        Raises:
            InputError: The source can be read once, and was.
        """
        if self._used:
            raise InputError(f"{self.source.what} can be read only once; give a list or a file to read it again")
        rows, self._rows = self._rows, None
        self._used = self.source.once
        return self.source.open() if rows is None else rows

    def sample(self, item: object, number: int) -> Sample | RowError:
        """Convert one item to a sample.

        Args:
            item: A row as the source has it.
            number: Number of the row, from 1.

        Returns:
            The sample; a RowError where the item cannot be read.
        """
        if isinstance(item, UnreadableRow):
            return RowError(number=number, id=None, message=f"row {number}: {item.message}", cause=item.cause)
        if isinstance(item, RowError):
            return dataclasses.replace(item, number=number)
        try:
            return self._sample(item, number)
        except Exception as error:  # of an object of the caller's, which raises when it is looked at
            return RowError(number=number, id=None, message=f"row {number}: it cannot be read: {type(error).__name__}")

    def _sample(self, item: object, number: int) -> Sample | RowError:
        row = row_of(item, self.mapping.paths)
        if row is None:
            return RowError(number=number, id=None, message=f"row {number}: {no_row_message(item)}")
        columns = self.mapping.columns
        try:
            if isinstance(row, Sample):
                return placed(row, self.source.folder)
            columns = self._columns_of(row)
            sample = sample_from_row(row, columns, number, self.mapping.several)
            if is_missing_row(sample, at_path(row, "id"), at_path(row, "sample.id")):
                message = f"row {number}: the export has no texts of this row, which was lost or not reached in its run"
                return RowError(number=number, id=sample.id, message=message, cause=Cause.LOST)
            return placed(sample, self.source.folder)
        except InputError as error:
            message = str(error)
            full = message if message.startswith("row ") else f"row {number}: {message}"
            identity = row.id if isinstance(row, Sample) else _id_of(row, columns)
            return RowError(number=number, id=identity, message=full, cause=cause_of(error))

    def _columns_of(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """The columns of one row: a new name may hold a field that this row has nowhere else."""
        columns = self.mapping.columns
        new = [str(name) for name in row if name not in self.mapping.names]
        if not new:
            return columns
        late = find_columns(new).items()
        return {**columns, **{field: name for field, name in late if columns.get(field) not in row}}


def _is_mapped(source: Source, row: object, column_map: ColumnMap | None) -> bool:
    """Whether the columns of a row can be looked at."""
    try:
        map_fields(source, [row], column_map)
    except InputError:
        return True
    except Exception:
        return False
    return True


def _read_head(source: Source) -> tuple[list[object], Iterator[object] | None]:
    """The first rows of a source; and, where it can be read once, all of its rows. Raises InputError without rows."""
    rows = source.open()
    head = list(_up_to(HEAD_BYTES, islice(rows, source.head)))
    close = None if source.once else getattr(rows, "close", None)
    if close is not None:
        close()  # lets go of the file
    if source.total == 0 or (source.head and not head):
        raise InputError(f"{source.what} has no rows")
    return head, chain(head, rows) if source.once else None


def _up_to(size: int, rows: Iterable[object]) -> Iterator[object]:
    """Rows until their texts are this long together."""
    for row in rows:
        yield row
        size -= _length(row)
        if size <= 0:
            return


def _length(value: object, depth: int = 3) -> int:
    """The length of the texts in a row, as far as they do not lie deep."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if not depth or not isinstance(value, (Mapping, list, tuple)):
        return 0
    return sum(_length(item, depth - 1) for item in (value.values() if isinstance(value, Mapping) else value))


def _id_of(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    value = row.get(columns.get("id", ""))
    return str(value) if isinstance(value, (str, int)) and not missing(value) else None
