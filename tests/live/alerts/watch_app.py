"""A process that watches, to be killed at a step: python -m tests.live.alerts.watch_app STORE URL VALUE AHEAD [STEP]

It checks one rule over 40 rows of VALUE, delivers, and prints "done". With a STEP such as "post:after" it kills itself
before or after that step. AHEAD: seconds by which its clock is ahead, so that leases of the one before have ended.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from assay.live.alerts import delivery
from assay.live.alerts.watcher import AlertWatcher
from assay.store.alerts import AlertStore
from tests.live.alerts.fakes import Columns, rule, webhook

STEPS = [f"{step}:{when}" for step in ("apply", "claim", "post", "note_delivered") for when in ("before", "after")]


def killing(work: Callable[..., Any], when: str) -> Callable[..., Any]:
    def wrapped(*given: Any, **named: Any) -> Any:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = work(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


def main(store: str, url: str, value: str, ahead: str, step: str = "") -> None:
    name, _, when = step.partition(":")
    if name:
        place: Any = delivery if name == "post" else AlertStore
        setattr(place, name, killing(getattr(place, name), when))
    clock = lambda: time.time() + float(ahead)  # noqa: E731
    times = [clock() - n for n in range(40)]
    watcher = AlertWatcher(
        store, [rule(to=(webhook(url),))], read=lambda *_: Columns([float(value)] * 40, times=times), clock=clock
    )
    watcher.check()
    print("done", watcher.deliver(), flush=True)
    watcher.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
