"""The reader of a file of scored rows, chosen by its content; and what to say of a file that holds none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from assay.data.files import from_path
from assay.data.outputs.content import INSTEAD, Format, format_of, is_sqlite, start_of
from assay.data.outputs.records import Output, RangeOf
from assay.data.outputs.score_tables import find_table
from assay.data.outputs.scored_json import find_scored_json
from assay.data.outputs.table_facts import facts_in
from assay.data.sources import Source
from assay.errors import InputError
from assay.records.field_names import field_of

_LOOKED_AT = 5  # rows of a table of JSON
#: Columns of `assay failures --csv` and `assay errors --csv`, which list scores and not rows.
_LISTS = (frozenset({"number", "id", "metric", "value", "threshold"}), frozenset({"number", "metric", "cause", "raw"}))
#: Fields that make a file a data set.
_DATA = ("question", "answer", "messages")


def find_output(path: Path, range_of: RangeOf, *, exact: bool = False) -> Output | None:
    """Find the rows with scores in a file that assay wrote.

    Args:
        path: The file: JSON lines, JSON, CSV, TSV or Parquet, all but Parquet also gzipped. Its name does not matter.
        range_of: Range of a metric, for tables that do not say it.
        exact: Whether the file is wanted as data: then columns beside those of assay make it somebody else's, and a
            file of JSON is not held in memory to look for rows.

    Returns:
        The rows; None where the file holds something else.

    Raises:
        InputError: The file cannot be read, or is a report for people.
    """
    start = start_of(path)
    kind = format_of(path, start)
    if kind == "sqlite":
        return None
    if kind == "json":
        found = find_scored_json(path, start, whole=not exact)
        if found is not None or exact:
            return found
    source = _table(path, kind)
    table = find_table(source, _names(source), range_of, exact=exact)
    return replace(table, facts=facts_in(path)) if table is not None and kind == "parquet" else table


def _table(path: Path, kind: Format) -> Source:
    if kind != "json":
        return from_path(path, kind)
    try:
        return from_path(path, "json")
    except InputError:  # JSON lines of one line, or an object that holds no rows
        return from_path(path, "jsonl")


def _names(source: Source) -> list[str]:
    """The columns of a table; of one without a header those of its first rows."""
    if source.names is not None:
        return list(source.names)
    rows = source.open()
    try:
        return _keys(islice(rows, _LOOKED_AT))
    finally:
        close = getattr(rows, "close", None)
        if close is not None:
            close()


def _keys(rows: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(name) for row in rows if isinstance(row, Mapping) for name in row))


def refuse_file(path: Path, tools: Iterable[str], tool_of: Any = None) -> NoReturn:
    """Say why a file without scored rows is no run.

    Args:
        path: The file.
        tools: Names of tools whose result files are read as NAME:FILE.
        tool_of: Function of the names of columns that returns the tool whose results they look like, or None.

    Raises:
        InputError: Always; the message says what to give or to do.
    """
    names: list[str] = []
    with suppress(InputError):
        names = _columns(path)
    tool = tool_of(names) if tool_of is not None else None
    if tool is not None:
        raise InputError(f"{path}: looks like results of {tool}; prefix its name: {tool}:{path}")
    if any(columns.issubset(names) for columns in _LISTS):
        raise InputError(f"{path}: is a list of scores (`assay failures`, `assay errors`), not rows; {INSTEAD}")
    if {"run", "metrics", "judge"}.issubset(names):
        raise InputError(f"{path}: has the means of a run and none of its rows; {INSTEAD}")
    fields = {field for name in names if (field := field_of(name)) is not None}
    if fields.intersection(_DATA):
        raise InputError(
            f"{path}: is a data set: it has questions or answers, and no scores. Score it first: assay score {path}. "
            f"If another tool scored it, prefix its name, e.g. {_first(tools)}:{path}"
        )
    raise InputError(
        f"{path}: format not recognised. If another tool wrote it, prefix its name, e.g. {_first(tools)}:{path} "
        f"({', '.join(tools)}). Else {INSTEAD}"
    )


def _first(tools: Iterable[str]) -> str:
    return next(iter(tools), "NAME")


def _columns(path: Path) -> list[str]:
    if is_sqlite(path):
        return []
    start = start_of(path)
    kind = format_of(path, start)
    try:
        return _names(_table(path, kind))
    except InputError:
        from assay.data.files import json_of_file

        found = json_of_file(path) if kind == "json" else None
        return [str(name) for name in found] if isinstance(found, Mapping) else []
