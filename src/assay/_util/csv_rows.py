"""Rows of cells as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO


def write_table(
    out: TextIO, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], clean: Callable[[str], str] = str
) -> None:
    """Write rows as CSV with a header. Lists and dicts in cells are JSON; None is an empty cell; `clean` every text.

    `out` is opened with newline="" where it is a file.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([clean(name) for name in columns])
    for row in rows:
        writer.writerow([clean(_cell(row.get(name))) for name in columns])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, tuple, dict)) else str(value)
