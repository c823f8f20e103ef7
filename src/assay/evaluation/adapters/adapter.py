"""A panel: some metrics and the judge they share, which scores what somebody else's evaluation hands it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeAlias, TypedDict

from assay._util.call_repr import call_repr
from assay._util.loop_threads import LATE, LoopThread
from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.adapters.host_row import HostRow, read_host_row, score_host_row
from assay.evaluation.adapters.shared_judge import get_shared_judge, shared_judge
from assay.evaluation.score_sample import late_sample, skipped_sample
from assay.judges.base import JudgeSpec, check_immediate
from assay.judges.budget.budget import Budget, check_budget
from assay.judges.cache import JudgementCache
from assay.metrics.base import Metric
from assay.metrics.names import MetricSpec, resolve_metrics
from assay.records import Sample, ScoredSample
from assay.sinks.annotations import Annotation, annotations_of
from assay.sinks.base import Mask
from assay.store.store import Store

DEADLINE = 240.0  # seconds for one sample: MLflow gives up a scorer after 300


#: A row, a sample, or a function that makes one.
RowSource: TypeAlias = Callable[[], HostRow | Sample] | HostRow | Sample


class PanelOptions(TypedDict, total=False):
    """What every tool's scorers take besides metrics and judge; see `MetricAdapter`."""

    store: Store | str | Path | None
    budget: Budget | None
    deadline: float | None
    mask: Mask | None
    texts: bool


