"""Background work on threads that nothing foreign code does can keep from ending with the process."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from assay._util.error_counter import Errors
from assay._util.forks import renewed

log = logging.getLogger("assay")

P = ParamSpec("P")
T = TypeVar("T")


class BackgroundWorker(ThreadPoolExecutor):
    """A queue of jobs and daemon threads that run them. A forked child has an empty queue and no thread.

    The library's own executor waits at the end of the process for whatever its threads do. asyncio takes nothing but
    its subclasses as a loop's default executor, so this is one, in name.

    Args:
        max_workers: Threads at the same time, at most.
        name: The name of the threads.
        keeps_threads: Threads wait for further jobs until `close`, so that one thread does all jobs of a worker of
            one. Otherwise they end when there is nothing to do.
        exit_grace: Seconds that the end of the process waits for jobs that were accepted.

    Attributes:
        errors: Exceptions of jobs that were posted, by type; the first of each type is logged.
    """

    def __init__(self, max_workers: int, name: str, *, keeps_threads: bool = False, exit_grace: float = 0.0) -> None:
        super().__init__(max_workers, thread_name_prefix=name)
        self.exit_grace = exit_grace
        self.errors = Errors()
        self._most = max_workers
        self._name = name
        self._keeps_threads = keeps_threads
        self._closed = False
        self._set_up()
        renewed(self, first=True)  # others may hand over jobs when they are set up anew
        if exit_grace:
            _WAITED_FOR.add(self)

    def _set_up(self) -> None:
        self._guard = threading.Lock()
        self._changed = threading.Condition(self._guard)
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._alive = self._idle = self._busy = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a job on a thread. Never waits.

        Returns:
            Its outcome.

        Raises:
            RuntimeError: The worker is closed, or the process can start no thread.
        """
        future: Future[T] = Future()
        with self._guard:
            if self._closed:
                raise RuntimeError(f"{self._name} is closed")
            self._jobs.append((future, lambda: fn(*args, **kwargs)))
            if self._idle >= len(self._jobs):
                self._changed.notify_all()
            elif self._alive < self._most:
                self._start_thread()
        return future

    def post(self, job: Callable[[], object]) -> None:
        """Run a job whose outcome nobody asks for: what it raises is counted, and logged once. Raises as `submit`."""

        def counted() -> None:
            try:
                job()
            except BaseException as error:
                self.errors.add(error, self._name)

        self.submit(counted)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all jobs are done. Returns False when the time ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._jobs and not self._busy, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Take no more jobs and wait for those accepted; what has not begun by then is cancelled.

        Returns:
            False when the time ran out first.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        done = self.flush(timeout)
        self.shutdown(cancel_futures=True)
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing to shut down: threads without work end by themselves, those of `keeps_threads` after `close`."""
        with self._guard:
            if cancel_futures:
                for future, _ in self._jobs:
                    future.cancel()

    def _start_thread(self) -> None:
        """With the lock held."""
        self._alive += 1
        try:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError:
            self._alive -= 1
            if not self._alive:  # nobody would ever take it; else another thread does, later
                self._jobs.pop()
                raise

    def _run(self) -> None:
        while (job := self._next_job()) is not None:
            future, work = job
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
            del job, future, work  # not to be kept alive while this thread waits
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def _next_job(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._changed:
            if self._keeps_threads:
                self._idle += 1
                self._changed.wait_for(lambda: self._jobs or self._closed)
                self._idle -= 1
            if not self._jobs:
                self._alive -= 1
                return None
            self._busy += 1
            return self._jobs.popleft()


_WAITED_FOR: weakref.WeakSet[BackgroundWorker] = weakref.WeakSet()
_LAST: list[Callable[[], None]] = []


def at_the_end(stop: Callable[[], None]) -> None:
    """Register a function that runs at the end of the process.

    It runs after the background workers had their time to finish queued jobs.

    Args:
        stop: Function without parameters. Functions run in the order of registration. One that raises an exception
            is logged.
    """
    _LAST.append(stop)


def _end() -> None:
    start = time.monotonic()
    for worker in list(_WAITED_FOR):  # they work side by side: the longest grace is all that the end may take
        worker.flush(max(0.0, start + worker.exit_grace - time.monotonic()))
    for stop in _LAST:
        try:
            stop()
        except Exception:
            log.warning("assay: a function for the end of the process failed", exc_info=True)


atexit.register(_end)  # before `live.exit_hooks` does, which imports this for that: what is registered last runs first
