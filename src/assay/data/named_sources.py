"""Sources by name: `otel:spans.jsonl`, `phoenix:http://localhost:6006`, `langsmith:runs.jsonl`.

Packages add theirs under the entry point group `assay.sources`: a callable that takes the part after the colon, and by
name those of the options since, until, limit, project and column_map that it has, and gives Samples, with a RowError
in the place of what cannot be read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay._util.plugins import EXTRAS, load
from assay.data.columns import ColumnMap
from assay.data.rows import RowError
from assay.data.sources import HEAD_ROWS, Source
from assay.errors import InputError
from assay.records import Sample

GROUP = "assay.sources"

#: Two letters at least: C:\answers.csv is a path. Two slashes make an address of the web.
_SPEC = re.compile(r"([a-z][a-z0-9_-]+):(?!//)(.*)", re.DOTALL)


def is_source_name(text: str) -> bool:
    """Whether a text names a source rather than a file. A file of that very name is a file."""
    found = _SPEC.fullmatch(text)
    return found is not None and not _exists(text)


def open_named_source(spec: str, **options: Any) -> Iterator[Sample | RowError]:
    """The samples of the source that `NAME:ADDRESS` means. Options that are None are not passed on.

    Raises InputError for an unknown name, a wrong address or an option that the source does not have, and MissingExtra
    for a missing package.
    """
    found = _SPEC.fullmatch(spec)
    points = {point.name: point for point in entry_points(group=GROUP)}
    if found is None:
        raise InputError(f"source {spec!r}: expected NAME:ADDRESS with a NAME of {_listed(points)}")
    name, address = found.groups()
    make: Callable[..., Iterable[Sample | RowError]] | None = load("source", name, points)
    if make is None:
        raise InputError(f"there is no file {spec!r}, and no source {name!r}; the sources are {_listed(points)}")
    given = {key: value for key, value in options.items() if value is not None}
    parameters = inspect.signature(make).parameters
    unknown = [key for key in given if key not in parameters]
    if unknown and not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        raise InputError(f"source {name!r} has no option {', '.join(map(repr, unknown))}")
    return iter(make(address, **given))


def from_name(spec: str, limit: int | None = None, column_map: ColumnMap | None = None) -> Source:
    """The source in a name, for `open_data`: read once, as it comes."""
    several = [field for field, name in (column_map or {}).items() if not isinstance(name, str)]
    if several:
        raise InputError(f"column_map: {several[0]!r} has several columns, which files of rows may have, and no source")
    head = HEAD_ROWS if limit is None else min(HEAD_ROWS, limit)
    samples = open_named_source(spec, limit=limit, column_map=column_map or None)
    return Source(what=repr(spec), open=lambda: islice(samples, limit), head=head, once=True, folder=Path())


def without_secrets(spec: str) -> str:
    """The name and address, without what an address of the web may hold besides: user, password, query."""
    name, _, address = spec.partition(":")
    if "://" not in address:
        return spec
    parts = urlsplit(address)
    return f"{name}:{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _listed(points: Iterable[str]) -> str:
    return ", ".join(sorted({*points, *EXTRAS}))


def _exists(text: str) -> bool:
    try:
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long for a path, or with characters that none has
        return False
