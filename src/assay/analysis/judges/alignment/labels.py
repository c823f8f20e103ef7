"""Labels of people, as rows of a file: JSONL, JSON, CSV, TSV or Parquet.

A row says what it is about and what a person says of it:

    {"id": "r7", "metric": "faithfulness", "label": "no"}                       of a sample
    {"id": "r7", "claim": "The museum opened in 1990.", "label": "supported"}   of a claim: its text, or "index" from 1
    {"id": "r7", "passage": 2, "label": "useful"}                               of a passage: its number from 1, or text
    {"id": "r7", "faithfulness": 1, "context_recall": 0.5}                      of several metrics of a sample

"row" may stand for "id": the number of the row, from 1; so may the texts of the sample themselves. A `weight` is one
over the probability with which the item was chosen; `by` names who labelled; all other columns are kept, to group by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from assay._util.normalise import missing, real_number
from assay._util.tabular import Tabular
from assay.data import sample_from_row
from assay.data.files import from_path
from assay.data.rows import as_row
from assay.data.sources import UnreadableRow
from assay.errors import InputError
from assay.records import Sample
from assay.records.field_names import field_of, find_columns

Level = Literal["sample", "claim", "passage"]

YES = frozenset({
    *("yes", "y", "true", "t", "1", "supported", "support", "supports", "grounded", "faithful", "entailed"),
    *("useful", "relevant", "direct", "correct", "right"),
})  # fmt: skip
NO = frozenset({
    *("no", "n", "false", "f", "0", "contradicted", "contradiction", "refuted", "not_mentioned", "not_supported"),
    *("unsupported", "ungrounded", "not_grounded", "unfaithful", "hallucinated", "hallucination", "neutral"),
    *("not_useful", "useless", "irrelevant", "not_relevant", "indirect", "incorrect", "not_correct", "wrong"),
})  # fmt: skip
#: Words that praise or blame: of a metric that is better when low they mean the other end.
GOOD, BAD = frozenset({"pass", "passed", "good", "ok", "fine"}), frozenset({"fail", "failed", "bad"})
#: What a person says who cannot tell.
UNSURE = frozenset({"unsure", "unknown", "skip", "skipped", "cannot_tell", "na", "n/a", ""})

_OWN = ("row", "metric", "reading", "claim", "index", "claim_index", "passage", "label", "value", "weight", "by",
        "annotator", "run", "level", "at", "judge", "of", "place")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One label of a person.

    Attributes:
        number: Of the row in the file, from 1.
        value: 1.0 yes, 0.0 no; of samples also a grade, on the metric's own scale.
        said: The label as it was given.
        praises: Whether it said good or bad, not yes or no.
        index: Of the claim or the passage, from 0.
        sample: Where the row has texts of its own.
        columns: All else that the row has.
    """

    number: int
    level: Level
    value: float
    said: str
    praises: bool = False
    id: str | None = None
    row: int | None = None
    metric: str | None = None
    reading: str | None = None
    text: str | None = None
    index: int | None = None
    weight: float = 1.0
    by: str | None = None
    sample: Sample | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def about(self) -> tuple[object, ...]:
        """What it is a label of: equal for labels of the same thing."""
        named = self.sample.key() if self.sample is not None and self.id is None and self.row is None else None
        return self.level, self.id, self.row, named, self.metric, self.reading, self.text, self.index


@dataclass(frozen=True, slots=True)
class Labels(Tabular):
    """The labels of a file; `unsure` counts the rows in which nobody could tell."""

    _item_type = Label

    labels: tuple[Label, ...]
    unsure: int = 0
    name: str = "labels"

    def _items(self) -> tuple[Label, ...]:
        return self.labels


def read_labels(path: str | Path, metrics: Sequence[str] = ()) -> Labels:
    """The labels in a file; `metrics` are names that a column may have, for labels of several metrics in one row.

    Raises InputError, naming the row and the key, for what is no label, and for a file without any.
    """
    source = from_path(Path(path))
    return labels_of(source.open(), metrics, name=str(path))


def labels_of(rows: Any, metrics: Sequence[str] = (), *, name: str = "labels") -> Labels:
    """The labels in rows: see `read_labels`."""
    found: list[Label] = []
    unsure = 0
    for number, item in enumerate(rows, 1):
        row = None if isinstance(item, UnreadableRow) else as_row(item)
        if not isinstance(row, Mapping):
            said = item.message if isinstance(item, UnreadableRow) else "expected an object"
            raise InputError(f"{name}, row {number}: {said}")
        try:
            made = list(_labels_in(dict(row), number, metrics))
        except InputError as error:
            raise InputError(f"{name}, row {number}: {error}") from None
        found += [label for label in made if label is not None]
        unsure += sum(label is None for label in made)
    if not found and not unsure:
        raise InputError(f"{name}: there are no labels in it")
    return Labels(tuple(found), unsure, name)


