"""Who drives a job: shards to workers, what they find into the result, and what becomes of shards that kill."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import Any

from assay.errors import InputError
from assay.evaluation.progress import progress_for
from assay.evaluation.result import Result
from assay.evaluation.sharded.engines import WorkerHandle, WorkerPool
from assay.evaluation.sharded.manifest import Folder, ShardPlan
from assay.evaluation.sharded.scoring import ShardRecipe
from assay.evaluation.sharded.workers import ShardTask, error_of
from assay.evaluation.summary import Summary
from assay.records import Usage

DEATHS = 3  # of workers over one shard, and it is set aside
GUILTY = 3  # rows of one shard that may be put in quarantine
AHEAD = 64  # shards that the driver reads ahead, to give the largest ones first


class ShardMerger:
    """Takes the entries of shards into a result, in whatever order they come."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def add(self, entry: dict[str, Any], *, fresh: bool) -> None:
        """`fresh`: scored in this run, so that its cost is this run's."""
        self.result.rows += entry["rows"]
        for name, state in entry["summaries"].items():
            self.result.metrics.setdefault(name, Summary(metric=name)).merge(Summary.from_state(name, state))
        if fresh:
            self.result.usage += Usage.from_dict(entry["usage"])
            self.result.cache_hits += entry["cache_hits"]
            for name, usage in entry.get("metric_usage", {}).items():
                known = self.result.metric_usage.get(name, Usage())
                self.result.metric_usage[name] = known + Usage.from_dict(usage)


class Driver:
    """Hands shards to a pool until all are done or set aside."""

    def __init__(self, recipe: ShardRecipe, pool: WorkerPool, merged: ShardMerger, progress: bool | None) -> None:
        self._recipe, self._pool, self._merged, self._progress = recipe, pool, merged, progress
        self._folder = Folder(recipe.out)
        self.plan = ShardPlan(self._folder)
        self._again: deque[ShardTask] = deque()
        self._ahead: list[
            tuple[int, int, ShardTask]
        ] = []  # a heap: what is to be given first, in the order of the plan
        self._read = 0  # shards put into it
        self._unborn = 0  # processes in sequence that died before they began
        self.set_aside: list[str] = []
        self.quarantined: list[str] = []

    def run(self) -> None:
        """Raises what ended the job: JudgeFailure, InputError, StoreError, KeyboardInterrupt."""
        pool, todo = self._pool, self._todo()
        first = next(todo, None)
        if first is None:
            return
        self._again.append(first)
        pool.begin(self._recipe)
        with progress_for(self._progress, lambda: None) as bar:
            while self._feed(todo):
                for worker, what, told in pool.heard():
                    self._take(worker, what, told)
                bar.update(self._merged.result)
        pool.end()

    def _todo(self) -> Iterator[ShardTask]:
        """The shards that are not done, as tasks; what is done already is merged on the way."""
        for shard in self.plan.noting(self._recipe.files.plan()):
            entry = self._folder.entry(shard)
            if entry is not None and not entry["waiting"]:
                self._merged.add(entry, fresh=False)
                continue
            deaths = self._folder.deaths(shard)
            if deaths.set_aside:  # another job, another chance
                deaths.set_aside, deaths.count, deaths.row = False, 0, None
            yield ShardTask(shard, tuple(deaths.guilty), alone=deaths.count > 0)

    def _feed(self, todo: Iterator[ShardTask]) -> bool:
        """Give every idle worker a task; whether any is at work."""
        for worker in self._pool.idle():
            task = self._next(todo)
            if task is None:
                break
            worker.give(task)
        return any(worker.task is not None for worker in self._pool.workers)

    def _next(self, todo: Iterator[ShardTask]) -> ShardTask | None:
        """The largest shard of those that come next: small ones are left for the end, when nobody shall wait long.

        Where rows are found by counting they keep their order, since going back is reading anew.
        """
        if self._again:
            return self._again.popleft()
        for task in islice(todo, AHEAD - len(self._ahead)):
            self._read += 1
            counted = not task.shard.stop
            heappush(self._ahead, (-sys.maxsize if counted else -task.shard.rows, self._read, task))
            if counted:  # nothing to choose from
                break
        return heappop(self._ahead)[2] if self._ahead else None

    def _take(self, worker: WorkerHandle, what: str, told: Any) -> None:
        task = worker.task
        assert task is not None  # only those at work are heard
        if what == "failed":
            raise error_of(*told)
        if what == "done":
            worker.task = None
            self._merged.add(told, fresh=True)
        elif what == "ready":
            self._unborn = 0
        elif what == "lost":
            self._again.append(task)
            self._pool.replace(worker)
        elif what == "died":
            if worker.ready:
                self._died(task, worker.row)
            else:
                self._never_began(task)
            self._pool.replace(worker)

    def _never_began(self, task: ShardTask) -> None:
        """Raises InputError where no process begins."""
        self._unborn += 1
        if self._unborn > DEATHS * len(self._pool.workers):
            raise InputError(self._pool.unborn)
        self._again.append(task)

    def _died(self, task: ShardTask, row: int | None) -> None:
        shard = task.shard
        deaths = self._folder.deaths(shard)
        deaths.count = 1 if deaths.set_aside else deaths.count + 1
        deaths.set_aside = False
        if row is not None and row == deaths.row and len(deaths.guilty) < GUILTY:
            deaths.guilty.append(row)
            deaths.count, deaths.row = 0, None
            self.quarantined.append(f"row {row} of {shard.name}")
        else:
            deaths.row = row
        deaths.set_aside = deaths.count >= DEATHS
        self._folder.note(shard, deaths)
        if deaths.set_aside:
            self.set_aside.append(f"rows {shard.first + 1} to {shard.first + shard.rows} of {shard.name}")
        else:
            self._again.append(ShardTask(shard, tuple(deaths.guilty), alone=deaths.count > 0))
