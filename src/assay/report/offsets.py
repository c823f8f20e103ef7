"""Offsets as browsers count them: in units of UTF-16, of which a character beyond U+FFFF takes two."""

from __future__ import annotations

from bisect import bisect_left


class Offsets:
    """Turns offsets in one text, counted in characters, into units of UTF-16. Linear in the text, once."""

    __slots__ = ("_wide",)

    def __init__(self, text: str) -> None:
        wide = not text.isascii() and max(text, default="") > "\uffff"
        self._wide = [n for n, char in enumerate(text) if char > "\uffff"] if wide else []

    def __call__(self, offset: int) -> int:
        """The same place in units of UTF-16."""
        return offset + bisect_left(self._wide, offset) if self._wide else offset
