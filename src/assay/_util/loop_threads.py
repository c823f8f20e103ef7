"""Threads of our own with an event loop each: apart from the host, and left behind where foreign code holds them."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

from assay._util.forks import keep, renewed
from assay._util.threads import BackgroundWorker

T = TypeVar("T")

STUCK_AFTER = 1.0  # seconds of silence, while somebody waits, after which a thread is left behind for a new one
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

    def soon(self, make: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run a coroutine on the loop, in an empty context: it must not report to the trace of whoever asked.

        Cancelling the future cancels it. Raises RuntimeError when the loop is closed.
        """

        async def taken_up() -> T:
            self.due = math.inf
            return await make()

        self.due = min(self.due, time.monotonic())
        work = taken_up()
        try:
            return Context().run(asyncio.run_coroutine_threadsafe, work, self.loop)
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
