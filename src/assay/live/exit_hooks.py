"""What intakes do when the process ends."""

from __future__ import annotations

import time
import weakref
from typing import Protocol

# `atexit` runs in reverse order: what stops the judge's threads is registered by this import, and so runs after us
import assay._util.threads  # noqa: F401
from assay.live.process_end import ProcessEnd


class Finishing(Protocol):
    """Something that has work left when the process ends."""

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all work so far is safe. False when the time ran out first."""

    @property
    def only_writes(self) -> bool:
        """Whether nothing but a file is left to write."""

    def flush_unless_failing(self, timeout: float) -> None:
        """`flush`, unless the last attempt to write failed."""

    def finish(self, timeout: float | None, grace: float) -> None:
        """Take no more work, and put things away: `timeout` seconds for the work, `grace` more for closing."""


EXIT_GRACE = 1.75  # seconds that the end of the process waits for what is still queued; with all else it is below two
FILE_GRACE = 5.0  # the same where nothing but a file is left to write, and it can be written
CLOSE_GRACE = 0.1  # of EXIT_GRACE, for closing

_ALIVE: weakref.WeakSet[Finishing] = weakref.WeakSet()


def close_at_exit(one: Finishing) -> None:
    """Close it at the end of the process."""
    _ALIVE.add(one)
    _PROCESS_END.register()


def follow_server() -> None:
    """Close all at the end of the server that runs by now: it may have started after an intake was made."""
    _PROCESS_END.follow_server()


def _close_all() -> None:
    start = time.monotonic()

    def seconds_left(grace: float) -> float:
        return max(0.0, start + grace - time.monotonic())

    intakes = sorted(_ALIVE, key=lambda one: one.only_writes)  # those that score first: their time is shorter
    for one in intakes:  # they share their threads, so what the first waits for the others have done meanwhile
        one.flush(seconds_left(EXIT_GRACE - CLOSE_GRACE))
    for one in intakes:
        if one.only_writes:
            one.flush_unless_failing(seconds_left(FILE_GRACE))
        one.finish(0.0, seconds_left(EXIT_GRACE))


_PROCESS_END = ProcessEnd(_close_all)
