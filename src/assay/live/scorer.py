"""The live scorer: takes samples from a running application without ever holding it up.

`submit` appends to a bounded queue. One daemon thread with its own event loop scores, another delivers. Both start when
there is work and end after a while without. Everything that is lost on the way is counted in `health()`.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from assay.budgets.budget import Budget, check_budget, spending, waits_for_budget
from assay.counting import log
from assay.errors import InputError
from assay.judges.base import BaseJudge
from assay.judges.cache import Desk
from assay.live.delivery import IDLE, Delivery
from assay.live.desks import RenewedDesk
from assay.live.feedback import LATE, REFUSED, Choice, feedback_of
from assay.live.health import Health, Tally
from assay.live.intake import Submission
from assay.live.lifetime import look_after
from assay.live.sampling import Sampling, resolve_sampling
from assay.live.sizes import size_of
from assay.metrics.base import Metric
from assay.records import Sample, ScoredSample
from assay.scoring import score_sample
from assay.sinks.base import Receipt, Sink

if TYPE_CHECKING:
    from assay.metrics.registry import MetricSpec

#: Scored where no metrics are named: what needs no reference, and what the embedded judge answers.
LIVE_METRICS = ("faithfulness", "context_utilization")

STOP_GRACE = 2.0  # seconds that `close` waits for the threads to end, after its own timeout
POLL = 0.02  # seconds after which the scoring thread, while at work, looks for new samples
NAP = 2.0  # seconds after its last sample for which it goes on looking; only after that it has to be woken
BREATH = 0.05  # seconds at least before a sample that waits for its budget is tried again

#: What stands in the queue: a number, a size, a submission, and whether sampling has already taken it.
_Item = tuple[int, int, Submission, bool]


class LiveScorer:
    """Scores samples in the background.

    metrics        names or metrics; a wrong name raises here. None: LIVE_METRICS
    judge          a judge, its name, or None for the embedded one
    sinks          where scored samples go; called from one thread, closed by `close`
    on_score       called there as well, after the sinks
    sampling       which samples to score: a rate, a `Sampling`, or None for all
    budget         what the judge may be asked for per minute and per day; None: anything
    when_spent     "unscored": what finds no room in the budget is unscored (budget); "wait": it waits for room
    max_queue      samples that may wait; further ones are dropped and counted
    max_bytes      bytes that waiting samples may hold, roughly; the same happens beyond that
    concurrency    samples scored at the same time
    deadline       seconds per sample; metrics not done by then are unscored (timeout)
    score_partial  score abandoned, cancelled and failed answers too
    keep           newest results that `result` can still give

    Safe for any number of threads. After a fork the child starts with an empty queue and its counters at 0.
    At the end of the process what is queued gets two seconds; call `flush` or `close` to give it more.
    """

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: BaseJudge | str | None = None,
        *,
        sinks: Sequence[Sink] = (),
        on_score: Callable[[ScoredSample], None] | None = None,
        sampling: Sampling | float | None = None,
        budget: Budget | None = None,
        when_spent: Literal["unscored", "wait"] = "unscored",
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
        if deadline <= 0:
            raise InputError(f"deadline: expected a positive number of seconds, got {deadline}")
        if when_spent not in ("unscored", "wait"):
            raise InputError(f"when_spent: expected 'unscored' or 'wait', got {when_spent!r}")
        self.metrics = _resolve_metrics(LIVE_METRICS if metrics is None else metrics)
        self.judge = _resolve_judge(judge)
        check_budget(budget, self.judge)
        self._sampling = resolve_sampling(sampling)
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
        self._closed = False
        self._set_up()
        look_after(self)

    def _set_up(self) -> None:
        # a lock that may be taken again: a generator that is collected while we hold it runs the host's hooks, and
        # those submit
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._work = threading.Condition(self._lock)
        self._tally = Tally()
        self._queue: deque[_Item] = deque()
        self._queue_bytes = 0
        self._numbers = 0  # given to everything queued, in order
        self._choice = Choice(self._sampling)
        self._taken: OrderedDict[str, None] = OrderedDict()  # keys that feedback comes too late for, the newest
        self._open: dict[int, None] = {}  # numbers of samples taken in, not yet delivered, oldest first
        self._results: OrderedDict[str, ScoredSample] = OrderedDict()
        self._delivery = Delivery(self._sinks, self._on_score, self._max_queue, self._delivered, self._received)
        self._thread: threading.Thread | None = None
        self._asleep = False
        self._stopping = False

    # -- the host's side ------------------------------------------------------------------------------------------

    def submit(self, sample: Submission) -> bool:
        """Queue a sample, or a function that makes one. False: dropped. Never blocks, never raises."""
        try:
            size = size_of(sample)
            with self._lock:
                if not self._room(size):
                    self._tally.dropped += 1
                    return False
                self._tally.submitted += 1
                self._enqueue(size, sample, chosen=False)
            self._wake()
        except Exception as error:
            self.count_error(error, "submit")
            return False
        return True

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """What a user said of the answer with this key. False: too late, or refused. Never blocks, never raises.

        It goes into `metadata["feedback"]` of the sample, as long as that waits, and brings in a sample that sampling
        left out where a rule says so. What became of it: `health().feedback`.
        """
        try:
            given = feedback_of(value, comment)
            with self._lock:
                choice = self._choice
                if given is None or self._closed:
                    choice.counts[REFUSED] += 1
                    return False
                if key in self._taken:
                    choice.counts[LATE] += 1
                    return False
                if not choice.is_left(key):
                    choice.note(key, given)
                    return True
                sample = choice.bring_in(key, given)
                if sample is None:
                    return True
                if not self._room(size_of(sample)):
                    choice.restore(sample)
                    return False
                self._tally.sampled_out -= 1
                self._take(key)
                self._enqueue(size_of(sample), sample, chosen=True)
            self._wake()
        except Exception as error:
            self.count_error(error, "feedback")
            return False
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was submitted so far is scored and delivered. False when the time ran out first."""
        if threading.current_thread() in (self._thread, self._delivery.thread):
            return False  # asked by a metric or a sink: it would wait for itself
        with self._settled:
            last = self._numbers
            if self._queue:
                self._wake(now=True)
            return self._settled.wait_for(lambda: next(iter(self._open), last + 1) > last, timeout)

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """The scores of the sample with this key, if it is among the newest results.

        Waits up to `timeout` seconds for it; None waits for as long as anything is pending.
        """
        with self._settled:
            if self._queue and timeout != 0:
                self._wake(now=True)
            self._settled.wait_for(lambda: key in self._results or (timeout is None and not self._open), timeout)
            return self._results.get(key)

    def health(self) -> Health:
        """The counters as they stand."""
        budget = self._budget_state()
        with self._lock:
            feedback = {**self._choice.counts, "waiting": self._choice.waiting}
            return self._tally.health(len(self._open), feedback, budget)

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught outside the scorer's own code, in a capture hook for example."""
        with self._lock:
            self._tally.errors.add(error, where)

    def close(self, timeout: float | None = 30) -> Health:
        """Take no more samples, wait for those in hand, close the sinks. What is pending in the result is lost."""
        with self._lock:
            first, self._closed = not self._closed, True
        if not first:
            return self.health()
        started = time.monotonic()
        self.flush(timeout)
        left = STOP_GRACE if timeout is None else max(0.0, timeout - (time.monotonic() - started)) + STOP_GRACE
        with self._lock:
            self._stopping = True
            thread = self._thread
            self._work.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join(min(left, STOP_GRACE))
        self._delivery.close(left)
        health = self.health()
        if health.pending or health.undelivered:
            log.warning("assay: closed with %d pending, %d undelivered", health.pending, health.undelivered)
        return health

    def _room(self, size: int) -> bool:
        if self._closed or len(self._queue) >= self._max_queue:
            return False
        return not self._queue or self._queue_bytes + size <= self._max_bytes

    def _enqueue(self, size: int, sample: Submission, *, chosen: bool) -> None:
        self._numbers += 1
        self._open[self._numbers] = None
        self._queue.append((self._numbers, size, sample, chosen))
        self._queue_bytes += size

    # -- the scoring thread ---------------------------------------------------------------------------------------

    def _wake(self, *, now: bool = False) -> None:
        with self._lock:
            if self._thread is not None:
                # waking a thread costs the host 15 to 40 µs: one that looks by itself, as it does for a while after
                # each sample, is left alone
                if self._asleep or now:
                    self._work.notify()
                return
            self._thread = thread = threading.Thread(target=self._run, name="assay-live", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no threads at the end of the process
            with self._lock:
                self._thread = None
                self._tally.errors.add(error, "start")

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                desk = RenewedDesk(self.judge)
                while self._has_work():
                    runner.run(self._serve(desk))
                runner.run(self.judge.release())
        except BaseException as error:  # the thread dies, the host lives; the next submit starts another
            self.count_error(error, "scoring thread")
        finally:
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _has_work(self) -> bool:
        """Wait for work; False when this thread should end."""
        with self._work:
            quiet_since = time.monotonic()
            while not self._queue and not self._stopping:
                self._asleep = time.monotonic() - quiet_since > NAP
                if not self._work.wait(IDLE if self._asleep else POLL) and self._asleep:
                    break
            self._asleep = False
            if self._queue and not self._stopping:
                return True
            self._thread = None  # from here on a submit starts another
            return False

    async def _serve(self, desk: RenewedDesk) -> None:
        """Score until the queue is empty."""
        with spending(self._budget):
            await self._serve_queue(desk)

    async def _serve_queue(self, desk: RenewedDesk) -> None:
        running: set[asyncio.Task[None]] = set()
        while not self._stopping:
            while self._queue and len(running) < self._concurrency:
                with self._lock:
                    number, size, submission, chosen = self._queue.popleft()
                    self._queue_bytes -= size
                running.add(asyncio.create_task(self._one(number, submission, chosen, desk.next())))
            if not running:
                return
            _, running = await asyncio.wait(running, timeout=POLL, return_when=asyncio.FIRST_COMPLETED)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_GRACE / 2)

    async def _one(self, number: int, submission: Submission, chosen: bool, desk: Desk) -> None:
        scored = sample = None
        try:
            sample = submission if isinstance(submission, Sample) else submission()
            taken = sample if sample is None or chosen else self._choose(sample)
            if taken is not None:
                scored = await self._score(taken, desk)
        except asyncio.CancelledError:  # `close` gave up on it: it stays pending
            raise
        except BaseException as error:
            self.count_error(error, "capture")
            sample = None
        if scored is None:
            with self._settled:
                if sample is None:
                    self._tally.skipped += 1
                self._open.pop(number, None)
                self._settled.notify_all()
            return
        with self._settled:
            self._tally.finish(scored)
            self._results[scored.sample.key()] = scored
            while len(self._results) > self._keep:
                self._results.popitem(last=False)
            self._settled.notify_all()
        self._delivery.put(number, scored)

    def _choose(self, sample: Sample) -> Sample | None:
        """The sample as it is to be scored; None: left out, and counted so."""
        with self._lock:
            taken = self._choice.choose(sample)
            if taken is None:
                self._tally.sampled_out += 1
                return None
            self._take(taken.key())
            return taken

    def _take(self, key: str) -> None:
        self._taken[key] = None
        while len(self._taken) > self._max_queue:
            self._taken.popitem(last=False)

    async def _score(self, sample: Sample, desk: Desk) -> ScoredSample:
        while True:
            scored = await score_sample(
                sample, self.metrics, desk, deadline=self._deadline, score_partial=self._score_partial
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

    def _received(self, receipt: Receipt) -> None:
        with self._lock:
            self._tally.received(receipt)

    def _delivered(self, number: int, ok: bool, errors: Sequence[tuple[str, BaseException]]) -> None:
        with self._settled:
            for where, error in errors:
                self._tally.errors.add(error, where)
            if number and ok:
                self._tally.delivered += 1
            elif number:
                self._tally.undelivered += 1
            self._open.pop(number, None)
            self._settled.notify_all()

    # -- copies ---------------------------------------------------------------------------------------------------

    def __copy__(self) -> LiveScorer:
        return self

    def __deepcopy__(self, memo: Any) -> LiveScorer:
        return self


def _resolve_metrics(metrics: MetricSpec) -> tuple[Metric, ...]:
    from assay.metrics.registry import resolve

    return resolve(metrics)


def _resolve_judge(judge: BaseJudge | str | None) -> BaseJudge:
    from assay.judges import resolve_judge

    return resolve_judge(judge)
