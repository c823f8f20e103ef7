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
    """A retrieved document, copied: its text, its id, a shallow copy of its metadata, and its picture where it has one.

    image   as the application named it: a path, a URL or a data URI, or the media type and base64, which nobody has
            decoded. The text of a picture alone is what it is called by
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
    """One node of a run tree.

    kind       "other" is for steps that belong to no RAG system, such as the web server around it
    inputs     what the step was given; live capture keeps it for the root, for runs that the rules name, and of a tool
               or a retriever what it was asked
    outputs    what it returned; live capture keeps it for the root and those, of a tool, and of an LLM what it wrote
    prompt     of an LLM: the texts that it was sent, one per message
    documents  the documents that this step delivered, where it delivered any: a retriever's and a reranker's result, a
               tool's artifact, the documents a chain passes on. They stand for all that was found below it
    given      the texts of the documents that were handed to this step, by key of its input ("" for a plain list)
    unread     what this step delivered can be read only once, and belongs to the host: nobody knows what it was
    recorded   documents of which the application told by itself, through `record_context`
    offered    of an LLM: what the tools that it may call say of themselves
    error      the exception's type name: its text may hold what must not be kept
    started    seconds since 1970, as is `ended`; `ended` is None for a run that never ended
    ids        what other systems call this run: "otel_trace_id", "otel_span_id" …
    key        stands for the id where many runs are looked up
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
    """A tree of runs: its root, all its runs in order of start, and how many below the root have not ended.

    cut_short  the root of a stream ended while its children were still at work: the reader went away
    adopted    the root turned out to be a part of another trace, which has its runs now
    members    its runs in order of start, the root first; `runs` are the same by id
    size       of a trace that was captured live: how many characters it holds, about
    latest     of such a trace: the documents delivered last, so that they are not copied again where they pass on
    """

    __slots__ = ("_runs", "adopted", "cut_short", "latest", "members", "root", "running", "size")

    def __init__(self, root: Run) -> None:
        self.root = root
        self.members = [root]
        self._runs: dict[Hashable, Run] = {}
        self.running = 0
        self.cut_short = False
        self.adopted = False
        self.size = 0
        self.latest: tuple[Document, ...] = ()

    def __repr__(self) -> str:
        return f"<Trace of {self.root.kind} {self.root.name!r}: {len(self.members)} runs>"

    def add(self, run: Run, above: Run) -> None:
        """Put `run` below `above`, which is a run of this trace."""
        run.trace = self
        if above.below_retriever or above.kind == "retriever":
            run.below_retriever = True
        self.members.append(run)

    @property
    def runs(self) -> dict[Hashable, Run]:
        """Its runs by id, in order of start. Ids are looked up when somebody asks: hooks add runs, and seldom do."""
        found = self._runs
        for run in self.members[len(found) :]:
            found[run.id] = run
        return found

    @property
    def key(self) -> Hashable:
        """That of its root."""
        return self.root.key

    @property
    def parent(self) -> Hashable | None:
        """That of its root, of which nobody has heard."""
        return self.root.parent

    @property
    def started(self) -> float:
        """When its root began."""
        return self.root.started

    @property
    def ended(self) -> float | None:
        """When its root ended."""
        return self.root.ended

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Those of its runs."""
        return tuple([run.key for run in self.members])

    def children(self) -> dict[Hashable, list[Run]]:
        """The runs below each run, by its id, in order of start."""
        below: dict[Hashable, list[Run]] = {}
        for run in sorted(self.members, key=lambda run: run.started):  # a parent may have been heard of late
            if run is not self.root:
                below.setdefault(run.parent, []).append(run)
        return below

    def above(self, run: Run) -> Iterator[Run]:
        """The runs above one, from its parent to the root."""
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
    """The traces of finished runs that come in any order, as from a store: one for each run without a known parent.

    Runs of one id are one run: the last of them. Traces, and the runs of each, are in order of start.
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
