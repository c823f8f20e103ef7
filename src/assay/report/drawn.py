"""What rich draws, as text of a given width: plain, or with colours. Never a notebook's own display."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


UNWRAPPED = 1 << 30  # columns of text that is to keep its lines


def drawn(renderable: RenderableType, width: int, *, colour: bool = False) -> str:
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
