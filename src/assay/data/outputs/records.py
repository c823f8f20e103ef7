"""What every reader of assay's own files yields: rows with their scores, and what the file knows of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.data.unreadable import UnreadableRow
from assay.records import Direction, ScoredSample


class ScoreRange(NamedTuple):
    """The range of a metric, and which end of it is good."""

    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"


#: The range of a metric by its label; None where it is not known.
RangeOf = Callable[[str], ScoreRange | None]


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One row of a file.

    Attributes:
        number: Number of the row in its run, from 1. None: the file does not say it. Such rows are the same sample
            where their keys are the same.
        scored: The sample with its scores, or why the row cannot be read.
    """

    number: int | None
    scored: ScoredSample | UnreadableRow


@dataclass(frozen=True, slots=True)
class Output:
    """A file, or a queue, that holds rows with scores.

    Attributes:
        rows: Starts from the first row each time.
        facts: What is known of the run besides its rows, as `Result.to_dict` has it, unchecked.
        notes: Sentences that a reader of the figures should know.
        lacks: What a format cannot hold, such as "verdicts, quotes"; "" where it holds all.
        unknown: Labels of metrics whose range nobody knows: they were read as values from 0 to 1.
    """

    rows: Callable[[], Iterator[OutputRow]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lacks: str = ""
    unknown: tuple[str, ...] = ()
