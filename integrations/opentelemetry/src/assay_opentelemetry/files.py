"""Spans from files: OTLP JSON, lines of it or a whole document, also gzipped; lines of single spans; Parquet."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from assay import InputError, MissingExtra
from assay.extension import RowError, check_json, describe, install_extra
from assay_opentelemetry.otlp_json import is_otlp, spans_in
from assay_opentelemetry.records import span_of
from assay_opentelemetry.span_data import SpanData

_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
_BATCH = 256  # rows of Parquet at a time
_BLANK = re.compile(r"\s*")
_HEAD = 8  # lines of which one has to be JSON in a file of lines

Item = SpanData | RowError


def read_spans(path: str | Path) -> Iterator[Item]:
    """Read the spans in a file, one at a time.

    Reads OTLP JSON (one request per line, as the collector's file exporter writes it, or a whole document), lines or a
    list of single spans (as the SDK's `span.to_json()` and Phoenix' REST API write them), all also gzipped, and
    Parquet (with `assay-rag[parquet]`) with a row per span, such as Phoenix' data frames. A file of JSON that is not
    written line by line is read whole.

    Args:
        path: The file.

    Returns:
        The spans; in the place of what cannot be read a RowError, which says where.

    Raises:
        InputError: The file cannot be opened.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise InputError(f"{str(path)!r} is {'a folder; give a file' if path.is_dir() else 'no file'}")
    if path.suffix == ".parquet":
        return _parquet(path)
    return _json(path)


def _json(path: Path) -> Iterator[Item]:
    number = 0
    with _open(path) as file:
        head: list[bytes] = []
        try:
            for line in file:
                head.append(line.removeprefix(b"\xef\xbb\xbf") if not head else line)
                if len(head) == _HEAD or _is_json(line):
                    break
            if not any(map(_is_json, head)) or _first(head)[-1:] in (b"[", b"{"):
                yield from _whole(file, b"".join(head))
                return
            for number, line in enumerate(chain(head, file), 1):
                yield from _line(line, number)
        except _DAMAGED as error:
            yield _row_error(number, f"after line {number} the gzip file is damaged, and what follows is lost: {error}")


def _is_json(line: bytes) -> bool:
    """Whether a line is a JSON object or list of its own. That it ends like one is enough to be worth the try."""
    line = line.strip()
    if line[-1:] not in (b"}", b"]"):
        return False
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _first(lines: list[bytes]) -> bytes:
    return next((line.strip() for line in lines if line.strip()), b"")


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if zipped else path.open("rb")


def _line(line: bytes, number: int) -> Iterator[Item]:
    if not line.strip():
        return
    try:
        check_json(line.decode("utf-8", "replace"))
        document = json.loads(line)
    except InputError as error:
        yield _row_error(number, f"line {number}: {error}")
        return
    except (ValueError, RecursionError) as error:
        yield _row_error(number, f"line {number} is no JSON: {error}")
        return
    for item in _spans(document):
        yield _row_error(number, f"line {number}: {item}") if isinstance(item, InputError) else item


def _whole(file: BinaryIO, head: bytes) -> Iterator[Item]:
    """One document over many lines, or several, one after the other, as the console exporter prints them."""
    text = (head + file.read()).decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    number = position = 0
    while (position := _blank_until(text, position)) < len(text):
        number += 1
        try:
            document, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield _row_error(number, f"document {number} is no JSON, and what follows is lost: {error}")
            return
        for item in _spans(document):
            yield _row_error(number, f"document {number}: {item}") if isinstance(item, InputError) else item


def _blank_until(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return position if found is None else found.end()


def _spans(document: Any) -> Iterator[SpanData | InputError]:
    """The spans of an OTLP document, of a single span, or of a list or a page of either."""
    if is_otlp(document):
        yield from spans_in(document)
    elif isinstance(document, list):
        for number, item in enumerate(document, 1):
            for span in _spans(item):
                yield InputError(f"item {number}: {span}") if isinstance(span, InputError) else span
    elif isinstance(document, Mapping) and isinstance(document.get("data"), list):
        yield from _spans(document["data"])
    elif isinstance(document, Mapping):
        try:
            yield span_of(document)
        except InputError as error:
            yield error
    else:
        yield InputError(f"expected a span or an OTLP document, found {describe(document)}")


def _parquet(path: Path) -> Iterator[Item]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(f"reading Parquet needs pyarrow: {install_extra('parquet')}") from None
    number = 0
    try:
        # page by page: the default holds the whole row group, often the whole file
        with parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as opened:
            for batch in opened.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    try:
                        yield span_of(row)
                    except InputError as error:
                        yield _row_error(number, f"row {number}: {error}")
    except (pyarrow.ArrowException, OSError) as error:
        if number == 0:
            raise InputError(f"{path.name!r} is no sound Parquet file: {error}") from None
        yield _row_error(number, f"after row {number} the Parquet file is damaged, and what follows is lost: {error}")


def _row_error(number: int, message: str) -> RowError:
    return RowError(number=number, id=None, message=message)
