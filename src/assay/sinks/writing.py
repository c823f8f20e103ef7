"""Writing one scored sample to several sinks, and counting what became of it: in evaluations, live and in workers."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay._util.tabular import Tabular
from assay._util.threads import BackgroundWorker
from assay.errors import AssayError, Undelivered
from assay.records import Record, ScoredSample
from assay.sinks.base import Receipt, Sink

log = logging.getLogger("assay.sinks")

EXIT_GRACE = 5.0  # seconds that the end of the process waits for a write under way
COUNTS = "count_skipped"  # a method that a sink may have: see `Sink`
LISTED = 100  # rows whose scores did not arrive that are named; the rest are counted


@dataclass(slots=True)
class Deliveries(Tabular, Record):
    """What became of the scores that one sink was given.

    Attributes:
        sent, confirmed, skipped: See `Receipt`.
        undelivered: Scores that did not arrive; `listed` says which and why, for the first 100 rows.
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

    def fail(self, scored: ScoredSample, error: BaseException) -> None:
        """Count one write of which not all scores arrived."""
        key = scored.sample.key()
        if isinstance(error, Undelivered):
            missing, why = tuple(error.scores), error.reason
            key += f" ({error.target})" if error.target not in (None, key) else ""
        else:
            missing, why = tuple(scored.scores), f"{type(error).__name__}: {error}"
        self.sent += len(scored.scores) - len(missing)
        self.undelivered += len(missing)
        if len(self.listed) < LISTED:
            self.listed.append(" ".join(f"{key}: {', '.join(missing)}: {why}".split()))


def name_sinks(sinks: Sequence[Sink] | Mapping[str, Sink]) -> dict[str, Sink]:
    """Sinks by their type; the second of a type is `Type#2`. Those that have names keep them."""
    if isinstance(sinks, Mapping):
        return dict(sinks)
    seen: Counter[str] = Counter()
    named = {}
    for sink in sinks:
        name = type(sink).__name__
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name}#{seen[name]}"] = sink
    return named


@dataclass(slots=True)
class WriteResult:
    """What became of one write, by the name of the sink: its receipt, None where it gives none; or its failure."""

    receipts: dict[str, Receipt | None] = field(default_factory=dict)
    failures: dict[str, BaseException] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """Scores that are `confirmed` by a receipt, and those sent that are `unconfirmed`."""
        given = [receipt for receipt in self.receipts.values() if receipt is not None]
        confirmed = sum(receipt.confirmed for receipt in given)
        return Counter(confirmed=confirmed, unconfirmed=sum(receipt.sent for receipt in given) - confirmed)


def check_sinks(sinks: Sequence[Sink] | Mapping[str, Sink]) -> None:
    """Ask those sinks that can tell whether they can deliver, before anything is scored: their method `check`.

    Raises InputError, which says what is wrong: no key, or one that is refused. May wait for the network.
    """
    for name, sink in name_sinks(sinks).items():
        check = getattr(sink, "check", None)
        if not callable(check):
            continue
        try:
            check()
        except AssayError:
            raise
        except Exception as error:  # a sink is foreign code; what it cannot deliver it will say row by row
            log.warning("assay: %s.check failed: %s: %s", name, type(error).__name__, error)


def write_to(targets: Iterable[tuple[str, Callable[[ScoredSample], object]]], scored: ScoredSample) -> WriteResult:
    """Hand a scored sample to one target after the other. Never raises: targets are foreign code."""
    written = WriteResult()
    for name, target in targets:
        try:
            receipt = target(scored)
        except BaseException as error:  # on a thread of our own: kept, never passed on
            written.failures[name] = error
        else:
            written.receipts[name] = receipt if isinstance(receipt, Receipt) else None
    return written


def write_group(sink: Sink, group: Sequence[ScoredSample]) -> list[object] | None:
    """Hand several scored samples to a sink that takes them together; see `Sink`. Never raises.

    Args:
        sink: The sink.
        group: The samples.

    Returns:
        For each what the sink gave, or the exception; None where the sink takes them one by one.
    """
    write_many = getattr(sink, "write_many", None)
    if not callable(write_many):
        return None
    try:
        outcomes = list(write_many(group)) if group else []
        if len(outcomes) != len(group):
            raise ValueError(f"write_many gave {len(outcomes)} outcomes for {len(group)} samples")
    except BaseException as error:  # on a thread of our own: kept, never passed on
        return [error] * len(group)
    return outcomes


def write_skip_counts(
    sinks: Mapping[str, Sink],
    source: str,
    totals: Mapping[tuple[str | None, int, str], int],
    failed: Callable[[BaseException, str], None],
) -> bool:
    """Tell the sinks that count how many samples were not scored; see `Sink`.

    Args:
        sinks: The sinks by name.
        source: Name of the process or queue that counts.
        totals: Application, beginning of an hour and cause -> samples of this source.
        failed: Told what a sink raises, and where.

    Returns:
        Whether all of them have the totals.
    """
    written = True
    for name, sink in sinks.items():
        count = getattr(sink, COUNTS, None)
        if callable(count) and totals:
            try:
                count(source, totals)
            except BaseException as error:  # sinks are foreign code
                failed(error, f"{name}.{COUNTS}")
                written = False
    return written


def counting(sinks: Mapping[str, Sink]) -> frozenset[str]:
    """The names of the sinks that count what is not scored."""
    return frozenset(name for name, sink in sinks.items() if callable(getattr(sink, COUNTS, None)))


def close_all(sinks: Mapping[str, Sink], failed: Callable[[BaseException, str], None]) -> None:
    """Close the sinks; `failed` is told what that raises, and where."""
    for name, sink in sinks.items():
        try:
            sink.close()
        except BaseException as error:
            failed(error, f"{name}.close")


class SinkWriter:
    """Writes the rows of a run to its sinks, one after the other, from one thread of its own."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = name_sinks(sinks)
        self._worker: BackgroundWorker | None = None
        self.deliveries: dict[str, Deliveries] = {name: Deliveries() for name in self._sinks}

    async def write(self, scored: ScoredSample) -> None:
        """Write one scored sample to all sinks. What goes wrong is counted, and never raised."""
        if self._sinks:
            await self._run(self._write, scored)

    async def close(self) -> None:
        """Close all sinks."""
        if self._sinks:
            await self._run(close_all, self._sinks, self._not_closed)
        if self._worker is not None:
            self._worker.close(0)
            self._worker = None

    async def _run(self, work: Callable[..., None], *arguments: object) -> None:
        if self._worker is None:  # one thread for all writes: a sink may hold what belongs to a thread
            self._worker = BackgroundWorker(1, "assay-sinks", keeps_threads=True, exit_grace=EXIT_GRACE)
        await asyncio.get_running_loop().run_in_executor(self._worker, work, *arguments)

    def _write(self, scored: ScoredSample) -> None:
        written = write_to(((name, sink.write) for name, sink in self._sinks.items()), scored)
        for name, receipt in written.receipts.items():
            self.deliveries[name].add(receipt, len(scored.scores))
        for name, error in written.failures.items():
            self.deliveries[name].fail(scored, error)

    def _not_closed(self, error: BaseException, where: str) -> None:
        name = where.removesuffix(".close")
        self.deliveries[name].listed.append(f"close: {type(error).__name__}: {error}")
