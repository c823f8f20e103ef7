"""What intakes do when the process ends."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING

# `atexit` runs in reverse order: what stops the judge's threads is registered by this import, and so runs after us
import assay.threads  # noqa: F401
from assay.live.process_end import ProcessEnd

if TYPE_CHECKING:
    from assay.live.base import BaseIntake

EXIT_GRACE = 1.75  # seconds that the end of the process waits for what is still queued; with all else it is below two
FILE_GRACE = 5.0  # the same where nothing but a file is left to write, and it can be written
CLOSE_GRACE = 0.1  # of EXIT_GRACE, for closing

_ALIVE: weakref.WeakSet[BaseIntake] = weakref.WeakSet()


def look_after(one: BaseIntake) -> None:
    """Close it at the end of the process."""
    _ALIVE.add(one)
    _PROCESS_END.register()


def _close_all() -> None:
    start = time.monotonic()

    def seconds_left(grace: float) -> float:
        return max(0.0, start + grace - time.monotonic())

    intakes = sorted(_ALIVE, key=lambda one: one.only_writes)  # those that score first: their time is shorter
    for one in intakes:  # they share their threads, so what the first waits for the others have done meanwhile
        one.flush(seconds_left(EXIT_GRACE - CLOSE_GRACE))
    for one in intakes:
        if one.only_writes:
            one._flush_unless_failing(seconds_left(FILE_GRACE))
        one._finish(0.0, seconds_left(EXIT_GRACE))


_PROCESS_END = ProcessEnd(_close_all)
