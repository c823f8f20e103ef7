"""The bytes of files that others wrote: unpacked and cut into lines, in bounded memory whatever they hold.

A gzip file of 100 kB may unpack to 100 MB, and all of that may be one line. So a line, and a gzipped JSON file that has
to be held whole, may have LINE bytes, 64 MiB; and a gzip file may unpack to UNPACKED bytes, 256 MiB, or to RATIO times
its own size, 100 times, whichever is more (texts reach 3 to 30 times). `ASSAY_MAX_LINE_MIB=256` in the environment, or
`assay.data.safe_open.LINE = 256 << 20`, raises the first; a file that is unpacked before it is given has only that
limit.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from assay.errors import InputError

MIB = 1 << 20


def _line_limit(value: str | None) -> int:
    return int(value) * MIB if value is not None and value.isdecimal() and int(value) > 0 else 64 * MIB


LINE = _line_limit(os.environ.get("ASSAY_MAX_LINE_MIB"))
UNPACKED = 256 * MIB
RATIO = 100

#: One limit for the whole of a hopeless file: these many blank lines before the first row, and it has none.
BLANK = 10_000


class SizeLimitError(Exception):
    """A gzip file unpacks to more than it may."""


class TooLong(Exception):
    """A line, or a row of several lines, is longer than it may be."""

    def __str__(self) -> str:
        return f"longer than {LINE // MIB} MiB; ASSAY_MAX_LINE_MIB in the environment raises the limit"


#: What reading on may raise where a file is damaged, or worse.
DAMAGED = (EOFError, OSError, zlib.error, SizeLimitError)


def open_bytes(path: Path, unpacked: int | None = None) -> BinaryIO:
    """The file's bytes, unpacked; `unpacked` replaces UNPACKED. Refuses UTF-16, which spreadsheets like to write.

    Raises InputError for what cannot be opened; reading on may raise DAMAGED.
    """
    try:
        size = path.stat().st_size
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path.name!r} cannot be opened: {error.strerror}") from None
    zipped = path.suffix.lower() == ".gz"
    if zipped:
        most = max(UNPACKED if unpacked is None else unpacked, RATIO * size)
        file = io.BufferedReader(cast(io.RawIOBase, _GzipReader(file, most)), 1 << 16)
    try:
        start = file.peek(2)[:2]
    except DAMAGED as error:
        file.close()
        what = "is no sound gzip file" if zipped else "cannot be read"
        raise InputError(f"{path.name!r} {what}: {error}") from None
    if start in (b"\xff\xfe", b"\xfe\xff"):
        file.close()
        raise InputError(f"{path.name!r} is UTF-16; save it as UTF-8")
    return cast(BinaryIO, file)


class _GzipReader(io.RawIOBase):
    """What a gzip file holds, up to `most` bytes; then it raises TooMuch."""

    def __init__(self, packed: BinaryIO, most: int) -> None:
        self._packed = packed
        self._unpacked = gzip.GzipFile(fileobj=packed, mode="rb")
        self._most = most
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._unpacked.read1(len(buffer))  # not `read`, which loses what comes before damage
        self._read += len(found)
        if self._read > self._most:
            raise SizeLimitError(
                f"it unpacks to more than {self._most // MIB} MiB, more than {RATIO} times its size; if that is as it "
                "should be, unpack it and give the file that comes out"
            )
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._unpacked.close()
            self._packed.close()
        super().close()


def lines_of(file: BinaryIO) -> Iterator[bytes | TooLong]:
    """The lines of a file with their ends; TooLong in the place of one that is. Raises DAMAGED."""
    while line := file.readline(LINE + 1):
        if len(line) <= LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MIB)
        yield TooLong()


def first_lines(path: Path, count: int) -> list[bytes]:
    """Up to `count` lines that are not blank, stripped; fewer where one is too long, or where the file is damaged."""
    found: list[bytes] = []
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(lines_of(file)):
                if isinstance(line, TooLong) or number > BLANK:
                    break
                stripped = line.removeprefix(b"\xef\xbb\xbf").strip()
                if stripped:
                    found.append(stripped)
                if len(found) == count:
                    break
        except DAMAGED:
            pass
    return found


class TextLines(Iterator[str]):
    """The lines of a file as text for `csv.reader`, which asks for as many as a row has. `number` counts them.

    A line ends at \\n, \\r\\n or \\r. Bytes that are no UTF-8 are lone surrogates. Raises TooLong where the lines since
    `begin` are more than a row may have, and goes on with the next line; and DAMAGED. Its block closes the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._room = LINE
        self.number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()

    def begin(self) -> None:
        """Start a row."""
        self._room = LINE

    def __next__(self) -> str:
        line = self._text.readline(self._room + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._room -= len(line)
        if self._room < 0:
            while line and not line.endswith(("\n", "\r")):
                line = self._text.readline(MIB)
            raise TooLong
        return line


def whole_of(path: Path) -> bytes:
    """All of a file; of a gzip file at most LINE bytes, or RATIO times its size. Raises InputError, and DAMAGED."""
    with open_bytes(path, unpacked=LINE) as file:
        return file.read()
