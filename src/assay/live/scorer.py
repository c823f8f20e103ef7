"""The live scorer: takes samples from a running application without ever holding it up.

`submit` appends to a bounded queue. All scorers of a process share one thread with an event loop, which scores, and one
that delivers. Both start when there is work and end after a while without. What is lost is counted in `health()`.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay._util.call_repr import call_repr, labels
from assay._util.error_counter import log
from assay._util.forks import keep
from assay.errors import InputError
from assay.evaluation.score_sample import score_sample
from assay.judges.base import JudgeSpec, check_immediate
from assay.judges.budget.budget import Budget, check_budget, spending, waits_for_budget
from assay.judges.cache import JudgementCache
from assay.judges.rotating_cache import RenewedCache
from assay.live.base import BaseIntake
from assay.live.delivery import Delivery
from assay.live.exit_hooks import follow_server
from assay.live.feedback import LATE, Feedback
from assay.live.health import Health
from assay.live.mailbox import Mailbox
from assay.live.protocol import Submission
from assay.live.sampling import Sampling
from assay.live.shared_threads import SCORING, on_shared_thread
from assay.live.sizes import size_of
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import WriteResult

if TYPE_CHECKING:
    from assay.metrics.names import MetricSpec

#: Scored where no metrics are named: what needs no reference, and what the embedded judge answers.
LIVE_METRICS = ("faithfulness", "context_utilization")

SHARE = 50  # while samples keep coming, each look takes one of so many that wait; the rest is scored after the burst
YIELD = 3.0  # seconds for which it takes none of them meanwhile where the application computes, and then all
LULL = 0.25  # seconds without a new sample after which a burst is over: parallel requests end in waves
BREATH = 0.05  # seconds at least before a sample that waits for its budget is tried again


@dataclass(frozen=True, slots=True)
class _BroughtIn:
    """What stands in the mailbox beside submissions: a sample that feedback brought in, past sampling."""

    sample: Sample


class LiveScorer(BaseIntake):
    """Score samples of a running application in the background.

    What the environment can set is in `assay.live.environment`. A scorer is safe for any number of threads. After a
    fork the child starts with an empty queue and its counters at 0. At the end of the process the queue gets 1.75
    seconds; call `flush` or `close` to give it more.

    Args:
        metrics: Names or metrics; a wrong name raises here. None: LIVE_METRICS.
        judge: A judge, its name, a framework's model, or None: that of the environment, else the embedded one.
        sinks: Where scored samples go; called from one thread, closed by `close`.
        on_score: Called there as well, after the sinks.
        sampling: Which samples to score: a rate from 0 to 1, a `Sampling`, or None: the rate of the environment, else
            all.
        budget: Limits for the judge per minute and per day; None: no limit.
        when_spent: "skip": a sample without room in the budget is not scored (budget); "wait": it waits for room.
        max_queue: Samples that may wait; further ones are dropped and counted.
        max_bytes: Bytes that waiting samples may take, roughly; further ones are dropped and counted.
        concurrency: Samples scored at the same time.
        deadline: Seconds for a sample; metrics that are not done by then fail (timeout).
        score_partial: Score abandoned, cancelled and failed answers too.
        keep: Newest results that `result` can still return.

    Raises:
        InputError: An argument is out of range, a metric is unknown, or the judge cannot score live.
    """

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: JudgeSpec = None,
        *,
        sinks: Sequence[Sink] = (),
        on_score: Callable[[ScoredSample], None] | None = None,
        sampling: Sampling | float | None = None,
        budget: Budget | None = None,
        when_spent: Literal["skip", "wait"] = "skip",
        max_queue: int = 1000,
        max_bytes: int = 64 * 2**20,
        concurrency: int = 4,
        deadline: float = 120.0,
        score_partial: bool = False,
        keep: int = 256,
    ) -> None:
        for name, number in (("max_queue", max_queue), ("max_bytes", max_bytes), ("concurrency", concurrency)):
            if number < 1:
                raise InputError(f"{name}: expected at least 1, got {number}")
        if not deadline > 0:  # nor is NaN
            raise InputError(f"deadline: expected a positive number of seconds, got {deadline}")
        if when_spent not in ("skip", "wait"):
            raise InputError(f"when_spent: expected 'skip' or 'wait', got {when_spent!r}")
        from assay.live import environment
        from assay.metrics.names import resolve_metrics

        self.metrics = resolve_metrics(LIVE_METRICS if metrics is None else metrics)
        self.judge = environment.judge_or(judge)
        check_immediate(self.judge, "live scoring")
        check_budget(budget, self.judge)
        self._budget = budget
        self._waits = when_spent == "wait"
        self._sinks = tuple(sinks)
        self._on_score = on_score
        self._max_queue = max_queue
        self._max_bytes = max_bytes
        self._concurrency = concurrency
        self._deadline = deadline
        self._score_partial = score_partial
        self._keep = keep
        super().__init__(environment.sampling() if sampling is None else sampling)

    def _open_box(self) -> Mailbox[Submission | _BroughtIn]:
        if hasattr(self, "_running"):  # of the parent process
            keep(self._running)
            if self._letting_go is not None:
                self._letting_go.detach()
        self._taken: OrderedDict[str, None] = OrderedDict()  # keys that feedback comes too late for, the newest
        self._results: OrderedDict[str, ScoredSample] = OrderedDict()
        self._running: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None  # the one that `_cache` belongs to
        self._cache: RenewedCache | None = None
        self._letting_go: Any = None  # the finalizer that lets go of the judge on the scoring thread
        self._delivery = Delivery(self._sinks, self._on_score, self._max_queue, self._delivered, self.count_error)
        self._seen = self._allowed = 0  # items put before the last look, and those that may be begun until the next
        self._last = 0.0  # when a look last found new ones
        self._waits_since = 0.0  # when a burst began, or a look last took all that waited
        return Mailbox(SCORING, self._look, max_items=self._max_queue, max_bytes=self._max_bytes)

    # -- the host's side ------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return call_repr(self, labels(self.metrics), self.judge, sinks=self._sinks or None)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything that was submitted so far is scored and delivered.

        Args:
            timeout: Seconds to wait at most; None: no limit.

        Returns:
            False when the time ran out first.
        """
        self._delivery.hurry()
        return super().flush(timeout)

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """Look up the scores of a sample among the newest results.

        Args:
            key: The sample's key.
            timeout: Seconds to wait for it; None: as long as anything is pending.

        Returns:
            The scored sample; None where it is not there.
        """
        self._box.wait_for(lambda: key in self._results or (timeout is None and not self._box.open), timeout)
        return self._results.get(key)

    def health(self) -> Health:
        """Read the counters.

        Returns:
            A copy of them at this moment.
        """
        budget = self._budget_state()
        with self._box.lock:
            feedback = {**self._sampler.counts, "waiting": self._sampler.waiting}
            return self._tally.health(self._box.open, feedback, budget)

    def _take_feedback(self, key: str, feedback: Feedback) -> bool:
        sampler = self._sampler
        if key in self._taken:
            sampler.counts[LATE] += 1
            return False
        if not sampler.is_left(key):
            sampler.note(key, feedback)
            return True
        sample = sampler.bring_in(key, feedback)
        if sample is None:
            return True
        if not self._box.put(size_of(sample), _BroughtIn(sample)):
            sampler.restore(sample)
            return False
        self._tally.counts["sampled_out"] -= 1
        self._take(key)
        return True

    def _stop(self, seconds: float) -> None:
        self._box.stop()
        for task in list(self._running):
            task.get_loop().call_soon_threadsafe(task.cancel)
        self._box.wait_for(lambda: not self._running, seconds / 2)
        self._delivery.close(seconds)
        released = None
        if self._letting_go is not None and self._letting_go.detach():
            released = SCORING.let_go(self.judge)
        if released is not None and not on_shared_thread():
            wait([released], timeout=seconds)
        health = self.health()
        if health.pending or health.undelivered:
            log.warning("assay: closed with %d pending, %d undelivered", health.pending, health.undelivered)

    # -- the scoring thread ---------------------------------------------------------------------------------------

    def _look(self) -> bool:
        """Begin to score what waits. While more keeps coming, the application goes first: see SHARE and YIELD."""
        box, now = self._box, time.monotonic()
        if box.put_so_far > self._seen:
            follow_server()
            if now - self._last >= LULL:
                self._waits_since = now
            self._seen, self._last = box.put_so_far, now
        busy = now - self._last < LULL and not box.awaited and not box.half_full
        if not busy or (SCORING.hindered and now - self._waits_since >= YIELD):
            self._allowed = len(box)
            self._waits_since = now
        else:  # a few that are taken in between do not put the rest off
            self._allowed = 0 if SCORING.hindered else max(1, len(box) // SHARE)
        self._start()
        return False

    def _start(self) -> None:
        while self._allowed > 0 and len(self._running) < self._concurrency and (taken := self._box.take()) is not None:
            self._allowed -= 1
            task = asyncio.get_running_loop().create_task(self._one(*taken, self._cache_here()))
            self._running.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if self._box.closed:
            self._box.changed()
        if SCORING.here:
            self._start()

    def _cache_here(self) -> JudgementCache:
        """The cache for one sample: judgements, and what a judge holds, belong to a thread's loop."""
        if self._cache is None or self._thread is not threading.current_thread():
            self._cache, self._thread = RenewedCache(self.judge), threading.current_thread()
        if self._letting_go is None:
            SCORING.hold(self.judge)
            self._letting_go = weakref.finalize(self, SCORING.let_go, self.judge)
            self._letting_go.atexit = False
        return self._cache.next()

    async def _one(self, number: int, item: Submission | _BroughtIn, cache: JudgementCache) -> None:
        scored: ScoredSample | None = None
        sample: Sample | None = None
        taken: Sample | None
        try:
            if isinstance(item, _BroughtIn):
                sample = taken = item.sample
            else:
                sample = item if isinstance(item, Sample) else item()
                taken = None if sample is None else self._choose(sample)
            if taken is not None:
                with suppress(Exception):  # what cannot be loaded is said by the scores
                    await self.judge.prepare()
                with spending(self._budget):
                    scored = await self._score(taken, cache)
        except (asyncio.CancelledError, GeneratorExit):  # `close` gave up on it, or a fork: it stays pending
            raise
        except BaseException as error:
            self.count_error(error, "capture")
            sample = None
        with self._box.lock:
            if scored is None:
                self._tally.counts["skipped"] += sample is None
                self._box.settle((number,))
                return
            self._tally.finish(scored)
            self._results[scored.sample.key()] = scored
            while len(self._results) > self._keep:
                self._results.popitem(last=False)
            self._box.changed()
        self._delivery.put(number, scored, now=self._box.awaited)

    def _choose(self, sample: Sample) -> Sample | None:
        """The sample as it is to be scored; None: left out, and counted so."""
        with self._box.lock:
            taken = self._sampler.choose(sample)
            if taken is None:
                self._tally.counts["sampled_out"] += 1
                return None
            self._take(taken.key())
            return taken

    def _take(self, key: str) -> None:
        self._taken[key] = None
        while len(self._taken) > self._max_queue:
            self._taken.popitem(last=False)

    async def _score(self, sample: Sample, cache: JudgementCache) -> ScoredSample:
        while True:
            scored = await score_sample(
                sample, self.metrics, cache, deadline=self._deadline, score_partial=self._score_partial
            )
            if not self._waits or self._budget is None or not waits_for_budget(scored.scores):
                return scored
            await asyncio.sleep(max(BREATH, self._budget.frees_in()))

    def _budget_state(self) -> dict[str, dict[str, float]] | None:
        try:
            return None if self._budget is None else self._budget.state()
        except Exception as error:  # a ledger in a file may not be readable
            self.count_error(error, "budget")
            return None

    def _delivered(self, number: int, written: WriteResult | None) -> None:
        with self._box.lock:
            counts = self._tally.counts
            counts["undelivered" if written is None or written.failures else "delivered"] += 1
            if written is not None:
                counts.update(written.counts)
                for where, error in written.failures.items():
                    self._tally.errors.add(error, where)
            self._box.settle((number,))
