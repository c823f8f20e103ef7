"""Texts for rich in which all can be seen: what others wrote reaches a console only through these.

Imported where something is drawn: rich takes long to import.
"""

from __future__ import annotations

from typing import Any

from rich.style import StyleType
from rich.text import Text

from assay.terminal import printable


class SeenText(Text):
    """A `rich.text.Text` of a text that others wrote: see `assay.terminal.printable`."""

    __slots__ = ()

    def __init__(self, text: str = "", style: StyleType = "", **options: Any) -> None:
        super().__init__(printable(text), style, **options)

    def append(self, text: Text | str, style: StyleType | None = None) -> SeenText:
        """Add text at the end, made visible as well."""
        super().append(printable(text) if isinstance(text, str) else text, style)
        return self