class MetricAdapter:
    """Metrics and the judge that they share, for the evaluation of another tool.

    Once made it raises nothing: what goes wrong is a skipped result with its cause. Safe for any number of threads and
    event loops; a forked child goes on with a thread of its own. Pickled, it is made anew on the other side, which
    needs a judge given by name.

    Args:
        metrics: Names or metrics.
        judge: A judge, its name, or None for the embedded one. Panels that are given the same judge object, and all
            that are given the embedded one, share its judgements: each text is read once.
        store: Folder that keeps judgements, so that a rerun asks only for what is missing; None: they are kept in
            memory.
        budget: What the judge may be asked for at most.
        deadline: Seconds for one sample; what is not measured by then fails (timeout), also where the judge blocks its
            thread or ignores cancellation. None: no limit.
        mask: Applied to every text before it goes into an explanation or its evidence.
        texts: False: explanations and evidence hold no text of the sample.

    Raises:
        InputError: A metric is unknown, this judge can never score it or give an answer at once, or `deadline` is no
            positive number.
    """

    def __init__(
        self,
        metrics: MetricSpec,
        judge: JudgeSpec = None,
        *,
        store: Store | str | Path | None = None,
        budget: Budget | None = None,
        deadline: float | None = DEADLINE,
        mask: Mask | None = None,
        texts: bool = True,
    ) -> None:
        number = isinstance(deadline, (int, float)) and not isinstance(deadline, bool)
        if deadline is not None and not (number and deadline > 0):
            raise InputError(f"deadline: expected a positive number of seconds, or None, got {deadline!r}")
        self._said = (metrics, judge)
        self._options = {"store": store, "budget": budget, "deadline": deadline, "mask": mask, "texts": texts}
        self.metrics = resolve_metrics(metrics)
        self.judge = shared_judge(judge)
        check_immediate(self.judge, "another tool's evaluation")
        check_budget(budget, self.judge)
        for metric in self.metrics:
            reason = metric.cannot(self.judge)
            if reason is not None:
                raise InputError(f"metrics: this judge can never score {metric.label!r}: {reason.message}")
        self.deadline, self._mask, self._texts = deadline, mask, texts
        self._desk = get_shared_judge(self.judge, store, budget)

    def __repr__(self) -> str:
        return call_repr(self, self.labels, self.judge)

    @property
    def labels(self) -> list[str]:
        """The names of the scores, in order."""
        return [metric.label for metric in self.metrics]

    def each(self) -> list[Self]:
        """Make one adapter per metric. They share judge and judgements.

        Returns:
            The adapters, in the order of the metrics.
        """
        return [self._of(metric) for metric in self.metrics]

    def _of(self, metric: Metric) -> Self:
        one = object.__new__(type(self))
        one.__dict__.update(self.__dict__)
        one.metrics, one._said = (metric,), (metric, self._said[1])
        return one

    # -- scoring --------------------------------------------------------------------------------------------------

    def score(self, make: RowSource, target: str | None = None) -> list[Annotation]:
        """Score one row and wait for the result.

        A row that cannot be made fails (bad_row), and so do the metrics that need a value which cannot be read.

        Args:
            make: A row, a sample, or a function that makes one.
            target: What is annotated, as the tool calls it.

        Returns:
            One annotation per metric.
        """
        return self._told(self.score_row(make), target)

    async def ascore(self, make: RowSource, target: str | None = None) -> list[Annotation]:
        """Score one row, as `score` does, while the event loop goes on.

        Args:
            make: A row, a sample, or a function that makes one.
            target: What is annotated, as the tool calls it.

        Returns:
            One annotation per metric.
        """
        return self._told(await self.ascore_row(make), target)

    def score_row(self, make: RowSource) -> ScoredSample:
        """Score one row, as `score` does.

        Args:
            make: A row, a sample, or a function that makes one.

        Returns:
            The sample with one score per metric.
        """
        row = read_host_row(make)
        if row.error is not None:
            return self._unreadable(row)
        work, thread = self._begin(row)
        try:
            concurrent.futures.wait([work], timeout=self._patience)
        except BaseException:  # Ctrl-C
            work.cancel()
            raise
        return self._outcome(work, thread, row.sample)

    async def ascore_row(self, make: RowSource) -> ScoredSample:
        """Score one row, as `score_row` does, while the event loop goes on.

        Args:
            make: A row, a sample, or a function that makes one.

        Returns:
            The sample with one score per metric.
        """
        row = read_host_row(make)
        if row.error is not None:
            return self._unreadable(row)
        work, thread = self._begin(row)
        try:
            await asyncio.wait([asyncio.wrap_future(work)], timeout=self._patience)
        except asyncio.CancelledError:
            work.cancel()
            raise
        return self._outcome(work, thread, row.sample)

    @property
    def _patience(self) -> float | None:
        return None if self.deadline is None else min(self.deadline + LATE, threading.TIMEOUT_MAX)

    def _unreadable(self, row: HostRow) -> ScoredSample:
        return skipped_sample(row.sample, self.metrics, Cause.BAD_ROW, row.error or "")

    def _begin(self, row: HostRow) -> tuple[Future[ScoredSample], LoopThread | None]:
        async def scored(cache: JudgementCache) -> ScoredSample:
            return await score_host_row(row, self.metrics, cache, deadline=self.deadline)

        try:
            return self._desk.submit(scored)
        except RuntimeError as error:  # the process can start no thread
            failed: Future[ScoredSample] = Future()
            failed.set_exception(error)
            return failed, None

    def _outcome(self, work: Future[ScoredSample], thread: LoopThread | None, sample: Sample) -> ScoredSample:
        if not work.done():  # the judge holds the loop itself
            work.cancel()
            if thread is not None:
                self._desk.leave_behind(thread)
            return late_sample(sample, self.metrics, self.deadline)
        if work.cancelled():
            return skipped_sample(sample, self.metrics, Cause.INTERRUPTED, "the scoring was stopped")
        error = work.exception()
        if error is None:
            return work.result()
        cause = error.cause if isinstance(error, JudgeFailure) else Cause.BUG
        return skipped_sample(sample, self.metrics, cause, f"{type(error).__name__}: {error}")

    def _told(self, scored: ScoredSample, target: str | None) -> list[Annotation]:
        try:
            return annotations_of(scored, target=target, mask=self._mask, texts=self._texts)
        except Exception as error:  # the mask, or a metric of the user's own; no text may leave unmasked
            said = str(error) if isinstance(error, InputError) else type(error).__name__
            message = f"the score cannot be told: {said}"
            bare = Sample(id=scored.sample.id, ids=scored.sample.ids)
            return annotations_of(skipped_sample(bare, self.metrics, Cause.BUG, message), target=target)

    # -- copies: evaluations copy what they are given; the judge and its judgements stay one -----------------------

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        metrics, judge = self._said
        kept = self._options["store"]
        if judge is not None and not isinstance(judge, str):  # a judge, or a model that is to be one
            raise InputError("a judge object cannot be pickled, because it holds keys: give the judge by its name")
        if isinstance(kept, Store):
            raise InputError("a store object cannot be pickled: give the store by its folder")
        return _new_adapter, (type(self), metrics, judge, self._options)


def _new_adapter(kind: type[MetricAdapter], metrics: Any, judge: Any, options: dict[str, Any]) -> MetricAdapter:
    return kind(metrics, judge, **options)
