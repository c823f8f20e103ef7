"""Open the intake that an integration hands samples to: a live scorer, a queue, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.error_counter import log
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges.base import JudgeSpec
    from assay.metrics.names import MetricSpec
from assay.live.protocol import OFF, Intake, LiveOptions

_OF_QUEUES = ("sampling", "application")  # options of a scorer that a queue has as well


def open_intake(
    metrics: MetricSpec | None,
    judge: JudgeSpec,
    scorer: Intake | None,
    options: LiveOptions,
    enabled: bool | None = None,
) -> Intake:
    """Open the intake that an integration's arguments ask for.

    Args:
        metrics: Names or metrics for a new `LiveScorer`. None: not given.
        judge: Judge for a new `LiveScorer`. None: not given.
        scorer: An intake to use as it is. Excludes `metrics`, `judge` and `options`.
        options: Keyword arguments for a new `LiveScorer`.
        enabled: Whether live scoring is on. None: ASSAY_ENABLED decides.

    Returns:
        `scorer` where it is given. A `SampleQueue` where ASSAY_QUEUE names a folder and no argument but `sampling` and
        `application` is given. Otherwise a new `LiveScorer`. Where live scoring is off, an intake that accepts nothing:
        see `is_off`.

    Raises:
        InputError: `scorer` and other arguments are both given, or an environment variable, which the message names, is
            wrong.
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
    folder, said = environment.queue(), [name for name in given if name not in _OF_QUEUES]
    if folder is not None and not said:
        from assay.live.queue.sample_queue import SampleQueue

        return SampleQueue(folder, sampling=options.get("sampling"), application=options.get("application"))
    if folder is not None:
        log.warning(
            "assay: %s is not used, because the code says %s=: it scores here", environment.QUEUE, "=, ".join(said)
        )
    from assay.live.scorer import LiveScorer

    return LiveScorer(metrics, judge, **options)


def switched_off(enabled: bool | None = None) -> Intake | None:
    """An intake that takes nothing, where live scoring is off by this argument or else by ASSAY_ENABLED; else None."""
    from assay.live import environment
    from assay.live.disabled_intake import DisabledIntake

    return None if (environment.enabled() if enabled is None else enabled) else DisabledIntake(OFF)


def is_off(intake: Intake) -> bool:
    """Check whether an intake accepts no samples because live scoring is off.

    Args:
        intake: The intake.

    Returns:
        True for an intake of `open_intake` with live scoring off. False for any other, also a closed one.
    """
    return getattr(intake, "why", None) == OFF
