"""Threads of our own with an event loop each: apart from the host, and left behind where foreign code holds them."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import Any, Generic, TypeVar

from assay._util.forks import keep, renewed
from assay._util.threads import BackgroundWorker

T = TypeVar("T")

STUCK_AFTER = 1.0  # seconds of silence, while somebody waits, after which a thread is left behind for a new one
LATE = 5.0  # seconds after a deadline at which foreign code that holds its thread is left behind
END_GRACE = 1.0  # seconds that a thread which is told to end has for what is in hand
LEFT_BEHIND = 8  # threads that may be left behind at the same time; after that the last one has to do


class LoopThread(threading.Thread):
    """A daemon thread that runs an event loop until it is told to end.

    Raises RuntimeError where the process cannot start a thread.

    Args:
        failed: Told what foreign code throws into the loop itself (SystemExit in a judge); the loop goes on.
        release: Awaited at the end, on the loop: lets go of what belongs to it.

    Attributes:
        due: When the loop is to have taken up something, in seconds of time.monotonic(); inf: nothing waits for it.
    """

    def __init__(
        self,
        name: str,
        failed: Callable[[BaseException], None],
        release: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(BackgroundWorker(32, f"{name}-calls"))
        self.due = math.inf
        self._failed = failed
        self._release = release
        self._ending = False
        try:
            self.start()
        except RuntimeError:
            self.loop.close()
            raise

    @property
    def silence(self) -> float:
        """Seconds for which the loop has not taken up what it was to; 0 where nothing waits for it."""
        return max(0.0, time.monotonic() - self.due)

    def soon(self, make: Callable[[], Coroutine[Any, Any, T]], context: Context | None = None) -> Future[T]:
        """Run a coroutine on the loop. Cancelling the future cancels it. Raises RuntimeError when the loop is closed.

        Args:
            make: Function that returns the coroutine.
            context: What it runs in. None: an empty context, so that it does not report to the trace of whoever asked.
        """

        async def taken_up() -> T:
            self.due = math.inf
            return await make()

        self.due = min(self.due, time.monotonic())
        work = taken_up()
        try:
            return (context or Context()).run(asyncio.run_coroutine_threadsafe, work, self.loop)
        except BaseException:
            work.close()
            raise

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the loop, in an empty context. Raises RuntimeError when the loop is closed."""
        self.loop.call_soon_threadsafe(function, context=Context())

    def retire(self, grace: float | None) -> None:
        """End when what is in hand is done, after `grace` seconds at the latest (None: no hurry). Returns at once."""
        if not self._ending and not self.loop.is_closed():
            self._ending = True
            with contextlib.suppress(RuntimeError):  # closed in this very moment
                self.soon(lambda: self._end(grace))

    def run(self) -> None:
        while not self.loop.is_closed():
            try:
                self.loop.run_forever()
            except BaseException as error:  # SystemExit in a judge comes out here, and would end the loop
                self._failed(error)
                continue
            with contextlib.suppress(Exception):
                self.loop.close()

    async def _end(self, grace: float | None) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            _, late = await asyncio.wait(others, timeout=grace)
            for task in late:
                task.cancel()
        try:
            if self._release is not None:
                await asyncio.wait_for(self._release(), grace)
        except Exception as error:
            self._failed(error)
        finally:
            self.loop.stop()


class Service:
    """The thread in service, and those left behind because foreign code holds them. Not safe for threads."""

    def __init__(self, open_thread: Callable[[], LoopThread]) -> None:
        self._open = open_thread
        self._left: list[LoopThread] = []
        self.thread: LoopThread | None = None
        renewed(self, first=True)

    def start(self) -> LoopThread:
        """The thread in service; the first call, and the first after a loss, starts one."""
        if self.thread is None or not self.thread.is_alive() or self.thread in self._left:
            self.thread = self._open()
        return self.thread

    def leave_behind(self, grace: float | None) -> bool:
        """Give up the thread in service where it has fallen silent. The next `start` opens another."""
        self._left = [thread for thread in self._left if thread.is_alive()]
        thread = self.thread
        if thread is None or thread.silence < STUCK_AFTER or len(self._left) >= LEFT_BEHIND or thread in self._left:
            return False
        self._left.append(thread)  # and in its place until `start`: without any, others would do its work themselves
        thread.retire(grace)  # should it ever come back
        return True

    def give_up(self, thread: LoopThread, grace: float | None) -> bool:
        """Give up a thread, if it is in service, that did not even end its work at a deadline."""
        if self.thread is not thread:
            return False
        thread.due = min(thread.due, time.monotonic() - STUCK_AFTER)
        return self.leave_behind(grace)

    def retire(self, grace: float | None, wait: float = 0.0) -> None:
        """End the thread in service; wait for it, at most so many seconds."""
        thread, self.thread = self.thread, None
        if thread is None:
            return
        thread.retire(grace)
        if wait and thread is not threading.current_thread():
            thread.join(wait)

    def _set_up(self) -> None:
        """In a forked child: the threads did not come along, and what belongs to them is the parent's."""
        keep((self.thread, self._left))  # their event loops share file descriptors with the parent's
        self.thread, self._left = None, []


async def run_apart(make: Callable[[], Coroutine[Any, Any, T]], name: str, patience: float) -> T:
    """Run a coroutine on a thread of its own, in this context; a coroutine that holds the thread is left behind.

    Cancelling the call cancels the coroutine, and waits LATE seconds at most for its end. Raises TimeoutError after
    `patience` seconds, and RuntimeError where the process cannot start a thread.
    """
    return await _Apart(make, name).wait(patience)


class _Apart(Generic[T]):
    """One coroutine, on one thread of its own."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, T]], name: str) -> None:
        self._make = make
        self._thrown: BaseException | None = None
        self._task: asyncio.Task[T] | None = None
        self._thread = LoopThread(name, self._failed)
        self._work = self._thread.soon(self._main, copy_context())

    async def _main(self) -> T:
        self._task = asyncio.current_task()
        return await self._make()

    def _failed(self, error: BaseException) -> None:
        """On the thread: KeyboardInterrupt or SystemExit in a task, which ends the coroutine as in `asyncio.run`."""
        self._thrown = self._thrown or error
        self._cancel()

    async def wait(self, patience: float) -> T:
        result = asyncio.wrap_future(self._work)
        try:
            await asyncio.wait({result}, timeout=patience)
        except asyncio.CancelledError:
            self._cancel_soon()
            await asyncio.wait({result}, timeout=LATE)
            raise
        finally:
            self._thread.retire(END_GRACE)
        if self._thrown is not None:
            raise self._thrown
        if not result.done():
            self._cancel_soon()
            raise TimeoutError(f"{self._thread.name}: not done within {patience:g} s")
        return result.result()

    def _cancel_soon(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has just ended
            self._thread.call(self._cancel)

    def _cancel(self) -> None:
        if self._task is None:
            self._work.cancel()
        else:
            self._task.cancel()
