"""Run trees as they happen: a bounded collector of the runs of a framework, fed by its hooks.

A run is one node of a chain's execution tree, a trace the whole tree. The collector builds traces from run ids and
parent ids alone, so that any number of requests may interleave. It relies on what causality gives: a run starts before
it ends and before its children start. Events may come twice, and children may end, or start, after the root has ended.

It is made for hooks: each call takes microseconds, copies only what the host may change later, and never waits.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["chain", "retriever", "llm", "tool", "agent", "prompt", "parser"]

GONE = 8192  # ids of runs whose trace has ended; late events are told by them from new roots


class Found(NamedTuple):
    """A retrieved document, copied: its text, its id and a shallow copy of its metadata."""

    text: str
    id: str | None
    metadata: Mapping[str, Any]


class Run:
    """One node of a run tree.

    Inputs and outputs are kept for the root alone, documents for retrievers that no other retriever called and for
    tools. `error` is the exception's type name: its text may hold what must not be kept.
    """

    __slots__ = (
        "below_retriever", "documents", "ended", "error", "id", "inputs", "kind", "metadata", "name", "outputs",
        "parent", "started", "tags", "trace",
    )  # fmt: skip

    def __init__(
        self,
        id: Hashable,
        parent: Hashable | None,
        kind: Kind,
        name: str | None = None,
        *,
        trace: Trace | None = None,
        below_retriever: bool = False,
    ) -> None:
        self.id = id
        self.parent = parent
        self.kind = kind
        self.name = name
        self.inputs: Any = None
        self.outputs: Any = None
        self.error: str | None = None
        self.started = time.time()
        self.ended: float | None = None
        self.tags: Sequence[str] = ()
        self.metadata: Mapping[str, Any] = {}
        self.documents: tuple[Found, ...] | None = None
        self.below_retriever = below_retriever
        self.trace = trace if trace is not None else Trace(self)


class Trace:
    """A tree of runs: its root, all its runs in order of start, and how many below the root have not ended.

    `cut_short` says that the root of a stream ended while its children were still at work: the reader went away.
    """

    __slots__ = ("cut_short", "root", "running", "runs")

    def __init__(self, root: Run) -> None:
        self.root = root
        self.runs: dict[Hashable, Run] = {root.id: root}
        self.running = 0
        self.cut_short = False


def copy_document(document: Any) -> Found:
    """A LangChain-like document (`page_content`, `id`, `metadata`), copied."""
    found = getattr(document, "id", None)
    return Found(document.page_content, found, dict(document.metadata))


def copy_value(value: Any) -> Any:
    """Inputs and outputs, so that the host may go on changing its dicts, lists and documents."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _copy_item(item) for key, item in value.items()}
    return _copy_item(value)


