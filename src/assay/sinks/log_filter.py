"""Clients that log what we report ourselves: what they say while we call them goes nowhere."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Calls(threading.local):
    """How many of our calls this thread is in."""

    depth = 0


_CALLS = _Calls()


class _Mute(logging.Filter):
    """Drops records of threads that are in a call of ours; the application's own calls keep their logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return _CALLS.depth == 0


_MUTE = _Mute()


@contextmanager
def silenced(*names: str) -> Iterator[None]:
    """Within, loggers of these names, and those below them, say nothing in this thread.

    Their errors reach whoever called them as exceptions; the log would repeat each with its traceback, and with texts
    or parts of keys in it.
    """
    for name in list(logging.root.manager.loggerDict):
        if any(name == prefix or name.startswith(prefix + ".") for prefix in names):
            logging.getLogger(name).addFilter(_MUTE)  # a filter that is there already is not added again
    _CALLS.depth += 1
    try:
        yield
    finally:
        _CALLS.depth -= 1
