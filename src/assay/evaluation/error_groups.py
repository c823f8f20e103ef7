"""Rows without a score, grouped by cause and by what the message says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from assay.evaluation.result import MetricError

FIRST = 5  # numbers of rows kept for each group
_LONGEST = 300  # characters of a message that its group goes by
#: Numbers, hexadecimal ones with a digit included.
_NUMBERS = re.compile(r"\b(?=[a-f]*+\d)[0-9a-f]++\b|\d++", re.IGNORECASE)
_QUOTED = re.compile(r"['\"‘“]([^'\"‘’“”]*+)['\"’”]")
_SHORT = 25  # characters of a quote that is a name and stays, if it is one word


@dataclass(frozen=True, slots=True)
class UnscoredRow:
    """One row without a score of some metrics, for one reason.

    Attributes:
        number: Number of the row, from 1; None for a row that is missing from the store.
        id: Id of the row, if it has one.
        metrics: Labels of the metrics, in the order of the run.
        cause: Value of a `Cause`.
        message: The reason in words, without the name of the metric.
    """

    number: int | None
    id: str | None
    metrics: tuple[str, ...]
    cause: str
    message: str


@dataclass(slots=True)
class ErrorGroup:
    """Rows without a score whose cause and message are alike.

    Attributes:
        cause: Value of a `Cause`.
        message: Message of the first row.
        rows: Number of rows.
        scores: Number of scores that are missing.
        metrics: Label of a metric -> how many of the scores are its own.
        first: Numbers of the first rows.
    """

    cause: str
    message: str
    rows: int = 0
    scores: int = 0
    metrics: Counter[str] = field(default_factory=Counter)
    first: list[int] = field(default_factory=list)

    def add(self, row: UnscoredRow) -> None:
        """Take in one row."""
        self.rows += 1
        self.scores += len(row.metrics)
        self.metrics.update(row.metrics)
        if row.number is not None and len(self.first) < FIRST:
            self.first.append(row.number)


def unscored_rows(errors: Iterable[MetricError]) -> list[UnscoredRow]:
    """Join the errors of each row that have one cause and, but for the name of the metric, one message."""
    found: dict[tuple[int | None, int, str, str], UnscoredRow] = {}
    lost: Counter[tuple[str, str, str]] = Counter()
    for one in errors:
        message = _without_metric(one.message, one.metric)
        seen = 0
        if one.number is None:  # rows without a number are told apart by the metrics that come again
            lost[one.metric, one.cause, message] += 1
            seen = lost[one.metric, one.cause, message]
        key = (one.number, seen, one.cause, message)
        known = found.get(key)
        metrics = (one.metric,) if known is None else (*known.metrics, one.metric)
        row = known if known is not None else UnscoredRow(one.number, one.id, (), one.cause, message)
        found[key] = replace(row, metrics=metrics)
    return list(found.values())


def error_groups(rows: Iterable[UnscoredRow]) -> list[ErrorGroup]:
    """Group rows by cause and message, the largest group first; numbers and long quotes in messages may differ."""
    found: dict[tuple[str, str], ErrorGroup] = {}
    for row in rows:
        found.setdefault((row.cause, _shape(row.message)), ErrorGroup(row.cause, row.message)).add(row)
    return sorted(found.values(), key=lambda group: -group.rows)


def rows_in(rows: Sequence[UnscoredRow]) -> int:
    """The number of rows, each counted once whatever it lacks."""
    numbered = {row.number for row in rows if row.number is not None}
    most = Counter(metric for row in rows if row.number is None for metric in row.metrics)
    return len(numbered) + max(most.values(), default=0)


def _without_metric(message: str, metric: str) -> str:
    """The message without the metric's name: "needs 'reference', which is missing"."""
    if message.startswith((f"{metric} ", f"{metric}: ")):
        return message[len(metric) :].lstrip(": ")
    return re.sub(rf"(?<![\w:]){re.escape(metric)}(?![\w:])", "the metric", message)


def _shape(message: str) -> str:
    flat = " ".join(message[:_LONGEST].split())
    return _NUMBERS.sub("0", _QUOTED.sub(_without_quote, flat))


def _without_quote(found: re.Match[str]) -> str:
    return found[0] if len(found[1]) < _SHORT and " " not in found[1] else "'…'"
