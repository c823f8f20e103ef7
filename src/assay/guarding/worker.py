"""The thread on which a guard's judge works: one event loop, apart from whoever waits for a decision."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

from assay.judges.base import BaseJudge
from assay.judges.cache import FindingCache
from assay.metrics.base import Metric
from assay.records import Sample, Score
from assay.scoring import score_sample

STUCK_AFTER = 1.0  # seconds of silence, while somebody waits, after which a worker is left behind for a new one
LEFT_BEHIND = 8  # workers that may be left behind at the same time; after that the last one has to do
END_GRACE = 1.0  # seconds that a worker which is told to end has for what is in hand
DESK_LIFE = 256  # samples that share one memory of findings; then it is let go, so that memory stays flat


@dataclass(slots=True, eq=False)
class Job:
    """One sample to score. `scores` fills up as metrics are done, and may be read at any time."""

    sample: Sample
    metrics: Sequence[Metric]
    scores: dict[str, Score] = field(default_factory=dict)
    failure: Exception | None = None


class Worker:
    """A daemon thread with an event loop of its own, and a judge's desk in it."""

    def __init__(self, judge: BaseJudge, failed: Callable[[BaseException], None]) -> None:
        """`failed` is told what a judge throws into the loop itself; the loop goes on. Raises RuntimeError where the
        process cannot start a thread."""
        self._judge = judge
        self._failed = failed
        self._desk = FindingCache(judge)
        self._served = 0
        self._silent_since: float | None = None
        self._ending = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="assay-guard", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._loop.close()
            raise

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def silence(self) -> float:
        """Seconds for which the loop has not taken up what it was given; 0 where nothing waits for it."""
        since = self._silent_since
        return 0.0 if since is None else time.monotonic() - since

    def submit(self, job: Job) -> Future[None]:
        """Score in the background. The future is done when all metrics are; cancelling it cancels them."""
        if self._silent_since is None:
            self._silent_since = time.monotonic()
        return self._soon(self._score(job))

    def retire(self, grace: float) -> None:
        """End when what is in hand is done, after `grace` seconds at the latest. Returns at once."""
        if not self._ending and not self._loop.is_closed():
            self._ending = True
            with contextlib.suppress(RuntimeError):  # closed in this very moment
                self._soon(self._end(grace))

    def join(self, timeout: float) -> None:
        """Wait for the thread to end."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _soon(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        try:
            # in an empty context: a judge must not report to the trace, or run in the callbacks, of one request
            return Context().run(asyncio.run_coroutine_threadsafe, work, self._loop)
        except BaseException:
            work.close()
            raise

    async def _score(self, job: Job) -> None:
        self._silent_since = None
        self._served += 1
        if self._served % DESK_LIFE == 0:
            self._desk = FindingCache(self._judge)
        desk = self._desk

        async def one(metric: Metric) -> None:
            scored = await score_sample(job.sample, [metric], desk)
            job.scores.update(scored.scores)

        try:
            await asyncio.gather(*map(one, job.metrics))
        except Exception as error:
            job.failure = error

    async def _end(self, grace: float) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            _, late = await asyncio.wait(others, timeout=grace)
            for task in late:
                task.cancel()
        try:
            await asyncio.wait_for(self._judge.release(), grace)
        except Exception as error:
            self._failed(error)
        finally:
            self._loop.stop()

    def _run(self) -> None:
        while not self._loop.is_closed():
            try:
                self._loop.run_forever()
            except BaseException as error:  # SystemExit in a judge comes out here, and would end the loop
                self._failed(error)
                continue
            with contextlib.suppress(Exception):
                self._loop.close()


class Workers:
    """The worker in service, and those left behind because a judge holds their thread. Not safe for threads."""

    def __init__(self, judge: BaseJudge, failed: Callable[[BaseException], None]) -> None:
        self._judge = judge
        self._failed = failed
        self._pid = os.getpid()
        self._worker: Worker | None = None
        self._left: list[Worker] = []

    def submit(self, job: Job) -> Future[None]:
        """`Worker.submit` of the worker in service; the first call, and the first after a loss, starts one."""
        if self._worker is None or not self._worker.alive:
            self._worker = Worker(self._judge, self._failed)
        return self._worker.submit(job)

    def leave_behind(self) -> bool:
        """Give up the worker in service where it has fallen silent. The next job starts another."""
        self._left = [worker for worker in self._left if worker.alive]
        worker = self._worker
        if worker is None or worker.silence < STUCK_AFTER or len(self._left) >= LEFT_BEHIND:
            return False
        self._left.append(worker)
        self._worker = None
        worker.retire(END_GRACE)  # should it ever come back
        return True

    def retire(self, wait: float = 0.0) -> None:
        """End the worker in service; wait for its thread, at most so many seconds."""
        if os.getpid() != self._pid:  # of the parent process: see `_INHERITED`
            return
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.retire(END_GRACE)
            if wait:
                worker.join(wait)
