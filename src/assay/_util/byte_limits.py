"""Limits on what a row and a file may take in memory. All readers count bytes here, and nowhere else.
`assay.judges.http.reply_bytes` counts those of replies.

A row may take ROW bytes, 64 MiB: the bytes of its line or cells, and, once it is parsed, those of its texts with VALUE
bytes for each value beside them. A file of 8 MB may hold two million values, and one of 3 kB a text of 16 MB twenty
thousand times, so neither the size of the file nor the number of rows says enough.

A gzip file, and each row group of a Parquet file, may unpack to FILE bytes, 256 MiB, or to RATIO times its own size,
100 times, whichever is more (texts reach 3 to 30 times). In a row group, only rows of more than LARGE bytes count:
small ones that repeat a passage are common and harmless.

`ASSAY_MAX_LINE_MIB=256` in the environment, or `assay._util.byte_limits.ROW = 256 << 20`, raises the first limit. A row
above a limit is an error in its place, with the cause `too_large`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from assay.errors import Cause, InputError

MIB = 1 << 20


def _row_limit(value: str | None) -> int:
    return int(value) * MIB if value is not None and value.isdecimal() and int(value) > 0 else 64 * MIB


ROW = _row_limit(os.environ.get("ASSAY_MAX_LINE_MIB"))
FILE = 256 * MIB
RATIO = 100
LARGE = MIB // 4
#: What a value takes in Python beside its text: a reference to it, and the head of its object.
VALUE = 64

_JSON_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


class TooLargeError(InputError):
    """A row takes more bytes than it may."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or f"longer than {ROW // MIB} MiB{raised()}")


def cause_of(error: InputError) -> Cause:
    """The cause of the missing scores of a row that cannot be read because of this."""
    return Cause.TOO_LARGE if isinstance(error, TooLargeError) else Cause.BAD_ROW


def located(error: InputError, place: str) -> InputError:
    """The error with the place where it was found before its message; one of size stays one."""
    return type(error)(f"{place}: {error}") if isinstance(error, TooLargeError) else InputError(f"{place}: {error}")


class UnpackedSizeError(Exception):
    """A file unpacks to more than it may."""


def raised() -> str:
    """How to raise the limit of a row, as the end of a message."""
    return "; ASSAY_MAX_LINE_MIB in the environment raises the limit"


def unpacked_limit(packed: int, least: int | None = None) -> int:
    """Compute how many bytes may come out of a packed file.

    Args:
        packed: Its size.
        least: What it may have in any case. Default: FILE.

    Returns:
        The number of bytes.
    """
    return max(FILE if least is None else least, RATIO * packed)


def check_size(texts: Iterable[str]) -> None:
    """Check the size of values that are in memory already, before more is made of them.

    Args:
        texts: The texts, "" for a value that is none.

    Raises:
        TooLargeError: They take more than a row may.
    """
    size = 0
    for number, text in enumerate(texts, 1):
        size += VALUE + len(text)
        if size > ROW:
            raise TooLargeError(f"its first {number:,} values take more than {ROW // MIB} MiB in memory{raised()}")


def check_json(text: str) -> None:
    """Check how much a text would take once it is parsed, without parsing it.

    Args:
        text: JSON, or a list as Python prints it.

    Raises:
        TooLargeError: It would take more than a row may.
    """
    if len(text) * (VALUE + 1) <= ROW or _parsed_size(text) <= ROW:
        return
    size = len(text) + VALUE * _marks(_JSON_TEXT.sub("", text))  # commas within texts make no values
    if size > ROW:
        raise TooLargeError(f"its values take about {size // MIB} MiB in memory, more than {ROW // MIB} MiB{raised()}")


def _parsed_size(text: str) -> int:
    return len(text) + VALUE * _marks(text)


def _marks(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


class LargeRows:
    """The bytes that the large rows of one row group may still take together."""

    def __init__(self, packed: int) -> None:
        """Begin a row group.

        Args:
            packed: Its size in the file.
        """
        self.limit = self._left = unpacked_limit(packed)

    def check(self, size: int) -> None:
        """Count a row. A row that has no room left is not counted, so that a smaller one after it is still read.

        Args:
            size: Its bytes in memory.

        Raises:
            TooLargeError: The row has no room, in itself or beside the large rows before it.
        """
        if size > ROW:
            raise TooLargeError(f"it takes {size // MIB} MiB in memory, more than {ROW // MIB} MiB{raised()}")
        if size <= LARGE:
            return
        if size > self._left:
            raise TooLargeError(
                f"it takes {size / MIB:.1f} MiB in memory, and the large rows of its row group may take "
                f"{self.limit // MIB} MiB together, {RATIO} times their size in the file or {FILE // MIB} MiB"
            )
        self._left -= size