def _copy_item(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [copy_document(item) if hasattr(item, "page_content") else item for item in value]
    if isinstance(value, dict):
        return dict(value)
    return value


class RunCollector:
    """Collects the runs of many traces at once.

    max_traces  traces open at the same time; the oldest is given up for a new one
    max_runs    runs of all open traces together; the oldest trace is given up
    ttl         seconds after which a trace that never ended is given up
    copy        how a retriever's document is copied

    `expired` counts traces given up, `ignored` events that came late, twice or for a trace given up.
    """

    def __init__(
        self,
        *,
        max_traces: int = 2000,
        max_runs: int = 100_000,
        ttl: float = 3600.0,
        copy: Callable[[Any], Found] = copy_document,
    ) -> None:
        self._max_traces = max_traces
        self._max_runs = max_runs
        self._ttl = ttl
        self._copy = copy
        # may be taken again: a generator collected while we hold it runs the host's hooks in this very thread
        self._lock = threading.RLock()
        self._runs: dict[Hashable, Run] = {}
        self._traces: OrderedDict[Hashable, Trace] = OrderedDict()
        self._gone: set[Hashable] = set()
        self._gone_order: deque[tuple[Hashable, ...]] = deque()
        self.events = 0
        self.expired = 0
        self.ignored = 0
        _COLLECTORS.add(self)

    def __len__(self) -> int:
        """How many traces are open."""
        return len(self._traces)

    def __bool__(self) -> bool:
        return True

    def start(
        self,
        id: Hashable,
        parent: Hashable | None,
        kind: Kind,
        name: str | None = None,
        inputs: Any = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """A run started. A run whose parent is unknown is the root of a new trace."""
        with self._lock:
            self.events += 1
            if id in self._runs or id in self._gone:
                self.ignored += 1
                return
            above = self._runs.get(parent) if parent is not None else None
            if above is not None:
                trace = above.trace
                run = Run(
                    id,
                    parent,
                    kind,
                    name,
                    trace=trace,
                    below_retriever=above.below_retriever or above.kind == "retriever",
                )
                trace.runs[id] = run
                trace.running += 1
            elif parent is not None and parent in self._gone:
                self._forget((id,))
                self.ignored += 1
                return
            else:
                run = self._root(id, parent, kind, name)
                run.inputs = copy_value(inputs)
                run.tags = tuple(tags or ())
                run.metadata = dict(metadata) if metadata else {}
            self._runs[id] = run

    def end(
        self,
        id: Hashable,
        outputs: Any = None,
        *,
        error: BaseException | None = None,
        documents: Iterable[Any] | None = None,
        inputs: Any = None,
        streamed: bool = False,
    ) -> Trace | None:
        """A run ended. Returns the trace when it was the root: the collector then knows nothing of it any more.

        inputs    the inputs of the run where they were not known when it started (streams)
        streamed  the outputs are what was read of a stream
        """
        with self._lock:
            self.events += 1
            run = self._runs.get(id)
            if run is None or run.ended is not None:
                self.ignored += 1
                return None
            run.ended = time.time()
            if error is not None:
                run.error = type(error).__name__
            if documents is not None and not run.below_retriever:
                run.documents = tuple(map(self._copy, documents))
            trace = run.trace
            if run is not trace.root:
                trace.running -= 1
                return None
            run.outputs = copy_value(outputs)
            if inputs is not None:
                run.inputs = copy_value(inputs)
            trace.cut_short = streamed and trace.running > 0
            self._drop(trace)
            return trace

    def add_documents(self, id: Hashable, documents: Iterable[Any]) -> None:
        """Documents that the run `id` has found, told by the application itself."""
        with self._lock:
            self.events += 1
            run = self._runs.get(id)
            if run is None:
                self.ignored += 1
            else:
                run.documents = (*(run.documents or ()), *map(self._copy, documents))

    # -- below: with the lock held ----------------------------------------------------------------------------------

    def _root(self, id: Hashable, parent: Hashable | None, kind: Kind, name: str | None) -> Run:
        run = Run(id, parent, kind, name)
        self._traces[id] = run.trace
        oldest = next(iter(self._traces.values()))
        while (
            len(self._traces) > self._max_traces
            or len(self._runs) >= self._max_runs
            or oldest.root.started < run.started - self._ttl
        ) and oldest.root is not run:
            self._drop(oldest)
            self.expired += 1
            oldest = next(iter(self._traces.values()))
        return run

    def _drop(self, trace: Trace) -> None:
        self._traces.pop(trace.root.id, None)
        for id in trace.runs:
            self._runs.pop(id, None)
        self._forget(tuple(trace.runs))

    def _forget(self, ids: tuple[Hashable, ...]) -> None:
        self._gone.update(ids)
        self._gone_order.append(ids)
        while len(self._gone) > GONE and len(self._gone_order) > 1:
            self._gone.difference_update(self._gone_order.popleft())


_COLLECTORS: weakref.WeakSet[RunCollector] = weakref.WeakSet()


def _after_fork() -> None:
    for collector in list(_COLLECTORS):
        collector._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
