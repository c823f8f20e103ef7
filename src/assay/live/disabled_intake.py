"""An intake that takes nothing: where live scoring is switched off, and where an intake was pickled to."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from assay._util.error_counter import log
from assay.live.health import Health

if TYPE_CHECKING:
    from assay.live.protocol import Submission
    from assay.records import ScoredSample


class DisabledIntake:
    """Intake that accepts no samples. It has no queue and no thread, and implements `Intake`.

    It replaces an intake where live scoring is off. It also replaces an intake that was pickled into another process.

    Args:
        why: Reason that it accepts no samples. Its repr shows it.
    """

    def __init__(self, why: str) -> None:
        self.why = why

    def __repr__(self) -> str:
        return f"DisabledIntake({self.why!r})"

    def submit(self, sample: Submission) -> bool:
        """Reject a sample. See `Intake.submit`.

        Args:
            sample: A sample, or a function that makes one. The function is not called.

        Returns:
            False.
        """
        return False

    def flush(self, timeout: float | None = None) -> bool:
        """Return at once, as no sample is pending. See `Intake.flush`.

        Args:
            timeout: Not used.

        Returns:
            True.
        """
        return True

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """Return None, as no sample is scored. See `Intake.result`.

        Args:
            key: Not used.
            timeout: Not used.

        Returns:
            None.
        """
        return None

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """Reject feedback. See `Intake.feedback`.

        Args:
            key: Not used.
            value: Not used.
            comment: Not used.

        Returns:
            False.
        """
        return False

    def health(self) -> Health:
        """Report the counters. See `Intake.health`.

        Returns:
            Counters that are all 0.
        """
        return Health()

    def count_error(self, error: BaseException, where: str) -> None:
        """Ignore an exception. See `Intake.count_error`.

        Args:
            error: Not used.
            where: Not used.
        """

    def close(self, timeout: float | None = 30) -> Health:
        """Return at once, as there is no work to finish. See `Intake.close`.

        Args:
            timeout: Not used.

        Returns:
            The result of `health`.
        """
        return self.health()


_KNOWN: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def register_intake(token: str, intake: object) -> None:
    """Whom a pickle with this token stands for, in this process and in its forks."""
    _KNOWN[token] = intake


def unpickled(token: str, kind: str) -> Any:
    """The intake that was pickled, in its own process; in any other, one that takes nothing: said once there."""
    known = _KNOWN.get(token)
    if known is None:
        why = f"{kind} of another process"
        log.warning(
            "assay: a %s was pickled into this process, where it takes nothing: its queue, threads and sinks stayed "
            "behind. Make one in each process, for example in the worker's initializer, or share one SampleQueue",
            kind,
        )
        known = _KNOWN[token] = _HERE[token] = DisabledIntake(why)
    return known


_HERE: dict[str, DisabledIntake] = {}  # kept, so that each is said once
