"""Delivery: one thread that hands scored samples to the sinks, so that a slow sink does not stop the scoring."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from assay.records import ScoredSample
from assay.sinks.base import Receipt, Sink

IDLE = 30.0  # seconds without work after which the thread ends; the next delivery starts another

Target = tuple[str, Callable[[ScoredSample], Receipt | None]]


class Delivery:
    """A bounded queue in front of the sinks and one callback.

    `report(number, ok, errors)` is called once for each number that was put: with True when every target took it.
    Number 0 stands for closing the sinks. `received` is called with every receipt that a sink gave.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        on_score: Callable[[ScoredSample], None] | None,
        limit: int,
        report: Callable[[int, bool, Sequence[tuple[str, BaseException]]], None],
        received: Callable[[Receipt], None] = lambda receipt: None,
    ) -> None:
        self._sinks = tuple(sinks)
        self._targets: list[Target] = [(type(sink).__name__, sink.write) for sink in sinks]
        if on_score is not None:
            self._targets.append(("on_score", _without_result(on_score)))
        self._limit = limit
        self._report = report
        self._received = received
        self._queue: deque[tuple[int, ScoredSample]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    @property
    def thread(self) -> threading.Thread | None:
        return self._thread

    def put(self, number: int, scored: ScoredSample) -> None:
        """Queue one delivery. Where the queue is full the delivery is given up, and reported as failed."""
        if not self._targets:
            self._report(number, True, ())
            return
        with self._changed:
            full = len(self._queue) >= self._limit
            if not full:
                self._queue.append((number, scored))
                self._changed.notify()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="assay-delivery", daemon=True)
                    self._thread.start()
        if full:
            self._report(number, False, ())

    def close(self, timeout: float) -> None:
        """Deliver what is queued, then close the sinks; wait at most `timeout` seconds for it."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            thread = self._thread
            self._changed.notify()
        if thread is None:
            self._close_sinks()
        elif thread is not threading.current_thread():
            thread.join(timeout)

    def _run(self) -> None:
        while (item := self._next()) is not None:
            self._deliver(*item)
        if self._closing:
            self._close_sinks()

    def _next(self) -> tuple[int, ScoredSample] | None:
        """The next delivery; None when this thread should end."""
        with self._changed:
            while not self._queue and not self._closing:
                if not self._changed.wait(IDLE):
                    break
            if self._queue:
                return self._queue.popleft()
            self._thread = None
            return None

    def _deliver(self, number: int, scored: ScoredSample) -> None:
        failed: list[tuple[str, BaseException]] = []
        for name, target in self._targets:
            try:
                receipt = target(scored)
                if isinstance(receipt, Receipt):
                    self._received(receipt)
            except BaseException as error:  # foreign code on our own thread: counted, never passed on
                failed.append((name, error))
        self._report(number, not failed, failed)

    def _close_sinks(self) -> None:
        with self._changed:
            sinks, self._sinks = self._sinks, ()
        for sink in sinks:
            try:
                sink.close()
            except BaseException as error:
                self._report(0, False, [(f"{type(sink).__name__}.close", error)])


def _without_result(callback: Callable[[ScoredSample], Any]) -> Callable[[ScoredSample], None]:
    def call(scored: ScoredSample) -> None:
        callback(scored)

    return call
