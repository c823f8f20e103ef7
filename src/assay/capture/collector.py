"""Run trees as they happen: a bounded collector of the runs of a framework, fed by its hooks.

The collector builds traces from run ids and parent ids alone, so that any number of requests may interleave. Events may
come twice, children may end, or start, after the root has ended, and a parent may be heard of after its children.

It is made for hooks: each call takes microseconds, copies only what the host may change later, and never waits.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from assay.capture.copies import are_copies, copy_document, copy_value, documents_in, readable, size_of, texts_of
from assay.capture.tree import Found, Kind, Run, Trace, key_of

GONE = 8192  # ids of runs whose trace has ended; late events are told by them from new roots
ORPHANS = 4096  # unknown parents of roots that are remembered, in case one is heard of after all
ASKED: tuple[Kind, ...] = ("tool", "retriever")  # kinds of runs whose inputs are kept: what they were asked
UNREAD: tuple[Kind, ...] = ("prompt", "parser")  # kinds whose documents given do not matter: they ask no model
SAYS: tuple[Kind, ...] = ("tool", "llm")  # kinds of runs whose outputs are kept: what they said
RUN_SIZE = 500  # what a run holds besides texts, in characters
ORPHAN_LIFE = 10.0  # seconds for which they are, after the root has ended


class RunCollector:
    """Collects the runs of many traces at once.

    max_traces  traces open at the same time; the oldest is given up for a new one
    max_runs    runs of all open traces together; the oldest trace is given up
    max_bytes   characters held for all open traces together, about; the oldest trace is given up
    ttl         seconds after which a trace that never ended is given up
    keep        names of runs whose inputs and outputs are kept, besides those of the roots
    copy        how a retriever's document is copied

    `expired` counts traces given up, `ignored` events that came late, twice or for a trace given up.
    """

    def __init__(
        self,
        *,
        max_traces: int = 2000,
        max_runs: int = 100_000,
        max_bytes: int = 256_000_000,
        ttl: float = 3600.0,
        keep: Collection[str] = (),
        copy: Callable[[Any], Found] = copy_document,
    ) -> None:
        self._max_traces = max_traces
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._keep = frozenset(keep)
        self._copy = copy
        # may be taken again: a generator collected while we hold it runs the host's hooks in this very thread
        self._lock = threading.RLock()
        self._runs: dict[Hashable, Run] = {}
        self._traces: OrderedDict[Hashable, Trace] = OrderedDict()
        self._held = 0
        self._gone: set[Hashable] = set()
        self._gone_order: deque[tuple[Hashable, ...]] = deque()
        self._orphans: OrderedDict[Hashable, list[Trace]] = OrderedDict()  # by id of the unknown parent
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
        *,
        prompt: Sequence[str] | None = None,
        given: Iterable[str] | None = None,
        ids: Mapping[str, str] | None = None,
        offered: Iterable[str] = (),
    ) -> None:
        """A run started. A run whose parent is unknown is the root of a new trace.

        prompt   of an LLM: the texts that it is sent; then `inputs` are not looked at
        given    texts of the documents that the run is given, where `inputs` do not tell
        offered  of an LLM: what the tools that it may call say of themselves
        """
        key = id.int if type(id) is UUID else id  # as `key_of`
        with self._lock:
            self.events += 1
            runs = self._runs
            if key in runs or key in self._gone:
                self.ignored += 1
                return
            above: Run | None = None
            if parent is not None:
                above_key = parent.int if type(parent) is UUID else parent
                above = runs.get(above_key)
                if above is None and above_key in self._gone:
                    self._forget((key,))
                    self.ignored += 1
                    return
            if above is None:
                run = Run(id, parent, kind, name)
                self._open(run)
            else:
                trace = above.trace
                run = Run(id, parent, kind, name, trace)
                trace.add(run, above)
                trace.running += 1
            runs[key] = run  # before the host's objects are read: where they raise, what lies below still finds it
            if self._orphans and key in self._orphans:
                self._adopt(run)
            if ids:
                run.ids = ids
            size = 0
            if prompt is not None:
                run.prompt = prompt
                size = sum(map(len, prompt))
            if above is None:
                run.tags = tuple(tags or ())
                run.metadata = dict(metadata) if metadata else {}
            if above is None or kind in ASKED or (name is not None and name in self._keep):
                run.inputs = copy_value(inputs, self._copy)
                size += size_of(run.inputs)
            elif prompt is None and kind not in UNREAD and type(inputs) is not str:
                self._note_given(run, inputs)
            if given is not None:
                run.given = {"": tuple(given)}
            if offered:
                run.offered = tuple(offered)
            if size:
                self._weigh(run.trace, size)

    def end(
        self,
        id: Hashable,
        outputs: Any = None,
        *,
        error: BaseException | None = None,
        documents: Iterable[Any] | None = None,
        given: Iterable[str] | None = None,
        inputs: Any = None,
        streamed: bool = False,
        ids: Mapping[str, str] | None = None,
    ) -> Trace | None:
        """A run ended. Returns the trace when it was the root: the collector then knows nothing of it any more.

        documents  what the step delivered; None: the lists of documents in `outputs`, but for those it was given. What
                   can be read only once, as iterators can, stays unread: it is the host's
        given      texts of the documents that the step was given, where `inputs` does not tell
        inputs     the inputs of the run where they were not known when it started (streams)
        streamed   the outputs are what was read of a stream
        """
        with self._lock:
            self.events += 1
            run = self._runs.get(id.int if type(id) is UUID else id)
            if run is None or run.ended is not None:
                self.ignored += 1
                return None
            run.ended = time.time()
            if error is not None:
                run.error = type(error).__name__
            if ids:
                run.ids = {**run.ids, **ids}
            if given is not None:
                run.given = {"": tuple(given)}
            trace = run.trace
            if run is trace.root:
                self._end_root(run, outputs, documents, inputs)
                trace.cut_short = streamed and trace.running > 0
                return trace
            trace.running -= 1
            if inputs is not None:
                self._note_given(run, inputs)
            kind = run.kind
            if kind in SAYS or (run.name is not None and run.name in self._keep):
                self._keep_said(run, outputs, inputs)
            if run.below_retriever:
                return None
            if documents is not None:
                run.documents = self._read(run, documents)
                self._hold(trace, run.documents or ())
            elif (kind == "chain" or kind == "agent") and outputs is not None and type(outputs) is not str:
                run.documents = self._passed_on(run, outputs)
            return None

    def add_documents(self, id: Hashable, documents: Iterable[Any]) -> bool:
        """Documents that the run `id` has found, told by the application itself. False: the run is not known."""
        copied = tuple(map(self._copy, documents))
        with self._lock:
            self.events += 1
            run = self._runs.get(key_of(id))
            if run is None:
                self.ignored += 1
                return False
            run.recorded = (*run.recorded, *copied)
            self._weigh(run.trace, sum(len(found.text) for found in copied))
            return True

    def identify(self, id: Hashable, ids: Mapping[str, str]) -> None:
        """What other systems call the run `id`."""
        with self._lock:
            run = self._runs.get(key_of(id))
            if run is not None and ids:
                run.ids = {**run.ids, **ids}

    def sweep(self) -> None:
        """Give up what is too old, and forget what is only remembered for late events' sake."""
        with self._lock:
            now = time.time()
            for trace in list(self._traces.values()):
                if trace.root.started >= now - self._ttl:
                    break
                self._give_up(trace)
            self._forget_orphans(now)

    def root_of(self, id: Hashable) -> Run | None:
        """The root of the open trace that the run `id` belongs to."""
        run = self._runs.get(key_of(id))
        return None if run is None else run.trace.root

    def run_of(self, id: Hashable) -> Run | None:
        """The run `id`, while its trace is open."""
        return self._runs.get(key_of(id))

    def open_roots(self) -> list[Run]:
        """The roots of the open traces, in order of start."""
        with self._lock:
            return [trace.root for trace in self._traces.values()]

    @property
    def max_traces(self) -> int:
        """How many traces may be open."""
        return self._max_traces

    @property
    def open_runs(self) -> int:
        """How many runs the open traces have."""
        return len(self._runs)

    # -- below: with the lock held ----------------------------------------------------------------------------------

    def _end_root(self, root: Run, outputs: Any, documents: Iterable[Any] | None, inputs: Any) -> None:
        try:
            if documents is not None:
                root.documents = self._read(root, documents)
            root.outputs = copy_value(outputs, self._copy)
            if inputs is not None:
                root.inputs = copy_value(inputs, self._copy)
        finally:  # whatever the host's objects do, the trace is over
            self._drop(root.trace)

    def _keep_said(self, run: Run, outputs: Any, inputs: Any) -> None:
        run.outputs = copy_value(outputs, self._copy)
        if inputs is not None and run.name in self._keep:
            run.inputs = copy_value(inputs, self._copy)
        if run.kind == "tool" and run.name not in self._keep:
            self._weigh(run.trace, size_of(run.outputs))

    def _read(self, run: Run, documents: Any) -> tuple[Found, ...] | None:
        """Copies of what a step delivered; None where it may not be read."""
        latest = run.trace.latest
        if documents is latest:  # copies already, which an integration found to be of these
            return run.trace.latest
        if readable(documents):
            return tuple(map(self._copy, documents))
        run.unread = True
        return None

    @staticmethod
    def _note_given(run: Run, inputs: Any) -> None:
        if run.prompt is not None or run.kind in UNREAD:
            return
        given = documents_in(inputs)
        if given:
            run.given = {key: texts_of(items) for key, items in given.items()}

    def _passed_on(self, run: Run, outputs: Any) -> tuple[Found, ...] | None:
        """The documents among a step's outputs that it was not given as they are."""
        lists = documents_in(outputs)
        if not lists:
            return None
        given = run.given
        passed: Sequence[Any]
        if given is None and len(lists) == 1:
            (passed,) = lists.values()
        else:
            told = given or {}
            passed = [item for key, items in lists.items() if told.get(key) != texts_of(items) for item in items]
        if not are_copies(run.trace.latest, passed):
            self._hold(run.trace, tuple(map(self._copy, passed)))
        return run.trace.latest or None

    def _hold(self, trace: Trace, documents: tuple[Found, ...]) -> None:
        """These were delivered last. Where they pass on, they are neither copied nor weighed again."""
        trace.latest = documents
        self._weigh(trace, sum([len(found.text) for found in documents]))

    def _open(self, run: Run) -> None:
        self._traces[run.key] = run.trace
        oldest = next(iter(self._traces.values()))
        while (
            len(self._traces) > self._max_traces
            or len(self._runs) >= self._max_runs
            or oldest.root.started < run.started - self._ttl
        ) and oldest.root is not run:
            self._give_up(oldest)
            oldest = next(iter(self._traces.values()))
        if self._orphans:
            self._forget_orphans(run.started)
        if run.parent is not None:
            self._orphans.setdefault(key_of(run.parent), []).append(run.trace)

    def _weigh(self, trace: Trace, size: int) -> None:
        trace.size += size
        self._held += size
        while self._held > self._max_bytes and self._traces:
            self._give_up(next(iter(self._traces.values())))

    def _give_up(self, trace: Trace) -> None:
        self._drop(trace)
        self.expired += 1

    def _drop(self, trace: Trace) -> None:
        self._traces.pop(trace.root.key, None)
        self._held -= trace.size
        trace.size += size_of(trace.root.outputs) + RUN_SIZE * len(trace.members)
        keys = tuple([run.key for run in trace.members])
        for key in keys:
            self._runs.pop(key, None)
        self._forget(keys)

    def _forget(self, keys: tuple[Hashable, ...]) -> None:
        self._gone.update(keys)
        self._gone_order.append(keys)
        while len(self._gone) > GONE and len(self._gone_order) > 1:
            self._gone.difference_update(self._gone_order.popleft())

    # -- children that were heard of before their parent ------------------------------------------------------------

    def _adopt(self, above: Run) -> None:
        """Put the traces whose root has this run as its parent where they belong."""
        for orphan in self._orphans.pop(above.key):
            root = orphan.root
            orphan.adopted = True
            if self._traces.pop(root.key, None) is not None:
                above.trace.running += orphan.running + 1
                above.trace.size += orphan.size
            for run in orphan.members:
                above.trace.add(run, above if run is root else above.trace.runs[run.parent])

    def _forget_orphans(self, now: float) -> None:
        """Parents of traces that ended a while ago will not be heard of any more."""
        while self._orphans:
            parent, traces = next(iter(self._orphans.items()))
            ended = [trace.root.ended for trace in traces if trace.root.key not in self._traces]
            if len(self._orphans) <= ORPHANS and (
                len(ended) < len(traces) or any((at or now) > now - ORPHAN_LIFE for at in ended)
            ):
                return
            del self._orphans[parent]


_COLLECTORS: weakref.WeakSet[RunCollector] = weakref.WeakSet()


def _after_fork() -> None:
    for collector in list(_COLLECTORS):
        collector._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
