"""A judge on a thread apart from whoever waits for it: the thread is left behind where the judge holds it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

from assay._util.loop_threads import END_GRACE, LoopThread, Service
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.protocol import JudgementStore
from assay.judges.rotating_cache import RenewedCache

T = TypeVar("T")


class JudgeThread:
    """Runs jobs on the thread in service, each with a cache before the judge. Not safe for threads.

    Args:
        judge: The judge; it is released on the thread.
        name: The name of the threads.
        failed: Told of what a judge throws into the loop itself; the loop goes on.
        store: Keeps judgements. None: memory only.
    """

    def __init__(
        self, judge: BaseJudge, name: str, failed: Callable[[BaseException], None], store: JudgementStore | None = None
    ) -> None:
        self._judge = judge
        self._store = store
        self._service = Service(lambda: LoopThread(name, failed, judge.release))
        self._cache: tuple[LoopThread, RenewedCache] | None = None

    def submit(
        self, job: Callable[[JudgementCache], Coroutine[Any, Any, T]], context: Context | None = None
    ) -> tuple[Future[T], LoopThread]:
        """Run a job in the background: its outcome, and the thread. Cancelling the outcome cancels the job.

        Raises RuntimeError where the process cannot start a thread.
        """
        thread = self._service.start()
        if self._cache is None or self._cache[0] is not thread:  # a cache belongs to one event loop
            self._cache = (thread, RenewedCache(self._judge, self._store))
        cache = self._cache[1].next()
        return thread.soon(lambda: job(cache), context), thread

    def leave_behind(self) -> bool:
        """Give up the thread in service where it has fallen silent."""
        return self._service.leave_behind(END_GRACE)

    def give_up(self, thread: LoopThread) -> bool:
        """Give up a thread that did not end a job at its deadline."""
        return self._service.give_up(thread, END_GRACE)

    def retire(self, wait: float = 0.0) -> None:
        """End the thread in service; wait for it, at most so many seconds."""
        self._service.retire(END_GRACE, wait)
