"""What a handler captured: exchanges on their way to samples, the newest of them, and an intake that scores none."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from assay._util.error_counter import Errors
from assay._util.forks import renewed
from assay.errors import InputError
from assay.live.disabled_intake import DisabledIntake
from assay.live.health import Health
from assay.live.protocol import Submission
from assay.records import Sample

REMEMBERED = 20  # captured samples that a handler still knows, where nobody says how many
REMEMBERED_CHARS = 32_000_000  # that they may hold, about
PATIENCE = 10.0  # seconds for a sample that another thread is making


class PendingExchange:
    """A finished exchange on its way to a sample, which is made once: by the intake, or by whoever asks first.

    Args:
        size: Characters held, about: queues are bounded by it.
    """

    __slots__ = ("_begun", "_lock", "_make", "_sample", "size")

    def __init__(self, make: Callable[[], Sample | None], size: int) -> None:
        self._make: Callable[[], Sample | None] | None = make
        self._sample: Sample | None = None
        self._begun = False
        self._lock = threading.RLock()
        self.size = size

    def __call__(self) -> Sample | None:
        """The sample; None where the exchange holds none, or another thread takes too long over it."""
        if self._make is None:
            return self._sample
        if not self._lock.acquire(timeout=PATIENCE):  # also in a child that was forked while it was being made
            return None
        try:
            make = self._make
            if make is not None and not self._begun:
                self._begun = True
                try:
                    self._sample = make()
                finally:  # not before: whoever finds it done does not wait
                    self._make = None
            return self._sample
        finally:
            self._lock.release()


class RecentExchanges:
    """Buffer of the newest exchanges that a handler captured. A forked child starts with an empty one.

    It holds about 32 million characters at most, and at least the newest exchange.

    Args:
        count: Greatest number of exchanges. 0: it holds none.

    Raises:
        InputError: `count` is negative.
    """

    def __init__(self, count: int = REMEMBERED) -> None:
        if count < 0:
            raise InputError(f"remember: expected a number of samples, 0 for none, got {count}")
        self._count = count
        self._set_up()
        renewed(self)
        self._large = False  # whether so many of them may be too much: most are small, and need not be added up

    def add(self, captured: PendingExchange) -> None:
        """Add an exchange, and drop the oldest ones over the limits. Capture hooks call it.

        Args:
            captured: The exchange.
        """
        if not self._count:
            return
        ring = self._ring
        ring.append(captured)
        if captured.size * self._count > REMEMBERED_CHARS:
            self._large = True
        while self._large and len(ring) > 1 and sum([one.size for one in ring.copy()]) > REMEMBERED_CHARS:
            ring.popleft()

    def samples(self) -> list[Sample]:
        """Return the samples of the exchanges. It makes those that are not made yet.

        Returns:
            The samples, the oldest first. Exchanges without a sample are left out.
        """
        return [sample for captured in self._ring.copy() if (sample := captured()) is not None]

    def last(self) -> Sample | None:
        """Return the newest sample.

        Returns:
            The sample of the newest exchange that has one. None where no exchange has one.
        """
        return next((sample for one in reversed(self._ring.copy()) if (sample := one()) is not None), None)

    def _set_up(self) -> None:
        """Begin afresh, at first and in a forked child."""
        self._ring: deque[PendingExchange] = deque(maxlen=self._count)


class CaptureOnly(DisabledIntake):
    """The intake of a handler with `metrics=()`: nothing is scored, `samples()` shows what was captured."""

    def __init__(self, remembered: RecentExchanges) -> None:
        super().__init__("metrics=()")
        self._remembered = remembered
        self._errors = Errors()
        self._submitted = 0
        self._closed = False

    def submit(self, sample: Submission) -> bool:
        """Counted; the handler remembers it. False after `close`."""
        self._submitted += not self._closed
        return not self._closed

    def flush(self, timeout: float | None = None) -> bool:
        """Make the samples that are remembered."""
        self._remembered.samples()
        return True

    def health(self) -> Health:
        """The counters as they stand."""
        return Health(submitted=self._submitted, errors=dict(self._errors.counts), last_error=self._errors.last)

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught in a capture hook."""
        self._errors.add(error, where)

    def close(self, timeout: float | None = 30) -> Health:
        """Take no more."""
        self._closed = True
        return self.health()
