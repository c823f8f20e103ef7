"""Threads for calls that block: daemons, so that nothing foreign code does can hold up the end of the process."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from assay._util.forks import own_lock, renewed

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """An executor whose threads end when there is nothing to do, and which a forked child starts afresh with.

    The library's own waits at the end of the process for whatever its threads do. asyncio takes nothing but its
    subclasses as a loop's default executor, so this is one, in name.
    """

    def __init__(self, max_workers: int, name: str) -> None:
        super().__init__(max_workers, thread_name_prefix=name)
        self._most = max_workers
        self._name = name
        self._guard = own_lock(self, "_guard")
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._alive = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread. Raises RuntimeError where none can be started."""
        future: Future[T] = Future()
        with self._guard:
            self._jobs.append((future, lambda: fn(*args, **kwargs)))
            if self._alive < self._most:
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
                self._alive += 1
        return future

    def _run(self) -> None:
        while True:
            with self._guard:
                if not self._jobs:
                    self._alive -= 1
                    return
                future, work = self._jobs.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
            del future, work  # not to be kept alive while this thread waits for the lock

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing to shut down: threads without work end by themselves."""
        with self._guard:
            if cancel_futures:
                for future, _ in self._jobs:
                    future.cancel()


_LAST: list[Callable[[], None]] = []


def at_the_end(stop: Callable[[], None]) -> None:
    """Call this at the end of the process, when what was queued for live scoring has had its time."""
    _LAST.append(stop)


def _end() -> None:
    for stop in _LAST:
        stop()


atexit.register(_end)  # before `live.exit_hooks` does, which imports this for that: what is registered last runs first
