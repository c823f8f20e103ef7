"""Delivery: hands scored samples to a scorer's sinks, on the thread that all scorers share for that.

A slow sink does not stop the scoring. One that holds the thread for a second is left alone with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.live.mailbox import Mailbox
from assay.live.shared_threads import DELIVERY, on_shared_thread
from assay.live.skip_counts import CountKey
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import WriteResult, close_all, counting, name_sinks, write_skip_counts, write_to


class Delivery:
    """A mailbox in front of the sinks and one callback.

    `report(number, written)` is called once for each number that was put; with None where it was given up, because
    `limit` others wait. `failed` is told what closing the sinks raises. `closing` is called before they are closed.

    Attributes:
        counting: Names of the sinks that count what is not scored.
    """

    def __init__(
        self,
        sinks: Sequence[Sink] | Mapping[str, Sink],
        on_score: Callable[[ScoredSample], object] | None,
        limit: int,
        report: Callable[[int, WriteResult | None], None],
        failed: Callable[[BaseException, str], None],
        closing: Callable[[], object],
    ) -> None:
        self._sinks = name_sinks(sinks)
        self.counting = counting(self._sinks)
        amend = {name: getattr(sink, "amend", None) for name, sink in self._sinks.items()}
        self._amend = {name: method for name, method in amend.items() if callable(method)}
        self._targets: list[tuple[str, Callable[[ScoredSample], object]]] = [
            (name, sink.write) for name, sink in self._sinks.items()
        ]
        if on_score is not None:
            self._targets.append(("on_score", on_score))
        self._report = report
        self._failed = failed
        self._closing = closing
        self.box: Mailbox[tuple[int, ScoredSample] | _Amendment | None] = Mailbox(DELIVERY, self._next, max_items=limit)

    def put(self, number: int, scored: ScoredSample, *, now: bool) -> None:
        """Queue one delivery, from the scoring thread or the one that watches deadlines."""
        if not self._targets:
            self._report(number, WriteResult())
        elif not self.box.put(0, (number, scored)):
            self._report(number, None)
        else:
            try:
                self.box.wake(now=now)
                if on_shared_thread():
                    DELIVERY.watch()
            except RuntimeError:  # no threads at the end of the process
                self._next()

    @property
    def amends(self) -> bool:
        """Whether a sink can change what it was given."""
        return bool(self._amend)

    def amend(self, key: str, change: Callable[[Sample], Sample]) -> bool:
        """Queue a change of a sample that was delivered. False: too many others wait."""
        if not self.box.put(0, _Amendment(key, change)):
            return False
        with contextlib.suppress(RuntimeError):  # no threads at the end of the process; `close` sees to it
            self.box.wake()
        return True

    def write_skip_counts(self, source: str, totals: Mapping[CountKey, int]) -> bool:
        """Tell the sinks that count what is not scored. On the thread that delivers. False: it is to be tried again."""
        return write_skip_counts(self._sinks, source, totals, self._failed)

    def hurry(self) -> None:
        """Somebody waits for what is queued."""
        if len(self.box):
            with contextlib.suppress(RuntimeError):
                self.box.wake(now=True)

    def close(self, timeout: float) -> None:
        """Deliver what is queued, then close the sinks; wait at most `timeout` seconds for it."""
        if self.box.put_last(None) and DELIVERY.thread is not None:
            self.box.flush(timeout)
        while DELIVERY.thread is None and self._next():  # never started, or at the end of the process
            continue

    def _next(self) -> bool:
        taken = self.box.take()
        if taken is None:
            return False
        number, item = taken
        if item is None:
            self._closing()
            close_all(self._sinks, self._failed)
        elif isinstance(item, _Amendment):
            for name, amend in self._amend.items():
                try:
                    amend(item.key, item.change)
                except BaseException as error:  # sinks are foreign code
                    self._failed(error, f"{name}.amend")
        else:
            self._report(item[0], write_to(self._targets, item[1]))
        self.box.settle((number,))
        return True


@dataclass(frozen=True, slots=True)
class _Amendment:
    """A change of a sample that was delivered."""

    key: str
    change: Callable[[Sample], Sample]
