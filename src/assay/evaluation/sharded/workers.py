"""Processes that score shards: each takes one at a time from the driver and puts its result into the job's folder."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Self

from assay.errors import AssayError, Cause, InputError, JudgeFailure, MissingExtra, StoreError
from assay.evaluation.sharded.scoring import ShardRecipe, ShardScorer
from assay.evaluation.sharded.shards import Shard

#: No forks: a judge's threads and connections do not come along, and their locks do.
_CONTEXT = multiprocessing.get_context("spawn")
PATIENCE = 5.0  # seconds that a process has to end


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A task of one worker: a shard to score.

    Attributes:
        shard: The shard.
        guilty: Numbers of rows in quarantine. They fail (bug), and no metric reads them.
        alone: Whether to score one row at a time, and report the number of each row first.
    """

    shard: Shard
    guilty: tuple[int, ...] = ()
    alone: bool = False


def work(pipe: Connection) -> None:
    """A worker's life: what it is to do comes first, then task by task. Ends with the driver, however that ends."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's
    threading.Thread(target=_end_with_the_driver, daemon=True).start()
    try:
        scorer = ShardScorer(pipe.recv())
        pipe.send(("ready", None))
        while (task := pipe.recv()) is not None:
            alone = (lambda number: pipe.send(("row", number))) if task.alone else None
            pipe.send(("done", scorer.score(task.shard, task.guilty, alone)))
    except (EOFError, BrokenPipeError):
        return
    except BaseException as error:
        with contextlib.suppress(OSError):
            pipe.send(("failed", describe_error(error)))


def _end_with_the_driver() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


#: Errors that end a job, as who started it is told them.
_KNOWN = {kind.__name__: kind for kind in (InputError, MissingExtra, StoreError)}


def describe_error(error: BaseException) -> tuple[str, str, str | None]:
    """Convert an error to texts that a worker can send. Not every error can be pickled.

    Args:
        error: The error.

    Returns:
        Kind, message and cause. The kind is the name of the error's type. The message of an error that is not assay's
        own begins with the kind. The cause is that of a JudgeFailure, else None.
    """
    if isinstance(error, JudgeFailure):
        return "JudgeFailure", error.message, error.cause.value
    kind = type(error).__name__
    return kind, str(error) if isinstance(error, AssayError) else f"{kind}: {error}", None


def error_of(kind: str, message: str, cause: str | None) -> AssayError:
    """The error that a worker told of."""
    if cause is not None:
        return JudgeFailure(Cause(cause), message)
    return _KNOWN.get(kind, AssayError)(message)


class Worker:
    """One process as the driver sees it. It starts at once, and waits for a recipe."""

    def __init__(self) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self.process: BaseProcess = _CONTEXT.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: ShardTask | None = None
        self.row: int | None = None
        self.ready = False  # it has begun: before, its death is no shard's fault

    def begin(self, recipe: bytes) -> None:
        """Tell it what to do with its tasks."""
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(recipe)  # pickled once for all

    def give(self, task: ShardTask) -> None:
        """Set it to work. That it has died shows when it is heard."""
        self.task, self.row = task, None
        with contextlib.suppress(OSError):
            self.pipe.send(task)

    def hear(self) -> tuple[str, Any]:
        """What it says next: ready, row (with its number), done (entry), failed (words); died when it is dead."""
        try:
            said: tuple[str, Any] = self.pipe.recv()
        except (EOFError, OSError):
            return "died", None
        self.ready = True
        if said[0] == "row":
            self.row = said[1]
        return said

    def let_go(self, *, now: bool = False) -> None:
        """Tell it to end; `now` without waiting for what it does."""
        if now:
            self.process.kill()
        else:
            with contextlib.suppress(OSError):
                self.pipe.send(None)

    def end(self) -> None:
        """Wait until it has ended, by force if need be."""
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(PATIENCE)
        self.pipe.close()


class ProcessPool:
    """Some workers, started before it is known what they do. One that dies is replaced; none is left in the end."""

    unborn = (
        "jobs: the processes end before they begin. A script that starts a job does so below "
        'if __name__ == "__main__":, since each process imports it'
    )

    def __init__(self, jobs: int) -> None:
        self._recipe: bytes | None = None
        self.workers: list[Worker] = []
        try:
            for _ in range(jobs):
                self.workers.append(Worker())
        except BaseException:
            self.end(now=True)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(now=True)

    def begin(self, recipe: ShardRecipe) -> None:
        """Tell all what to do. Raises InputError for what cannot be sent."""
        try:
            self._recipe = pickle.dumps(recipe.among(len(self.workers)))
        except Exception as error:
            raise InputError(
                f"judge, metrics: they cannot be sent to other processes ({error}); name them, or give a function of a "
                "module that makes the judge"
            ) from None
        for worker in self.workers:
            worker.begin(self._recipe)

    def idle(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.task is None]

    def heard(self) -> Iterator[tuple[Worker, str, Any]]:
        """Wait until some worker says something, and what they say."""
        busy = {worker.pipe: worker for worker in self.workers if worker.task is not None}
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]
            yield worker, *worker.hear()

    def replace(self, dead: Worker) -> None:
        """Another one in the place of one that died."""
        assert self._recipe is not None  # only those that have begun are heard
        dead.let_go(now=True)
        dead.end()
        new = self.workers[self.workers.index(dead)] = Worker()
        new.begin(self._recipe)

    def end(self, *, now: bool = False) -> None:
        """Let all go; a second time does nothing."""
        for worker in self.workers:
            worker.let_go(now=now)
        while self.workers:
            self.workers.pop().end()
