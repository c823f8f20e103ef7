"""A column `reference` that holds the retrieved text, as Phoenix writes it, and no right answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

#: Columns of Phoenix's exports of spans and retrieved documents.
_OF_PHOENIX = ("context.span_id", "context.trace_id", "document_position", "document_score")
#: A reference this many times as long as the answer, and of this length, may be retrieved text.
_TIMES, _LONG = 4, 200


def is_retrieved(names: Iterable[str], columns: Mapping[str, str]) -> str | None:
    """Check whether the columns beside a reference say that it is the retrieved text.

    Args:
        names: Names of all columns.
        columns: Field -> its column.

    Returns:
        A sentence that says why; None where it is none.
    """
    column = columns.get("reference", "")
    beside = next((name for name in names if name in _OF_PHOENIX), None)
    if column.lower() != "reference" or "contexts" in columns or beside is None:
        return None
    return (
        f"the column {beside!r} says that Phoenix wrote this file: {column!r} was read as the contexts, a text as one "
        f'passage; column_map={{"reference": "{column}"}} reads it as the right answer'
    )


def may_be_retrieved(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> str | None:
    """Check whether a reference looks like retrieved text, where nothing says so.

    Args:
        rows: The first rows.
        columns: Field -> its column.

    Returns:
        A sentence that says why; None where it does not.
    """
    column, answer = columns.get("reference", ""), columns.get("answer", "")
    if column.lower() not in ("reference", "references") or "contexts" in columns:
        return None
    found = [(row.get(column), row.get(answer)) for row in rows]
    lists = sum(isinstance(cell, (list, tuple)) and len(cell) > 1 for cell, _ in found)
    texts = [(len(cell), len(said)) for cell, said in found if isinstance(cell, str) and isinstance(said, str) and said]
    long = bool(texts) and median(size for size, _ in texts) >= _LONG
    if not (lists * 2 > len(found) or (long and median(size / said for size, said in texts) >= _TIMES)):
        return None
    what = "a list of texts" if lists else f"{_TIMES} times as long as the answer, or more"
    return (
        f"{column!r} was read as the right answer, and is {what}; if it is the retrieved text, "
        f'column_map={{"contexts": "{column}"}} reads it so'
    )
