"""Rows of cells as CSV.

A spreadsheet runs a cell that begins with "=" or another sign as a formula, whoever wrote it. Texts that do begin with
an apostrophe here, as spreadsheets show it themselves, and `plain_text` takes it off again.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any

#: What spreadsheets take for the beginning of a formula, and texts that look as if they had been guarded already.
_RUN = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def write_table(
    out: IO[str], rows: Iterable[Mapping[str, Any]], columns: Sequence[str], clean: Callable[[str], str] = str
) -> None:
    """Write rows as CSV with a header. Lists and dicts in cells are JSON; None is an empty cell; `clean` every text.

    A text that a spreadsheet would run as a formula has an apostrophe before it: see `plain_text`.

    `out` is opened with newline="" where it is a file.
    """
    writer = csv.writer(_UnixLines(out))
    writer.writerow([clean(_text(name)) for name in columns])
    for row in rows:
        writer.writerow([clean(_cell(row.get(name))) for name in columns])


def plain_text(cell: str) -> str:
    """The text of a cell, without the apostrophe that keeps it from being run as a formula."""
    return cell[1:] if _GUARDED.match(cell) else cell


class _UnixLines:
    """Ends lines with "\\n". A `csv.writer` that was told so would not quote a cell with a bare "\\r" in it."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line.removesuffix("\r\n") + "\n")


def _text(text: str) -> str:
    return f"'{text}" if _RUN.match(text) else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, tuple, dict)) else str(value)
