"""The sync facade: run a coroutine from anywhere, also where an event loop is already running."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run_sync(make: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine from synchronous code, and return its result.

    The coroutine runs in a new event loop. If this thread already runs a loop (a notebook, an async handler), the new
    loop runs in a second thread. This thread waits.

    Ctrl-C cancels the coroutine and waits for it. A value that it then returns, or an error that it raises, is the
    result. A second Ctrl-C stops the wait.

    Args:
        make: Function without parameters that returns the coroutine. It is called in the new loop.

    Returns:
        The result of the coroutine. Its exceptions are raised unchanged.

    Raises:
        KeyboardInterrupt: Ctrl-C cancelled the coroutine.
    """

    async def main() -> T:
        return await make()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        in_loop = False
    else:
        in_loop = True
    if not in_loop:
        return asyncio.run(main())
    return _ThreadRun(main).wait()


def facade(name: str, function: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """The same function for callers without a loop, under this name: same arguments, same types, same words."""

    @wraps(function)
    def sync(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_sync(lambda: function(*args, **kwargs))

    sync.__name__ = sync.__qualname__ = name
    return sync


class _ThreadRun(Generic[T]):
    """One coroutine on one thread of its own."""

    def __init__(self, main: Callable[[], Awaitable[T]]) -> None:
        self._main = main
        self._done = threading.Event()
        self._started = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        context = copy_context()
        # a daemon: after a second Ctrl-C nothing may keep the process alive
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="assay-sync", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        async def tracked() -> T:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            self._started.set()
            return await self._main()

        try:
            self._result.append(asyncio.run(tracked()))
        except BaseException as error:  # handed to the thread that waits
            self._error = error
        finally:
            self._started.set()
            self._done.set()

    def wait(self) -> T:
        try:
            self._join()
        except KeyboardInterrupt:
            self._cancel()
            self._join()
            if isinstance(self._error, asyncio.CancelledError):
                raise
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _join(self) -> None:
        while not self._done.wait(0.2):  # an endless wait would not see Ctrl-C on Windows
            pass

    def _cancel(self) -> None:
        self._started.wait(1.0)
        if not self._done.is_set() and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)

    _loop: asyncio.AbstractEventLoop
    _task: asyncio.Task[T] | None = None
