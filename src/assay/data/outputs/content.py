"""The format of a file by its first bytes, whatever its name says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NoReturn

from assay.data.safe_open import DAMAGED, open_bytes
from assay.errors import InputError

Format = Literal["json", "csv", "parquet", "sqlite"]

_BOM = b"\xef\xbb\xbf"
_SQLITE, _PARQUET, _ZIP = b"SQLite format 3\x00", b"PAR1", b"PK\x03\x04"
_MARKDOWN = re.compile(r"#{1,6} ")
#: Which files of a run can be read back, for messages.
INSTEAD = (
    "give the run itself, or a file with its rows: `assay score --out rows.jsonl`, "
    "`assay report RUN -o rows.parquet` (.json, .csv)"
)


def start_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked, without a byte order mark and white space before them.

    Args:
        path: The file.

    Returns:
        At least one byte, and as many as one read gives.

    Raises:
        InputError: The file cannot be opened, is empty, or is UTF-16.
    """
    with open_bytes(path) as file:
        try:
            start = bytes(file.peek(1 << 16))  # type: ignore[attr-defined]
        except DAMAGED as error:
            raise InputError(f"{path.name!r} cannot be read: {error}") from None
    if not start:
        raise InputError(f"{path.name!r} is empty")
    text = start.removeprefix(_BOM).lstrip()
    if not text:
        raise InputError(f"{path.name!r} begins with {len(start):,} bytes of white space: it has no rows")
    return text


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database of SQLite. False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def format_of(path: Path, start: bytes) -> Format:
    """The format of a file.

    Args:
        path: The file, for messages.
        start: What `start_of` returned.

    Returns:
        The format. "csv" is every text that is nothing else.

    Raises:
        InputError: The file is a report for people, or no text; the message says which file to give instead.
    """
    if start.startswith(_SQLITE):
        return "sqlite"
    if start.startswith(_PARQUET):
        _refuse_packed(path)
        return "parquet"
    if start[:1] in (b"{", b"["):
        return "json"
    if start.startswith(b"<"):
        _refuse_markup(path, start)
    if _MARKDOWN.match(start[:8].decode("latin-1")):
        raise InputError(f"{path.name!r} is Markdown, a report for people, which is not read back; {INSTEAD}")
    if start.startswith(_ZIP):
        raise InputError(f"{path.name!r} is a spreadsheet or a ZIP archive; {INSTEAD}")
    if b"\x00" in start.partition(b"\n")[0]:  # texts in further lines may hold it
        raise InputError(f"{path.name!r} is neither text nor Parquet; {INSTEAD}")
    return "csv"


def _refuse_packed(path: Path) -> None:
    """Raises InputError for Parquet within gzip: it is read by parts, from its end."""
    with path.open("rb") as file:
        if not file.read(4).startswith(_PARQUET):
            raise InputError(f"{path.name!r} is a gzipped Parquet file; unpack it and give the file that comes out")


def _refuse_markup(path: Path, start: bytes) -> NoReturn:
    beginning = start[:2000].lower()
    if b"<html" in beginning or b"<!doctype html" in beginning:
        what = "HTML, a report for people"
    elif b"<testsuite" in beginning:
        what = "JUnit XML, a report for CI systems"
    else:
        what = "XML or HTML"
    raise InputError(f"{path.name!r} is {what}, which is not read back; {INSTEAD}")
