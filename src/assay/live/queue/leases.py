"""A worker's leases: one thread that renews them, keeps outcomes in groups, and leases more.

The scoring never touches the queue's file, so neither a metric that blocks its loop nor a file that is locked for a
while costs a lease. Where samples are scored fast, some lie ready and their outcomes are kept many at a time: a
transaction for each would have workers wait for one another. A sample is finished when its outcome is kept.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from assay._util.threads import BackgroundWorker
from assay.live.queue.queue_file import QueueFile
from assay.live.queue.rows import LeasedSample
from assay.live.queue.transitions import Outcome, Return, Transition

POLL = 0.2  # seconds between looks for new samples
GROUP = 0.1  # seconds at most that an outcome waits for others
AHEAD = 0.25  # seconds of work that lie ready at most
MOST_AHEAD = 256  # samples, however fast they are scored
RETRY = 0.5  # seconds between attempts, while the file cannot be written
BRISK = 0.01  # seconds over which the speed is measured at least


class Leases:
    """What a worker has in hand. `next`, `finish` and `give_back` are for its loop, and never wait for the file.

    Args:
        lease: Seconds for which samples are leased; renewed four times as often.
        room: Samples that are scored at the same time.
        paused: Says whether nothing new is to be begun.
        failed: Told of each error of the file, after which the same is tried again.
        kept: Told when outcomes were kept.
        arrived: Told when there are samples to begin.
    """

    def __init__(
        self,
        file: QueueFile,
        worker: str,
        *,
        lease: float,
        room: int,
        paused: Callable[[], bool],
        failed: Callable[[BaseException], None],
        kept: Callable[[], None],
        arrived: Callable[[], None],
    ) -> None:
        self._file, self._worker, self._lease, self._room = file, worker, lease, room
        self._paused, self._failed, self._kept, self._arrived = paused, failed, kept, arrived
        self._changed = threading.Condition()
        self._ready: deque[LeasedSample] = deque()
        self._begun: set[int] = set()
        self._outcomes: list[Outcome] = []
        self._returns: list[Return] = []
        self._since = 0.0  # when the oldest of them came
        self._stopping = False
        self._give_up_at = float("inf")
        self._speed = 0.0  # samples a second, of late
        self._done = 0  # samples since it was measured
        self._measured = self._renewed = time.monotonic()
        self._look_at = 0.0
        self._thread = BackgroundWorker(1, "assay-leases")

    def start(self) -> None:
        """Begin to lease."""
        self._thread.post(self._run)

    def next(self) -> LeasedSample | None:
        """A sample to begin; None where there is none just now, or none is to be begun."""
        with self._changed:
            if not self._ready or self._stopping or self._paused():
                return None
            leased = self._ready.popleft()
            self._begun.add(leased.number)
            if len(self._ready) <= self._ahead() // 2:
                self._changed.notify()
            return leased

    def finish(self, outcome: Outcome) -> None:
        """A sample that was begun is scored."""
        with self._changed:
            self._note()
            self._outcomes.append(outcome)
            self._begun.discard(outcome.number)

    def give_back(self, one: Return) -> None:
        """A sample that was begun has no outcome."""
        with self._changed:
            self._note()
            self._returns.append(one)
            self._begun.discard(one.number)

    def _note(self) -> None:
        if not self._outcomes and not self._returns:
            self._since = time.monotonic()
        self._done += 1
        if not self._ready:
            self._changed.notify()

    @property
    def idle(self) -> bool:
        """Whether nothing is in hand: neither leased nor to be kept."""
        with self._changed:
            return not (self._ready or self._begun or self._outcomes or self._returns)

    def stop(self, timeout: float) -> bool:
        """Keep the last outcomes and give back the rest. False: the file could not be written in time; the leases of
        what is left expire."""
        with self._changed:
            self._stopping = True
            self._give_up_at = time.monotonic() + timeout
            self._changed.notify()
        self._thread.close(timeout + RETRY)
        return self.idle

    # -- the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_due():
                    self._changed.wait(self._until_due())
                if self._stopping and (self._is_done() or time.monotonic() > self._give_up_at):
                    return
                self._measure()
                turn = self._turn()
            try:
                self._renew()
                self._take(turn, self._file.turn(self._worker, turn, self._file.now() + self._lease))
            except Exception as error:  # full, or locked for long: all is kept for the next attempt
                self._failed(error)
                time.sleep(RETRY)

    def _is_due(self) -> bool:
        now = time.monotonic()
        if self._stopping or now >= self._renewed + self._lease / 4:
            return True
        if (self._outcomes or self._returns) and (not self._ready or now >= self._since + GROUP):
            return True
        if self._paused():
            return bool(self._ready)
        room, ahead = self._wanted()
        return now >= self._look_at and (room > 0 or ahead > self._ahead() // 2)

    def _until_due(self) -> float:
        """Seconds until something may be due that nobody tells of."""
        now = time.monotonic()
        times = [self._renewed + self._lease / 4, now + POLL]
        if self._outcomes or self._returns:
            times.append(self._since + GROUP)
        if self._look_at > now:
            times.append(self._look_at)
        return max(0.001, min(times) - now)

    def _is_done(self) -> bool:
        return not (self._ready or self._outcomes or self._returns)

    def _ahead(self) -> int:
        return min(MOST_AHEAD, int(self._speed * AHEAD))

    def _wanted(self) -> tuple[int, int]:
        """How many samples to lease: to be begun at once, and to lie ready."""
        free = self._room - len(self._begun)
        room = max(0, free - len(self._ready))
        return room, max(0, free + self._ahead() - len(self._ready) - room)

    def _measure(self) -> None:
        now = time.monotonic()
        took = now - self._measured
        if took >= (BRISK if self._done else 1.0):
            self._speed = (self._speed + self._done / took) / 2
            self._done, self._measured = 0, now

    def _turn(self) -> Transition:
        """What to do now. What lies ready and is not to be begun soon goes back, for others to take."""
        begin = not (self._stopping or self._paused())
        most = self._room + 2 * self._ahead() if begin else 0
        while len(self._ready) > most:
            self._returns.append(Return(self._ready.pop().number))
        room, ahead = self._wanted() if begin and time.monotonic() >= self._look_at else (0, 0)
        outcomes, returns = tuple(self._outcomes), tuple(self._returns)
        held = {one.number for one in self._ready} | self._begun
        return Transition(outcomes, returns, room, ahead, held)

    def _renew(self) -> None:
        now = time.monotonic()
        if now >= self._renewed + self._lease / 4:
            self._file.renew(self._worker, self._file.now() + self._lease)
            self._renewed = now

    def _take(self, turn: Transition, leased: list[LeasedSample]) -> None:
        """The turn is on disk."""
        with self._changed:
            del self._outcomes[: len(turn.outcomes)]
            del self._returns[: len(turn.returns)]
            if self._outcomes or self._returns:
                self._since = time.monotonic()
            self._ready += leased
            if len(leased) < turn.room + turn.ahead:
                self._look_at = time.monotonic() + POLL  # that was all there is
        if turn.outcomes:
            self._kept()
        if leased or turn.outcomes or turn.returns:
            self._arrived()
