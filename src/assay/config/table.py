"""One table of a configuration file: values of the kind that is expected, and errors that name the key and its line."""

from __future__ import annotations

import difflib
import math
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

    begin  keys before those that a reader thinks of: "tool", "assay" in a pyproject.toml
    """

    values: Mapping[str, Any]
    file: str
    lines: Mapping[tuple[str, ...], int]
    path: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()

    def error(self, key: str | None, said: str) -> InputError:
        """The error about a key of this table, or about the table itself."""
        path = self.path if key is None else (*self.path, key)
        line = line_of((*self.begin, *path), self.lines)
        of_table = key is not None and isinstance(self.values.get(key), dict)
        table = (*self.begin, *(path if of_table else self.path))
        shown = f"[{'.'.join(map(_written, table))}]" if table else ""
        where = " ".join(filter(None, [shown, None if key is None or of_table else _written(key)]))
        at = "" if line is None else f" line {line}"
        return InputError(f"{self.file}: {where}{at}: {said}")

    def only(self, known: Collection[str]) -> None:
        """Raise InputError for the first key that is none of these."""
        for key in self.values:
            if key not in known:
                raise self.error(key, f"there is no such key{near(key, known)}; there are {', '.join(known)}")

    def text(self, key: str) -> str | None:
        """A text; None where the key is not there."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self._expected(key, "a text", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts; () where the key is not there."""
        value = self.values.get(key)
        if value is None:
            return ()
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not found or not all(isinstance(one, str) and one.strip() for one in found):
            raise self._expected(key, "a text, or a list of texts", value)
        return tuple(found)

    def number(self, key: str) -> float | None:
        """A number; None where the key is not there."""
        value = self.values.get(key)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value)
        ):
            raise self._expected(key, "a number", value)
        return value

    def whole(self, key: str, least: int = 1) -> int | None:
        """A whole number from `least` on; None where the key is not there."""
        value = self.values.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise self._expected(key, f"a whole number of at least {least}", value)
        return value

    def flag(self, key: str) -> bool:
        """True or false; False where the key is not there."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._expected(key, "true or false", value)
        return value

    def section(self, key: str) -> Section:
        """A table in this one; an empty one where the key is not there."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self._expected(key, f"a table, [{'.'.join(map(_written, (*self.begin, *self.path, key)))}]", value)
        return replace(self, values=value, path=(*self.path, key))

    def _expected(self, key: str, what: str, value: object) -> InputError:
        kind = _KINDS.get(type(value), type(value).__name__)
        shown = f"{kind}, {shortened(repr(value), 60)}" if not isinstance(value, (list, dict)) else kind
        return self.error(key, f"expected {what}, got {shown}")


def near(name: str, known: Collection[str]) -> str:
    """; did you mean ...?, where a known name is like this one."""
    if len(name) > 200:
        return ""
    found = difflib.get_close_matches(name.casefold().replace("-", "_"), known, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _written(key: str) -> str:
    """The key as it would stand in the file, shortened."""
    plain = key.replace("_", "").replace("-", "")
    return key if plain.isascii() and plain.isalnum() and len(key) < 80 else f'"{shortened(key, 80)}"'
