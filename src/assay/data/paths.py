"""Which files are meant: one path, several, a pattern, or standard input."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.data.files import from_path, kind_of
from assay.data.named_sources import is_source_name
from assay.data.sources import Source
from assay.errors import InputError

STDIN = "-"


def paths_of(data: object) -> list[Path] | None:
    """The paths that a text, a path or a list of these means, patterns resolved in order; None for other data.

    Raises InputError for a pattern that no file fits, and for named sources among several.
    """
    if isinstance(data, (str, os.PathLike)):
        return _matching(os.fspath(data))
    if not isinstance(data, (list, tuple)) or not data:
        return None
    if not all(isinstance(item, (str, os.PathLike)) for item in data) or not any(map(_is_path, data)):
        return None
    named = next((item for item in data if isinstance(item, str) and is_source_name(item)), None)
    if named is not None and len(data) > 1:
        raise InputError(f"{named!r} is a source of traces; it cannot be read together with others")
    paths = [path for item in data for path in _matching(os.fspath(item))]
    if paths.count(Path(STDIN)) > 1:
        raise InputError("'-' is given twice; standard input can be read once")
    return paths


def _is_path(item: object) -> bool:
    """Whether a text in a list is the name of a file rather than somebody's answer."""
    if not isinstance(item, str):
        return True
    return (
        item == STDIN
        or is_source_name(item)
        or ("\n" not in item and (kind_of(Path(item)) is not None or _exists(item)))
    )


def _exists(text: str) -> bool:
    try:
        return os.path.lexists(text)
    except ValueError:  # a NUL
        return False


def _matching(text: str | bytes) -> list[Path]:
    text = os.fsdecode(text)
    if not glob.has_magic(text) or os.path.lexists(text):  # a file may be called a[1].csv
        return [Path(text)]
    found = sorted(glob.glob(os.path.expanduser(text), recursive=True))
    files = [Path(name) for name in found if not os.path.isdir(name)]
    if not files:
        raise InputError(f"no file fits the pattern {text!r}")
    return files


def from_stdin(kind: str | None = None) -> Source:
    """The rows on standard input: read to its end into a temporary file, and from there as from any file.

    What it is shows in its first bytes, where `kind` does not say it: JSON, JSON lines, CSV, Parquet, any gzipped.
    """
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        raise InputError("'-' is standard input, and there is nothing to read; pipe a file into it")
    start = stream.read(1 << 16)
    folder = tempfile.mkdtemp(prefix="assay-")
    ending = _ending(start, kind)
    path = Path(folder) / f"standard input{ending}"
    with path.open("wb") as out:
        out.write(start)
        shutil.copyfileobj(stream, out)
    source = from_path(path)

    def rows() -> Iterator[object]:
        yield from source.open()

    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)  # it lives as long as it can be read
    return Source(
        what="standard input", open=rows, names=source.names, total=source.total, head=source.head, count=source.count,
        folder=Path(),
    )  # fmt: skip


def _ending(start: bytes, kind: str | None) -> str:
    zipped = ".gz" if start.startswith(b"\x1f\x8b") else ""
    if kind is not None:
        return f".{kind}{zipped}"
    if start.startswith(b"PAR1"):
        return ".parquet"
    text = _unzipped(start) if zipped else start
    first = text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return (".json" if first in (b"{", b"[") else ".csv") + zipped


def _unzipped(start: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(start, 1 << 12)
    except zlib.error:
        return b""
