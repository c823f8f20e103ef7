"""What people save from OpenAI's hosted evals, as samples: `openai-evals:EXPORT`, a file or a folder.

Read are *output items* of the API (`datasource_item`, `sample`, `results`), in lists, in pages, in lines or in what a
script made of them; data files whose lines are `{"item": ..., "sample": ...}`; and runs with their data inside, where
the items of that run are not there. See docs/openai-evals.md for what this rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from assay._util.byte_limits import cause_of
from assay.data.exports import json_of
from assay.data.openai_evals.documents import documents, files_of
from assay.data.openai_evals.sample import NAME, OpenAIEvalsRecord, looked_up, sample_of
from assay.data.rows import RowError
from assay.data.sources import HEAD_ROWS, UnreadableRow
from assay.errors import InputError
from assay.records import Sample, fingerprint
from assay.records.field_names import ACCEPTED, describe, field_of

#: How deep output items may stand in what a script made of them: evals, runs, pages, items, each in a list.
_DEPTH = 10
#: What describes an eval rather than what it gave; a schema looks like a row.
_NO_ROWS = frozenset({"data_source_config", "testing_criteria", "data_source", "item_schema"})
#: Names under which lists of records stand: in pages of the API, and in what people write.
_LISTS = frozenset({"data", "output_items", "items", "rows", "runs", "evals", "pages"})
_OPEN_SOURCE = "is a log of the open-source `evals` package; its records are not read, only those of the hosted evals"

Placed = tuple[str, OpenAIEvalsRecord | UnreadableRow]


def open_source(
    address: str, *, limit: int | None = None, column_map: Mapping[str, str] | None = None
) -> Iterator[Sample | RowError]:
    """The samples of `openai-evals:EXPORT`, with a RowError, which names file and line, for what cannot be read.

    Raises InputError where there is nothing to read, and for a `column_map` that fits no record.

    Args:
        address: A file (.json, .jsonl, .csv, .parquet, most also .gz) or a folder of such.
        limit: Stop after that many samples.
        column_map: Field -> name, of the item (`docs`) or with its path (`item.docs`, `sample.output_text`).
    """
    if not address:
        raise InputError(f"{NAME}: expected a file or a folder, as in {NAME}:output_items.jsonl")
    if limit is not None and limit < 1:
        raise InputError(f"limit: expected at least 1, found {limit}")
    root = Path(address).expanduser()
    records = _unique_items(_records(files_of(root), root if root.is_dir() else root.parent))
    found = _samples(_checked(records, column_map or {}, limit), column_map or {})
    return found if limit is None else _first(found, limit)


def _checked(records: Iterator[Placed], columns: Mapping[str, str], limit: int | None) -> Iterator[Placed]:
    """The same records. Raises InputError for a column that none of the first ones has."""
    for field in columns:
        if field_of(field) is None:
            raise InputError(f"column_map: {field!r} is no field of a sample ({', '.join(ACCEPTED)})")
    head = list(islice(records, min(HEAD_ROWS, limit or HEAD_ROWS))) if columns else []
    exported = [one for _, one in head if isinstance(one, OpenAIEvalsRecord)]
    for path in columns.values() if exported else ():
        if not any(looked_up(one, path)[0] for one in exported):
            names = dict.fromkeys(name for one in exported for name in one.names())
            shown = ", ".join(map(repr, islice(names, 30)))
            raise InputError(f"column_map: there is no {path!r} in the export; there are {shown}")
    return chain(head, records)


def _samples(records: Iterable[Placed], columns: Mapping[str, str]) -> Iterator[Sample | RowError]:
    for number, (place, found) in enumerate(records, 1):
        if isinstance(found, UnreadableRow):
            yield RowError(number=number, id=None, message=f"{place}: {found.message}")
            continue
        try:
            yield sample_of(found, columns, number)
        except InputError as error:
            told = str(error).removeprefix(f"row {number}: ").removeprefix(f"row {number} ")
            yield RowError(number=number, id=found.id, message=f"{place}: {told}", cause=cause_of(error))


def _first(items: Iterator[Sample | RowError], limit: int) -> Iterator[Sample | RowError]:
    for item in items:
        yield item
        limit -= isinstance(item, Sample)
        if not limit:
            return


def _unique_items(records: Iterable[Placed]) -> Iterator[Placed]:
    """Each output item once: pages overlap, and a folder may hold the same run twice."""
    seen: dict[str, str] = {}
    for place, found in records:
        if isinstance(found, UnreadableRow) or found.id is None:
            yield place, found
            continue
        mark = fingerprint([found.item, found.sample, found.rest.get("results")])[:16]
        if found.id not in seen:
            seen[found.id] = mark
            yield place, found
        elif seen[found.id] != mark:
            yield (
                place,
                UnreadableRow(f"output item {found.id!r} came before with other content, and that one is taken"),
            )


def _records(files: tuple[Path, ...], root: Path) -> Iterator[Placed]:
    """The records of all files; then what only stands inside of runs whose output items are in none of them."""
    itemised: set[str] = set()
    inside: dict[Path, bool] = {}
    for path in files:
        for place, value in documents(path, root):
            for where, found in _find_records(value, place):
                if isinstance(found, _Run):
                    inside[path] = True
                    continue
                if isinstance(found, OpenAIEvalsRecord) and found.run:
                    itemised.add(found.run)
                yield where, found
                if isinstance(found, UnreadableRow) and found.message == _OPEN_SOURCE:
                    break
            else:
                continue
            break
    for path in inside:
        for place, value in documents(path, root):
            for where, found in _find_records(value, place):
                if isinstance(found, _Run) and found.id not in itemised:
                    yield from found.rows(where)


class _Run:
    """A run of the API: its data may stand inside of it."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.id = str(value.get("id") or "")
        source = value.get("data_source")
        source = source.get("source") if isinstance(source, Mapping) else None
        content = source.get("content") if isinstance(source, Mapping) else None
        self._content = content if isinstance(content, list) else []

    def rows(self, place: str) -> Iterator[Placed]:
        for number, row in enumerate(self._content, 1):
            where = f"{place}, data_source.source.content[{number}]"
            for at, found in _find_records(row, where):
                if isinstance(found, OpenAIEvalsRecord):
                    found.rest.setdefault("run_id", self.id)
                if not isinstance(found, _Run):
                    yield at, found


