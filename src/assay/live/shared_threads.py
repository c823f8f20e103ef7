"""Lanes: the threads of live scoring, one per process and kind of work, each shared by every mailbox of that kind.

A lane's thread starts with the first work and ends after a while without. While there is work, and a little longer, it
looks into its mailboxes by itself, every few milliseconds, so that the host need not wake it: waking a thread costs
the host 15 to 40 µs. Where foreign code holds the thread for a second, it is left to that, and another takes the rest.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

from assay._util.error_counter import Errors
from assay._util.forks import renewed
from assay._util.loop_threads import STUCK_AFTER, LoopThread, Service

if TYPE_CHECKING:
    from assay.judges.base import BaseJudge

NAP = 2.0  # seconds after its last work for which a lane looks by itself; only after that it has to be woken
IDLE = 30.0  # seconds of sleep after which its thread ends; the next work starts another
#: Seconds after its time at which a look is late: where the process computes, a thread waits 5 ms for Python's lock.
LATE = max(0.003, 2 * time.get_clock_info("monotonic").resolution)


#: Called with the time, of time.monotonic(); the time at which it is to be called again, infinity for never.
TimedCall = Callable[[float], float]


class WorkSource(Protocol):
    """Something that a shared thread serves: a mailbox."""

    def serve(self) -> bool:
        """Do some of the work. True: call again at once."""

    def stays_listed(self) -> bool:
        """Whether there is more to do."""


class SharedThread:
    """Serves mailboxes on one thread, each in its turn.

    Args:
        every: Seconds between looks for new work.
        seldom: The same while the host computes: each look then takes Python's lock and the CPU's caches from it.

    Attributes:
        hindered: Whether the last look came late: the host computes, and what is done here is taken from it.
    """

    def __init__(self, name: str, every: float, seldom: float | None = None) -> None:
        self.name = name
        self.every = every
        self.seldom = every if seldom is None else seldom
        self.errors = Errors()
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        """Begin afresh, at first and in a forked child."""
        self.hindered = False
        # may be taken again: the collector may run a finalizer, or a host's hook, while we hold it
        self.lock = threading.RLock()
        self.ready: deque[WorkSource] = deque()
        self._held: dict[int, tuple[BaseJudge, int]] = {}  # judges in use, and by how many
        self._service = Service(self._open)
        self._asleep = False
        self._hurried = self._watched = False
        self._quiet_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._calls: dict[TimedCall, asyncio.TimerHandle] = {}

    @property
    def thread(self) -> LoopThread | None:
        """The thread in service, if there is one."""
        return self._service.thread

    def wake(self, *, now: bool = False) -> None:
        """See to it that what is in `ready` is served: soon, or `now`. Raises RuntimeError without a thread."""
        thread = self._service.thread
        if thread is not None and not self._asleep and not now and time.monotonic() - thread.due < STUCK_AFTER:
            return  # it looks by itself
        with self.lock:
            self._service.leave_behind(grace=None)
            known = self._service.thread
            thread = self._service.start()
            if thread is not known:
                self._hurried, self._timer, self._calls = False, None, {}
            if not self._hurried:
                self._hurried, self._asleep = True, False
                thread.due = min(thread.due, time.monotonic())
                thread.call(self._tick)

    def give_up(self, thread: LoopThread) -> None:
        """Leave a thread behind that did not even end its work at a deadline; the next `wake` starts another."""
        with self.lock:
            self._service.give_up(thread, grace=None)

    def watch(self) -> None:
        """On another lane's loop: look again, as long as something waits here, whether this thread is stuck."""
        if not self._watched:
            self._watched = True
            asyncio.get_running_loop().call_later(STUCK_AFTER + self.every, self._watch)

    def _watch(self) -> None:
        self._watched = False
        if self.ready:
            self.wake()
            self.watch()

    # -- calls at a time, for what may hold another lane's thread by then --------------------------------------------

    def call_in(self, seconds: float, call: TimedCall) -> LoopThread | None:
        """Call this on the thread in so many seconds. The thread, which does it as long as it is in service.

        Raises RuntimeError without a thread.
        """
        with self.lock:
            self.wake(now=True)
            thread = self._service.thread
            if thread is not None:
                thread.call(lambda: self._call_at(time.monotonic() + seconds, call))
            return thread

    def _call_at(self, due: float, call: TimedCall) -> None:
        if math.isfinite(due):
            loop = asyncio.get_running_loop()
            self._calls[call] = loop.call_later(due - time.monotonic(), self._call, call)

    def _call(self, call: TimedCall) -> bool:
        """Call it now, in place of later. Whether it is to be called again."""
        timer = self._calls.pop(call, None)
        if timer is not None:
            timer.cancel()
        try:
            due = call(time.monotonic())
        except BaseException as error:  # a bug of ours; the others have their time all the same
            self.errors.add(error, self.name)
            due = math.inf
        self._call_at(due, call)
        return math.isfinite(due)

    # -- judges that hold something on the thread's loop ----------------------------------------------------------

    def hold(self, judge: BaseJudge) -> None:
        """The judge is in use here until `let_go`: it is released then, and when the thread ends."""
        with self.lock:
            _, users = self._held.get(id(judge), (judge, 0))
            self._held[id(judge)] = (judge, users + 1)

    def let_go(self, judge: BaseJudge) -> Future[None] | None:
        """One user less. Done when the judge is released; None where others use it, or no thread runs."""
        with self.lock:
            _, users = self._held.pop(id(judge), (judge, 0))
            if users > 1:
                self._held[id(judge)] = (judge, users - 1)
                return None
            thread = self._service.thread
        if users == 0 or thread is None:
            return None
        try:
            return thread.soon(lambda: self._release([judge]))
        except RuntimeError:  # it has just ended
            return None

    # -- on the thread --------------------------------------------------------------------------------------------

    @property
    def here(self) -> bool:
        """Whether this is the thread in service."""
        return threading.current_thread() is self._service.thread

    def _open(self) -> LoopThread:
        held = self._held
        return LoopThread(
            self.name,
            lambda error: self.errors.add(error, self.name),
            lambda: self._release([judge for judge, _ in list(held.values())]),
        )

    def _tick(self) -> None:
        if not self.here:  # left behind
            return
        self._hurried = False
        if self._timer is not None:
            self._timer.cancel()
        if self._service.thread is not None:
            self.hindered = self._service.thread.silence > LATE
        if self._serve():
            self._quiet_since = time.monotonic()
        if self.here:
            self._rest()

    def _serve(self) -> bool:
        """Serve every mailbox that has something, in turn, until none wants more at once. False: there was nothing."""
        took, wanting = False, len(self.ready)
        while wanting and self.here:
            wanting -= 1
            box = self.ready.popleft()
            took = True
            try:
                more = box.serve()
            except BaseException as error:  # a bug of ours; its mailbox is tried again
                self.errors.add(error, self.name)
                more = False
            if self.here and self._service.thread is not None:
                self._service.thread.due = time.monotonic()  # not stuck, only busy
            if box.stays_listed():
                self.ready.append(box)
                wanting += more
        return took

    def _rest(self) -> None:
        """Look again in a while; after a long quiet sleep until woken, and end after a longer one."""
        thread, now = self._service.thread, time.monotonic()
        if thread is None:
            return
        if now - self._quiet_since > NAP:
            self._asleep = True
            if not self.ready:  # after that a put wakes this thread
                thread.due = float("inf")
                self._timer = thread.loop.call_later(IDLE, self._end)
                return
            self._asleep = False
        pause = self.seldom if self.hindered else self.every
        thread.due = now + pause
        self._timer = thread.loop.call_later(pause, self._tick)

    def _end(self) -> None:
        # each is asked, and without the lock, which who makes such calls takes after its own
        waiting = sum([self._call(call) for call in list(self._calls)]) if self.here else 0
        with self.lock:
            thread = self._service.thread
            if not self.here or thread is None or not self._asleep or self.ready:
                return
            if asyncio.all_tasks() or waiting:
                self._timer = thread.loop.call_later(IDLE, self._end)
                return
            self._service.retire(grace=None)  # `_asleep` stays: whoever puts something now is to start another

    async def _release(self, judges: Iterable[BaseJudge]) -> None:
        for judge in judges:
            try:
                await judge.release()
            except Exception as error:
                self.errors.add(error, self.name)


def time_in(seconds: float) -> float:
    """The time in so many seconds, of time.monotonic()."""
    return time.monotonic() + seconds


#: Where samples are scored, one loop for all scorers; and where blocking sinks are written to.
SCORING = SharedThread("assay-live", 0.02, seldom=0.1)
DELIVERY = SharedThread("assay-delivery", 0.02, seldom=0.1)

_QUEUE_WRITERS: dict[float, SharedThread] = {}


def queueing(every: float) -> SharedThread:
    """The lane of all queues that write so often."""
    return _QUEUE_WRITERS.setdefault(every, SharedThread("assay-queue", every))


def on_shared_thread() -> bool:
    """Whether this is the thread of a lane: one that must not wait for another mailbox."""
    return any(lane.here for lane in all_shared_threads())


def all_shared_threads() -> list[SharedThread]:
    """Every lane of this process."""
    return [SCORING, DELIVERY, *_QUEUE_WRITERS.values()]
