"""The desk: a judge, the thread it works on, and what it found. Every panel with this judge asks here."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeAlias

from assay._util.forks import renewed
from assay._util.loop_threads import END_GRACE, LoopThread, Service
from assay.errors import SETTLED
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.protocol import JudgementStore
from assay.judges.resolve import resolve_judge
from assay.records import ScoredSample
from assay.store.store import Store
from assay.store.tables import file_of, is_database, url_of

QUIET = 5.0  # seconds without work after which failures of the judge are forgotten

Job: TypeAlias = Callable[[JudgementCache], Coroutine[Any, Any, ScoredSample]]

log = logging.getLogger("assay.evaluation")


class SharedJudge:
    """Scores on a thread of its own, where one cache serves whoever asks: what is asked twice is read once."""

    def __init__(self, judge: BaseJudge, judgements: JudgementStore | None, budget: Budget | None) -> None:
        self.judge = judge
        self.budget = budget
        self._judgements = judgements
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        judge = self.judge
        self._lock = threading.RLock()
        self._service = Service(lambda: LoopThread("assay-scorer", _logged, judge.release))
        self._cache: tuple[LoopThread, JudgementCache] | None = None
        self._busy, self._ended, self._failed = 0, 0.0, False
        # a desk that is let go takes its thread with it
        weakref.finalize(self, self._service.retire, END_GRACE).atexit = False

    def submit(self, job: Job) -> tuple[Future[ScoredSample], LoopThread]:
        """Run a job with the cache: its outcome, and who works on it. Raises RuntimeError where no thread starts."""
        with self._lock:
            thread = self._service.start()
            if self._cache is None or self._cache[0] is not thread or self._over():
                self._cache, self._failed = (thread, JudgementCache(self.judge, self._judgements)), False
            cache = self._cache[1]
            work = thread.soon(lambda: self._within(job, cache))
            self._busy += 1
        work.add_done_callback(self._done)
        return work, thread

    def _over(self) -> bool:
        """Whether an evaluation is over that had failures: the next one is to ask again, as a rerun of `evaluate`."""
        return self._failed and not self._busy and time.monotonic() - self._ended > QUIET

    def _done(self, work: Future[ScoredSample]) -> None:
        failed = work.cancelled() or work.exception() is not None or _any_failure(work.result())
        with self._lock:
            self._busy, self._ended, self._failed = self._busy - 1, time.monotonic(), self._failed or failed

    async def _within(self, job: Job, cache: JudgementCache) -> ScoredSample:
        with spending(self.budget):
            return await job(cache)

    def leave_behind(self, thread: LoopThread) -> None:
        """Give up a thread that did not even end a job at its deadline; the next job has another."""
        with self._lock:
            self._service.give_up(thread, END_GRACE)


def _any_failure(scored: ScoredSample) -> bool:
    return any(one.error is not None and one.error.cause not in SETTLED for one in scored.scores.values())


def _logged(error: BaseException) -> None:
    log.warning("assay: the judge threw %s into its event loop", type(error).__name__)


_LOCK = threading.RLock()
_DESKS: weakref.WeakValueDictionary[tuple[int, str, int], SharedJudge] = weakref.WeakValueDictionary()
_EMBEDDED: list[BaseJudge] = []  # its models are the process's, and so is what it found


def shared_judge(judge: JudgeSpec) -> BaseJudge:
    """The judge that is meant; the embedded one is the same for all."""
    if judge is not None and judge != "embedded":
        return resolve_judge(judge)
    with _LOCK:
        if not _EMBEDDED:
            _EMBEDDED.append(resolve_judge())
        return _EMBEDDED[0]


def _place_of(store: str | Path) -> str:
    return url_of(store) if is_database(store) else str(file_of(Path(store)).absolute())


def get_shared_judge(judge: BaseJudge, store: Store | str | Path | None, budget: Budget | None) -> SharedJudge:
    """The desk of this judge, store and budget: there is one, as long as a panel has it."""
    where = "" if store is None else _place_of(store.address if isinstance(store, Store) else store)
    key = (id(judge), where, id(budget))
    with _LOCK:
        desk = _DESKS.get(key)
        if desk is None:
            kept = store if isinstance(store, Store) or store is None else Store(store)
            desk = _DESKS[key] = SharedJudge(
                judge, kept, budget
            )  # which holds judge and budget: their ids stay their own
        return desk
