"""Scores on rows of a trace store, in whatever order its records come: what Phoenix and Langfuse have in common."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.normalise import missing, well_formed
from assay.data.exports import json_of, read_records
from assay.data.rows import RowError
from assay.errors import InputError
from assay.evaluation.imports.scales import Stated
from assay.evaluation.imports.scored_samples import ImportedRun, ImportedScores, ImportedValue, parse_value, run_of
from assay.records import Sample

Record = Mapping[str, Any]

#: Who gave a score, where people did; a run of theirs does not compare with one of a model's unless one says so.
PEOPLE = "people"
#: How assay's own sinks write the range of a score into its metadata.
_RANGE = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")


@dataclass(slots=True)
class _Row:
    name: str | None = None
    question: str | None = None
    answer: str | None = None
    reference: str | None = None
    failed: str | None = None
    scores: dict[str, list[ImportedValue]] = field(default_factory=dict)


class TraceRows:
    """Rows by whatever tells them apart in their store, with the scores that were found for each."""

    def __init__(self, system: str, address: str) -> None:
        self.system, self.address = system, address
        self._rows: dict[str, _Row] = {}
        self._ranges: dict[str, set[tuple[float, float]]] = {}
        self._lost: dict[str, int] = {}

    def add(
        self, key: str, question: Any = None, answer: Any = None, reference: Any = None, name: str | None = None
    ) -> None:
        """A row is there, also without scores; what was known of it stays. `name` is its id where the key is none."""
        row = self._rows.setdefault(key, _Row())
        row.name = row.name or name
        row.question = row.question if row.question is not None else text_of(question)
        row.answer = row.answer if row.answer is not None else text_of(answer)
        row.reference = row.reference if row.reference is not None else text_of(reference)

    def failed(self, key: str, why: str) -> None:
        """What was to be scored is not there: whatever evaluators made of that is no score."""
        self._rows.setdefault(key, _Row()).failed = why

    def score(self, key: str, name: str, value: ImportedValue, metadata: Any = None) -> None:
        """One more score of this name; `metadata` has its range where assay wrote it."""
        name = well_formed(name)
        self._rows.setdefault(key, _Row()).scores.setdefault(name, []).append(value)
        ends = _ends(json_of(metadata))
        if ends is not None:
            self._ranges.setdefault(name, set()).add(ends)

    def lost(self, what: str) -> None:
        """A score that is of no row, which a note counts."""
        self._lost[what] = self._lost.get(what, 0) + 1

    def run(self, scales: Stated | None) -> ImportedRun:
        """All rows as a run. Raises InputError as `run_of` does."""
        known = {name: next(iter(ends)) for name, ends in self._ranges.items() if len(ends) == 1}
        names = {name for row in self._rows.values() for name in row.scores}
        graded = [self._graded(key, row, names) for key, row in self._rows.items()]
        run = run_of(self.system, self.address, graded, {**known, **(scales or {})})
        lost = tuple(f"{self.address}: not read: {what} ({count})." for what, count in self._lost.items())
        return run._replace(notes=(*run.notes, *lost))

    def _graded(self, key: str, row: _Row, names: set[str]) -> ImportedScores:
        named = well_formed(row.name or key) if row.question is None else None
        about = Sample(id=named, question=row.question, answer=row.answer, reference=row.reference)
        if row.failed is not None:
            return ImportedScores(about, dict.fromkeys(names, ImportedValue(row.failed)))
        return ImportedScores(about, {name: _mean_value(values) for name, values in row.scores.items()})


def _mean_value(values: list[ImportedValue]) -> ImportedValue:
    """Of several scores of one name on a row the mean of those that have a number."""
    numbers = [one for one in values if not isinstance(one.value, str)]
    if not numbers:
        return values[0]
    judges = sorted({one.judge for one in numbers if one.judge})
    mean = math.fsum(float(one.value) / len(numbers) for one in numbers)
    return ImportedValue(mean, ", ".join(judges) or None)


def result(score: Any, label: Any, error: Any = None, judge: str | None = None) -> ImportedValue:
    """A number, or why there is none: an error, or that a label stands alone. Yes and true are 1, no and false 0."""
    if not absent(score):
        return parse_value(score, judge)
    if not absent(error):
        return ImportedValue(f"the evaluator failed: {str(error)[:200]}", judge)
    if absent(label):
        return ImportedValue("there is no value of it", judge)
    found = parse_value(str(label), judge) if str(label).strip().casefold() in ("true", "false", "yes", "no") else None
    return found or ImportedValue(f"the label {str(label)[:80]!r} stands alone, without a number", judge)


def records_of(system: str, address: str) -> Iterator[Record]:
    """The records of a file. Raises InputError for one that cannot be opened, and for a record that cannot be read."""
    if not address.strip():
        raise InputError(f"{system}: expected a file, as in {system}:export.json")
    for record in read_records(address):
        if isinstance(record, RowError):
            raise InputError(f"{address}: {record.message}")
        yield record


def value_as_text(value: Any) -> str | None:
    """Convert a value of a trace record to one text.

    Args:
        value: Any value.

    Returns:
        A text as it is. The only value of a mapping with one text. JSON with sorted keys for anything else. None for
        None, NaN and the empty text. U+FFFD replaces lone surrogates.
    """
    if absent(value) or isinstance(value, str):
        return None if absent(value) else well_formed(value)
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        return well_formed(only)
    return well_formed(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str))


def text_of(value: Any) -> str | None:
    """The same of a value that may be written as JSON."""
    return value_as_text(json_of(value))


def absent(value: Any) -> bool:
    """Whether a cell holds nothing: null, NaN or an empty text."""
    return missing(value) or value == ""


def key_of(value: Any) -> str | None:
    """An id as a text; None for what is none."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None


def _ends(metadata: Any) -> tuple[float, float] | None:
    """The worst and the best value that assay's own sinks wrote beside a score."""
    if not isinstance(metadata, Mapping):
        return None
    found, direction = _RANGE.fullmatch(str(metadata.get("assay.range"))[:60]), metadata.get("assay.direction")
    if found is None or direction not in ("higher", "lower"):
        return None
    try:
        low, high = float(found[1]), float(found[2])
    except ValueError:
        return None
    if not low < high:
        return None
    return (low, high) if direction == "higher" else (high, low)