def _find_records(
    value: object, place: str, depth: int = 0
) -> Iterator[tuple[str, OpenAIEvalsRecord | UnreadableRow | _Run]]:
    """The records in a value: itself, or those in the lists and objects that it holds."""
    value = json_of(value) if depth else value  # `to_json()` of an item is a text, and texts get into lists
    if isinstance(value, UnreadableRow):
        yield place, value
    elif isinstance(value, list) and depth < _DEPTH:
        for number, item in enumerate(value, 1):
            yield from _find_records(item, f"{place}, item {number}", depth + 1)
    elif not isinstance(value, Mapping):
        yield place, UnreadableRow(f"expected an output item, found {describe(value)}")
    elif _is_open_source(value):
        yield place, UnreadableRow(_OPEN_SOURCE)
    else:
        record = OpenAIEvalsRecord.of(value)
        if record is not None:
            yield place, record
        else:
            yield from _within(value, place, depth)


def _within(
    value: Mapping[str, Any], place: str, depth: int
) -> Iterator[tuple[str, OpenAIEvalsRecord | UnreadableRow | _Run]]:
    """The records in an object that is none: a page, a run, an eval, or what a script put together."""
    described = value.get("object") in ("eval", "eval.run", "list") or not _NO_ROWS.isdisjoint(value)
    if value.get("object") == "eval.run" or "data_source" in value:
        yield place, _Run(value)
    for name, inner in value.items():
        if name in _NO_ROWS or depth >= _DEPTH or not isinstance(inner, (list, Mapping)):
            continue
        found = _find_records(inner, f"{place}, {name}", depth + 1)
        if name in _LISTS and isinstance(inner, list):
            described = True
            yield from found
            continue
        inside = list(found)
        if any(not isinstance(one, UnreadableRow) for _, one in inside):
            described = True
            yield from inside
    if not described:
        yield place, UnreadableRow(_no_record(value))


def _no_record(value: Mapping[str, Any]) -> str:
    return (
        "expected an output item (datasource_item, sample, results) or a row with `item`; found an object with the "
        f"keys {', '.join(map(repr, islice(value, 8))) or 'none'}. A plain file of rows is read by its path alone, "
        f"without {NAME}:"
    )


def _is_open_source(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("spec"), Mapping) or {"event_id", "sample_id"} <= value.keys()
