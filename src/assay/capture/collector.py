"""Run trees as they happen: a bounded collector of the runs of a framework, fed by its hooks.

It is made for hooks: each call takes microseconds, copies only what the host may change later, and never waits.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from assay.capture.open_traces import OpenTraces
from assay.capture.snapshots import are_copies, copy_documents, copy_value, documents_in, readable, size_of, texts_of
from assay.capture.tree import Document, Run, RunKind, Trace, key_of

ASKED: tuple[RunKind, ...] = ("tool", "retriever")  # kinds of runs whose inputs are kept: what they were asked
UNREAD: tuple[RunKind, ...] = ("prompt", "parser")  # kinds whose documents given do not matter: they ask no model
SAYS: tuple[RunKind, ...] = ("tool", "llm")  # kinds of runs whose outputs are kept: what they said
PASSES_ON: tuple[RunKind, ...] = ("chain", "agent")  # kinds of runs whose outputs may hold the documents they pass on
RUN_SIZE = 500  # what a run holds besides texts, in characters


class RunCollector(OpenTraces[Run, Trace]):
    """Collector of the runs of many traces at once, as trees that can be read while they grow.

    Four limits bound its memory. Above a limit, the oldest open trace is dropped. All methods are safe for threads.

    Args:
        max_traces: Traces open at the same time.
        max_runs: Runs of all open traces together.
        max_bytes: Approximate number of characters of all open traces together.
        ttl: Seconds after which an open trace is dropped.
        keep: Names of runs whose inputs and outputs are kept, as those of root runs are.
        copy: Function that copies a document of the framework. Default: `copy_document`.

    Attributes:
        events: Number of events received.
        expired: Number of traces dropped.
        ignored: Number of events ignored, because they were late, repeated, or of a dropped trace.
    """

    def start(
        self,
        id: Hashable,
        parent: Hashable | None,
        kind: RunKind,
        name: str | None = None,
        inputs: Any = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        prompt: Sequence[str] | None = None,
        given: Iterable[str] | Mapping[str, Sequence[str]] | None = None,
        ids: Mapping[str, str] | None = None,
        offered: Iterable[str] = (),
        at: float | None = None,
    ) -> None:
        """Record the start of a run. A run without a known parent is the root of a new trace.

        A repeated start is ignored, and so is the start of a run whose trace is over.

        Args:
            id: Id of the run. A UUID is looked up fastest.
            parent: Id of the parent run. None: the run has no parent.
            kind: Kind of the run.
            name: Name of the run.
            inputs: Input of the run. It is copied for root runs, tools, retrievers and runs named in `keep`. Of other
                runs, only the texts of the documents in it are kept.
            tags: Tags. They are kept for root runs.
            metadata: Metadata. It is kept for root runs.
            prompt: Texts sent to an LLM, one for each message. With it, `inputs` is not searched for documents.
            given: Texts of the documents passed to the run, by key of its input or as a plain list. None: those found
                in `inputs`.
            ids: Ids of the run in other systems, by name, such as "otel_trace_id".
            offered: Descriptions of the tools that an LLM may call.
            at: Time of the start, in seconds since 1970. None: now.
        """
        key = id.int if type(id) is UUID else id  # as `key_of`
        above_key = parent.int if type(parent) is UUID else parent
        with self._lock:
            self.events += 1
            above = self._runs.get(above_key)
            if key in self._runs or key in self._gone or (above is None and above_key in self._gone):
                self._ignore(key)
                return
            if above is None:
                run = Run(id, parent, kind, name, started=at)
                run.tags = tuple(tags or ())
                run.metadata = dict(metadata) if metadata else {}
                self._open(run.trace)
            else:
                run = Run(id, parent, kind, name, above.trace, started=at)
                above.trace.add(run, above)
                above.trace.running += 1
            self._runs[key] = run  # before host's objects are read: where they raise, what lies below still finds it
            if self._orphans and key in self._orphans:
                self._adopt(key, run)
            if ids:
                run.ids = ids
            size = 0
            if prompt is not None:
                run.prompt = prompt
                size = sum(map(len, prompt))
            if above is None or kind in ASKED or (name is not None and name in self._keep):
                run.inputs = copy_value(inputs, self._copy)
                size += size_of(run.inputs)
            elif type(inputs) is not str:
                self._note_received(run, inputs)
            if given is not None:
                run.given = given if isinstance(given, Mapping) else {"": tuple(given)}
            if offered:
                run.offered = tuple(offered)
            if size:
                self._weigh(run.trace, size)

    def end(
        self,
        id: Hashable,
        outputs: Any = None,
        *,
        error: BaseException | str | None = None,
        documents: Iterable[Any] | None = None,
        given: Iterable[str] | Mapping[str, Sequence[str]] | None = None,
        inputs: Any = None,
        streamed: bool = False,
        ids: Mapping[str, str] | None = None,
        at: float | None = None,
    ) -> Trace | None:
        """Record the end of a run.

        Args:
            id: Id of the run.
            outputs: Output of the run. It is copied for root runs, tools, LLMs and runs named in `keep`.
            error: Exception that ended the run, or the name of its type. None: the run succeeded.
            documents: Documents that the run delivered. An iterator is not read, because the application reads it.
                None: for a chain or an agent below the root, the lists of documents in `outputs` that differ from its
                input.
            given: Texts of the documents passed to the run, by key of its input or as a plain list. None: no change.
            inputs: Input of the run, if it was unknown at the start (streams). None: no change.
            streamed: Whether `outputs` is the part of a stream that was read.
            ids: Further ids of the run in other systems, by name.
            at: Time of the end, in seconds since 1970. None: now.

        Returns:
            The trace if the run is its root. The collector then drops it. None for other runs, for an unknown run and
            for a repeated end.
        """
        with self._lock:
            self.events += 1
            run = self._runs.get(id.int if type(id) is UUID else id)
            if run is None or run.ended is not None:
                self.ignored += 1
                return None
            run.ended = time.time() if at is None else at
            if error is not None:
                run.error = error if isinstance(error, str) else type(error).__name__
            if ids:
                run.ids = {**run.ids, **ids}
            if given is not None:
                run.given = given if isinstance(given, Mapping) else {"": tuple(given)}
            trace = run.trace
            if run is trace.root:
                self._end_root(run, outputs, documents, inputs)
                trace.cut_short = streamed and trace.running > 0
                return trace
            trace.running -= 1
            if inputs is not None:
                self._note_received(run, inputs)
            kind = run.kind
            if kind in SAYS or (run.name is not None and run.name in self._keep):
                self._keep_messages(run, outputs, inputs)
            if run.below_retriever:
                return None
            if documents is not None:
                run.documents = self._read(run, documents)
                self._hold(trace, run.documents or ())
            elif kind in PASSES_ON and outputs is not None and type(outputs) is not str:
                run.documents = self._passed_on(run, outputs)
            return None

    def add_documents(self, id: Hashable, documents: Iterable[Any]) -> bool:
        """Add documents that the application recorded for a run (see `record_context`).

        Args:
            id: Id of the run.
            documents: Passages of any framework. They are copied.

        Returns:
            True if they were added. False if no open trace has the run.

        Raises:
            InputError: A value is not a passage.
        """
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
        """Add the ids of a run in other systems. An unknown run is ignored.

        Args:
            id: Id of the run.
            ids: Ids by name, such as "otel_trace_id". They replace ids of the same name.
        """
        with self._lock:
            run = self._runs.get(key_of(id))
            if run is not None and ids:
                run.ids = {**run.ids, **ids}

    def note_graph(self, id: Hashable, *, interrupted: bool = False, resumed: bool = False) -> None:
        """Note that a run is a graph that was interrupted, or goes on. An unknown run is ignored.

        Args:
            id: Id of the run.
            interrupted: The graph stopped to ask a human.
            resumed: The graph goes on where it was interrupted.
        """
        with self._lock:
            run = self._runs.get(key_of(id))
            if run is not None:
                run.interrupted = run.interrupted or interrupted
                run.resumed = run.resumed or resumed

    def root_of(self, id: Hashable) -> Run | None:
        """Return the root of the open trace that has a run.

        Args:
            id: Id of the run.

        Returns:
            The root run. None if no open trace has the run.
        """
        run = self._runs.get(key_of(id))
        return None if run is None else run.trace.root

    def run_of(self, id: Hashable) -> Run | None:
        """Return a run of an open trace.

        Args:
            id: Id of the run.

        Returns:
            The run. None if no open trace has it.
        """
        return self._runs.get(key_of(id))

    def open_roots(self) -> list[Run]:
        """Return the root runs of the open traces.

        Returns:
            The root runs, in the order in which their traces were opened.
        """
        with self._lock:
            return [trace.root for trace in self._traces.values()]

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

    def _drop(self, trace: Trace) -> None:
        super()._drop(trace)
        trace.size += size_of(trace.root.outputs) + RUN_SIZE * len(trace.members)

    def _keep_messages(self, run: Run, outputs: Any, inputs: Any) -> None:
        run.outputs = copy_value(outputs, self._copy)
        if run.name in self._keep:
            if inputs is not None:
                run.inputs = copy_value(inputs, self._copy)
        elif run.kind == "tool":
            self._weigh(run.trace, size_of(run.outputs))

    def _read(self, run: Run, documents: Any) -> tuple[Document, ...] | None:
        """Copies of what a step delivered; None where it may not be read."""
        latest = run.trace.latest
        if documents is latest:  # copies already, which an integration found to be of these
            return run.trace.latest
        if readable(documents):
            return copy_documents(documents, self._copy)
        run.unread = True
        return None

    @staticmethod
    def _note_received(run: Run, inputs: Any) -> None:
        if run.prompt is not None or run.kind in UNREAD:
            return
        given = documents_in(inputs)
        if given:
            run.given = {key: texts_of(items) for key, items in given.items()}

    def _passed_on(self, run: Run, outputs: Any) -> tuple[Document, ...] | None:
        """The documents among a step's outputs that it was not given as they are."""
        lists = documents_in(outputs)
        if not lists:
            return None
        given = run.given or {}
        passed = [item for key, items in lists.items() if given.get(key) != texts_of(items) for item in items]
        if not are_copies(run.trace.latest, passed):
            self._hold(run.trace, copy_documents(passed, self._copy))
        return run.trace.latest or None

    def _trace_of(self, run: Run) -> Trace:
        return run.trace

    def _take_in(self, orphan: Trace, above: Run, still_open: bool) -> None:
        trace = above.trace
        if still_open:
            trace.running += orphan.running + 1
        for run in orphan.members:
            trace.add(run, above if run is orphan.root else trace.runs[run.parent])
