"""Resolve what a user calls data to the sources of its rows: files, standard input, a named source, an object."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NamedTuple

from assay.data.columns import ColumnMap
from assay.data.files import from_path
from assay.data.named_sources import from_name, is_source_name, without_secrets
from assay.data.outputs.samples import scored_source
from assay.data.paths import STDIN, from_stdin, paths_of
from assay.data.sources import Source, from_object
from assay.errors import InputError


class ResolvedSource(NamedTuple):
    """A source, its display name, and the column map that its rows still need."""

    name: str
    source: Source
    column_map: ColumnMap | None


def resolve_sources(
    data: object, column_map: ColumnMap | None, limit: int | None, format: str | None
) -> list[ResolvedSource]:
    """Resolve data to its sources, without reading rows.

    Args:
        data: What `open_data` takes, except for `Data`.
        column_map: Field -> column. A named source applies it itself.
        limit: Number of rows to read; a named source stops there.
        format: Format of files whose names do not show it.

    Returns:
        One source, or one for each of several files, in order.

    Raises:
        InputError: No rows can come from this, or `format` was given for something that is no file.
    """
    if isinstance(data, str) and is_source_name(data):
        return [ResolvedSource(without_secrets(data), from_name(data, limit, column_map), None)]
    paths = paths_of(data)
    if paths is not None:
        return [ResolvedSource(_name_of(path), _from_file(path, format, column_map), column_map) for path in paths]
    if format is not None:
        raise InputError("format: goes with files and standard input")
    source = from_object(data)
    return [ResolvedSource(source.what, source, column_map)]


def _name_of(path: Path) -> str:
    return "standard input" if str(path) == STDIN else str(path)


def _from_file(path: Path, format: str | None, column_map: ColumnMap | None) -> Source:
    """The rows of a file; of one that assay wrote with scores its samples, unless the user names columns."""
    if str(path) == STDIN:
        return from_stdin(format)
    if format is None and not column_map and (scored := scored_source(path)) is not None:
        return scored
    return dataclasses.replace(from_path(path, format), folder=Path(path).parent)
