"""What intakes and their lanes do when the process forks or ends."""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import Protocol

from assay.live.lanes import all_lanes

EXIT_GRACE = 2.0  # seconds that the end of the process waits for what is still queued, in all


class Alive(Protocol):
    """Something with a mailbox."""

    def _set_up(self) -> None:
        """Begin afresh, in a forked child: the mailbox is the parent's."""

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all is done."""

    def _finish(self, timeout: float, grace: float) -> None:
        """Close within `timeout` seconds, and `grace` more for putting things away."""


_ALIVE: weakref.WeakSet[Alive] = weakref.WeakSet()


def look_after(one: Alive) -> None:
    """Set it up again in forked children, and close it at the end of the process."""
    _ALIVE.add(one)


def _after_fork() -> None:
    for lane in all_lanes():
        lane.inherit()
    for one in list(_ALIVE):
        one._set_up()


def _at_exit() -> None:
    end = time.monotonic() + EXIT_GRACE
    alive = list(_ALIVE)
    for one in alive:  # they share their threads, so what the first waits for the others have done meanwhile
        one.flush(max(0.0, end - EXIT_GRACE / 20 - time.monotonic()))
    for one in alive:
        one._finish(0.0, max(0.0, end - time.monotonic()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
