"""The outbox of a worker: one thread that takes scored samples from the queue and hands them to the sinks.

Delivery is at least once: a worker killed between a sink's write and the note of it writes again, with the same ids.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from assay._util.threads import BackgroundWorker
from assay.live.queue.queue_file import LONGEST_WAIT, QueueFile
from assay.live.queue.rows import PendingDelivery
from assay.records import ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import write_group, write_to

PARCELS = 64  # leased at a time
POLL = 0.2  # seconds between looks for something to deliver
NOTED = 0.1  # seconds at most between a delivery and the note of it, besides those of the next delivery
FAILURES = 2  # deliveries in a row that fail before a sink gets a pause

Failed = Callable[[BaseException, str], None]
Target = Callable[[ScoredSample], object]


class Outbox:
    """Delivers until `stop`. A sample that no sink took after `max_tries` tries is parked.

    A sink that fails again and again is left alone for a while; the others go on, and samples wait for it.
    """

    def __init__(
        self,
        file: QueueFile,
        worker: str,
        sinks: Mapping[str, Sink],
        failed: Failed,
        *,
        max_tries: int,
        backoff: float,
        lease: float,
    ) -> None:
        self._file = file
        self._worker = worker
        self._sinks = dict(sinks)
        self._failed = failed
        self._max_tries = max_tries
        self._backoff = backoff
        self._lease = lease
        self._stopped = False
        self._woken = threading.Event()
        self._failures: Counter[str] = Counter()  # in a row, by sink
        self._paused: dict[str, float] = {}
        self._thread = BackgroundWorker(1, "assay-outbox")

    def start(self) -> None:
        """Begin to deliver, where there is anything to deliver to."""
        if self._sinks:
            self._thread.post(self._run)

    def wake(self) -> None:
        """There is something to deliver."""
        self._woken.set()

    def stop(self, timeout: float) -> bool:
        """Finish the delivery under way and give back the others. False: a sink is still at it when the time is up."""
        self._stopped = True
        self._woken.set()
        return self._thread.close(timeout)

    def _run(self) -> None:
        while not self._stopped:
            self._woken.clear()
            if self._all_paused():
                time.sleep(POLL)
                continue
            try:
                parcels = self._file.lease_parcels(self._worker, PARCELS, self._file.now() + self._lease)
                self._deliver(parcels)
            except BaseException as error:  # the file may be locked or full for a while
                self._failed(error, "outbox")
                parcels = []
            if not parcels and not self._stopped:
                self._woken.wait(POLL)

    def _deliver(self, parcels: Sequence[PendingDelivery]) -> None:
        done = _Deliveries()
        try:
            readable = self._read(parcels)
            together = self._write_together(readable)
            for parcel, scored in readable:
                if self._stopped:
                    break
                self._one(parcel, scored, together, done)
                if time.monotonic() - done.since > NOTED:
                    self._note(done)
        finally:
            self._note(done)
        if self._stopped:
            self._file.release_parcels(self._worker)

    def _read(self, parcels: Sequence[PendingDelivery]) -> list[tuple[PendingDelivery, ScoredSample]]:
        readable = []
        for parcel in parcels:
            try:
                readable.append((parcel, parcel.scored()))
            except Exception as error:
                self._failed(error, "outbox")
                message = f"cannot be read: {error}"
                self._file.undelivered(self._worker, parcel.number, (), message, self._file.now(), {}, park=True)
        return readable

    def _write_together(self, parcels: Sequence[tuple[PendingDelivery, ScoredSample]]) -> dict[tuple[str, int], Target]:
        """Sink and number of a parcel -> what came of it, of sinks that take several samples at once."""
        outcomes: dict[tuple[str, int], Target] = {}
        for name in self._ready():
            wanted = [(parcel.number, scored) for parcel, scored in parcels if name not in parcel.given_to]
            written = write_group(self._sinks[name], [scored for _, scored in wanted])
            if written and all(isinstance(one, BaseException) for one in written):
                written = written[:FAILURES]  # the sink is at fault: it gets a pause, and the others no try less
            outcomes |= {
                (name, number): partial(_replay, one) for (number, _), one in zip(wanted, written or (), strict=False)
            }
        return outcomes

    def _ready(self) -> list[str]:
        now = time.monotonic()
        return [name for name in self._sinks if self._paused.get(name, 0.0) <= now]

    def _note(self, done: _Deliveries) -> None:
        """Keep in the queue what all sinks have by now."""
        if done.numbers:
            self._file.delivered(self._worker, done.numbers, self._sinks, done.counts)
        done.clear()

    def _one(
        self,
        parcel: PendingDelivery,
        scored: ScoredSample,
        together: Mapping[tuple[str, int], Target],
        done: _Deliveries,
    ) -> None:
        ready = {*self._ready(), *(name for name, number in together if number == parcel.number)}
        missing = [name for name in self._sinks if name not in parcel.given_to and name in ready]
        targets = [(name, together.get((name, parcel.number), self._sinks[name].write)) for name in missing]
        written = write_to(targets, scored)
        for name, error in written.failures.items():
            self._failed(error, name)
            self._note_failure(name)
        for name in written.receipts:
            self._failures[name] = 0
        given, tried, counts = {*parcel.given_to, *written.receipts}, bool(written.failures), written.counts
        if given >= set(self._sinks):
            done.numbers.append(parcel.number)
            done.counts.update(counts)
            return
        park = tried and parcel.tries + 1 >= self._max_tries
        message = "; ".join(map(_failure_in_words, written.failures.items())) or None
        due = self._file.now() + (self._wait(parcel.tries) if tried else self._rest(given))
        self._file.undelivered(self._worker, parcel.number, given, message, due, counts, tried=tried, park=park)

    def _all_paused(self) -> bool:
        return all(self._paused.get(name, 0.0) > time.monotonic() for name in self._sinks)

    def _rest(self, given: set[str]) -> float:
        """Seconds until the last of the sinks that still want a sample is asked again."""
        return max(self._paused.get(name, 0.0) - time.monotonic() for name in self._sinks if name not in given)

    def _note_failure(self, name: str) -> None:
        self._failures[name] += 1
        beyond = self._failures[name] - FAILURES
        if beyond >= 0:
            self._paused[name] = time.monotonic() + min(LONGEST_WAIT, self._backoff * 2.0 ** min(beyond, 16))

    def _wait(self, tries: int) -> float:
        return min(LONGEST_WAIT, self._backoff * 2.0 ** min(tries, 16)) * random.uniform(0.5, 1.0)


def _replay(outcome: object, scored: ScoredSample) -> object:
    """What a sink gave for a sample when it got several together."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _failure_in_words(failure: tuple[str, BaseException]) -> str:
    name, error = failure
    return f"{name}: {type(error).__name__}: {str(error)[:300]}"


class _Deliveries:
    """Deliveries that the queue is to be told of."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.counts: Counter[str] = Counter()
        self.since = time.monotonic()

    def clear(self) -> None:
        self.numbers, self.since = [], time.monotonic()
        self.counts = Counter()
