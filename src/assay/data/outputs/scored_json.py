"""Rows with scores in JSON: lines of `JsonlSink` and `--out`, reports, lists of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._util.byte_limits import check_json
from assay.data.files import json_of_file, numbered_rows
from assay.data.outputs.records import Output, OutputRow
from assay.data.safe_open import first_lines
from assay.data.unreadable import UnreadableRow
from assay.errors import InputError
from assay.records import ScoredSample

#: How a line begins that `JsonlSink` or `Result.to_jsonl` wrote, also one that was cut short.
_LINE = re.compile(
    r'\{[ \t]*+(?:"row":[ \t]*+(?:[0-9]++|null),[ \t]*+)?"schema":[ \t]*+[0-9]++,[ \t]*+"sample":[ \t]*+\{'
)
#: How a file of JSON begins that may hold rows in one piece: a report, a list of rows, one row.
_WHOLE = re.compile(r'(?:\{\s*+"run":|(?:\[\s*+)?\{\s*+"(?:row|schema|sample|scores)":)')
_LOOKED_AT = 5  # lines


def is_scored(row: object) -> bool:
    """Whether an object from JSON is a sample with its scores."""
    if not isinstance(row, Mapping) or not isinstance(row.get("sample"), Mapping):
        return False
    scores = row.get("scores")
    return isinstance(scores, Mapping) and all(
        isinstance(score, Mapping) and "metric" in score for score in scores.values()
    )


def find_scored_json(path: Path, start: bytes, *, whole: bool) -> Output | None:
    """Find the rows with scores in a file of JSON.

    Args:
        path: The file.
        start: Its first bytes.
        whole: Whether to read a file that is no JSON lines as a whole to find them. False: only one that begins like
            one of assay's.

    Returns:
        The rows; None where the file holds something else.

    Raises:
        InputError: The file is no JSON.
    """
    text = start.decode("latin-1")  # a character for each byte: what is matched is ASCII
    written = _LINE.match(text) is not None
    first = [] if written else _first_objects(path)
    if written or any(map(is_scored, first)):
        return Output(lambda: _of_lines(path))
    if (first and not _is_report(first[0])) or not (whole or _WHOLE.match(text)):
        return None
    found = json_of_file(path)
    if _is_report(found):
        return Output(lambda: _of_items(found["samples"], "sample"), facts=found)
    items = [found] if is_scored(found) else found
    if isinstance(items, list) and any(map(is_scored, items)):
        return Output(lambda: _of_items(items, "item"))
    return None


def _is_report(found: object) -> bool:
    """Whether this is what `assay report -o FILE.json` writes."""
    return isinstance(found, Mapping) and isinstance(found.get("samples"), list) and "run" in found


def _first_objects(path: Path) -> list[Mapping[str, Any]]:
    """The first lines of a file, those that are an object each."""
    found: list[Mapping[str, Any]] = []
    for line in first_lines(path, _LOOKED_AT):
        if not (line.startswith(b"{") and line.endswith(b"}")):
            continue
        try:
            text = line.decode("utf-8", "replace")
            check_json(text)
            row = json.loads(text)
        except (ValueError, RecursionError, InputError):  # as data it says what is wrong
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


def _of_lines(path: Path) -> Iterator[OutputRow]:
    for number, row in numbered_rows(path):
        yield OutputRow(None, row) if isinstance(row, UnreadableRow) else row_of_json(row, f"line {number}")


def _of_items(items: Sequence[object], what: str) -> Iterator[OutputRow]:
    return (row_of_json(item, f"{what} {place}") for place, item in enumerate(items, 1))


def row_of_json(row: object, place: str) -> OutputRow:
    """Read a row from its JSON.

    Args:
        row: The object, with `sample` and `scores`, and `row` where it has a number.
        place: Where it stands, for the message of an unreadable one.

    Returns:
        The row.
    """
    if not isinstance(row, Mapping) or not is_scored(row):
        return OutputRow(None, UnreadableRow(f"{place}: expected an object with 'sample' and 'scores'"))
    number = row.get("row")
    known = number if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**62 else None
    try:
        data = {key: value for key, value in row.items() if key != "row"}
        return OutputRow(known, ScoredSample.from_dict(data))
    except (InputError, ValueError, TypeError, KeyError, RecursionError) as error:
        return OutputRow(known, UnreadableRow(f"{place}: {error}"))
