"""What runs in the cluster: workers that score shards, and the desk at which they ask for their share of the budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from assay.extension import (
    Advance,
    BudgetRefusal,
    FileLedger,
    Limit,
    ShardRecipe,
    ShardScorer,
    ShardTask,
    Spend,
    describe_error,
    is_address,
)


class JobActor:
    """An actor on the machine of the driver. Keeps budgets, and which row each worker began last.

    What was spent is in files, so that a desk that died goes on where it was.
    """

    def __init__(self) -> None:
        self._ledgers: dict[Path, FileLedger] = {}
        self._rows: dict[int, int] = {}

    def begins(self, worker: int, row: int) -> None:
        """A worker is about to read this row."""
        self._rows[worker] = row

    def row(self, worker: int) -> int | None:
        """The row that a worker, now dead, began last."""
        return self._rows.pop(worker, None)

    def budget(self, spending: Path, name: str, *arguments: Any) -> Any:
        """Call a method of the `Authority` over this file."""
        if spending not in self._ledgers:
            self._ledgers[spending] = FileLedger(spending)
        return getattr(self._ledgers[spending], name)(*arguments)


class ActorAuthority:
    """The `Authority` that workers have: each call is one of the desk's."""

    def __init__(self, desk: Any, spending: Path) -> None:
        self._desk, self._spending = desk, spending

    def advance(
        self, spend: Spend, limits: Sequence[Limit], most: int = 1, lasts: float = 0.0
    ) -> Advance | BudgetRefusal:
        """See `Authority.advance`."""
        found: Advance | BudgetRefusal = self._ask("advance", spend, tuple(limits), most, lasts)
        return found

    def settle(self, advance: Advance, used: Spend) -> float:
        """See `Authority.settle`."""
        return float(self._ask("settle", advance, used))

    def correct(self, at: float, change: Spend) -> None:
        """See `Authority.correct`."""
        self._ask("correct", at, change)

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """See `Authority.spent`."""
        found: list[int] = self._ask("totals", tuple(limits))
        return found

    def _ask(self, name: str, *arguments: Any) -> Any:
        return ray.get(self._desk.budget.remote(self._spending, name, *arguments))


class ScoringActor:
    """An actor that scores shards, one after the other, with one judge."""

    def __init__(self, number: int, desk: Any) -> None:
        self._number, self._desk = number, desk
        self._scorer: ShardScorer | None = None

    def begin(self, recipe: ShardRecipe) -> tuple[str, Any]:
        """Make the judge: `ready`, or `failed` with the words of the error."""
        if recipe.store is not None and not is_address(str(recipe.store)) and not Path(recipe.store).exists():
            recipe = dataclasses.replace(recipe, store=None)  # another machine, which does not share it
        try:
            self._scorer = ShardScorer(recipe)
        except BaseException as error:
            return "failed", describe_error(error)
        return "ready", None

    def score(self, task: ShardTask) -> tuple[str, Any]:
        """Score a shard: `done` with its entry, or `failed`."""
        assert self._scorer is not None  # the driver waits until it is ready
        try:
            return "done", self._scorer.score(task.shard, task.guilty, self._begins if task.alone else None)
        except BaseException as error:
            return "failed", describe_error(error)

    def _begins(self, row: int) -> None:
        """Tell the desk before the row is read: if it kills, that is known."""
        ray.get(self._desk.begins.remote(self._number, row))