def _labels_in(row: dict[str, Any], number: int, metrics: Sequence[str]) -> Iterator[Label | None]:
    row = {str(key): value for key, value in row.items() if not missing(value)}
    known = _target_of(row, number)
    given = next((key for key in ("label", "value") if key in row), None)
    if given is None:
        named = [key for key in row if key in metrics]
        if not named and any(key in row for key in ("claim", "passage", "metric")):
            yield None  # the row is there, and nobody has said anything
            return
        if not named:
            raise InputError("label: expected a column 'label', or one with the name of a metric")
        for metric in named:
            columns = {key: value for key, value in known["columns"].items() if key not in named}
            yield _label({**known, "metric": metric, "columns": columns}, row[metric], metric)
        return
    yield _label(known, row[given], given)


def _label(known: Mapping[str, Any], said: Any, key: str) -> Label | None:
    value, praises = _value(said, key, known["level"])
    if value is None:
        return None
    return Label(**known, value=value, said=str(said), praises=praises)


def _value(said: Any, key: str, level: Level) -> tuple[float | None, bool]:
    if isinstance(said, bool):
        return float(said), False
    number = real_number(said)
    if number is None:
        word = str(said).strip().casefold().replace(" ", "_").replace("-", "_")
        if word in YES or word in NO:
            return float(word in YES), False
        if word in GOOD or word in BAD:
            return float(word in GOOD), True
        if word in UNSURE:
            return None, False
        number = _number(word)
    if number is None or not math.isfinite(number) or (level != "sample" and number not in (0.0, 1.0)):
        graded = " or a number" if level == "sample" else ""
        expected = "supported, contradicted, not_mentioned, useful, not_useful, yes, no, true, false, 1, 0, unsure"
        raise InputError(f"{key}: expected one of {expected}{graded}; found {str(said)[:60]!r}")
    return number, False


def _target_of(row: dict[str, Any], number: int) -> dict[str, Any]:
    """What the row is about."""
    columns = find_columns([name for name in row if name not in _OWN])
    texts = {field: column for field, column in columns.items() if field not in ("id", "metadata", "status", "ids")}
    sample = sample_from_row({k: v for k, v in row.items() if k not in _OWN}, columns, number) if texts else None
    identity = row.get(columns["id"]) if "id" in columns else None
    level: Level = "claim" if {"claim", "index", "claim_index"} & row.keys() else "sample"
    text, index = row.get("claim"), row.get("index", row.get("claim_index"))
    if level == "sample" and "passage" in row:
        level = "passage"
        index, text = (row["passage"], None) if _number(row["passage"]) is not None else (None, row["passage"])
    place = _positive_int(row, "row") if "row" in row else None
    if identity is None and place is None and sample is None:
        raise InputError("id: expected an 'id' or a 'row', or the texts of the sample")
    used = {*_OWN, *columns.values()}
    return {
        "number": number,
        "level": level,
        "id": None if identity is None else str(identity),
        "row": place,
        "metric": _text(row, "metric"),
        "reading": _text(row, "reading"),
        "text": None if text is None else str(text),
        "index": None if index is None else _positive_int({"index": index}, "index") - 1,
        "weight": _weight(row),
        "by": _text(row, "by") or _text(row, "annotator"),
        "sample": sample,
        "columns": {key: value for key, value in row.items() if key not in used and field_of(key) is None},
    }


def _weight(row: Mapping[str, Any]) -> float:
    weight = _number(row.get("weight", 1.0))
    if weight is None or not (math.isfinite(weight) and weight > 0.0):
        raise InputError(f"weight: expected a positive number, found {row['weight']!r}")
    return weight


def _positive_int(row: Mapping[str, Any], key: str) -> int:
    number = _number(row[key])
    if number is None or not number.is_integer() or number < 1:
        raise InputError(f"{key}: expected a whole number from 1, found {str(row[key])[:60]!r}")
    return int(number)


def _text(row: Mapping[str, Any], key: str) -> str | None:
    return None if row.get(key) is None else str(row[key])


def _number(value: Any) -> float | None:
    number = real_number(value)
    try:
        return number if number is not None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
