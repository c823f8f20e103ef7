"""The run tree: one node for each step of a framework's execution, a trace for the whole.

The same tree stands for a live LangChain trace, for the spans of a LlamaIndex query and for a trace read from a store;
`assay.capture.samples_of` makes samples of it, and nothing else does.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypedDict, Unpack
from uuid import UUID

RunKind = Literal["chain", "retriever", "reranker", "llm", "tool", "agent", "prompt", "parser", "embedding", "other"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})  # runs are many, and most have neither metadata nor ids


class Document(NamedTuple):
    """Copy of a retrieved document.

    Attributes:
        text: The text. A picture without a text has its name or source here.
        id: Id of the document. None: it has no id.
        metadata: Shallow copy of the metadata.
        image: Picture, as the application names it: a path, a URL or a data URI. Otherwise a pair of media type and
            base64, not decoded. None: no picture.
    """

    text: str
    id: str | None
    metadata: Mapping[str, Any]
    image: str | tuple[str, str | bytes] | None = None


def key_of(id: Hashable) -> Hashable:
    """What stands for an id where many runs are looked up: of a UUID its number, which is hashed ten times as fast."""
    return id.int if type(id) is UUID else id


class RunFields(TypedDict, total=False):
    """What a run that is over may be made with: see `Run`. None stands for what is not known."""

    inputs: Any
    outputs: Any
    prompt: Sequence[str] | None
    given: Mapping[str, Sequence[str]] | None
    error: str | None
    ended: float | None
    tags: Sequence[str]
    metadata: Mapping[str, Any] | None
    ids: Mapping[str, str] | None


class Run:
    """Node of a run tree: one step of a framework's execution.

    Live capture keeps inputs and outputs of some runs only: see `RunCollector`.

    Args:
        id: Id of the run.
        parent: Id of the parent run. None: the run has no parent.
        kind: Kind of the run. A step of kind "other" is not part of a RAG system, such as the web server around it.
        name: Name of the run.
        trace: Trace of the run, which the run is not yet added to. None: a new trace with the run as its root.
        documents: Documents that the run delivered. None: it delivered none.
        started: Start, in seconds since 1970. None: now.
        known: Values of further attributes, see `RunFields`. None leaves the default.

    Attributes:
        key: Form of the id for fast look-up, see `key_of`.
        inputs: Input of the run.
        outputs: Output of the run.
        prompt: Texts sent to an LLM, one for each message. None: unknown.
        documents: Documents that the run delivered. Examples are the result of a retriever or reranker, the artifact of
            a tool, and documents that a chain passes on. They stand for all documents found below the run. None: it
            delivered none.
        given: Texts of the documents passed to the run, by key of its input ("" for a plain list). None: none are
            known.
        unread: Whether the run delivered an iterator, which capture does not read. Its documents are unknown.
        recorded: Documents that the application recorded through `record_context`.
        offered: Descriptions of the tools that an LLM may call.
        error: Type name of the exception. The message may hold private data, and is not kept. None: no exception.
        ended: End, in seconds since 1970. None: the run did not end.
        tags: Tags.
        metadata: Metadata.
        ids: Ids of the run in other systems, by name, such as "otel_trace_id".
        below_retriever: Whether the run is below a retriever.
        interrupted: Whether the run is a graph that stopped to ask a human. Steps that raised an interrupt have it as
            their `error`.
        resumed: Whether the run is a graph that goes on where it was interrupted.
    """

    # what most runs do not have stands here, and is set where a run has it: hooks make many runs
    inputs: Any = None
    outputs: Any = None
    prompt: Sequence[str] | None = None
    documents: tuple[Document, ...] | None = None
    given: Mapping[str, Sequence[str]] | None = None
    unread = False
    recorded: tuple[Document, ...] = ()
    offered: tuple[str, ...] = ()
    error: str | None = None
    ended: float | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = _NOTHING
    ids: Mapping[str, str] = _NOTHING
    below_retriever = False
    interrupted = False
    resumed = False

    def __init__(
        self,
        id: Hashable,
        parent: Hashable | None = None,
        kind: RunKind = "chain",
        name: str | None = None,
        trace: Trace | None = None,
        *,
        documents: Iterable[Document] | None = None,
        started: float | None = None,
        **known: Unpack[RunFields],
    ) -> None:
        self.id = id
        self.key = key_of(id)
        self.parent = parent
        self.kind: RunKind = kind
        self.name = name
        self.started = time.time() if started is None else started
        self.trace: Trace = Trace(self) if trace is None else trace  # which it has yet to be added to
        if documents is not None:
            self.documents = tuple(documents)
        if known:
            vars(self).update({name: value for name, value in known.items() if value is not None})

    def __repr__(self) -> str:
        return f"<Run {self.kind} {self.name or ''} {self.id}>"


class Trace:
    """Tree of runs.

    Args:
        root: The root run.

    Attributes:
        root: The root run.
        members: All runs, the root first. Of a finished trace they are in order of start. Of a live one they are in the
            order in which they were added.
        running: Number of runs below the root that have not ended. Only live capture counts them.
        cut_short: Whether a stream ended at the root while runs below it had not ended.
        adopted: Whether the root became part of another trace, which has its runs now.
        size: Approximate number of characters of a live trace.
        latest: Documents that a live trace delivered last. They are not copied again.
        hears_interrupts: Whether it would be known that a graph was interrupted.
    """

    __slots__ = ("_runs", "adopted", "cut_short", "hears_interrupts", "latest", "members", "root", "running", "size")

    def __init__(self, root: Run) -> None:
        self.root = root
        self.members = [root]
        self._runs: dict[Hashable, Run] = {}
        self.running = 0
        self.cut_short = False
        self.adopted = False
        self.size = 0
        self.latest: tuple[Document, ...] = ()
        self.hears_interrupts = False

    def __repr__(self) -> str:
        return f"<Trace of {self.root.kind} {self.root.name!r}: {len(self.members)} runs>"

    def add(self, run: Run, above: Run) -> None:
        """Add a run to the trace.

        Args:
            run: The run.
            above: Its parent, a run of this trace.
        """
        run.trace = self
        if above.below_retriever or above.kind == "retriever":
            run.below_retriever = True
        self.members.append(run)

    @property
    def runs(self) -> dict[Hashable, Run]:
        """Runs by id, in the order of `members`.

        Ids are indexed on access, because hooks add runs and seldom look them up.
        """
        found = self._runs
        if len(found) < len(self.members):
            for run in self.members[len(found) :]:
                found[run.id] = run
        return found

    @property
    def key(self) -> Hashable:
        """Key of the root run."""
        return self.root.key

    @property
    def parent(self) -> Hashable | None:
        """Id of the parent of the root run. No run of the trace has it."""
        return self.root.parent

    @property
    def started(self) -> float:
        """Start of the root run, in seconds since 1970."""
        return self.root.started

    @property
    def ended(self) -> float | None:
        """End of the root run, in seconds since 1970. None: it has not ended."""
        return self.root.ended

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Keys of all runs."""
        return tuple([run.key for run in self.members])

    def children(self) -> dict[Hashable, list[Run]]:
        """Return the child runs of each run.

        Returns:
            Child runs by id of their parent, in order of start. A run without children has no entry.
        """
        below: dict[Hashable, list[Run]] = {}
        for run in sorted(self.members, key=lambda run: run.started):  # a parent may have been heard of late
            if run is not self.root:
                below.setdefault(run.parent, []).append(run)
        return below

    def above(self, run: Run) -> Iterator[Run]:
        """Iterate over the ancestors of a run.

        Args:
            run: A run of this trace.

        Yields:
            The ancestors, from the parent to the root. Nothing for the root.
        """
        while run is not self.root:
            run = self.runs[run.parent]
            yield run


