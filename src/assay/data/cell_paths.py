"""Values within cells: JSON in a text, objects in objects, and the paths to them, `output.retrieval.contexts`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay._util.byte_limits import check_json
from assay._util.normalise import missing
from assay.errors import InputError
from assay.records.field_names import field_of

#: Levels of objects that are looked into for suggestions.
_DEPTH = 4
_NOTHING = object()


def object_in(cell: object) -> Mapping[str, Any] | None:
    """Find the object in a cell.

    Args:
        cell: A value, or a text that holds a JSON object.

    Returns:
        The object; None for any other value.
    """
    if isinstance(cell, Mapping):
        return cell
    if not isinstance(cell, str) or cell.lstrip()[:1] != "{":
        return None
    try:
        check_json(cell)
        found = json.loads(cell, strict=False)
    except (InputError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def at_path(row: Mapping[str, Any], path: str) -> Any:
    """Follow a path through a row, as the file has it.

    Keys may have dots in them; the longest that fits counts. A step into a list goes into each of its items.

    Args:
        row: The row.
        path: Names of keys with dots between them.

    Returns:
        The value; None where there is nothing.
    """
    found = _followed(row, path.split("."))
    return None if found is _NOTHING else found


def has_path(row: Mapping[str, Any], path: str) -> bool:
    """Check whether a row has something at a path.

    Args:
        row: The row.
        path: Names of keys with dots between them.

    Returns:
        True where there is a value, even a missing one.
    """
    return _followed(row, path.split(".")) is not _NOTHING


def _followed(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    items = _list_in(value)
    if items is not None:
        found = [_followed(item, steps) for item in items]
        if steps[0].isdecimal() and int(steps[0]) < len(items) and all(item is _NOTHING for item in found):
            return _followed(items[int(steps[0])], steps[1:])
        kept = [None if item is _NOTHING else item for item in found]
        return kept if any(item is not _NOTHING for item in found) else _NOTHING
    inner = object_in(value)
    if inner is None:
        return _NOTHING
    for size in range(len(steps), 0, -1):
        key = ".".join(steps[:size])
        if key in inner:
            return _followed(inner[key], steps[size:])
    return _NOTHING


def _list_in(value: Any) -> list[Any] | None:
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            check_json(value)
            found = json.loads(value, strict=False)
        except (InputError, ValueError, RecursionError):
            return None
        return found if isinstance(found, list) else None
    return None


def paths_to(rows: Iterable[Mapping[str, Any]], fields: Iterable[str]) -> dict[str, str]:
    """Find paths below the columns whose last key is a name of a field.

    Args:
        rows: Some rows, as the file has them.
        fields: The fields that are looked for.

    Returns:
        Field -> the first path to it.
    """
    wanted = set(fields)
    found: dict[str, str] = {}
    for row in rows:
        for path, held in _named_paths(row, "", 0):
            if held in wanted:
                found.setdefault(held, path)
    return found


def _named_paths(row: Mapping[str, Any], before: str, depth: int) -> Iterator[tuple[str, str]]:
    for key, value in row.items():
        path = f"{before}{key}"
        held = field_of(str(key))
        if depth and held is not None and not missing(value):
            yield path, held
        inner = object_in(value) if depth < _DEPTH else None
        if inner is not None:
            yield from _named_paths(inner, f"{path}.", depth + 1)
