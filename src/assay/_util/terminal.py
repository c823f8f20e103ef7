"""Text for a terminal. What others wrote must not move the cursor, set colours, or reorder what stands around it."""

from __future__ import annotations

import json
import os
from shutil import get_terminal_size
from typing import Any, TextIO

from assay.errors import INVISIBLE

NARROWEST, WIDEST = 60, 140


def json_text(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON, with invisible characters as escapes of JSON.

    Args:
        value: Value of the types that JSON has.
        indent: Spaces of indent for each level. None: everything on one line.

    Returns:
        The JSON. It reads back as the same value.

    Raises:
        TypeError: The value has a type that JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def width() -> int:
    """Columns for tables and explanations: those of the terminal, from 60 to 140; 110 where there is none."""
    return max(NARROWEST, min(WIDEST, get_terminal_size((110, 24)).columns))


def in_colour(stream: TextIO | None) -> bool:
    """Whether texts on this stream have colours: on terminals that can.

    NO_COLOR in the environment (not empty) means never, FORCE_COLOR (not empty, not 0) always; the first one wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") not in ("dumb", "unknown")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there, open, and a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def shortened(text: str, most: int = 240) -> str:
    """Shorten a text to one line.

    Args:
        text: The text. All white space becomes single spaces.
        most: Maximum length in characters, with the ellipsis.

    Returns:
        The line. A longer text is cut and ends in "…".
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def pluralize(count: int, what: str) -> str:
    """A number with what it counts: "1 row", "2 rows", "12,000 rows", "3 prompts"."""
    several = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{count:,} {what if count == 1 else several}"
