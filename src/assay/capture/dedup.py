"""What several captures that hand over to one intake have to know of each other: one request is one sample."""

from __future__ import annotations

import contextlib
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from assay.capture.interrupts import InterruptedTraces
from assay.capture.open_traces import OpenTraces

KEYS = 8192  # of exchanges handed over, the newest


class SubmissionLog:
    """What was handed to one intake, by the captures that do so. Takes no lock: each step is one of the dict's own.

    Attributes:
        interrupted: Traces that are handed over when somebody resumes them.
    """

    def __init__(self) -> None:
        self.interrupted = InterruptedTraces()
        self._collectors: weakref.WeakSet[OpenTraces[Any, Any]] = weakref.WeakSet()
        self._keys: OrderedDict[Hashable, object] = OrderedDict()  # the oldest of a dict is found slowly

    def join(self, collector: OpenTraces[Any, Any]) -> None:
        """One more capture hands over to this intake."""
        self._collectors.add(collector)

    def first(self, key: Hashable) -> bool:
        """Whether the exchange with this key has not been handed over yet; from now on it has."""
        mine = object()
        if self._keys.setdefault(key, mine) is not mine:
            return False
        if len(self._keys) > KEYS:
            with contextlib.suppress(KeyError):  # other threads were at it
                self._keys.popitem(last=False)
        return True

    def hears(self, run: Hashable, besides: OpenTraces[Any, Any]) -> bool:
        """Whether another capture of this intake follows this run: what is below it is a part of its exchange."""
        return self.follower(run, besides) is not None

    def follower(self, run: Hashable, besides: OpenTraces[Any, Any]) -> OpenTraces[Any, Any] | None:
        """The other capture of this intake that follows this run, if one does."""
        if len(self._collectors) < 2:
            return None
        others = (other for other in list(self._collectors) if other is not besides)
        return next((other for other in others if other.knows(run)), None)


_HANDED: weakref.WeakKeyDictionary[Any, SubmissionLog] = weakref.WeakKeyDictionary()


def handed_to(intake: Any) -> SubmissionLog:
    """What was handed to this intake; something new for one that nobody can refer to weakly."""
    try:
        return _HANDED.setdefault(intake, SubmissionLog())
    except TypeError:
        return SubmissionLog()
