"""The guard: scores an answer before it goes out, and decides within a deadline."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from assay._util.call_repr import call_repr, labels
from assay._util.forks import renewed
from assay._util.loop_threads import END_GRACE
from assay.errors import Cause, InputError
from assay.judges.base import JudgeSpec, check_immediate
from assay.judges.judge_thread import JudgeThread
from assay.judges.resolve import resolve_judge
from assay.live.guards.arguments import check_functions, check_outcomes, otherwise, seconds
from assay.live.guards.decision import GuardBlocked, GuardCounts, GuardDecision, GuardHealth
from assay.live.guards.thread import GuardJob, submit_job
from assay.live.guards.verdict import GuardAction, failure_in_words, in_words, outcome_of, thresholds_of
from assay.metrics.base import Metric
from assay.metrics.names import MetricSpec, resolve_metrics
from assay.records import Context, Sample, Score, ScoredSample

#: What `warm_up` asks about.
_WARM = Sample(
    question="Is it warm?",
    answer="It is warm by now, and so the next request will not wait.",  # long enough to look for its language
    reference="It is warm.",
    contexts=(Context(text="It is warm."),),
)

Fallback = str | Callable[[GuardDecision], Any] | None


@dataclass(slots=True, eq=False)
class _GuardCheck:
    """One call of `check`: the job, when it came, and its end."""

    job: GuardJob
    started: float
    done: concurrent.futures.Future[None] | None = None
    failure: Exception | None = None


class Guard:
    """Decide within a deadline whether an answer may go out.

        careful = assay.guard(
            "faithfulness", threshold=0.8, on_timeout="pass", on_error="block", on_skipped="block",
            fallback="I did not find that in the documents.",
        )
        decision = careful.check(Sample(question=..., contexts=..., answer=...))

    Once it is made, a guard raises no failure of its own into the request. It is safe for any number of threads and
    event loops. The judge works on a thread of the guard's own, which starts with the first check. After a fork the
    child starts with counters at 0 and a thread of its own.

    `on_timeout`, `on_error` and `on_skipped` have no defaults: whoever can write an answer or a document can provoke
    each of them.

    Args:
        metrics: Names or metrics.
        judge: A judge, its name, or None for the embedded one.
        threshold: Least value that passes, or the greatest where lower is better; one for all metrics, or one for each.
        deadline: Seconds after which the caller has a decision, whatever the judge does.
        on_timeout: "pass" or "block": what happens to an answer that was not scored in time.
        on_error: The same where the judge or the guard failed.
        on_skipped: The same for an answer with nothing to measure: no claims, no contexts.
        fallback: What replaces a blocked answer: a text, a function of the decision, or None: GuardBlocked is raised.
        on_decision: Called with every decision, in the caller's own thread; the deadline does not cover it.

    Raises:
        InputError: An argument is wrong, or the judge can never answer what a metric asks.
    """

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        check_outcomes(options)
        return super().__new__(cls)

    def __init__(
        self,
        metrics: MetricSpec = "faithfulness",
        judge: JudgeSpec = None,
        *,
        threshold: float | Mapping[str, float] = 0.5,
        deadline: float = 2.0,
        on_timeout: GuardAction,
        on_error: GuardAction,
        on_skipped: GuardAction,
        fallback: Fallback = None,
        on_decision: Callable[[GuardDecision], None] | None = None,
    ) -> None:
        self.metrics = resolve_metrics(metrics)
        self.thresholds: Mapping[str, float] = thresholds_of(self.metrics, threshold)
        self.deadline = seconds("deadline", deadline)
        self._otherwise = otherwise({"on_timeout": on_timeout, "on_error": on_error, "on_skipped": on_skipped})
        check_functions(fallback, on_decision)
        self.judge = resolve_judge(judge)
        check_immediate(self.judge, "a guard")
        for metric in self.metrics:
            reason = metric.cannot(self.judge)
            if reason is not None:  # every answer would be skipped, and most guards let that pass
                raise InputError(f"metrics: this judge can never score {metric.label!r}: {reason.message}")
        self._fallback = fallback
        self._on_decision = on_decision
        self._closed = False
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        # a lock that may be taken again: the collector may run a finalizer, or a host's hook, while we hold it
        self._lock = threading.RLock()
        self._tally = GuardCounts()
        self._worker = JudgeThread(self.judge, "assay-guard", _counter(weakref.ref(self)))
        # a guard that is let go takes its thread with it
        weakref.finalize(self, self._worker.retire).atexit = False

    def __repr__(self) -> str:
        return call_repr(
            self, labels(self.metrics), self.judge, threshold=self.thresholds or None, deadline=self.deadline
        )

    # -- deciding -------------------------------------------------------------------------------------------------

    def check(self, sample: Sample) -> GuardDecision:
        """Decide on a sample within the deadline.

        Args:
            sample: Question, contexts and answer.

        Returns:
            The decision.

        Raises:
            InputError: This is no Sample.
        """
        check = self._begin(sample)
        try:
            if check.done is not None:
                concurrent.futures.wait([check.done], timeout=self._left_of(check))
        except BaseException:  # Ctrl-C
            self._withdraw(check)
            raise
        return self._decide(check)

    async def acheck(self, sample: Sample) -> GuardDecision:
        """Decide on a sample in async code: the event loop stays free. Cancelling the call cancels the scoring.

        Args:
            sample: Question, contexts and answer.

        Returns:
            The decision.

        Raises:
            InputError: This is no Sample.
        """
        check = self._begin(sample)
        try:
            if check.done is not None:
                await asyncio.wait([asyncio.wrap_future(check.done)], timeout=self._left_of(check))
        except BaseException:
            self._withdraw(check)
            raise
        return self._decide(check)

    def replacement(self, decision: GuardDecision) -> Any:
        """Make what replaces a blocked answer: the fallback.

        Args:
            decision: The decision that blocked it.

        Returns:
            The fallback, or what its function returns.

        Raises:
            GuardBlocked: There is no fallback, or its function raised.
        """
        if self._fallback is None:
            raise GuardBlocked(decision)
        if isinstance(self._fallback, str):
            return self._fallback
        try:
            return self._fallback(decision)
        except Exception as error:
            self._count(error, "fallback")
            raise GuardBlocked(decision) from error

    # -- around it ------------------------------------------------------------------------------------------------

    def warm_up(self, timeout: float = 60.0) -> bool:
        """Let the judge score one short made-up sample, so that no request waits for models to load.

        Call it when a process starts, after any fork. It does not count as a check. An LLM judge is really called.

        Args:
            timeout: Seconds to wait at most.

        Returns:
            False when a metric got no value in this time.
        """
        until = seconds("timeout", timeout)
        job = GuardJob(_WARM, self.metrics)
        try:
            with self._lock:
                done = self._submit(job)
            concurrent.futures.wait([done], timeout=until)
            done.cancel()
        except Exception as error:
            self._count(error, "warm_up")
        return len(job.scores) == len(self.metrics) and all(score.value is not None for score in job.scores.values())

    def health(self) -> GuardHealth:
        """Read the counters.

        Returns:
            A copy of them at this moment.
        """
        with self._lock:
            return self._tally.health()

    def close(self) -> GuardHealth:
        """End the guard's thread. Later checks are errors, and `on_error` decides on them.

        Returns:
            The final counters.
        """
        with self._lock:
            self._closed = True
        self._worker.retire(wait=2 * END_GRACE)
        return self.health()

    # -- behind ---------------------------------------------------------------------------------------------------

    def _begin(self, sample: Sample) -> _GuardCheck:
        if not isinstance(sample, Sample):
            raise InputError(f"sample: expected a Sample, got {type(sample).__name__}")
        check = _GuardCheck(GuardJob(sample, self.metrics), time.perf_counter())
        with self._lock:
            self._tally.counts.update(checks=1, pending=1)
            try:
                check.done = self._submit(check.job)
            except Exception as error:
                check.failure = error
                self._tally.errors.add(error, "guard")
        return check

    def _submit(self, job: GuardJob) -> concurrent.futures.Future[None]:
        """With the lock held."""
        if self._closed:
            raise RuntimeError("the guard is closed")
        return submit_job(self._worker, self.judge, job)

    def _left_of(self, check: _GuardCheck) -> float:
        return max(0.0, self.deadline - (time.perf_counter() - check.started))

    def _withdraw(self, check: _GuardCheck) -> None:
        if check.done is not None:
            check.done.cancel()
        with self._lock:
            self._tally.counts.update(pending=-1, withdrawn=1)

    def _decide(self, check: _GuardCheck) -> GuardDecision:
        try:
            late = self._call_off(check)
            decision = self._decision(check, late)
        except Exception as error:  # a bug of ours is no reason to lose the host's answer
            self._count(error, "guard")
            decision = self._failed(check, error)
        with self._lock:
            self._tally.count(decision)
        if self._on_decision is not None:
            try:
                self._on_decision(decision)
            except Exception as error:
                self._count(error, "on_decision")
        return decision

    def _call_off(self, check: _GuardCheck) -> bool:
        """Cancel a scoring that is not done; True when there was one."""
        if check.done is None or check.done.done():
            return False
        check.done.cancel()
        with self._lock:
            self._tally.counts.update(late=1, stuck=int(self._worker.leave_behind()))
        return True

    def _decision(self, check: _GuardCheck, late: bool) -> GuardDecision:
        job = check.job
        failure = check.failure or job.failure
        if failure is not None:
            return self._failed(check, failure)
        scores = {metric.label: job.scores.get(metric.label) or self._missing(metric, late) for metric in self.metrics}
        outcome, failed = outcome_of(scores, self.thresholds)
        allowed = outcome == "passed" or self._otherwise.get(outcome) == "pass"
        return GuardDecision(
            allowed=allowed,
            outcome=outcome,
            scored=ScoredSample(sample=job.sample, scores=scores),
            failed=failed,
            seconds=time.perf_counter() - check.started,
            reason=in_words(outcome, allowed, scores, self.thresholds, job.sample),
        )

    def _missing(self, metric: Metric, late: bool) -> Score:
        if late:
            return metric.skip(Cause.TIMEOUT, f"not done within {self.deadline:g} s")
        return metric.skip(Cause.INTERRUPTED, "the scoring was stopped")

    def _failed(self, check: _GuardCheck, error: Exception) -> GuardDecision:
        allowed = self._otherwise["error"] == "pass"
        took = time.perf_counter() - check.started
        reason = failure_in_words(allowed, error)
        return GuardDecision(allowed=allowed, outcome="error", seconds=took, reason=reason)

    def _count(self, error: BaseException, where: str) -> None:
        with self._lock:
            self._tally.errors.add(error, where)

    # -- copies: components that hold a guard are copied, the guard stays one ----------------------------------------

    def __copy__(self) -> Guard:
        return self

    def __deepcopy__(self, memo: Any) -> Guard:
        return self


#: What users write: `assay.guard(...)`.
guard = Guard


def _counter(guard: weakref.ref[Guard]) -> Callable[[BaseException], None]:
    """Counts a worker's errors without keeping its guard alive."""

    def count(error: BaseException) -> None:
        alive = guard()
        if alive is not None:
            alive._count(error, "judge's thread")

    return count
