"""Writing the rows of a run to its sinks, off the event loop, with a count of what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.errors import Undelivered
from assay.records import Record, ScoredSample
from assay.sinks.base import Receipt, Sink

LISTED = 100  # rows whose scores did not arrive that are named; the rest are counted


@dataclass(slots=True)
class Deliveries(Record):
    """What became of the scores that one sink was given.

    sent, confirmed, skipped  see `Receipt`
    undelivered               scores that did not arrive; `listed` says which and why, for the first 100 rows
    """

    sent: int = 0
    confirmed: int = 0
    skipped: int = 0
    undelivered: int = 0
    listed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{self.sent} sent" + (f", {self.confirmed} of them confirmed" if self.confirmed else ", unconfirmed")]
        if not self.sent:
            parts = ["nothing sent"]
        if self.skipped:
            parts.append(f"{self.skipped} have no place there")
        if self.undelivered:
            parts.append(f"{self.undelivered} undelivered")
        return "; ".join(parts)

    def add(self, receipt: Receipt | None, scores: int) -> None:
        """Count one write that went well. A sink that gives no receipt took all."""
        receipt = receipt if receipt is not None else Receipt(sent=scores)
        self.sent += receipt.sent
        self.confirmed += receipt.confirmed
        self.skipped += receipt.skipped

    def fail(self, key: str, scores: Sequence[str], why: str) -> None:
        """Count one write of which these scores did not arrive."""
        self.undelivered += len(scores)
        if len(self.listed) < LISTED:
            self.listed.append(f"{key}: {', '.join(scores)}: {why}")


class SinkWriter:
    """Writes scored samples to several sinks, one after the other, from one thread of its own."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)
        self._thread: ThreadPoolExecutor | None = None
        self.deliveries: dict[str, Deliveries] = {}
        self._names = _names(self._sinks)
        for name in self._names:
            self.deliveries[name] = Deliveries()

    async def write(self, scored: ScoredSample) -> None:
        """Write one scored sample to all sinks. What goes wrong is counted, and never raised."""
        if self._sinks:
            await self._run(self._write, scored)

    async def close(self) -> None:
        """Close all sinks."""
        if self._sinks:
            await self._run(self._close)
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None

    async def _run(self, work: Callable[..., None], *arguments: object) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="assay-sinks")
        await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _write(self, scored: ScoredSample) -> None:
        for name, sink in zip(self._names, self._sinks, strict=True):
            count = self.deliveries[name]
            try:
                count.add(sink.write(scored), len(scored.scores))
            except Undelivered as error:
                count.add(Receipt(sent=len(scored.scores) - len(error.scores)), len(scored.scores))
                count.fail(scored.sample.key(), error.scores, str(error))
            except Exception as error:  # a sink is foreign code
                count.fail(scored.sample.key(), tuple(scored.scores), f"{type(error).__name__}: {error}")

    def _close(self) -> None:
        for name, sink in zip(self._names, self._sinks, strict=True):
            try:
                sink.close()
            except Exception as error:
                self.deliveries[name].listed.append(f"close: {type(error).__name__}: {error}")


def _names(sinks: Sequence[Sink]) -> list[str]:
    names: list[str] = []
    for sink in sinks:
        name = type(sink).__name__
        same = sum(other.split(" ")[0] == name for other in names)
        names.append(name if not same else f"{name} {same + 1}")
    return names
