"""The workers of a job as its driver sees them: actors, which are heard by waiting for their answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import count
from typing import Any, Self

import ray
from ray.exceptions import ActorUnavailableError, OutOfMemoryError, RayActorError, RayError, WorkerCrashedError

from assay import InputError
from assay.extension import ShardRecipe, ShardTask
from assay_ray.actors import ScoringActor
from assay_ray.counters import Counters


class ActorHandle:
    """One actor. `number`: what the desk knows it by."""

    def __init__(self, number: int, cpus: float, desk: Any) -> None:
        self.number = number
        self.task: ShardTask | None = None
        self.row: int | None = None
        self.ready = False
        self._desk = desk
        # no restarts: one that died is replaced by another, which the driver knows of
        self._actor = (
            ray.remote(ScoringActor).options(num_cpus=cpus, max_restarts=0, max_task_retries=0).remote(number, desk)
        )
        self.answer: Any = None

    def begin(self, recipe: Any) -> None:
        """Tell it what to do with its tasks."""
        self.answer = self._actor.begin.remote(recipe)

    def give(self, task: ShardTask) -> None:
        """Set it to work, as soon as it is ready."""
        self.task, self.row = task, None
        if self.ready:
            self.answer = self._actor.score.remote(task)

    def hear(self) -> tuple[str, Any]:
        """What it answered, or what became of it: see `Team.heard`."""
        try:
            said: tuple[str, Any] = ray.get(self.answer)
        except ActorUnavailableError:
            return "lost", None
        except (RayActorError, WorkerCrashedError, OutOfMemoryError) as error:
            if getattr(error, "preempted", False):
                return "lost", None
            if self.task is not None and self.task.alone:
                self.row = ray.get(self._desk.row.remote(self.number))
            return "died", None
        except RayError as error:  # what cannot be sent there, or read there
            return "failed", ("RayError", f"{type(error).__name__}: {error}", None)
        if said[0] == "ready" and self.task is not None:
            self.ready = True
            self.give(self.task)
        return said

    def end(self) -> None:
        """Whatever it does."""
        ray.kill(self._actor)


class ActorPool:
    """So many actors, with `cpus` cores each. One that dies is replaced; none is left in the end."""

    unborn = "workers: they end before they begin; Ray's own logs say why"

    def __init__(self, workers: int, cpus: float, threads: int, desk: Any) -> None:
        self._cpus, self._threads, self._desk = cpus, threads, desk
        self._numbers = count()
        self._recipe: Any = None
        self._counters: Counters | None = None
        self.workers = [self._hired() for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(now=True)

    def begin(self, recipe: ShardRecipe) -> None:
        """Tell all what to do. Raises InputError for what cannot be sent."""
        self._counters = Counters(recipe.run)
        try:
            self._recipe = ray.put(dataclasses.replace(recipe, threads=self._threads))
        except Exception as error:
            raise InputError(
                f"judge, metrics: they cannot be sent to workers ({error}); name them, or give a function that "
                "makes the judge"
            ) from None
        for worker in self.workers:
            worker.begin(self._recipe)

    def idle(self) -> list[ActorHandle]:
        return [worker for worker in self.workers if worker.task is None]

    def heard(self) -> Iterator[tuple[ActorHandle, str, Any]]:
        """Wait until some worker says something, and what they say."""
        busy = {worker.answer: worker for worker in self.workers if worker.task is not None}
        ray.wait(list(busy), num_returns=1)
        ready, _ = ray.wait(list(busy), num_returns=len(busy), timeout=0)
        for answer in ready:
            what, told = busy[answer].hear()
            if self._counters is not None:
                self._counters.note(what, told)
            yield busy[answer], what, told

    def replace(self, dead: ActorHandle) -> None:
        """Another one in the place of one that died."""
        dead.end()
        new = self.workers[self.workers.index(dead)] = self._hired()
        new.begin(self._recipe)

    def end(self, *, now: bool = False) -> None:
        """Let all go; a second time does nothing."""
        while self.workers:
            self.workers.pop().end()
        if self._desk is not None:
            ray.kill(self._desk)
            self._desk = None

    def _hired(self) -> ActorHandle:
        return ActorHandle(next(self._numbers), self._cpus, self._desk)
