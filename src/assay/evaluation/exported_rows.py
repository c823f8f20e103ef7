"""Rows as exports have them, also those that have no scores that can be read: lost in the store, or not reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from typing import Protocol

from assay.errors import Cause
from assay.evaluation.completeness import UNSCORED, RunEnd
from assay.evaluation.summary import Summary
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.records.missing_rows import missing_row
from assay.store.store import Store


class RunWithRows(Protocol):
    """What is asked of a `Result`, which imports this."""

    run: str
    store: Store
    metrics: dict[str, Summary]
    stopped: str | None
    ended: RunEnd | None
    missing: int
    pruned: int

    damaged_rows: tuple[int, ...]

    @property
    def stored_run(self) -> str: ...
    @property
    def lost(self) -> int: ...
    @property
    def unscored(self) -> int: ...


def lost_rows(result: RunWithRows) -> Iterator[tuple[int | None, str]]:
    """The lost rows of a run.

    Args:
        result: The run.

    Returns:
        Number of each in the data, None where it is not known, and why the row is lost.
    """
    unreadable = (
        (number, "the row could not be read")
        for number in result.damaged_rows or result.store.unreadable(result.stored_run)
    )
    missing = repeat((None, "the row is missing from the store"), result.missing)
    return chain(unreadable, missing, repeat((None, "the row was pruned"), result.pruned))


def missing_rows(result: RunWithRows) -> Iterator[tuple[int | None, ScoredSample]]:
    """Rows without scores, with the cause in the place of each value.

    Args:
        result: The run.

    Returns:
        Number of each in the data, None where it is not known, and a sample without texts whose id says what it is.
        Lost rows come first, then those that the run did not come to.
    """
    if result.lost:
        for place, (number, why) in enumerate(lost_rows(result), 1):
            yield number, _without_scores(missing_row(Cause.LOST, place), result.metrics, Cause.LOST, why)
    cause = UNSCORED.get(result.ended)
    if cause is not None:
        why = f"the run did not come to this row: {result.stopped}"
        for place in range(1, result.unscored + 1):
            yield None, _without_scores(missing_row(cause, place), result.metrics, cause, why)


def _without_scores(sample: Sample, metrics: Mapping[str, Summary], cause: Cause, why: str) -> ScoredSample:
    error = ScoreError(cause=cause, message=why)
    scores = {
        name: Score(metric=name, error=error, low=summary.low, high=summary.high, direction=summary.direction)
        for name, summary in metrics.items()
    }
    return ScoredSample(sample=sample, scores=scores)
