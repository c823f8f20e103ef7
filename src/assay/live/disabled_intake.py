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
    """Takes nothing, holds nothing, and has no thread. Implements `Intake`. `why`, for its repr."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __repr__(self) -> str:
        return f"Nowhere({self.why!r})"

    def submit(self, sample: Submission) -> bool:
        """See `Intake.submit`."""
        return False

    def flush(self, timeout: float | None = None) -> bool:
        """See `Intake.flush`: there is nothing to wait for."""
        return True

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """See `Intake.result`."""
        return None

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """See `Intake.feedback`."""
        return False

    def health(self) -> Health:
        """All zero."""
        return Health()

    def count_error(self, error: BaseException, where: str) -> None:
        """See `Intake.count_error`."""

    def close(self, timeout: float | None = 30) -> Health:
        """See `Intake.close`."""
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
