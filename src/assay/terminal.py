"""Text for a terminal. What others wrote must not move the cursor, set colours, or reorder what stands around it."""

from __future__ import annotations

import json
import os
import re
from shutil import get_terminal_size
from typing import Any, TextIO

NARROWEST, WIDEST = 60, 140

#: Control characters but tab and newline; line separators that only some programs obey; overrides, isolates and other
#: marks that hide or reorder text; half characters, which cannot be printed. Not those of spelling: joiners and the
#: direction marks of single letters stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """`text` with what cannot be seen spelled out (`\\x1b`, `\\u202e`); a line end of Windows becomes a newline.

    Of text that others wrote, only newline and tab have an effect on a terminal afterwards.
    """
    if text.isprintable():
        return text
    return _UNSEEN.sub(_spelled, text.replace("\r\n", "\n"))


def json_text(value: Any, indent: int | None = None) -> str:
    """`value` as JSON, the same value when it is read, with what cannot be seen as escapes of JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


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
    """The text on one line of at most `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def counted(count: int, what: str) -> str:
    """A number with what it counts: "1 row", "2 rows", "12,000 rows", "3 inquiries"."""
    several = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{count:,} {what if count == 1 else several}"
