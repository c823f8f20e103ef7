"""The time that one request has, with all its attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from assay.errors import Cause, JudgeFailure

T = TypeVar("T")


class Deadline:
    """When a request must be done; it stands still while that waits for its turn. `trouble`: what went wrong last."""

    __slots__ = ("_timeout", "trouble")

    def __init__(self, timeout: asyncio.Timeout | None = None) -> None:
        self._timeout = timeout
        self.trouble: str | None = None

    def note(self, trouble: str) -> None:
        """Remember what went wrong last, for the message when time is up."""
        self.trouble = trouble

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The time within does not count: what a judge waits for its own limits is no fault of the endpoint."""
        timeout, loop = self._timeout, asyncio.get_running_loop()
        due = timeout.when() if timeout is not None else None
        if timeout is None or due is None or timeout.expired():
            yield
            return
        left = due - loop.time()
        timeout.reschedule(None)
        try:
            yield
        finally:
            timeout.reschedule(loop.time() + left)


async def within(seconds: float, what: str, work: Callable[[Deadline], Awaitable[T]]) -> T:
    """What `work` gives, within a deadline. Raises JudgeFailure (timeout), which says `what` did not come."""
    deadline = Deadline()
    try:
        async with asyncio.timeout(seconds) as timeout:
            deadline = Deadline(timeout)
            return await work(deadline)
    except TimeoutError:
        pass
    trouble = f"; last: {deadline.trouble}" if deadline.trouble else ""
    raise JudgeFailure(Cause.TIMEOUT, f"no {what} within the deadline of {seconds:g} s{trouble}")
