"""The intake: what a capture hands its samples to. A scorer in the same process, or a spool for a worker of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, runtime_checkable

from assay.live.health import Health
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink

if TYPE_CHECKING:
    from assay.judges.budget.budget import Budget
    from assay.live.sampling import Sampling

OFF = "live scoring is switched off"

#: A sample, or a function that makes one; it is called on the intake's own thread. None: there is nothing to score.
#: A function may say in an attribute `size` how many bytes it holds on to; queues are bounded by that as well.
Submission = Sample | Callable[[], Sample | None]


@runtime_checkable
class Intake(Protocol):
    """Takes samples from a running application without ever holding it up."""

    def submit(self, sample: Submission) -> bool:
        """Queue a sample, or a function that makes one. False: dropped. Never blocks, never raises."""

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was submitted so far is safe. False when the time ran out first."""

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """The scores of the sample with this key, where they are known in this process."""

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """What a user said of the answer with this key: it may bring a sample in that sampling had left out."""

    def health(self) -> Health:
        """The counters as they stand."""

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught outside the intake's own code, in a capture hook for example."""

    def close(self, timeout: float | None = 30) -> Health:
        """Take no more samples and finish. What is pending in the result is lost."""


class LiveOptions(TypedDict, total=False):
    """The keyword arguments of `LiveScorer`, for integrations that pass them on."""

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
