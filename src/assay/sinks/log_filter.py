"""Clients that log what we report ourselves: what they say while we call them goes nowhere."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Calls(threading.local):
    """The loggers that this thread mutes, by the calls of ours that it is in."""

    names: tuple[str, ...] = ()


_CALLS = _Calls()


class _Mute(logging.Filter):
    """Drops records of muted loggers in threads that are in a call of ours; the application's calls keep their logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not any(record.name == name or record.name.startswith(f"{name}.") for name in _CALLS.names)


_MUTE = _Mute()


@contextmanager
def silenced(*names: str) -> Iterator[None]:
    """Mute loggers of these names, and those below them, in this thread.

    Their errors reach whoever called them as exceptions; the log would repeat each with its traceback, and with texts
    or parts of keys in it.

    Args:
        names: Names of loggers. A logger below one of them that is created within is muted too, as far as its records
            go to handlers that exist now.
    """
    for filterer in _filterers(names):
        filterer.addFilter(_MUTE)  # a filter that is there already is not added again
    outside = _CALLS.names
    _CALLS.names = (*outside, *names)
    try:
        yield
    finally:
        _CALLS.names = outside


def _filterers(names: tuple[str, ...]) -> Iterator[logging.Filterer]:
    """The loggers of these names, and the handlers that records of loggers below them go to.

    A record asks the filters of its own logger and of all handlers, and of no logger above: one that a client creates
    at its first call has no filter yet.
    """
    above = {".".join(parts[:end]) for parts in (name.split(".") for name in names) for end in range(1, len(parts))}
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger):  # and no placeholder
            below = any(name == prefix or name.startswith(f"{prefix}.") for prefix in names)
            if below:
                yield logger
            if below or name in above:
                yield from logger.handlers
    yield from logging.root.handlers
    if logging.lastResort is not None:
        yield logging.lastResort
