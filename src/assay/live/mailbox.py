"""The mailbox: a bounded queue between a host that must never wait and the thread that does the work.

Under every live path: what a live scorer scores, what its sinks are given, what a queue writes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from assay._util.error_counter import log
from assay.live.shared_threads import SharedThread, on_shared_thread

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Items of one owner, numbered from 1 in the order in which they came.

    Items are open from `put` until `settle`. `lock` may be held, and taken again, around all of it: a generator that
    is collected while we hold it runs the host's hooks, and those submit.

    Args:
        lane: Whose thread calls `work` as long as there are items; True: call again at once. Never twice at a time.
        more: Whether there is work besides the items; None: there never is.
        max_items: Items that may wait, and `max_bytes` what they may hold; one item always has room.
    """

    def __init__(
        self,
        lane: SharedThread,
        work: Callable[[], bool],
        more: Callable[[], bool] | None = None,
        *,
        max_items: int,
        max_bytes: float = float("inf"),
    ) -> None:
        self.lane = lane
        self.lock = threading.RLock()
        self.closed = False  # takes no more
        self.stopped = False  # gives no more
        self._work = work
        self._more = more
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._waiting: list[tuple[Callable[[], bool], threading.Event]] = []
        self._queue: deque[tuple[int, int, T]] = deque()
        self._bytes = 0
        self._numbers = 0
        self._open: dict[int, None] = {}
        self._listed = False

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def open(self) -> int:
        """Items put and not yet settled."""
        return len(self._open)

    @property
    def put_so_far(self) -> int:
        """The number of the newest item."""
        return self._numbers

    @property
    def half_full(self) -> bool:
        """Whether half of the room is taken."""
        return len(self._queue) * 2 > self._max_items or self._bytes * 2 > self._max_bytes

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for what is open."""
        return bool(self._waiting)

    # -- the host's side: no I/O, no waiting

    def put(self, size: int, item: T, *, last: bool = False, told: Callable[[bool], object] | None = None) -> bool:
        """Queue an item; False: closed, or full. It is served only after a `wake`. For the `last` there is room.

        Args:
            told: Called with the same, with the lock held.
        """
        # one function, since hosts pay for each: by the time they hand over, no cache of the CPU holds any of this
        with self.lock:
            waiting = 0 if last else len(self._queue)
            room = not waiting or (waiting < self._max_items and self._bytes + size <= self._max_bytes)
            taken = room and not self.closed
            if told is not None:
                told(taken)
            if not taken:
                return False
            self.closed = last
            self._numbers += 1
            self._open[self._numbers] = None
            self._queue.append((self._numbers, size, item))
            self._bytes += size
            if not self._listed:
                self._listed = True
                self.lane.ready.append(self)
            return True

    def put_last(self, item: T) -> bool:
        """Queue one more item, room or not, and take no others; False: closed before."""
        return self.put(0, item, last=True)

    def wake(self, *, now: bool = False) -> None:
        """Have the lane look into its mailboxes. Raises RuntimeError where the process can start no thread."""
        self.lane.wake(now=now)

    # -- the lane's side

    def serve(self) -> bool:
        """Do some of the work."""
        return self._work()

    def stays_listed(self) -> bool:
        """Whether there is more to do; else the next `put` lists it again."""
        with self.lock:
            more = self._more is not None and self._more()
            self._listed = not self.stopped and (more or bool(self._queue))
            return self._listed

    def take(self) -> tuple[int, T] | None:
        """The oldest item with its number; None: there is none."""
        with self.lock:
            if self.stopped or not self._queue:
                return None
            number, size, item = self._queue.popleft()
            self._bytes -= size
            return number, item

    def stop(self) -> None:
        """What is not taken by now stays open for ever."""
        with self.lock:
            self.closed = self.stopped = True

    def settle(self, numbers: Iterable[int]) -> None:
        """These are done with."""
        with self.lock:
            for number in numbers:
                self._open.pop(number, None)
            self.changed()

    def changed(self) -> None:
        """Let go those who have what they wait for; to wake the others as well would cost more than the look."""
        with self.lock:
            for reached, done in self._waiting:
                if reached():
                    done.set()

    # -- waiting

    def flush(self, timeout: float | None) -> bool:
        """Wait until all that was put so far is settled. False: the time ran out, or this thread would do the work."""
        if on_shared_thread():
            return False
        last = self._numbers
        return self.wait_for(lambda: next(iter(self._open), last + 1) > last, timeout)

    def wait_for(self, reached: Callable[[], bool], timeout: float | None) -> bool:
        """Wait, with the lane at work at once, until this holds. `reached` is called with the lock held."""
        with self.lock:
            if reached() or timeout == 0 or on_shared_thread():
                return reached()
            waiter = (reached, threading.Event())
            self._waiting.append(waiter)
        try:
            if self._open:
                self.wake(now=True)
            waiter[1].wait(timeout)
        except RuntimeError as error:  # the process ends, and can start no thread: nothing will change
            log.warning("assay: %s", error)
        finally:
            with self.lock:
                self._waiting.remove(waiter)
        with self.lock:
            return reached()
