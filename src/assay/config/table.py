"""One table of a configuration file, for errors that name the key and its line."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.config.line_numbers import line_of
from assay.errors import InputError
from assay.records.phrases import shortened

_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class Section:
    """A table: its values, the keys that lead to it, and the file as errors name it.

    Attributes:
        begin: Keys before those that a reader thinks of: "tool", "assay" in a pyproject.toml.
        digest: SHA-256 of the file; of a pyproject.toml, of its table [tool.assay].
        item: Of a table in an array, as [[alerts]], the length of the path to it, which ends with its number; else 0.
    """

    values: Mapping[str, Any]
    file: str
    lines: Mapping[tuple[str, ...], int]
    path: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()
    digest: str = ""
    item: int = 0

    def error(self, key: str | None, said: str) -> InputError:
        """The error about a key of this table, or about the table itself."""
        path = self.path if key is None else (*self.path, key)
        line = line_of((*self.begin, *path), self.lines)
        of_table = key is not None and isinstance(self.values.get(key), dict)
        shown = self._header(path if of_table else self.path)
        where = " ".join(filter(None, [shown, None if key is None or of_table else _written(key)]))
        at = "" if line is None else f" line {line}"
        return InputError(f"{self.file}: {where}{at}: {said}")

    def section(self, key: str) -> Section:
        """A table in this one; an empty one where the key is not there."""
        return replace(self, values=self.values.get(key, {}), path=(*self.path, key))

    def items(self, key: str) -> list[Section]:
        """The tables of an array in this one, as [[alerts]]; none where the key is not there."""
        path = (*self.path, key)
        return [
            replace(self, values=values, path=(*path, str(number)), item=len(path) + 1)
            for number, values in enumerate(self.values.get(key, ()))
        ]

    def _header(self, path: tuple[str, ...]) -> str:
        """The header of the table at this path, as it stands in the file."""
        if not self.item:
            table = _dotted(self._in_file(path))
            return f"[{table}]" if table else ""
        array, inside = _dotted(self._in_file(path[: self.item])), _dotted(path[self.item :])
        return f"[[{array}]] {inside}".rstrip()

    def _in_file(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """The path as headers have it: without the number of a table in an array."""
        return (*self.begin, *path) if not self.item else (*self.begin, *path[: self.item - 1], *path[self.item :])

    def unlike(self, key: str, expected: str) -> InputError:
        """The error about a value that is not what is expected of its key."""
        value = self.values[key]
        kind = _KINDS.get(type(value), type(value).__name__)
        shown = f"{kind}, {shortened(repr(value), 60)}" if not isinstance(value, (list, dict)) else kind
        return self.error(key, f"expected {expected}, got {shown}")

    def name_of(self, key: str) -> str:
        """The header of a table in this one, as it stands in the file."""
        return f"[{_dotted(self._in_file((*self.path, key)))}]"


def near(name: str, known: Collection[str]) -> str:
    """; did you mean ...?, where a known name is like this one."""
    if len(name) > 200:
        return ""
    found = difflib.get_close_matches(name.casefold().replace("-", "_"), known, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_written, path))


def _written(key: str) -> str:
    """The key as it would stand in the file, shortened."""
    plain = key.replace("_", "").replace("-", "")
    return key if plain.isascii() and plain.isalnum() and len(key) < 80 else f'"{shortened(key, 80)}"'
