"""The worker: takes samples from a queue, scores them, keeps the scores there, and delivers them.

Any number of workers, in any number of processes, may share a queue. Each leases what it works on; what a worker that
was killed had leased is taken up by another when the lease expires.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay._util.call_repr import call_repr, labels
from assay._util.error_counter import Errors, log
from assay._util.loop_threads import LATE
from assay._util.sqlite import is_damage
from assay.errors import Cause, InputError, StoreError
from assay.evaluation.score_sample import late_sample, score_sample, skipped_sample
from assay.judges.base import JudgeSpec, check_immediate
from assay.judges.budget.budget import Budget, check_budget, spending, waits_for_budget
from assay.judges.budget.ledger import MemoryLedger
from assay.judges.budget.sqlite_ledger import FileLedger
from assay.judges.cache import JudgementCache
from assay.judges.fresh_judgements import fresh_cache
from assay.judges.judge_thread import JudgeThread
from assay.judges.no_judge import judge_if_asked
from assay.live import environment
from assay.live.application import resolve_application
from assay.live.protocol import StoreSpec
from assay.live.queue.canary_task import CanaryTask
from assay.live.queue.judgements import QueueJudgements
from assay.live.queue.leases import POLL, Leases
from assay.live.queue.outbox import Outbox
from assay.live.queue.queue_file import FILE_NAME, LONGEST_WAIT, QueueFile
from assay.live.queue.rows import LeasedSample, process_name
from assay.live.queue.sample_queue import SampleQueue
from assay.live.queue.status import QueueReport, report_of
from assay.live.queue.transitions import Return, outcome_of
from assay.live.scorer import LIVE_METRICS
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import counting, name_sinks, write_skip_counts
from assay.store.live_counts import QUEUE

if TYPE_CHECKING:
    from assay.live.alerts.watcher import AlertWatcher
    from assay.live.canaries.scoring import CanaryScorer
    from assay.metrics.names import MetricSpec

TIDY = 15.0  # seconds between deletions of what is delivered
RECENT = 7200.0  # seconds of counts that are written again each time
STOP_GRACE = 5.0  # seconds that a stop waits for the delivery under way
PATIENT = 120.0  # seconds that `until_empty` waits for a budget; for longer it leaves the samples to the next run

#: The judge is out of reach: the sample is not at fault, and another time may do.
_PASSING = frozenset({Cause.CONNECTION, Cause.RATE_LIMITED, Cause.AUTH, Cause.NO_MODEL})


class Worker:
    """Queue worker that scores the samples of a queue.

    Args:
        queue: A SampleQueue or its folder.
        metrics: Names or metrics. None: LIVE_METRICS.
        judge: A judge or its name. None: the embedded judge.
        store: Store that keeps the scored samples as the live run `live/APPLICATION`: folder, file or database URL.
            None: ASSAY_STORE of the environment, else none. False: none. For more options, put an
            `assay.sinks.StoreSink` into `sinks` instead.
        application: Name of the application of samples that name none. None: that of the environment.
        sinks: Where scored samples go. Use a mapping from names where several workers have different sinks: a sample
            that was sent to a name is not sent to it again. Without sinks scores stay in the queue.
        budget: Limits on the judge, shared with all workers of this queue that have the same limits. None: no limit.
        when_spent: "wait": samples stay in the queue until there is room in the budget. "skip": they are skipped.
        concurrency: Samples scored at the same time, at least 1.
        deadline: Seconds per sample, above 0. Metrics not done by then fail (timeout), also where the judge blocks its
            event loop or ignores that it is cancelled.
        score_partial: Score abandoned, cancelled and failed answers too.
        patience: Seconds, since it was appended, for which a sample is retried while its judge is out of reach.
        lease: Seconds after which a worker that does not renew its leases counts as lost, above 0.
        max_attempts: A sample that was being scored this often when a worker died fails (bug). At least 1.
        max_tries: Delivery attempts before a sample is parked, at least 1.
        backoff: Seconds before the second attempt, above 0; they double with each attempt.
        keep: Seconds that a delivered sample stays in the queue.
        keep_samples: Delivered samples that stay in the queue at most.
        remember: Keys that stay known after their samples are deleted.
        alerts: Checks alert rules in a thread of its own while the worker runs, and once more where `run` ends because
            the queue is empty. None: no alerts.
        canaries: Scores canary rows once a day, and when the judge is another one, with this judge and these metrics,
            beside the samples and within the budget. None: no canary rows.

    Raises:
        InputError: A number is out of range, a metric's name is wrong, the judge answers in batches, or the judge does
            not keep to the budget.
    """

    def __init__(
        self,
        queue: SampleQueue | str | os.PathLike[str],
        metrics: MetricSpec | None = None,
        judge: JudgeSpec = None,
        *,
        store: StoreSpec = None,
        application: str | None = None,
        sinks: Sequence[Sink] | Mapping[str, Sink] = (),
        budget: Budget | None = None,
        when_spent: Literal["wait", "skip"] = "wait",
        concurrency: int = 4,
        deadline: float = 120.0,
        score_partial: bool = False,
        patience: float = 600.0,
        lease: float = 60.0,
        max_attempts: int = 5,
        max_tries: int = 8,
        backoff: float = 0.5,
        keep: float = 3600.0,
        keep_samples: int = 10_000,
        remember: int = 1_000_000,
        alerts: AlertWatcher | None = None,
        canaries: CanaryScorer | None = None,
    ) -> None:
        from assay.metrics.names import resolve_metrics

        least = {"concurrency": concurrency, "max_attempts": max_attempts, "max_tries": max_tries}
        for name, number in least.items():
            if number < 1:
                raise InputError(f"{name}: expected at least 1, got {number}")
        for name, seconds in {"deadline": deadline, "lease": lease, "backoff": backoff}.items():
            if seconds <= 0:
                raise InputError(f"{name}: expected a positive number of seconds, got {seconds}")
        if when_spent not in ("wait", "skip"):
            raise InputError(f"when_spent: expected 'wait' or 'skip', got {when_spent!r}")
        self.path = queue.path if isinstance(queue, SampleQueue) else Path(queue)
        self.metrics = resolve_metrics(LIVE_METRICS if metrics is None else metrics)
        self.judge = judge_if_asked(any(one.may_ask for one in self.metrics), judge)
        check_immediate(self.judge, "a worker")
        check_budget(budget, self.judge)
        self.name = process_name("worker")
        self._file = QueueFile(self.path)
        self._file.create()
        if budget is not None and isinstance(budget.ledger, MemoryLedger):
            budget = budget.on(FileLedger(self.path / FILE_NAME))
        self._budget = budget
        self._waits = when_spent == "wait"
        self._sinks = environment.with_store(name_sinks(sinks), store, resolve_application(application).name)
        self._concurrency = concurrency
        self._deadline = deadline
        self._score_partial = score_partial
        self._patience = patience
        self._lease = lease
        self._max_attempts = max_attempts
        self._outbox_options = {"max_tries": max_tries, "backoff": backoff, "lease": lease}
        self._keep = (keep, keep_samples, remember)
        self._alerts = alerts
        self._canaries = canaries
        self._canary_task: CanaryTask | None = None
        self._running: dict[asyncio.Task[None], LeasedSample] = {}
        self._counted = False  # whether the sinks have all counts of the queue
        self._errors = Errors()
        self._damage: BaseException | None = None  # of the queue's file
        self._stop_now = threading.Event()
        self._wake: Callable[[], None] = lambda: None  # wakes the loop of `run`, from any thread
        self._unreachable = 0  # samples in a row whose judge was out of reach
        self._pause_until = 0.0

    def __repr__(self) -> str:
        return call_repr(
            self, str(self.path), labels(self.metrics), self.judge, sinks=tuple(self._sinks.values()) or None
        )

    def run(self, until_empty: bool = False) -> QueueReport:
        """Run the worker until `stop`, SIGTERM or Ctrl-C.

        At the end, samples in progress are handed back and the sinks are closed.

        Args:
            until_empty: Stop as soon as every sample is scored and delivered or parked. Samples that wait for a daily
                budget are left to a later run.

        Returns:
            The report of the queue.
        """
        with self._signals():
            asyncio.run(self._main(until_empty))
        try:
            return self.report()
        finally:
            self._file.close()

    def stop(self) -> None:
        """Stop `run` and hand back the samples in progress. Safe to call from any thread and from signal handlers."""
        self._stop_now.set()
        self._wake()

    def report(self) -> QueueReport:
        """Report the counts of the queue.

        Returns:
            The report, of all processes.

        Raises:
            StoreError: The file cannot be read.
        """
        return report_of(self._file)

    @property
    def errors(self) -> Mapping[str, int]:
        """Exceptions caught in sinks, files and metrics, by type."""
        return dict(self._errors.counts)

    # -- the loop -------------------------------------------------------------------------------------------------

    async def _main(self, until_empty: bool) -> None:
        changed = asyncio.Event()
        self._wake = _waker(changed)
        judgements = QueueJudgements(self.path, self._failed)
        outbox = Outbox(self._file, self.name, self._sinks, self._failed, **self._outbox_options)  # type: ignore[arg-type]
        leases = Leases(
            self._file,
            self.name,
            lease=self._lease,
            room=self._concurrency,
            paused=lambda: self._pause() > 0,
            failed=lambda error: self._failed(error, "queue"),
            kept=outbox.wake,
            arrived=self._wake,
        )
        outbox.start()
        leases.start()
        if self._alerts is not None:
            self._alerts.start()
        tidying = asyncio.create_task(self._tidying(judgements))
        # apart from this loop, which a judge that blocks would hold with all that is to end or to be told meanwhile
        judging = JudgeThread(self.judge, "assay-worker", lambda error: self._failed(error, "judge"), judgements)
        scoring: asyncio.Task[None] | None = None
        try:
            with spending(self._budget):
                scoring = self._start_canaries(judging)
                await self._work(judging, leases, changed, until_empty)
        finally:
            tidying.cancel()
            if scoring is not None:
                scoring.cancel()
                await asyncio.wait({scoring}, timeout=STOP_GRACE)
            self._wake = lambda: None
            await asyncio.to_thread(leases.stop, STOP_GRACE)
            await asyncio.to_thread(outbox.stop, STOP_GRACE)
            try:
                await asyncio.to_thread(judging.retire, STOP_GRACE)
                await asyncio.to_thread(self._tidy, judgements)
                if self._alerts is not None:
                    await asyncio.to_thread(self._alerts.finish, once_more=not self._stop_now.is_set())
            finally:
                self._close(judgements)

    async def _work(self, judging: JudgeThread, leases: Leases, changed: asyncio.Event, until_empty: bool) -> None:
        running = self._running

        def ended(task: asyncio.Task[None]) -> None:
            running.pop(task, None)
            changed.set()

        try:
            while not self._stop_now.is_set():
                if self._damage is not None:
                    raise StoreError(f"{str(self._file.path)!r}: the queue is damaged: {self._damage}")
                changed.clear()
                while len(running) < self._concurrency and (leased := leases.next()) is not None:
                    task = asyncio.create_task(self._one(leased, judging, leases))
                    running[task] = leased
                    task.add_done_callback(ended)
                if until_empty and leases.idle and self._canaries_are_idle() and self._is_empty():
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL):
                        await changed.wait()
        finally:
            left = dict(running)
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=STOP_GRACE)
            for leased in left.values():
                leases.give_back(Return(leased.number))

    def _pause(self) -> float:
        """Seconds for which nothing new is begun: the budget is spent, or the judge out of reach."""
        budget = self._budget.frees_in() if self._budget is not None and self._waits else 0.0
        return max(budget, self._pause_until - time.monotonic())

    # -- canary rows ----------------------------------------------------------------------------------------------

    def _start_canaries(self, judging: JudgeThread) -> asyncio.Task[None] | None:
        """Score canary rows beside the samples, in a task of their own."""
        if self._canaries is None:
            return None

        async def score_row(sample: Sample) -> ScoredSample:
            return await self._judged(sample, judging, fresh_cache)

        self._canary_task = CanaryTask(
            self._canaries,
            self.metrics,
            lambda: self.judge.fingerprint,
            score_row,
            is_free=lambda: len(self._running) < self._concurrency,
            pause=lambda: max(self._pause(), 0.0 if self._budget is None else self._budget.frees_in()),
            failed=self._failed,
        )
        return asyncio.create_task(self._canary_task.run())

    def _canaries_are_idle(self) -> bool:
        return self._canary_task is None or self._canary_task.idle

    def _is_empty(self) -> bool:
        """Whether this worker can leave: nothing to score, by anybody, nor to deliver."""
        report = self._safely(self.report)
        if report is None:
            return False
        if self._budget is not None and self._budget.frees_in() > PATIENT:
            return True
        return not report.pending and not (report.undelivered and self._sinks)

    async def _tidying(self, judgements: QueueJudgements) -> None:
        """Now and then delete what is done with."""
        while True:
            await asyncio.to_thread(self._tidy, judgements)
            await asyncio.sleep(TIDY)

    def _tidy(self, judgements: QueueJudgements) -> None:
        keep, samples, remember = self._keep
        while self._safely(lambda: self._file.forget(self._file.now() - keep, samples, remember)):
            continue
        judgements.forget_judgements(time.time() - max(keep, self._patience) - self._lease)
        self._tidy_sinks()

    def _tidy_sinks(self, *, all_counts: bool = False) -> None:
        """Tell the sinks how many samples the queue did not take, and have them delete what is too old."""
        if counting(self._sinks):
            # the last hours each time: another worker may have written what it read before
            since = 0.0 if all_counts or not self._counted else time.time() - RECENT
            found = self._safely(lambda: self._file.skip_counts(since))
            if found is not None:
                name, totals = found
                self._counted = write_skip_counts(self._sinks, f"{QUEUE}{name}", totals, self._failed)
        for name, sink in self._sinks.items():
            tidy = getattr(sink, "tidy", None)
            if callable(tidy):
                try:
                    tidy()
                except Exception as error:
                    self._failed(error, f"{name}.tidy")

    def _close(self, judgements: QueueJudgements) -> None:
        judgements.close()
        if self._canaries is not None:
            self._canaries.close()
        self._tidy_sinks(all_counts=True)
        for name, sink in self._sinks.items():
            try:
                sink.close()
            except Exception as error:
                self._failed(error, f"{name}.close")
        self._file.close()

    # -- one sample -----------------------------------------------------------------------------------------------

    async def _one(self, leased: LeasedSample, judging: JudgeThread, leases: Leases) -> None:
        scored = await self._scored(leased, judging)
        due = self._due_again(leased, scored)
        if due is not None:
            leases.give_back(Return(leased.number, due, counted=True))
            return
        try:
            outcome = outcome_of(leased.number, scored)
        except Exception as error:  # a metric of the user's put something into its score that is no JSON
            self._failed(error, "scores")
            message = f"the scores cannot be kept: {type(error).__name__}: {error}"
            outcome = outcome_of(leased.number, skipped_sample(scored.sample, self.metrics, Cause.BUG, message))
        leases.finish(outcome)

    async def _scored(self, leased: LeasedSample, judging: JudgeThread) -> ScoredSample:
        try:
            sample = Sample.from_dict(json.loads(leased.sample))
        except Exception as error:
            return skipped_sample(Sample(id=leased.key), self.metrics, Cause.BAD_ROW, f"cannot be read: {error}")
        if leased.attempts >= self._max_attempts:
            message = f"{leased.attempts} times a worker died or was lost while it had this sample in work"
            return skipped_sample(sample, self.metrics, Cause.BUG, message)
        return await self._judged(sample, judging)

    async def _judged(
        self, sample: Sample, judging: JudgeThread, asking: Callable[[JudgementCache], JudgementCache] | None = None
    ) -> ScoredSample:
        """The sample with its scores; `asking` makes another cache of the one of all samples."""

        def job(cache: JudgementCache) -> Coroutine[Any, Any, ScoredSample]:
            judge = cache if asking is None else asking(cache)
            return score_sample(sample, self.metrics, judge, deadline=self._deadline, score_partial=self._score_partial)

        work, thread = judging.submit(job, copy_context())
        result = asyncio.wrap_future(work)
        try:
            await asyncio.wait({result}, timeout=self._deadline + LATE)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if result.done():
            return result.result()
        work.cancel()
        judging.give_up(thread)
        return late_sample(sample, self.metrics, self._deadline)

    def _due_again(self, leased: LeasedSample, scored: ScoredSample) -> float | None:
        """When to try this sample again; None: what was found about it stands."""
        if self._waits and self._budget is not None and waits_for_budget(scored.scores):
            # this worker pauses until there is room; one with another budget may take the sample up before
            return self._file.time_without_file() + POLL
        causes = {score.error.cause for score in scored.scores.values() if score.error is not None}
        if not causes & _PASSING:
            if any(score.value is not None for score in scored.scores.values()):
                self._unreachable = 0
            return None
        self._unreachable += 1
        rounds = self._unreachable // self._concurrency
        wait = min(LONGEST_WAIT, 0.5 * 2.0 ** min(rounds, 16))
        if self._file.time_without_file() - leased.appended + wait > self._patience:
            return None
        if rounds:
            self._pause_until = time.monotonic() + wait
        return self._file.time_without_file() + wait

    # -- errors and signals ---------------------------------------------------------------------------------------

    def _failed(self, error: BaseException, where: str) -> None:
        self._errors.add(error, where)
        if where == "queue" and is_damage(error):  # to wait would not help
            self._damage = error
            self._wake()

    def _safely(self, action: Any, *arguments: Any) -> Any:
        """The result of a step on the file; None where the file cannot be used just now."""
        try:
            return action(*arguments)
        except (sqlite3.Error, StoreError) as error:
            self._failed(error, "queue")
            return None

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(number: int, frame: object) -> None:
            log.info("assay: worker stops")
            self.stop()

        before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _waker(event: asyncio.Event) -> Callable[[], None]:
    """A function that sets an event of the running loop, from any thread and from signal handlers."""
    loop = asyncio.get_running_loop()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has just ended
            loop.call_soon_threadsafe(event.set)

    return wake
