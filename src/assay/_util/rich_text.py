"""Texts for rich in which all can be seen: what others wrote reaches a console only through these.

Imported where something is drawn: rich takes long to import.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

from typing import Any

from rich.style import StyleType
from rich.text import Text

from assay.errors import printable


class SafeText(Text):
    """A `rich.text.Text` of a text that others wrote: see `assay.errors.printable`."""

    __slots__ = ()

    def __init__(self, text: str = "", style: StyleType = "", **options: Any) -> None:
        super().__init__(printable(text), style, **options)

    def append(self, text: Text | str, style: StyleType | None = None) -> SafeText:
        """Add text at the end, made visible as well."""
        super().append(printable(text) if isinstance(text, str) else text, style)
        return self


UNWRAPPED = 1 << 30  # columns of text that is to keep its lines


def render_text(renderable: RenderableType, width: int, *, colour: bool = False) -> str:
    """The text of a renderable in lines of at most `width` columns, without blanks at their ends."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        force_jupyter=False,  # in a kernel rich would display it beside, and write nothing
        legacy_windows=False,
        highlight=False,
        _environ={},  # what the environment says of colour and width is settled by who asks
    )
    console.print(renderable, soft_wrap=False)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()).strip("\n")
