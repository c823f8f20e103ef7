"""What intakes do when the process ends."""

from __future__ import annotations

import atexit
import time
import weakref
from typing import Protocol


class Finishing(Protocol):
    """Something that has work left when the process ends."""

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all work so far is safe. False when the time ran out first."""

    def finish(self, timeout: float | None, grace: float) -> None:
        """Take no more work, and put things away: `timeout` seconds for the work, `grace` more for closing."""


EXIT_GRACE = 1.75  # seconds that the end of the process waits for what is still queued; with all else it is below two
PUTTING_AWAY = 0.1  # of these, for closing

_ALIVE: weakref.WeakSet[Finishing] = weakref.WeakSet()


def look_after(one: Finishing) -> None:
    """Close it at the end of the process."""
    _ALIVE.add(one)


def _at_exit() -> None:
    end = time.monotonic() + EXIT_GRACE
    alive = list(_ALIVE)
    for one in alive:  # they share their threads, so what the first waits for the others have done meanwhile
        one.flush(max(0.0, end - PUTTING_AWAY - time.monotonic()))
    for one in alive:
        one.finish(0.0, max(0.0, end - time.monotonic()))


atexit.register(_at_exit)
