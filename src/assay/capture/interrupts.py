"""Graphs that stop to ask a human: they are open until somebody resumes them. One exchange, in two traces or more."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from assay._util.forks import own_lock, renewed
from assay.capture.conversations import named_conversation
from assay.capture.passages import passages_by_type
from assay.capture.tree import Document, Run, RunKind, Trace

#: Exceptions, by type name, with which a graph stops and waits.
INTERRUPTS = ("GraphInterrupt", "NodeInterrupt")
#: Kinds of runs that an interrupted step makes again.
CALLS: tuple[RunKind, ...] = ("tool", "retriever", "reranker", "llm")
#: Where LangGraph puts what it asks, in the output of a graph.
ASKS = "__interrupt__"

WAIT = 86_400.0  # seconds after which nobody is expected to resume a graph
MOST = 1000  # graphs that wait at the same time
CHARS = 64_000_000  # that they hold together, about


def is_interrupted(trace: Trace) -> bool:
    """Check whether a graph stopped to ask a human. It has not answered yet, however its root ended.

    Args:
        trace: The finished trace.

    Returns:
        True if a step raised an interrupt, or the output of the root holds one.
    """
    outputs = trace.root.outputs
    if isinstance(outputs, Mapping) and outputs.get(ASKS):
        return True
    return any(run.interrupted or run.error in INTERRUPTS for run in trace.members)


def resumes(trace: Trace) -> bool:
    """Check whether a run goes on where an earlier one stopped: it has no input of its own.

    Args:
        trace: The finished trace.

    Returns:
        True if a graph in it was resumed, or its root has no input.
    """
    return trace.root.inputs is None or any(run.resumed for run in trace.members)


def join_resumed(before: Trace, after: Trace) -> Trace:
    """Join an interrupted run and the one that resumed it to one trace.

    The trace has the root of `after`, with the input of `before`. A step that was interrupted runs again from its
    start: what it had searched and asked by then counts once.

    Args:
        before: The interrupted trace. Its runs become runs of the new trace.
        after: The trace that resumed it.

    Returns:
        A new trace.
    """
    root = after.root
    root.inputs, root.started = before.root.inputs, before.root.started
    joined = Trace(root)
    joined.hears_interrupts = after.hears_interrupts
    joined.cut_short, joined.latest, joined.size = after.cut_short, after.latest, before.size + after.size
    repeated = _repeated(before, after)
    for run in before.members[1:]:
        if run.id not in repeated:
            run.parent = root.id if run.parent == before.root.id else run.parent
            run.interrupted, run.error = False, None if run.error in INTERRUPTS else run.error
            _move(run, joined)
    edited = _edited(before, after)
    if edited is not None:
        joined.add(edited, root)
    for run in after.members[1:]:
        _move(run, joined)
    root.trace = joined
    return joined


def _edited(before: Trace, after: Trace) -> Run | None:
    """A step that stands for `update_state`, where the first step that goes on is given other documents than were left.

    No run tells that code changed them: only what the graph had when it stopped, and what it goes on with.
    """
    left = before.root.outputs
    for run in after.members[1:] if isinstance(left, Mapping) else ():
        if run.documents is not None or run.recorded or run.resumed:
            return None
        for key, texts in (run.given or {}).items():
            known = left.get(key)
            had = passages_by_type(known) if isinstance(known, (list, tuple)) and known else None
            if had is not None and [one.text for one in had] != list(texts):
                return _update(run, key, had, texts)
        if run.given:
            return None
    return None


def _update(run: Run, key: str, had: Sequence[Document], texts: Sequence[str]) -> Run:
    """The step that replaces the documents that a graph had with those that `run` is given."""
    goes_on_with = run.inputs.get(key) if isinstance(run.inputs, Mapping) else None
    found = passages_by_type(goes_on_with) if isinstance(goes_on_with, (list, tuple)) and goes_on_with else None
    by_text = {one.text: one for one in (*had, *(found or ()))}
    documents = [by_text.get(text) or Document(text, None, {}) for text in texts]
    given = {key: tuple(one.text for one in had)}
    return Run(
        ("update_state", run.id),
        run.trace.root.id,
        "chain",
        "update_state",
        documents=documents,
        started=run.started,
        ended=run.started,
        given=given,
    )


def _move(run: Run, trace: Trace) -> None:
    run.trace = trace
    trace.members.append(run)


def _repeated(before: Trace, after: Trace) -> set[Hashable]:
    """The searches and calls of interrupted steps that were made again, with all that is below them.

    A step runs again from its start. What it had done in tasks of their own is remembered, and not done again.
    """
    again = {_asked(run) for run in after.members}
    stopped = {run.id for run in before.members if run.error in INTERRUPTS}
    repeated: set[Hashable] = set()
    for run in before.members[1:]:  # a parent comes before its children
        inside = any(above.id in stopped for above in (run, *before.above(run)))
        if run.parent in repeated or (inside and run.kind in CALLS and _asked(run) in again):
            repeated.add(run.id)
    return repeated


def _asked(run: Run) -> tuple[str, str | None, str]:
    return run.kind, run.name, repr(run.inputs if run.prompt is None else run.prompt)


class InterruptedTraces:
    """Traces that wait to be resumed, by conversation and name of the root.

    It is safe for threads. A forked child starts with none.

    Args:
        wait: Seconds after which a trace is given up.
        most: Traces to hold. The oldest is given up for a new one.
        clock: Returns the time in seconds.
    """

    def __init__(self, *, wait: float = WAIT, most: int = MOST, clock: Callable[[], float] = time.time) -> None:
        self._wait = wait
        self._most = most
        self._clock = clock
        self._lock = own_lock(self)
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        """Begin afresh, at first and in a forked child."""
        self._held: OrderedDict[Hashable, Trace] = OrderedDict()
        self._since: dict[Hashable, float] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._held)

    def accept(self, trace: Trace) -> list[Trace]:
        """Take a finished trace.

        Args:
            trace: The trace. If it resumes one that waits, both are joined. If it is interrupted, and its metadata
                names a conversation, it waits.

        Returns:
            The traces that are complete now, in order of start: this one, and those that nobody resumed.
        """
        key = _key(trace)
        if key is None:
            return [trace]
        with self._lock:
            before = self._pop(key)
            given_up = [] if before is None else [before]
            if before is not None and resumes(trace):
                trace, given_up = join_resumed(before, trace), []
            if is_interrupted(trace):
                self._hold(key, trace)
                return [*given_up, *self._overdue()]
            return [*given_up, *self._overdue(), trace] if self._held else [*given_up, trace]

    def give_up(self) -> list[Trace]:
        """Give up all traces.

        Returns:
            The traces that waited, the oldest first.
        """
        with self._lock:
            return [found for key in list(self._held) if (found := self._pop(key)) is not None]

    def _hold(self, key: Hashable, trace: Trace) -> None:
        self._held[key], self._since[key] = trace, self._clock()
        self._size += trace.size

    def _pop(self, key: Hashable) -> Trace | None:
        found = self._held.pop(key, None)
        if found is not None:
            self._size -= found.size
            del self._since[key]
        return found

    def _overdue(self) -> list[Trace]:
        """Those that waited too long, and the oldest where there are too many."""
        over: list[Trace] = []
        while self._held and (len(self._held) > self._most or self._size > CHARS or self._is_late()):
            found = self._pop(next(iter(self._held)))
            over += [] if found is None else [found]
        return over

    def _is_late(self) -> bool:
        return self._since[next(iter(self._held))] < self._clock() - self._wait


def _key(trace: Trace) -> tuple[str, Any] | None:
    name = named_conversation(trace.root.metadata)
    return None if name is None else (name, trace.root.name)
