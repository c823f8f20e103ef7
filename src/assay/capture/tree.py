"""The run tree: one node for each step of a framework's execution, a trace for the whole.

The same tree stands for a live LangChain trace, for the spans of a LlamaIndex query and for a trace read from a store;
`assay.capture.samples_of` makes samples of it, and nothing else does.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from uuid import UUID

Kind = Literal["chain", "retriever", "reranker", "llm", "tool", "agent", "prompt", "parser", "embedding", "other"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})  # runs are many, and most have neither metadata nor ids


class Found(NamedTuple):
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

    __slots__ = (
        "below_retriever", "documents", "ended", "error", "given", "id", "ids", "inputs", "key", "kind", "metadata",
        "name", "offered", "outputs", "parent", "prompt", "recorded", "started", "tags", "trace", "unread",
    )  # fmt: skip

    def __init__(
        self,
        id: Hashable,
        parent: Hashable | None = None,
        kind: Kind = "chain",
        name: str | None = None,
        *,
        inputs: Any = None,
        outputs: Any = None,
        prompt: Sequence[str] | None = None,
        documents: Iterable[Found] | None = None,
        given: Mapping[str, Sequence[str]] | None = None,
        error: str | None = None,
        started: float | None = None,
        ended: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        ids: Mapping[str, str] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.id = id
        self.key = key_of(id)
        self.parent = parent
        self.kind = kind
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.prompt = prompt
        self.documents: tuple[Found, ...] | None = None if documents is None else tuple(documents)
        self.given = given
        self.unread = False
        self.recorded: tuple[Found, ...] = ()
        self.offered: tuple[str, ...] = ()
        self.error = error
        self.started = time.time() if started is None else started
        self.ended = ended
        self.tags = tags
        self.metadata: Mapping[str, Any] = metadata or _NOTHING
        self.ids: Mapping[str, str] = ids or _NOTHING
        self.below_retriever = False
        self.trace: Trace = Trace(self) if trace is None else trace  # which it has yet to be added to

    def __repr__(self) -> str:
        return f"<Run {self.kind} {self.name or ''} {self.id}>"


class Trace:
    """A tree of runs: its root, all its runs in order of start, and how many below the root have not ended.

    cut_short  the root of a stream ended while its children were still at work: the reader went away
    adopted    the root turned out to be a part of another trace, which has its runs now
    size       of a trace that was captured live: how many characters it holds, about
    latest     of such a trace: the documents delivered last, so that they are not copied again where they pass on
    """

    __slots__ = ("adopted", "cut_short", "latest", "root", "running", "runs", "size")

    def __init__(self, root: Run) -> None:
        self.root = root
        self.runs: dict[Hashable, Run] = {root.id: root}
        self.running = 0
        self.cut_short = False
        self.adopted = False
        self.size = 0
        self.latest: tuple[Found, ...] = ()

    def add(self, run: Run, above: Run) -> None:
        """Put `run` below `above`, which is a run of this trace."""
        run.trace = self
        run.below_retriever = above.below_retriever or above.kind == "retriever"
        self.runs[run.id] = run

    def children(self) -> dict[Hashable, list[Run]]:
        """The runs below each run, by its id, in order of start."""
        below: dict[Hashable, list[Run]] = {}
        for run in sorted(self.runs.values(), key=lambda run: run.started):  # a parent may have been heard of late
            if run is not self.root:
                below.setdefault(run.parent, []).append(run)
        return below

    def above(self, run: Run) -> Iterator[Run]:
        """The runs above one, from its parent to the root."""
        while run is not self.root:
            run = self.runs[run.parent]
            yield run


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
    reached = sum(len(trace.runs) for trace in traces)
    if reached < len(by_id):  # parents in a circle: cut it where it starts
        seen = {id for trace in traces for id in trace.runs}
        for run in by_id.values():
            if run.id not in seen:
                traces.append(_trace(run, below))
                seen |= traces[-1].runs.keys()
    return sorted(traces, key=lambda trace: trace.root.started)


def _trace(root: Run, below: Mapping[Hashable, Sequence[Run]]) -> Trace:
    trace = root.trace = Trace(root)
    waiting = [root]
    members = []
    while waiting:
        above = waiting.pop()
        for run in below.get(above.id, ()):
            if run.id not in trace.runs:
                trace.add(run, above)
                members.append(run)
                waiting.append(run)
    members.sort(key=lambda run: run.started)
    trace.runs = {root.id: root, **{run.id: run for run in members}}
    return trace
