"""Texts that occur more than once are kept once, and known by references.

A reference from 0 on counts the texts that came with the row itself, so that rows are packed alike; one from `OLD` down
counts those of all rows from the first, `OLD` being the first of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

OLD = -10


class _Table:
    """Texts in the order in which they come; each is handed out once."""

    __slots__ = ("_base", "_new", "_numbers", "size")

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._new: list[str] = []
        self._base = 0  # texts that were handed out
        self.size = 0  # characters

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._numbers)

    def take(self) -> list[str]:
        """Those that came since it was last asked."""
        new, self._new, self._base = self._new, [], len(self._numbers)
        return new

    def _reference(self, key: Hashable, text: str) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._new.append(text)
            self.size += len(text)
        number = self._numbers[key]
        return number - self._base if number >= self._base else OLD - number


class Texts(_Table):
    """The texts of one piece of a report."""

    __slots__ = ()

    def number(self, text: str | None) -> int:
        """The reference to a text; -1 for none."""
        return -1 if text is None else self._reference(text, text)


class Passages(_Table):
    """The passages of a whole report, known by their hash."""

    __slots__ = ()

    def number(self, text: str) -> int:
        """The reference to a passage."""
        return self._reference(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), text)
