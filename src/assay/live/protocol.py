"""The intake: what a capture hands its samples to. A scorer in the same process, or a queue for a worker of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, runtime_checkable

from assay.live.health import Health
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink

if TYPE_CHECKING:
    from assay.judges.budget.budget import Budget
    from assay.live.application import Application
    from assay.live.sampling import Sampling

OFF = "live scoring is switched off"

#: Where a live run is kept: folder, file or database URL of a store; None: as the environment says; False: nowhere.
StoreSpec = str | os.PathLike[str] | Literal[False] | None

#: A sample, or a function that makes one; it is called on the intake's own thread. None: there is nothing to score.
#: A function may say in an attribute `size` how many bytes it holds on to; queues are bounded by that as well.
Submission = Sample | Callable[[], Sample | None]


@runtime_checkable
class Intake(Protocol):
    """Protocol of an intake: it accepts samples from a running application and never blocks it.

    `LiveScorer` and `SampleQueue` implement it.
    """

    def submit(self, sample: Submission) -> bool:
        """Queue a sample. Never blocks, never raises.

        Args:
            sample: A sample, or a function that makes one.

        Returns:
            False when the sample was dropped.
        """

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all samples submitted so far are safe.

        Args:
            timeout: Seconds to wait at most. None: no limit.

        Returns:
            False when the time ran out first.
        """

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """Get the scores of one sample, where this process knows them.

        Args:
            key: The sample's key.
            timeout: Seconds to wait at most. None: waits for as long as anything is pending.

        Returns:
            The scored sample, or None.
        """

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """Record what a user said of an answer. It may bring in a sample that sampling left out.

        Args:
            key: The key of the answer's sample.
            value: A number, a bool or a text.
            comment: The user's comment. None: no comment.

        Returns:
            False when the feedback is too late or refused.
        """

    def health(self) -> Health:
        """Report the intake's counters.

        Returns:
            The counters at this moment.
        """

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught outside the intake's own code, for example in a capture hook.

        Args:
            error: The exception.
            where: Where it was caught.
        """

    def close(self, timeout: float | None = 30) -> Health:
        """Accept no more samples and finish.

        Args:
            timeout: Seconds to finish at most. None: no limit.

        Returns:
            The last counters. Samples pending in them are lost.
        """


class LiveOptions(TypedDict, total=False):
    """The keyword arguments of `LiveScorer`, for integrations that pass them on."""

    store: StoreSpec
    application: Application | str | None
    sinks: Sequence[Sink]
    on_score: Callable[[ScoredSample], None] | None
    sampling: Sampling | float | None
    budget: Budget | None
    when_spent: Literal["skip", "wait"]
    max_queue: int
    max_bytes: int
    concurrency: int
    deadline: float
    score_partial: bool
    keep: int
