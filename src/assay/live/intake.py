"""The intake: what a capture hands its samples to. A scorer in the same process, or a spool for a worker of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, runtime_checkable

from assay.counting import log
from assay.errors import InputError
from assay.live.health import Health
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink

if TYPE_CHECKING:
    from assay.budgets.budget import Budget
    from assay.judges.base import JudgeSpec
    from assay.live.sampling import Sampling
    from assay.naming import MetricSpec

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
    when_spent: Literal["unscored", "wait"]
    max_queue: int
    max_bytes: int
    concurrency: int
    deadline: float
    score_partial: bool
    keep: int


def open_intake(
    metrics: MetricSpec | None,
    judge: JudgeSpec,
    scorer: Intake | None,
    options: LiveOptions,
    enabled: bool | None = None,
) -> Intake:
    """The intake that an integration's arguments ask for.

    The one given; or a `LiveScorer` made from the others; or, where ASSAY_SPOOL names a folder and no argument says how
    to score, a `Spool` there. Where live scoring is off (`enabled`, or else ASSAY_ENABLED), one that takes nothing: see
    `is_off`. Raises InputError where scorer and others are given: metrics, judge and options are then those of the
    scorer; and for what is wrong with the environment, naming the variable.
    """
    from assay.live import environment

    given = [name for name, value in (("metrics", metrics), ("judge", judge)) if value is not None] + list(options)
    if scorer is not None and given:
        raise InputError(f"{', '.join(given)}: belongs to the scorer; give either scorer= or these")
    off = switched_off(enabled)
    if off is not None:
        return off
    if scorer is not None:
        return scorer
    folder, said = environment.spool(), [name for name in given if name != "sampling"]
    if folder is not None and not said:
        from assay.live.spool import Spool

        return Spool(folder, sampling=options.get("sampling"))
    if folder is not None:
        log.warning(
            "assay: %s is not used, because the code says %s=: it scores here", environment.SPOOL, "=, ".join(said)
        )
    from assay.live.scorer import LiveScorer

    return LiveScorer(metrics, judge, **options)


def switched_off(enabled: bool | None = None) -> Intake | None:
    """An intake that takes nothing, where live scoring is off by this argument or else by ASSAY_ENABLED; else None."""
    from assay.live import environment
    from assay.live.nowhere import Nowhere

    return None if (environment.enabled() if enabled is None else enabled) else Nowhere(OFF)


def is_off(intake: Intake) -> bool:
    """Whether live scoring was switched off for whoever holds this intake: there is nothing to listen for."""
    return getattr(intake, "why", None) == OFF
