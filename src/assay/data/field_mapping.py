"""Map the columns of a source to the fields of samples, by a header, a schema or the first rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from assay.data.columns import ColumnMap, columns_of
from assay.data.missing_words import missing_word_notes
from assay.data.nested import flattened
from assay.data.rows import RowError, as_row
from assay.data.sources import Source, UnreadableRow
from assay.errors import InputError
from assay.records import Sample
from assay.records.field_names import ACCEPTED, describe, field_of

#: Fields that a sample may lack; the others have a value in every sample.
OPTIONAL_FIELDS = ("question", "contexts", "answer", "reference", "reference_contexts")


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """The columns of a source, and the fields that they hold.

    Attributes:
        names: Names of the columns, as far as they are known.
        columns: Field -> its column.
        several: Field -> the columns whose passages make it up together.
        fields: Fields that the source has.
        unknown: Columns that hold no field: they go to the metadata.
        doubts: One sentence for each column whose name fits a field that another column holds, and for each reading of
            the columns and cells that a user may want to know.
    """

    names: frozenset[str]
    columns: Mapping[str, str]
    several: Mapping[str, tuple[str, ...]]
    fields: frozenset[str]
    unknown: tuple[str, ...]
    doubts: tuple[str, ...]


def map_fields(source: Source, head: list[object], column_map: ColumnMap | None) -> FieldMapping:
    """Map the columns of a source to fields.

    Args:
        source: The source.
        head: Its first rows.
        column_map: Field -> column, as the user names them.

    Returns:
        The mapping. It has at least one field that a sample may lack.

    Raises:
        InputError: No row of the head can be read, the column map does not fit, or no column is known.
    """
    rows = [item if isinstance(item, (UnreadableRow, RowError)) else row_of(item) for item in head]
    names = _column_names(source, head, rows)
    columns, several = columns_of(names, column_map)
    used = {*columns.values(), *chain.from_iterable(several.values())}
    rest = [name for name in names if name not in used]
    fields = frozenset(_filled_fields(rows) | columns.keys() | source.fields)
    if not fields & set(OPTIONAL_FIELDS):
        raise InputError(_no_columns_message(source, names))
    return FieldMapping(
        names=frozenset(names),
        columns=columns,
        several=several,
        fields=fields,
        unknown=tuple(rest),
        doubts=(*_doubts(rest, columns, column_map or {}), *missing_word_notes(_mappings(rows), columns)),
    )


def _mappings(rows: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    return (row for row in rows if isinstance(row, Mapping))


def row_of(item: object) -> Mapping[str, Any] | Sample | None:
    """The row in an item of a source, nested objects flattened; None for what is no row."""
    row = as_row(item)
    return flattened(row) if isinstance(row, Mapping) else row


def no_row_message(item: object) -> str:
    """The error message for an item that is no row."""
    return f"expected a dict or a Sample, found {describe(item)}"


def _column_names(source: Source, head: list[object], rows: list[Any]) -> list[str]:
    if source.names is not None:
        return list(dict.fromkeys(source.names))
    if rows and not any(isinstance(item, (Mapping, Sample)) for item in rows):
        first = head[0]
        reason = first.message if isinstance(first, (UnreadableRow, RowError)) else no_row_message(first)
        raise InputError(f"{source.what}: {reason}")
    return list(dict.fromkeys(str(name) for item in rows if isinstance(item, Mapping) for name in item))


def _filled_fields(rows: Iterable[object]) -> set[str]:
    """The fields that have values in those rows that are Samples."""
    filled: set[str] = set()
    for sample in (item for item in rows if isinstance(item, Sample)):
        filled.update(name for name in OPTIONAL_FIELDS if getattr(sample, name) is not None)
        filled.update(name for name in ("history", "id") if getattr(sample, name))
    return filled


def _doubts(rest: Iterable[str], columns: Mapping[str, str], column_map: ColumnMap) -> Iterator[str]:
    """A gold `answer` may stand beside the `response` to be scored: the choice is named, unless the user made it."""
    chosen = {field_of(key) for key in column_map}
    for name in rest:
        field = field_of(name)
        if field in OPTIONAL_FIELDS and field in columns and field not in chosen:
            yield (
                f"the column {columns[field]!r} was read as the {field}, and {name!r} could be it too; "
                "column_map= (--map) says which is meant"
            )


def _no_columns_message(source: Source, names: Iterable[str]) -> str:
    return (
        f"{source.what}: no column is known as a field of a sample. The columns are "
        f"{', '.join(map(repr, names)) or 'none'}; accepted are "
        f"{', '.join(f'{field} ({ACCEPTED[field][1]}, …)' for field in OPTIONAL_FIELDS)}. "
        'Name others with column_map={"question": "your column"}'
    )
