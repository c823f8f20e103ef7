"""The bytes of files that others wrote: unpacked and cut into lines, in bounded memory whatever they hold.

A gzip file of 100 kB may unpack to 100 MB, and all of that may be one line. `assay._util.byte_limits` has the limits. A
gzipped JSON file that has to be held whole may have the bytes of one row. A file that is unpacked before it is given
has only the limit of a row.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from assay._util import byte_limits
from assay._util.byte_limits import MIB, RATIO, TooLargeError, UnpackedSizeError
from assay.errors import InputError

#: One limit for the whole of a hopeless file: these many blank lines before the first row, and it has none.
BLANK = 10_000
#: What reading on may raise where a file is damaged, or worse.
DAMAGED = (EOFError, OSError, zlib.error, UnpackedSizeError)


def open_bytes(path: Path, unpacked: int | None = None) -> BinaryIO:
    """The file's bytes, unpacked; `unpacked` replaces `byte_limits.FILE`. Refuses UTF-16, which spreadsheets write.

    Raises InputError for what cannot be opened; reading on may raise DAMAGED.
    """
    try:
        size = path.stat().st_size
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path.name!r} cannot be opened: {error.strerror}") from None
    zipped = path.suffix.lower() == ".gz" or _is_gzip(file)
    if zipped:
        reader = _GzipReader(file, byte_limits.unpacked_limit(size, unpacked))
        file = io.BufferedReader(cast(io.RawIOBase, reader), 1 << 16)
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


def _is_gzip(file: BinaryIO) -> bool:
    """Whether a file is gzipped, whatever its name says. An error of reading comes up where it is read."""
    try:
        return bool(file.peek(2)[:2] == b"\x1f\x8b")  # type: ignore[attr-defined]
    except OSError:
        return False


class _GzipReader(io.RawIOBase):
    """What a gzip file holds, up to `most` bytes; then it raises UnpackedSizeError."""

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
            raise UnpackedSizeError(
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


def lines_of(file: BinaryIO) -> Iterator[bytes | TooLargeError]:
    """The lines of a file with their ends; TooLargeError in the place of one that is. Raises DAMAGED."""
    while line := file.readline(byte_limits.ROW + 1):
        if len(line) <= byte_limits.ROW:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MIB)
        yield TooLargeError()


def first_lines(path: Path, count: int) -> list[bytes]:
    """Up to `count` lines that are not blank, stripped; fewer where one is too long, or where the file is damaged."""
    found: list[bytes] = []
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(lines_of(file)):
                if isinstance(line, TooLargeError) or number > BLANK:
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

    A line ends at \\n, \\r\\n or \\r. Bytes that are no UTF-8 are lone surrogates. Raises TooLargeError where the
    lines since `begin` are more than a row may have, and goes on with the next line; and DAMAGED. Its block closes the
    file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._room = byte_limits.ROW
        self.number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()

    def begin(self) -> None:
        """Start a row."""
        self._room = byte_limits.ROW

    def __next__(self) -> str:
        line = self._text.readline(self._room + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._room -= len(line)
        if self._room < 0:
            while line and not line.endswith(("\n", "\r")):
                line = self._text.readline(MIB)
            raise TooLargeError
        return line


def whole_of(path: Path) -> bytes:
    """All of a file; of a gzip file at most the bytes of a row, or RATIO times its size. Raises InputError, DAMAGED."""
    with open_bytes(path, unpacked=byte_limits.ROW) as file:
        return file.read()
