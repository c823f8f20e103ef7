"""Which traces are open: found by the ids of their runs, bounded, and told apart from what comes late.

Traces are built from run ids and parent ids alone, so that any number of requests may interleave. Events may come
twice, children may start after the root has ended, and a parent may be heard of after its children.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable
from typing import Any, Generic, Protocol, TypeVar

from assay.capture.snapshots import copy_document
from assay.capture.tree import Document, key_of

GONE = 8192  # ids of runs whose trace has ended; late events are told by them from new roots
ORPHANS = 4096  # unknown parents of roots that are remembered, in case one is heard of after all
ORPHAN_LIFE = 10.0  # seconds for which they are, after the root has ended


class OpenTrace(Protocol):
    """What is known of one trace while it is open.

    Attributes:
        key: Of its root, as `key_of` makes them.
        parent: The id of a parent of the root that nobody has heard of.
        started: Seconds since 1970, as is `ended`.
        size: Characters held for it, about.
        latest: The documents delivered last, so that they are not copied again where they pass on.
        adopted: Its root turned out to be a part of another trace.
    """

    size: int
    adopted: bool
    latest: tuple[Document, ...]

    @property
    def key(self) -> Hashable: ...
    @property
    def parent(self) -> Hashable | None: ...
    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Of all its runs."""


RunT = TypeVar("RunT")
TraceT = TypeVar("TraceT", bound=OpenTrace)


class OpenTraces(Generic[RunT, TraceT]):
    """The open traces of a framework. A subclass says what it keeps of a run, and what becomes of events.

    `expired` counts traces given up, `ignored` events that came late, twice or for a trace given up.

    Args:
        max_traces: Traces open at the same time; the oldest is given up for a new one.
        max_runs: Runs of all open traces together; the oldest trace is given up.
        max_bytes: Characters held for all open traces together, about; the oldest trace is given up.
        ttl: Seconds after which a trace that never ended is given up.
        keep: Names of runs whose inputs and outputs are kept, besides those of the roots.
        copy: How a document of the framework is copied.
    """

    def __init__(
        self,
        *,
        max_traces: int = 2000,
        max_runs: int = 100_000,
        max_bytes: int = 256_000_000,
        ttl: float = 3600.0,
        keep: Collection[str] = (),
        copy: Callable[[Any], Document] = copy_document,
    ) -> None:
        self._max_traces = max_traces
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._keep = frozenset(keep)
        self._copy = copy
        # may be taken again: a generator collected while we hold it runs the host's hooks in this very thread
        self._lock = threading.RLock()
        self._runs: dict[Hashable, RunT] = {}
        self._traces: OrderedDict[Hashable, TraceT] = OrderedDict()
        self._held = 0
        self._gone: set[Hashable] = set()
        self._gone_order: deque[tuple[Hashable, ...]] = deque()
        self._orphans: OrderedDict[Hashable, list[TraceT]] = OrderedDict()  # by id of the unknown parent
        self.events = 0
        self.expired = 0
        self.ignored = 0
        _ALL.add(self)

    def __len__(self) -> int:
        """How many traces are open."""
        return len(self._traces)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} open>"

    def knows(self, id: Hashable) -> bool:
        """Whether this is a run of an open trace."""
        return key_of(id) in self._runs

    @property
    def max_traces(self) -> int:
        """How many traces may be open."""
        return self._max_traces

    @property
    def open_runs(self) -> int:
        """How many runs the open traces have."""
        return len(self._runs)

    def take_in(self, trace: TraceT) -> None:
        """Put a finished trace that another capture followed where it belongs: below a run of an open trace.

        Nothing happens if its runs are known here as well, or no open trace has their parent.

        Args:
            trace: The trace. Its runs become runs of the open trace.
        """
        with self._lock:
            above = None if trace.parent is None else self._runs.get(key_of(trace.parent))
            if above is None or any(key in self._runs or key in self._gone for key in trace.keys):
                return
            self._take_in(trace, above, still_open=False)
            self._weigh(self._trace_of(above), trace.size)

    def sweep(self) -> None:
        """Give up what is too old, and forget what is only remembered for late events' sake."""
        with self._lock:
            now = time.time()
            for trace in list(self._traces.values()):
                if trace.started >= now - self._ttl:
                    break
                self._give_up(trace)
            self._forget_orphans(now)

    # -- below: with the lock held ----------------------------------------------------------------------------------

    @abstractmethod
    def _take_in(self, orphan: TraceT, above: RunT, still_open: bool) -> None:
        """Put the runs of a trace, which may be over, below a run of another."""

    @abstractmethod
    def _trace_of(self, run: RunT) -> TraceT:
        """The trace that what is kept of a run belongs to."""

    def _ignore(self, key: Hashable) -> None:
        """A run started that is known already, or whose trace, or whose parent's, is over."""
        self.ignored += 1
        if key not in self._runs and key not in self._gone:
            self._forget((key,))

    def _open(self, trace: TraceT) -> None:
        self._traces[trace.key] = trace
        oldest = next(iter(self._traces.values()))
        while (
            len(self._traces) > self._max_traces
            or len(self._runs) >= self._max_runs
            or oldest.started < trace.started - self._ttl
        ) and oldest is not trace:
            self._give_up(oldest)
            oldest = next(iter(self._traces.values()))
        if self._orphans:
            self._forget_orphans(trace.started)
        if trace.parent is not None:
            self._orphans.setdefault(key_of(trace.parent), []).append(trace)

    def _hold(self, trace: TraceT, documents: tuple[Document, ...]) -> None:
        """These were delivered last. Where they pass on, they are neither copied nor weighed again."""
        trace.latest = documents
        self._weigh(trace, sum([len(found.text) for found in documents]))

    def _weigh(self, trace: TraceT, size: int) -> None:
        trace.size += size
        if trace.key not in self._traces:  # given up while this very event was taken in
            return
        self._held += size
        while self._held > self._max_bytes and self._traces:
            self._give_up(next(iter(self._traces.values())))

    def _give_up(self, trace: TraceT) -> None:
        self._drop(trace)
        self.expired += 1

    def _drop(self, trace: TraceT) -> None:
        if self._traces.pop(trace.key, None) is not None:
            self._held -= trace.size
        keys = trace.keys
        for key in keys:
            self._runs.pop(key, None)
        self._forget(keys)

    def _forget(self, keys: tuple[Hashable, ...]) -> None:
        self._gone.update(keys)
        self._gone_order.append(keys)
        while len(self._gone) > GONE and len(self._gone_order) > 1:
            self._gone.difference_update(self._gone_order.popleft())

    def _adopt(self, key: Hashable, above: RunT) -> None:
        """Put the traces whose root has this run as its parent where they belong: they were heard of before it."""
        trace = self._trace_of(above)
        for orphan in self._orphans.pop(key):
            if orphan is trace:  # parents in a circle
                continue
            orphan.adopted = True
            still_open = self._traces.pop(orphan.key, None) is not None
            if still_open:
                trace.size += orphan.size
            self._take_in(orphan, above, still_open)

    def _forget_orphans(self, now: float) -> None:
        """Parents of traces that ended a while ago will not be heard of any more."""
        while self._orphans:
            parent, traces = next(iter(self._orphans.items()))
            ended = [trace.ended for trace in traces if trace.key not in self._traces]
            if len(self._orphans) <= ORPHANS and (
                len(ended) < len(traces) or any((at or now) > now - ORPHAN_LIFE for at in ended)
            ):
                return
            del self._orphans[parent]


_ALL: weakref.WeakSet[OpenTraces[Any, Any]] = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_ALL):
        one._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
