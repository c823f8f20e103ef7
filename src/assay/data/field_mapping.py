"""Map the columns of a source to the fields of samples, by a header, a schema or the first rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from assay.data.cell_paths import at_path, has_path, object_in, paths_to
from assay.data.column_names import map_of, suggest_columns
from assay.data.columns import ColumnMap, columns_of
from assay.data.missing_words import missing_word_notes
from assay.data.nested import flattened
from assay.data.passage_objects import own_path
from assay.data.reference_column import is_retrieved, may_be_retrieved
from assay.data.rows import RowError, as_row, listed, messages_in_cell, spoken
from assay.data.sources import Source, UnreadableRow
from assay.errors import InputError
from assay.records import Role, Sample
from assay.records.field_names import ACCEPTED, describe, field_of

#: Fields that a sample may lack; the others have a value in every sample.
OPTIONAL_FIELDS = ("question", "contexts", "answer", "reference", "reference_contexts")
#: Field -> whose words it is in a conversation. What tools give back stands in for contexts.
_SPEAKERS: Mapping[str, Role] = {"question": "user", "answer": "assistant", "contexts": "tool"}
#: Rows in which paths to fields are looked for.
_LOOKED_INTO = 20


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """The columns of a source, and the fields that they hold.

    Attributes:
        names: Names of the columns, as far as they are known.
        columns: Field -> its column.
        several: Field -> the columns whose passages make it up together.
        paths: Paths through the rows that the user names as columns.
        fields: Fields that the source has.
        unknown: Columns that hold no field: they go to the metadata.
        doubts: One sentence for each column whose name fits a field that another column holds, and for each reading of
            the columns and cells that a user may want to know.
        suggestions: Field without a column -> a column or path that may hold it.
    """

    names: frozenset[str]
    columns: Mapping[str, str]
    several: Mapping[str, tuple[str, ...]]
    paths: tuple[str, ...]
    fields: frozenset[str]
    unknown: tuple[str, ...]
    doubts: tuple[str, ...]
    suggestions: Mapping[str, str]


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
    paths = _paths(head, column_map)
    rows = [item if isinstance(item, (UnreadableRow, RowError)) else row_of(item, paths) for item in head]
    names = _column_names(source, head, rows)
    columns, several, notes = columns_of(names, column_map)
    chosen = {field_of(key) for key in column_map or {}}
    if not chosen & {"reference", "contexts"} and (why := is_retrieved(names, columns)) is not None:
        columns = {"contexts" if field == "reference" else field: name for field, name in columns.items()}
        notes.append(why)
    used = {*columns.values(), *chain.from_iterable(several.values())}
    rest = [name for name in names if name not in used]
    fields = frozenset(_filled_fields(rows) | columns.keys() | source.fields | _said_fields(rows, columns))
    suggestions = {} if chosen else _suggestions(head, rest, fields)
    if not fields.intersection((*OPTIONAL_FIELDS, "messages")):
        raise InputError(_no_columns_message(source, names, suggestions))
    doubt = None if chosen else may_be_retrieved(_mappings(rows), columns)
    notes += [note for note in (_opened_note(head, rows), _passage_note(rows, columns)) if note is not None]
    if doubt is not None:
        notes.append(doubt)
        suggestions.setdefault("contexts", columns["reference"])
    return FieldMapping(
        names=frozenset(names),
        columns=columns,
        several=several,
        paths=paths,
        fields=fields,
        unknown=tuple(rest),
        doubts=(*notes, *_doubts(rest, columns, column_map or {}), *missing_word_notes(_mappings(rows), columns)),
        suggestions=suggestions,
    )


def _paths(head: Iterable[object], column_map: ColumnMap | None) -> tuple[str, ...]:
    """The columns of a map that are paths through the first rows: `output.retrieval.contexts`."""
    given = (names if isinstance(names, (list, tuple)) else (names,) for names in (column_map or {}).values())
    dotted = [name for name in chain.from_iterable(given) if isinstance(name, str) and "." in name]
    rows = [row for item in head if isinstance(row := as_row(item), Mapping)] if dotted else []
    return tuple(path for path in dotted if any(path not in row and has_path(row, path) for row in rows))


def _said_fields(rows: Iterable[object], columns: Mapping[str, str]) -> set[str]:
    """The fields that conversations hold: question, answer, and contexts where tools gave something back."""
    found: set[str] = set()
    places = [columns[field] for field in ("messages", "question", "answer") if field in columns]
    for row in _mappings(rows):
        for place in places:
            with suppress(InputError):
                messages = messages_in_cell(row.get(place))
                found.update(field for field, role in _SPEAKERS.items() if spoken(messages, role))
        if len(found) == len(_SPEAKERS):
            break
    return found


def _opened_note(head: Iterable[object], rows: Iterable[object]) -> str | None:
    """Which columns hold JSON that was opened."""
    pairs = ((as_row(item), row) for item, row in zip(head, rows, strict=True))
    opened = dict.fromkeys(
        str(name)
        for before, row in pairs
        if isinstance(before, Mapping) and isinstance(row, Mapping)
        for name, cell in before.items()
        if isinstance(cell, str) and (name not in row or row[name] != cell) and object_in(cell) is not None
    )
    return f"the JSON in {', '.join(map(repr, opened))} was read as columns of its own" if opened else None


def _passage_note(rows: Iterable[object], columns: Mapping[str, str]) -> str | None:
    """Under which keys of their own objects had the text of a passage."""
    keys: dict[str, None] = {}
    for row in islice(_mappings(rows), _LOOKED_INTO):
        with suppress(InputError):
            cell = row.get(columns.get("contexts", ""))
            keys.update(dict.fromkeys(".".join(path) for item in listed(cell) if (path := own_path(item)) is not None))
    return f"the text of a passage was read from {' or '.join(map(repr, keys))}" if keys else None


def _suggestions(head: Iterable[object], rest: Iterable[str], fields: Iterable[str]) -> dict[str, str]:
    """Field -> column or path that may hold it, for the fields that have no column."""
    lacking = [field for field in OPTIONAL_FIELDS if field not in fields]
    rows = (row for item in islice(head, _LOOKED_INTO) if isinstance(row := as_row(item), Mapping))
    return {**suggest_columns(rest, lacking), **paths_to(rows, lacking)}


def _mappings(rows: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    return (row for row in rows if isinstance(row, Mapping))


def row_of(item: object, paths: Iterable[str] = ()) -> Mapping[str, Any] | Sample | None:
    """The row in an item of a source, nested objects flattened; None for what is no row.

    Args:
        item: The item.
        paths: Paths through the item, which become columns of these names.

    Returns:
        The row.
    """
    row = as_row(item)
    if not isinstance(row, Mapping):
        return row
    within = {path: at_path(row, path) for path in paths if path not in row}
    return {**flattened(row), **within} if within else flattened(row)


def no_row_message(item: object) -> str:
    """The error message for an item that is no row."""
    return f"expected a dict or a Sample, found {describe(item)}"


def _column_names(source: Source, head: list[object], rows: list[Any]) -> list[str]:
    if source.names is not None:
        found = dict.fromkeys(str(name) for item in rows if isinstance(item, Mapping) for name in item)
        kept = [name for name in source.names if name in found] if found else source.names
        return list(dict.fromkeys((*kept, *found)))
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


def _no_columns_message(source: Source, names: Iterable[str], suggestions: Mapping[str, str]) -> str:
    example = map_of(suggestions or {"question": "your column"})
    return (
        f"{source.what}: no column is known as a field of a sample. The columns are "
        f"{', '.join(map(repr, names)) or 'none'}; accepted are "
        f"{', '.join(f'{field} ({ACCEPTED[field][1]}, …)' for field in OPTIONAL_FIELDS)}. "
        f"Name others, for example column_map={example}"
    )
