"""Rows that several runs share, by what moved: those that became worse than in the first run come first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.analysis.comparison.pairing import matching_places
from assay.errors import InputError
from assay.view.open_store import OpenRun
from assay.view.row_order import RowOrder

MOVES = ("worse", "better", "moved", "all")
_SAME = 1e-12  # values that differ by less are the same, as in `assay.analysis.comparison`


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The rows of the first run with those that are the same in the others.

    Attributes:
        order: Rows of the first run that are listed, in their order.
        places: Of each other run, where the rows of the first stand in it [n]; -1 where it lacks one.
        worse, better: Rows that moved for the worse, or the better, in any run.
    """

    order: RowOrder
    places: tuple[np.ndarray, ...]
    worse: int
    better: int

    def numbers(self, runs: Sequence[OpenRun], number: int) -> list[int | None]:
        """The number of a row of the first run in each run; None where a run lacks it."""
        place = int(np.searchsorted(self.order.numbers, number))
        found: list[int | None] = [number]
        for run, places in zip(runs[1:], self.places, strict=True):
            there = int(places[place])
            found.append(int(run.numbers[there]) if there >= 0 else None)
        return found


def compared_rows(runs: Sequence[OpenRun], metric: str, move: str) -> ComparedRows:
    """The rows of the first run whose value of a metric moved in another run.

    Args:
        runs: The runs; the first is the baseline.
        metric: A metric that all have.
        move: "worse", "better", "moved" or "all".

    Raises:
        InputError: A run has no such metric, or `move` is another word.
    """
    if move not in MOVES:
        raise InputError(f"moved: expected {', '.join(MOVES)}; got {move!r}")
    sign = 1.0 if runs[0].result.metrics[metric].direction == "higher" else -1.0
    base = runs[0].scores(metric).values
    places = tuple(_places(runs[0], other) for other in runs[1:])
    fall, rise = np.zeros(len(base)), np.zeros(len(base))
    for other, there in zip(runs[1:], places, strict=True):
        values = other.scores(metric).values
        after = np.where(there >= 0, values[there] if len(values) else np.nan, np.nan)
        change = np.nan_to_num(sign * (after - base), nan=0.0)
        fall, rise = np.minimum(fall, change), np.maximum(rise, change)
    worse, better = fall < -_SAME, rise > _SAME
    mask = {"worse": worse, "better": better, "moved": worse | better, "all": np.ones(len(base), dtype=bool)}[move]
    values = {"worse": fall, "better": -rise, "moved": np.minimum(fall, -rise), "all": np.zeros(len(base))}[move]
    return ComparedRows(RowOrder(runs[0].numbers, mask, values), places, int(worse.sum()), int(better.sum()))


def _places(first: OpenRun, other: OpenRun) -> np.ndarray:
    def find() -> np.ndarray:
        keys = [one.result.score_columns().pairing_keys() for one in (first, other)]
        here, there = matching_places(*keys)
        found = np.full(len(keys[0]), -1, dtype=np.int32)
        found[here] = there
        return found

    return first.cache.get((first.key, other.key, "places"), find, lambda found: int(found.nbytes))
