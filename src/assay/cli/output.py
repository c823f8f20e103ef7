"""What the commands print: results to stdout, all else to stderr, and nothing in it that a terminal would obey."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import Any

from assay.terminal import json_text, printable


def say(text: object, *, aside: bool = False) -> None:
    """Print a text; `aside` to stderr."""
    print(printable(str(text)), file=sys.stderr if aside else sys.stdout, flush=True)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON, in one line where there is no `indent`."""
    print(json_text(value, indent), flush=True)


def width() -> int:
    """Columns for tables and explanations: those of the terminal, from 80 to 140."""
    return max(80, min(140, get_terminal_size((110, 24)).columns))
