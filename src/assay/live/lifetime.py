"""What intakes do when the process forks or ends."""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import Any, Protocol

EXIT_GRACE = 2.0  # seconds that the end of the process waits for what is still queued, in all


class Alive(Protocol):
    """Something with threads and queues."""

    def _set_up(self) -> None:
        """Begin afresh, in a forked child: its threads did not come along, and its queue is the parent's."""

    def close(self, timeout: float | None = 30) -> Any:
        """Finish."""


_ALIVE: weakref.WeakSet[Alive] = weakref.WeakSet()


def look_after(one: Alive) -> None:
    """Set it up again in forked children, and close it at the end of the process."""
    _ALIVE.add(one)


def _after_fork() -> None:
    for one in list(_ALIVE):
        one._set_up()


def _at_exit() -> None:
    until = time.monotonic() + EXIT_GRACE
    for one in list(_ALIVE):
        one.close(max(0.0, until - time.monotonic()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
