"""A data set scored by several processes of this machine, shard by shard; a rerun goes on where the last one stopped.

`evaluate_in_processes` is the driver. Other engines use the same pieces: `Files.plan`, `ShardScorer.score`,
`Folder` and `Merged`.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import Any

from assay.budgets.budget import Budget, check_budget
from assay.budgets.in_file import FileLedger
from assay.budgets.ledger import MemoryLedger
from assay.budgets.purse import Purse
from assay.data import ColumnMap, open_data
from assay.errors import AssayError, InputError
from assay.evaluation import IN_FLIGHT, SAMPLE_DEADLINE, STOP_AFTER, EvaluationInterrupted, chosen_for
from assay.naming import MetricSpec
from assay.progress import progress_for
from assay.records import ScoredSample, Usage, fingerprint
from assay.result import Result
from assay.runs import start_run
from assay.scale.manifest import Folder, Plan
from assay.scale.scoring import JudgeMaker, Recipe, made
from assay.scale.shards import ROWS, Files, Shard
from assay.scale.workers import Crew, Task, Worker, error_of
from assay.store import Store
from assay.summary import Summary

DEATHS = 3  # of workers over one shard, and it is set aside
GUILTY = 3  # rows of one shard that may be put in quarantine
AHEAD = 64  # shards that the driver reads ahead, to give the largest ones first


class Merged:
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
            self.result.reused += entry["reused"]


class Driver:
    """Hands shards to a crew until all are done or set aside."""

    def __init__(self, recipe: Recipe, crew: Crew, merged: Merged, progress: bool | None) -> None:
        self._recipe, self._crew, self._merged, self._progress = recipe, crew, merged, progress
        self._folder = Folder(recipe.out)
        self.plan = Plan(self._folder)
        self._again: deque[Task] = deque()
        self._ahead: list[tuple[int, int, Task]] = []  # a heap: what is to be given first, in the order of the plan
        self._read = 0  # shards put into it
        self._unborn = 0  # processes in sequence that died before they began
        self.set_aside: list[str] = []
        self.quarantined: list[str] = []

    def run(self) -> None:
        """Raises what ended the job: JudgeFailure, InputError, StoreError, KeyboardInterrupt."""
        crew, todo = self._crew, self._todo()
        first = next(todo, None)
        if first is None:
            return
        self._again.append(first)
        crew.begin(self._recipe.among(len(crew.workers)))
        with progress_for(self._progress, lambda: None) as bar:
            while self._feed(todo):
                for worker, what, told in crew.heard():
                    self._take(worker, what, told)
                bar.update(self._merged.result)
        crew.end()

    def _todo(self) -> Iterator[Task]:
        """The shards that are not done, as tasks; what is done already is merged on the way."""
        for shard in self.plan.noting(self._recipe.files.plan()):
            entry = self._folder.entry(shard)
            if entry is not None and not entry["waiting"]:
                self._merged.add(entry, fresh=False)
                continue
            deaths = self._folder.deaths(shard)
            if deaths.set_aside:  # another job, another chance
                deaths.set_aside, deaths.count, deaths.row = False, 0, None
            yield Task(shard, tuple(deaths.guilty), alone=deaths.count > 0)

    def _feed(self, todo: Iterator[Task]) -> bool:
        """Give every idle worker a task; whether any is at work."""
        for worker in self._crew.idle():
            task = self._next(todo)
            if task is None:
                break
            worker.give(task)
        return any(worker.task is not None for worker in self._crew.workers)

    def _next(self, todo: Iterator[Task]) -> Task | None:
        """The largest shard of those that come next: small ones are left for the end, when nobody shall wait long.

        Where rows are found by counting they keep their order, since going back is reading anew.
        """
        if self._again:
            return self._again.popleft()
        for task in islice(todo, AHEAD - len(self._ahead)):
            self._read += 1
            counted = not self._recipe.files.has_lines(task.shard.file)
            heappush(self._ahead, (-sys.maxsize if counted else -task.shard.rows, self._read, task))
        return heappop(self._ahead)[2] if self._ahead else None

    def _take(self, worker: Worker, what: str, told: Any) -> None:
        task = worker.task
        assert task is not None  # only those at work are heard
        if what == "failed":
            raise error_of(*told)
        if what == "done":
            worker.task = None
            self._merged.add(told, fresh=True)
        elif what == "ready":
            self._unborn = 0
        elif what == "died":
            if worker.ready:
                self._died(task, worker.row)
            else:
                self._never_began(task)
            self._crew.replace(worker)

    def _never_began(self, task: Task) -> None:
        """Raises InputError where no process begins."""
        self._unborn += 1
        if self._unborn > DEATHS * len(self._crew.workers):
            raise InputError(
                "jobs: the processes end before they begin. A script that starts a job does so below "
                'if __name__ == "__main__":, since each process imports it'
            )
        self._again.append(task)

    def _died(self, task: Task, row: int | None) -> None:
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
            self._again.append(Task(shard, tuple(deaths.guilty), alone=deaths.count > 0))


def evaluate_in_processes(
    data: object,
    metrics: MetricSpec | None = None,
    judge: JudgeMaker = None,
    *,
    jobs: int,
    store: str | Path = ".assay",
    out: str | Path | None = None,
    lean: bool = False,
    column_map: ColumnMap | None = None,
    format: str | None = None,
    language: str | None = None,
    shard_rows: int = ROWS,
    concurrency: int = IN_FLIGHT,
    sample_deadline: float | None = SAMPLE_DEADLINE,
    score_partial: bool = False,
    progress: bool | None = None,
    run: str | None = None,
    replace: bool = False,
    note: str | None = None,
    budget: Budget | None = None,
    stop_after: int | None = STOP_AFTER,
) -> Result:
    """Score the rows of files in `jobs` processes; the result is a run of the store like others.

    data        the path of a file, a pattern, or a list of them
    judge       the name of a judge, a function of a module that makes one, or a judge that can be pickled. The embedded
                one, by its name, reads on as many threads in each process as there are cores for it
    out         folder of the job, in which a rerun goes on; None: one in the store's folder, by data, metrics and judge
    lean        keep of each row id, values and causes: no texts, no evidence, and no findings
    shard_rows  rows of a shard at most
    concurrency  samples in flight in each process

    Other arguments are those of `evaluate`. A budget in memory is kept in the job's folder and holds for all processes
    and all reruns. A row over which two workers die while it is read alone is put in quarantine: unscored (bug), and
    the notes name it. A shard that costs three workers without such a row, or has more than three
    of them, is set aside: the run is not `complete` then.
    Raises InputError, JudgeFailure and StoreError as `evaluate` does, and EvaluationInterrupted at Ctrl-C.
    """
    for name, value in {"jobs": jobs, "concurrency": concurrency, "stop_after": stop_after}.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    files = Files.of(data, column_map=column_map, format=format, language=language, rows=shard_rows)
    with Crew(sum(1 for _ in islice(files.plan(), jobs))) as crew:  # which start while the rest is looked at
        source = open_data(list(files.paths), column_map=column_map, format=format, language=language)
        resolved = made(judge, 1)
        if resolved.rows_in_flight is not None:
            raise InputError(
                f"jobs: {type(resolved).__name__} answers in batches, which one process sends and fetches for all "
                "rows: leave it out"
            )
        check_budget(budget, resolved)
        chosen = chosen_for(metrics, source, resolved)
        kept = Store(store)
        question = {
            "metrics": {metric.label: repr(metric) for metric in chosen},
            "judge": resolved.fingerprint,
            "lean": lean,
            "columns": column_map,
            "language": language,
            "format": format,
            "score_partial": score_partial,
            "shard_rows": shard_rows,
        }
        named = [str(path.resolve()) for path in files.paths]
        folder = Path(out) if out is not None else kept.folder / "jobs" / fingerprint([question, named])[:16]
        Folder(folder).begin(question)
        budget = _shared(budget, Folder(folder))
        result = Result(
            run="", store=kept, judge=resolved.fingerprint, note=note, started=time.time(), data=source.name,
            parameters={metric.label: repr(metric) for metric in chosen},
        )  # fmt: skip
        _empty(result, [metric.label for metric in chosen])
        result.run = start_run(kept, run, {**result.info(), "stopped": "not finished"}, replace=replace)
        recipe = Recipe(
            files=files, metrics=chosen, judge=judge, out=folder, store=None if lean else kept.address, run=result.run,
            concurrency=concurrency, sample_deadline=sample_deadline, score_partial=score_partial, lean=lean,
            budget=budget, stop_after=stop_after,
        )  # fmt: skip
        return _driven(Driver(recipe, crew, Merged(result), progress), recipe, result)


def _shared(budget: Budget | None, folder: Folder) -> Budget | None:
    """The budget as all processes and reruns keep to it, each in pieces."""
    if budget is None or not isinstance(budget.ledger, (MemoryLedger, FileLedger)):
        return budget
    ledger = budget.ledger if isinstance(budget.ledger, FileLedger) else FileLedger(folder.spending)
    return budget.on(Purse(ledger))


def _empty(result: Result, names: list[str]) -> None:
    result.metrics = {name: Summary(metric=name) for name in names}


def _driven(driver: Driver, recipe: Recipe, result: Result) -> Result:
    began = time.perf_counter()
    result.stopped = "interrupted"
    try:
        driver.run()
        result.stopped = None
    except KeyboardInterrupt:
        raise EvaluationInterrupted(result) from None
    except AssayError as error:
        result.stopped = str(error)
        raise
    finally:
        if driver.set_aside:
            said = f"workers died {DEATHS} times over {'; '.join(driver.set_aside)}: set aside, a rerun tries again"
            result.stopped = result.stopped or said
        if driver.quarantined:
            result.notes.append(f"in quarantine, since workers died over them: {', '.join(driver.quarantined)}")
        take_over(recipe, driver.plan, result)
        result.seconds = time.perf_counter() - began
        result.store.put_run(result.run, result.info())
    return result


def take_over(recipe: Recipe, shards: Iterable[Shard], result: Result) -> None:
    """Put the rows of those of these shards that are done into the result's run, numbered over the whole data.

    shards  of the recipe's files, in the order of the data
    """
    folder, names = Folder(recipe.out), list(result.metrics)
    before, file, in_file = 0, 0, 0
    usage, reused = result.usage, result.reused
    _empty(result, names)
    result.rows = 0
    merged = Merged(result)
    for shard in shards:
        if shard.file != file:
            before, file, in_file = before + in_file, shard.file, 0
        in_file = shard.first + shard.rows
        entry = folder.entry(shard)
        if entry is None:
            continue
        merged.add(entry, fresh=False)
        result.store.put_rows(result.run, _numbered(folder, shard, before))
    result.usage, result.reused = usage, reused


def _numbered(folder: Folder, shard: Shard, before: int) -> Iterator[tuple[int, ScoredSample]]:
    for row in folder.rows(shard):
        number = before + row.pop("row")
        yield number, ScoredSample.from_dict(row)
