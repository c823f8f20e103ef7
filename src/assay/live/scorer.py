"""The live scorer: takes samples from a running application without ever holding it up.

`submit` appends to a bounded queue. All scorers of a process share one thread with an event loop, which scores, and one
that delivers. Both start when there is work and end after a while without. What is lost is counted in `health()`.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from assay._util.call_repr import call_repr, labels
from assay._util.error_counter import log
from assay._util.forks import keep
from assay._util.loop_threads import LATE as HELD
from assay._util.loop_threads import LoopThread
from assay.errors import InputError
from assay.evaluation.score_sample import late_sample, score_sample
from assay.judges.base import BaseJudge, JudgeSpec, check_immediate
from assay.judges.budget.budget import Budget, check_budget, spending, waits_for_budget
from assay.judges.cache import JudgementCache
from assay.judges.no_judge import judge_if_asked
from assay.judges.rotating_cache import RenewedCache
from assay.live.application import Application, resolve_application
from assay.live.base import BaseIntake
from assay.live.delivery import Delivery
from assay.live.exit_hooks import follow_server
from assay.live.feedback import ADDED, ATTACHED, LATE, Feedback
from assay.live.health import Health
from assay.live.mailbox import Mailbox
from assay.live.protocol import StoreSpec, Submission
from assay.live.sampling import Sampling
from assay.live.shared_threads import DELIVERY, SCORING, on_shared_thread, time_in
from assay.live.sizes import size_of
from assay.live.skip_counts import SkipCounts
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import WriteResult, name_sinks
from assay.store.live_counts import CLOSED, DROPPED, NO_SAMPLE, SAMPLED_OUT, UNDELIVERED
from assay.store.live_runs import application_of

if TYPE_CHECKING:
    from assay.metrics.names import MetricSpec

#: Scored where no metrics are named: what needs no reference, and what the embedded judge answers.
LIVE_METRICS = ("faithfulness", "context_utilization")

SHARE = 50  # while samples keep coming, each look takes one of so many that wait; the rest is scored after the burst
YIELD = 3.0  # seconds for which it takes none of them meanwhile where the application computes, and then all
LULL = 0.25  # seconds without a new sample after which a burst is over: parallel requests end in waves
COUNTED = 2.0  # seconds after which samples without a row are counted in the live run
BREATH = 0.05  # seconds at least before a sample that waits for its budget is tried again


@dataclass(frozen=True, slots=True)
class _BroughtIn:
    """What stands in the mailbox beside submissions: a sample that feedback brought in, past sampling."""

    sample: Sample


@dataclass(slots=True, eq=False)
class _Running:
    """A sample that was begun. `due`: when it is given up because the judge holds its thread, by time.monotonic()."""

    number: int
    thread: LoopThread | None
    task: asyncio.Task[None] | None = None
    sample: Sample | None = None
    due: float = math.inf


class LiveScorer(BaseIntake):
    """Score samples of a running application in the background.

    What the environment can set is in `assay.live.environment`. A scorer is safe for any number of threads. After a
    fork the child starts with an empty queue and its counters at 0. At the end of the process the queue gets 1.75
    seconds; call `flush` or `close` to give it more.

    Args:
        metrics: Names or metrics; a wrong name raises here. None: LIVE_METRICS.
        judge: A judge, its name, a framework's model, or None: that of the environment, else the embedded one.
        store: Store that keeps the scored samples as the live run `live/APPLICATION`: folder, file or database URL.
            None: ASSAY_STORE of the environment, else none. False: none. For more options, put an
            `assay.sinks.StoreSink` into `sinks` instead.
        application: The application, or its name. None: that of the environment. Samples carry its name and version.
        sinks: Where scored samples go; called from one thread, closed by `close`.
        on_score: Called there as well, after the sinks.
        sampling: Which samples to score: a rate from 0 to 1, a `Sampling`, or None: the rate of the environment, else
            all.
        budget: Limits for the judge per minute and per day; None: no limit.
        when_spent: "skip": a sample without room in the budget is not scored (budget); "wait": it waits for room.
        max_queue: Samples that may wait; further ones are dropped and counted.
        max_bytes: Bytes that waiting samples may take, roughly; further ones are dropped and counted.
        concurrency: Samples scored at the same time.
        deadline: Seconds for a sample; metrics that are not done by then fail (timeout), also where the judge blocks
            its event loop or ignores that it is cancelled.
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
        store: StoreSpec = None,
        application: Application | str | None = None,
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
        self.judge = judge_if_asked(any(one.may_ask for one in self.metrics), judge, environment.judge_or)
        check_immediate(self.judge, "live scoring")
        check_budget(budget, self.judge)
        self._budget = budget
        self._waits = when_spent == "wait"
        application = resolve_application(application)
        self._sinks = environment.with_store(name_sinks(sinks), store, application.name)
        self._on_score = on_score
        self._max_queue = max_queue
        self._max_bytes = max_bytes
        self._concurrency = concurrency
        self._deadline = deadline
        self._score_partial = score_partial
        self._keep = keep
        super().__init__(environment.sampling() if sampling is None else sampling, application)

    def _open_box(self) -> Mailbox[Submission | _BroughtIn]:
        if hasattr(self, "_running"):  # of the parent process
            keep(self._running)
            if self._letting_go is not None:
                self._letting_go.detach()
        self._taken: OrderedDict[str, float | None] = OrderedDict()  # keys of the newest, and when they were scored
        self._later: dict[str, Feedback] = {}  # feedback on samples in work
        self._results: OrderedDict[str, ScoredSample] = OrderedDict()
        self._running: set[_Running] = set()  # changed with the lock held
        self._watched_by: LoopThread | None = None  # which gives up those that are late
        self._thread: threading.Thread | None = None  # the one that `_cache` belongs to
        self._cache: RenewedCache | None = None
        self._letting_go: Any = None  # the finalizer that lets go of the judge on the scoring thread
        self._delivery = Delivery(
            self._sinks, self._on_score, self._max_queue, self._delivered, self.count_error, self._count_lost
        )
        self._skips = SkipCounts()  # changed with the lock held
        self._counts_due = False  # whether they are about to be written
        self._seen = self._allowed = 0  # items put before the last look, and those that may be begun until the next
        self._last = 0.0  # when a look last found new ones
        self._waits_since = 0.0  # when a burst began, or a look last took all that waited
        return Mailbox(SCORING, self._look, max_items=self._max_queue, max_bytes=self._max_bytes)

    # -- the host's side ------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return call_repr(self, labels(self.metrics), self.judge, sinks=tuple(self._sinks.values()) or None)

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
            outcome = self._take_later_feedback(key, feedback)
            sampler.counts[outcome] += 1
            return outcome != LATE
        if not sampler.is_left(key):
            sampler.note(key, feedback)
            return True
        age = sampler.left_for(key)
        sample = sampler.bring_in(key, feedback)
        if sample is None:
            return True
        if not self._box.put(size_of(sample), _BroughtIn(sample)):
            sampler.restore(sample)
            return False
        self._tally.counts["sampled_out"] -= 1
        self._skips.add(SAMPLED_OUT, application_of(sample.metadata), -1, ago=age)
        self._take(key)
        return True

    def _take_later_feedback(self, key: str, feedback: Feedback) -> str:
        """Feedback on a sample that was taken: what becomes of it."""
        scored_at = self._taken[key]
        if scored_at is None:
            self._later[key] = feedback
            return ATTACHED
        if not self._delivery.amends or time.monotonic() - scored_at > self._sampler.max_age:
            return LATE
        change = partial(self._sampler.with_later_feedback, feedback=feedback)
        return ADDED if self._delivery.amend(key, change) else LATE

    def _count_submission(self, taken: bool) -> None:
        super()._count_submission(taken)
        if not taken:
            self._skips.add(CLOSED if self._box.closed else DROPPED, self._application.name)

    def _stop(self, seconds: float) -> None:
        self._box.stop()
        with self._box.lock:
            running = list(self._running)
        for one in running:
            _cancel(one)
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
        self._plan_counts()
        return False

    def _start(self) -> None:
        while self._allowed > 0 and len(self._running) < self._concurrency and (taken := self._box.take()) is not None:
            self._allowed -= 1
            number, item = taken
            one = _Running(number, SCORING.thread)
            with self._box.lock:
                self._running.add(one)
            one.task = asyncio.get_running_loop().create_task(self._one(one, item, self._cache_here()))
            one.task.add_done_callback(partial(self._done, one))

    def _done(self, one: _Running, task: asyncio.Task[None]) -> None:
        with self._box.lock:
            self._running.discard(one)
        if self._box.closed:
            self._box.changed()
        if SCORING.here:
            self._start()
            self._plan_counts()

    def _cache_here(self) -> JudgementCache:
        """The cache for one sample: judgements, and what a judge holds, belong to a thread's loop."""
        if self._cache is None or self._thread is not threading.current_thread():
            self._cache, self._thread = RenewedCache(self.judge), threading.current_thread()
        if self._letting_go is None:
            SCORING.hold(self.judge)
            self._letting_go = weakref.finalize(self, SCORING.let_go, self.judge)
            self._letting_go.atexit = False
        return self._cache.next()

    async def _one(self, one: _Running, item: Submission | _BroughtIn, cache: JudgementCache) -> None:
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
                if type(self.judge).prepare is not BaseJudge.prepare:
                    with suppress(Exception):  # what cannot be loaded is said by the scores
                        await self.judge.prepare()
                if self._budget is None:  # nor does the loop's context hold one
                    scored = await self._score(one, taken, cache)
                else:
                    with spending(self._budget):
                        scored = await self._score(one, taken, cache)
        except (asyncio.CancelledError, GeneratorExit):  # `close` gave up on it, or a fork: it stays pending
            raise
        except BaseException as error:
            self.count_error(error, "capture")
            sample = None
        with self._box.lock:
            if one not in self._running:  # it was given up, and has its scores
                return
            one.due = math.inf
            if scored is None:
                self._tally.counts["skipped"] += sample is None
                self._skips.add(NO_SAMPLE, self._application.name, int(sample is None))
                self._box.settle((one.number,))
                return
        self._record(one.number, scored)

    def _record(self, number: int, scored: ScoredSample) -> None:
        key = scored.sample.key()
        with self._box.lock:
            self._tally.finish(scored)
            if key in self._taken:
                self._taken[key] = time.monotonic()
            if key in self._later:
                sample = self._sampler.with_later_feedback(scored.sample, self._later.pop(key))
                scored = ScoredSample(sample=sample, scores=scored.scores)
            self._results[key] = scored
            while len(self._results) > self._keep:
                self._results.popitem(last=False)
            self._box.changed()
        self._delivery.put(number, scored, now=self._box.awaited)

    def _choose(self, sample: Sample) -> Sample | None:
        """The sample as it is to be scored; None: left out, and counted so."""
        sample = self._application.mark(sample)
        with self._box.lock:
            taken = self._sampler.choose(sample)
            if taken is None:
                self._tally.counts["sampled_out"] += 1
                self._skips.add(SAMPLED_OUT, application_of(sample.metadata))
                return None
            self._take(taken.key())
            return taken

    def _take(self, key: str) -> None:
        self._taken[key] = None
        while len(self._taken) > self._max_queue:
            self._later.pop(self._taken.popitem(last=False)[0], None)

    async def _score(self, one: _Running, sample: Sample, cache: JudgementCache) -> ScoredSample:
        while True:
            self._watch(one, sample)
            scored = await score_sample(
                sample, self.metrics, cache, deadline=self._deadline, score_partial=self._score_partial
            )
            if not self._waits or self._budget is None or not waits_for_budget(scored.scores):
                return scored
            one.due = math.inf
            await asyncio.sleep(max(BREATH, self._budget.frees_in()))

    # -- judges that hold the scoring thread: the thread that delivers has an eye on them ---------------------------

    def _watch(self, one: _Running, sample: Sample) -> None:
        """Have this sample given up where the judge holds the thread beyond the deadline."""
        with self._box.lock:
            one.sample, one.due = sample, time_in(self._deadline + HELD)
        if self._watched_by is None or self._watched_by is not DELIVERY.thread:
            with suppress(RuntimeError):  # no threads at the end of the process
                self._watched_by = DELIVERY.call_in(self._deadline + HELD, partial(_give_up_late, weakref.ref(self)))

    def give_up_late(self, now: float) -> float:
        """Give up what is late.

        Args:
            now: The time, of time.monotonic().

        Returns:
            When something may be late next; infinity for never.
        """
        with self._box.lock:
            late = [one for one in self._running if one.due <= now]
            self._running.difference_update(late)
        for one in late:
            self._give_up(one)
        with self._box.lock:
            due = min((one.due for one in self._running), default=math.inf)
            if not math.isfinite(due):
                self._watched_by = None
        return due

    def _give_up(self, one: _Running) -> None:
        _cancel(one)
        if one.sample is not None:
            self._record(one.number, late_sample(one.sample, self.metrics, self._deadline))
        if one.thread is not None:
            SCORING.give_up(one.thread)
        if len(self._box):
            self._wake()

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
            if written is not None and (written.receipts or written.failures):
                counts.update(written.counts)
                for where, error in written.failures.items():
                    self._tally.errors.add(error, where)
            if written is None or not self._delivery.counting.isdisjoint(written.failures):
                self._skips.add(UNDELIVERED, self._application.name)
            self._box.settle((number,))

    # -- samples without a row: the live run counts them ------------------------------------------------------------

    def _plan_counts(self) -> None:
        """On the scoring thread: have the counts written soon, where some changed."""
        if self._skips.waiting and not self._counts_due and self._delivery.counting:
            with suppress(RuntimeError):  # no threads at the end of the process; `close` writes them
                DELIVERY.call_in(COUNTED, partial(_write_counts, weakref.ref(self)))
                self._counts_due = True

    def write_counts(self) -> bool:
        """Write what was counted since, on the thread that delivers.

        Returns:
            False where some is left for another time.
        """
        with self._box.lock:
            self._counts_due = False
            totals = self._skips.changed()
        if not self._delivery.write_skip_counts(self._skips.source, totals):
            return False
        with self._box.lock:
            self._skips.written(totals)
            return not self._skips.waiting

    def _count_lost(self) -> None:
        """Before the sinks are closed: what is open by now gets no row."""
        with self._box.lock:
            self._skips.add(CLOSED, self._application.name, self._box.open)
        self.write_counts()


def _cancel(one: _Running) -> None:
    if one.task is not None:
        with suppress(RuntimeError):  # the loop has just ended
            one.task.get_loop().call_soon_threadsafe(one.task.cancel)


def _write_counts(scorer: weakref.ref[LiveScorer], now: float) -> float:
    one = scorer()
    if one is None or one.write_counts():
        return math.inf
    one._counts_due = True
    return now + COUNTED


def _give_up_late(scorer: weakref.ref[LiveScorer], now: float) -> float:
    """Not a method: what is called later is to keep no scorer alive."""
    one = scorer()
    return math.inf if one is None else one.give_up_late(now)
