"""Columns by field, as a user names them: one for most fields, one or several for fields that hold passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile
from typing import TypeAlias

from assay.data.column_names import infer_columns
from assay.errors import InputError
from assay.records.field_names import ACCEPTED, field_of, find_columns

#: Field -> its column; for contexts and reference_contexts also several columns, whose passages follow each other.
ColumnMap: TypeAlias = Mapping[str, str | Sequence[str]]

_SEVERAL = ("contexts", "reference_contexts")


def columns_of(
    names: Iterable[str], column_map: ColumnMap | None = None
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], list[str]]:
    """Which column holds which field, as `find_columns` and `infer_columns` say.

    Also the fields that several columns make up together, which are in the first dict with the first of their columns;
    and notes on what was inferred. Raises InputError as `find_columns` does, and where a field that is one text is
    given several columns.
    """
    single: dict[str, str] = {}
    several: dict[str, tuple[str, ...]] = {}
    named = set()
    for key, given in (column_map or {}).items():
        columns = (given,) if isinstance(given, str) else tuple(given)
        field = key if key in ACCEPTED else field_of(key) or key
        if not columns or not all(isinstance(column, str) for column in columns):
            raise InputError(f"column_map: {key!r}: expected the name of a column, got {given!r}")
        twice = next((column for column in columns if columns.count(column) > 1), None)
        if twice is not None:
            raise InputError(f"column_map: {key!r}: the column {twice!r} is given twice")
        if len(columns) > 1 and field not in _SEVERAL:
            raise InputError(
                f"column_map: {key!r} is one text, and cannot be made of the columns "
                f"{' and '.join(map(repr, columns))}; only {' and '.join(_SEVERAL)} can have several"
            )
        single[key] = columns[0]
        named.add(field)
        if len(columns) > 1:
            several[field] = columns
    rest = {column for columns in several.values() for column in columns[1:]}
    names = list(names)
    for column in rest - set(names):
        find_columns(names, {"contexts": column})  # raises: there is no such column
    found = find_columns([name for name in names if name not in rest], single)
    again = {
        field: columns
        for field in _SEVERAL
        if field in found and field not in named and len(columns := _repeated(found[field], names)) > 1
    }
    used = {*found.values(), *rest, *(column for columns in again.values() for column in columns)}
    inferred = infer_columns([name for name in names if name not in used], found)
    notes = [f"read {' and '.join(map(repr, columns))} together as the {field}" for field, columns in again.items()]
    return {**found, **inferred.columns}, {**several, **again, **inferred.several}, [*notes, *inferred.notes]


def _repeated(column: str, names: Sequence[str]) -> tuple[str, ...]:
    """A column with the others of its name, as pandas tells them apart: `context`, `context.1`, `context.2`."""
    others = takewhile(set(names).__contains__, (f"{column}.{number}" for number in count(1)))
    return (column, *others)
