"""The configuration file that is meant: the one that is named, or the nearest above the working directory."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.config.line_numbers import DOTS, lines_of
from assay.config.table import Section
from assay.errors import InputError

NAME, PROJECT = "assay.toml", "pyproject.toml"
_IN_PROJECT = ("tool", "assay")

#: Bytes that a file may have.
LARGEST = 256 * 1024


def find(folder: Path) -> tuple[Path, Section] | None:
    """The file for this working directory, opened; None where there is none.

    Looked for in the folder and in those above it up to the root of its repository; outside of a repository in the
    folder alone, for what lies farther up may be anybody's. In each folder assay.toml comes before the table
    [tool.assay] of a pyproject.toml.
    """
    for place in _places(folder):
        if (place / NAME).is_file():
            return place / NAME, opened(place / NAME, folder)
        project = place / PROJECT
        if project.is_file() and _speaks_of_assay(project):
            found = opened(project, folder)
            if found.values:
                return project, found
    return None


def opened(file: Path, folder: Path | None = None) -> Section:
    """The whole of a configuration file as a table. Raises InputError for what cannot be read or is no TOML."""
    name = _display_path(file, folder or Path.cwd())
    text = _text(file, name)
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("=")[0].count(".") > DOTS and not line.lstrip().startswith(("#", '"""', "'''")):
            raise InputError(f"{name}: line {number}: a key of more than {DOTS} parts is none of a configuration")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{name}: its values nest too deeply for a configuration") from None
    except ValueError as error:  # numbers of thousands of digits, too
        raise InputError(f"{name}: this is no TOML: {error}") from None
    begin = _IN_PROJECT if file.name == PROJECT else ()
    table = _under(values, begin, name)
    return Section(table, name, lines_of(text), (), begin, _digest(table if begin else text))


def root_of(folder: Path) -> Path:
    """The root of the repository that a folder belongs to; outside of one, the folder."""
    return list(_places(folder))[-1]


def _digest(content: str | Mapping[str, Any]) -> str:
    """The hash of a file, or of one table, for a pyproject.toml has much besides."""
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _places(folder: Path) -> Iterator[Path]:
    folder = folder.resolve()
    above = [folder, *folder.parents]
    root = next((n for n, place in enumerate(above) if (place / ".git").exists()), 0)
    yield from above[: root + 1]


def _speaks_of_assay(project: Path) -> bool:
    """Whether it may have a table of ours: what is wrong with a file of others is not ours to say."""
    try:
        with project.open("rb") as file:
            return b"tool.assay" in file.read(LARGEST + 1)
    except OSError:
        return False


def _text(file: Path, name: str) -> str:
    try:
        with file.open("rb") as opened_file:
            data = opened_file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise InputError(f"{name}: more than {LARGEST // 1024} KiB are no configuration")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: expected UTF-8, which it is not from byte {error.start} on") from None


def _under(values: Mapping[str, Any], begin: tuple[str, ...], name: str) -> Mapping[str, Any]:
    for key in begin:
        found = values.get(key, {})
        if not isinstance(found, dict):
            raise InputError(f"{name}: expected [{'.'.join(begin)}] to be a table")
        values = found
    return values


def _display_path(file: Path, folder: Path) -> str:
    """The file as people name it: from the working directory where it lies in it."""
    try:
        return str(file.resolve().relative_to(folder.resolve()))
    except ValueError:
        return str(file)