def side_by_side(trace: Trace, one: Run, other: Run) -> bool:
    """Whether two runs belong to branches that went on at the same time: neither of them comes after the other."""
    ways = [[run, *trace.above(run)][::-1] for run in (one, other)]
    for first, second in zip(*ways, strict=False):
        if first is not second:
            return _began_before_end(first, second) and _began_before_end(second, first)
    return False  # one lies below the other


def _began_before_end(one: Run, other: Run) -> bool:
    return other.ended is None or one.started < other.ended


def traces_of(runs: Iterable[Run]) -> list[Trace]:
    """Build the traces of finished runs, as read from a store or a file.

    A run without a known parent is the root of a trace. If parents form a cycle, its earliest run is the root.

    Args:
        runs: The runs, in any order. Of runs with the same id, the one that started last counts.

    Returns:
        The traces, in order of start. The runs of each trace are in order of start as well.
    """
    by_id = {run.id: run for run in sorted(runs, key=lambda run: run.started)}
    below: dict[Hashable, list[Run]] = {}
    roots = []
    for run in by_id.values():
        if run.parent in by_id and run.parent != run.id:
            below.setdefault(run.parent, []).append(run)
        else:
            roots.append(run)
    traces = [_trace(root, below) for root in roots]
    reached = sum(len(trace.members) for trace in traces)
    if reached < len(by_id):  # parents in a circle: cut it where it starts
        seen = {id for trace in traces for id in trace.runs}
        for run in by_id.values():
            if run.id not in seen:
                traces.append(_trace(run, below))
                seen |= traces[-1].runs.keys()
    return sorted(traces, key=lambda trace: trace.root.started)


def _trace(root: Run, below: Mapping[Hashable, Sequence[Run]]) -> Trace:
    trace = root.trace = Trace(root)
    waiting, known = [root], {root.id}
    while waiting:
        above = waiting.pop()
        for run in below.get(above.id, ()):
            if run.id not in known:
                known.add(run.id)
                trace.add(run, above)
                waiting.append(run)
    trace.members[1:] = sorted(trace.members[1:], key=lambda run: run.started)
    return trace
