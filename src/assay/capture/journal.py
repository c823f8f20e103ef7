"""Events of runs as they are heard, noted down trace by trace, and read into a run tree when the trace is over.

For integrations that ask nothing of runs under way. A hook then does what cannot wait and no more: it copies what the
host may change later, and makes a note. Whoever wants the tree has it built, on a thread of ours.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from assay.capture.collector import ASKED, RUN_SIZE, SAYS, UNREAD, RunCollector
from assay.capture.open_traces import OpenTraces
from assay.capture.snapshots import are_copies, copy_documents, copy_value, documents_in, readable, size_of, texts_of
from assay.capture.tree import Document, Kind, Trace, key_of

_UNREADABLE = object()  # stands for documents that can be read only once, and are the host's
_TAKEN_IN = object()  # the note of a trace whose root turned out to be a part of another


#: Asked with the id of a run that starts, the one that it names as its parent, its kind, and what was heard of the
#: trace of that parent: who its parent is, and what other systems call the run.
Around = Callable[[Any, Any, Kind, "TraceNotes | None"], tuple[Hashable | None, Mapping[str, str] | None]]


class TraceNotes:
    """What was heard of one trace: of its root, and notes of all other events, of which `trace` makes the tree.

    id, parent, kind, name, inputs, tags, metadata, ids, started, ended, prompt, offered
                           those of its root, as of a `Run`
    over                   how that ended: what `_over` is to be called with; None as long as it has not
    size, latest, adopted  see `assay.capture.open_traces.Followed`
    known                  the keys of its runs
    whole, named           of those whose outputs are kept as a whole, and of those that the rules name: their inputs
                           are kept too
    notes                  a function for each event, how many arguments it takes besides the tree, and those: in one
                           list, because an object for each makes the garbage collector's rounds longer
    """

    __slots__ = (
        "_journal", "_tree", "adopted", "ended", "id", "ids", "inputs", "key", "kind", "known", "latest", "metadata",
        "name", "named", "notes", "offered", "over", "parent", "prompt", "size", "started", "tags", "whole",
    )  # fmt: skip

    def __init__(
        self, id: Hashable, key: Hashable, parent: Hashable | None, kind: Kind, name: str | None, journal: Journal
    ) -> None:
        self.id = id
        self.key = key
        self.parent = parent
        self.kind: Kind = kind
        self.name = name
        self.inputs: Any = None
        self.prompt: Sequence[str] | None = None
        self.offered: Sequence[str] = ()
        self.over: tuple[Any, ...] | None = None
        self.tags: Sequence[str] = ()
        self.metadata: Mapping[str, Any] = {}
        self.ids: Mapping[str, str] = {}
        self.started = time.time()
        self.ended: float | None = None
        self.size = 0
        self.latest: tuple[Document, ...] = ()
        self.adopted = False
        self.known: list[Hashable] = [key]
        self.notes: list[Any] = []
        self.whole: set[Hashable] = set()
        self.named: Collection[Hashable] = ()
        self._journal = journal
        self._tree: Trace | None = None

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Those of its runs."""
        return tuple(self.known)

    def trace(self) -> Trace:
        """The tree, when the root has ended. It is built once, and not by two threads at a time."""
        if self._tree is None:
            self._tree = self._journal.read(self)
            if self.parent is None:  # else they may have to be read once more, as a part of another trace
                self.notes = []
        return self._tree


class Journal(OpenTraces["TraceNotes", "TraceNotes"]):
    """Follows the runs of many traces at once, like a `RunCollector`, and takes less of the time of hooks.

    See `OpenTraces` for its arguments.
    """

    def start(
        self,
        id: Hashable,
        parent: Hashable | None,
        kind: Kind,
        name: str | None = None,
        inputs: Any = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        prompt: Sequence[str] | None = None,
        offered: Sequence[str] = (),
        look_around: Around | None = None,
    ) -> None:
        """A run started: see `RunCollector.start`. `look_around` is asked where others may know more of it."""
        key = id.int if type(id) is UUID else id  # as `key_of`
        above_key = parent.int if type(parent) is UUID else parent
        runs = self._runs
        above = runs.get(above_key)
        ids: Mapping[str, str] | None = None
        if look_around is not None and (above is None or kind == "retriever" or len(above.known) == 1):
            parent, ids = look_around(id, parent, kind, above)  # else there is nothing to learn
            above_key = key_of(parent)
        with self._lock:
            self.events += 1
            above = runs.get(above_key)
            if above is None:
                self._start_root(id, key, parent, kind, name, inputs, tags, metadata, prompt, ids, offered)
                return
            if key in runs or key in self._gone:
                self._ignore(key)
                return
            runs[key] = above
            above.known.append(key)
            if kind in SAYS:
                above.whole.add(key)
            # before host's objects are read: where they raise, what lies below finds this run
            if prompt is None and not ids and not offered:  # as most
                above.notes += (_started, 5, id, parent, kind, name, time.time())
            else:
                above.notes += (_started, 8, id, parent, kind, name, time.time(), prompt, ids, offered)
            if self._orphans and key in self._orphans:
                self._adopt(key, above)
            if self._keep and name in self._keep:
                self._name(above, key)
                self._ask(above, id, inputs)
            elif kind in ASKED:
                self._ask(above, id, inputs)
            elif prompt is None and type(inputs) is not str and kind not in UNREAD:
                given = _input_texts(inputs)
                if given is not None:
                    above.notes += (_set_received, 2, id, given)
            if prompt is not None:
                self._weigh(above, sum(map(len, prompt)))

    def end(
        self,
        id: Hashable,
        outputs: Any = None,
        error: BaseException | None = None,
        documents: Any = None,
        inputs: Any = None,
        streamed: bool = False,
        ids: Mapping[str, str] | None = None,
    ) -> TraceNotes | None:
        """A run ended: see `RunCollector.end`. Returns what was heard of the trace when it was the root."""
        key = id.int if type(id) is UUID else id
        with self._lock:
            self.events += 1
            heard = self._runs.get(key)
            if heard is None:
                self.ignored += 1
                return None
            failed = None if error is None else type(error).__name__
            if key == heard.key:
                self._end_root(heard, failed, ids, outputs, documents, inputs, streamed)
                return heard
            at = time.time()
            said = found = given = asked = None
            try:
                if inputs is not None:
                    given = _input_texts(inputs)
                    if key in heard.named:
                        asked = copy_value(inputs, self._copy)
                if documents is not None:
                    found = self._read(heard, documents)
                if outputs is None:
                    pass
                elif key in heard.whole:
                    said = copy_value(outputs, self._copy)
                    if key not in heard.named:
                        self._weigh(heard, size_of(said))
                elif type(outputs) is not str:
                    said = self._passed_on(heard, outputs)
            finally:  # whatever the host's objects do, the run is over
                if failed is said is found is asked is given is None and not ids:  # as most: there is nothing to tell
                    heard.notes += (_ended, 2, id, at)
                else:
                    heard.notes += (_ended, 8, id, at, failed, ids, said, found, asked, given)
            return None

    def add_documents(self, id: Hashable, documents: Sequence[Any]) -> bool:
        """Documents that the run `id` has found, told by the application itself. False: the run is not known."""
        copied = copy_documents(documents, self._copy)
        with self._lock:
            self.events += 1
            heard = self._runs.get(key_of(id))
            if heard is None:
                self.ignored += 1
                return False
            heard.notes += (_recorded, 2, id, copied)
            self._weigh(heard, sum(len(found.text) for found in copied))
            return True

    def notes_of(self, id: Hashable) -> TraceNotes | None:
        """What was heard of the open trace that the run `id` belongs to."""
        return self._runs.get(key_of(id))

    def read(self, heard: TraceNotes) -> Trace:
        """The tree of a trace that is over, of the notes that were made of it."""
        ever = sys.maxsize
        tree = RunCollector(max_traces=ever, max_runs=ever, max_bytes=ever, ttl=ever, keep=self._keep, copy=self._copy)
        over: Trace | None = None
        for note, about in _events_of(heard):
            over = note(tree, *about) or over
        if tree.ignored:  # an end that came twice
            with self._lock:
                self.ignored += tree.ignored
        if over is None or over.root.id != heard.id:
            raise ValueError("the root has not ended")
        return over

    # -- below: with the lock held ----------------------------------------------------------------------------------

    def _start_root(
        self, id: Hashable, key: Hashable, parent: Hashable | None, kind: Kind, name: str | None, inputs: Any,
        tags: Sequence[str] | None, metadata: Mapping[str, Any] | None, prompt: Sequence[str] | None,
        ids: Mapping[str, str] | None, offered: Sequence[str],
    ) -> None:  # fmt: skip
        if key in self._runs or key in self._gone or key_of(parent) in self._gone:
            self._ignore(key)
            return
        heard = TraceNotes(id, key, parent, kind, name, self)
        heard.prompt, heard.offered = prompt, offered
        self._open(heard)
        self._runs[key] = heard
        if self._orphans and key in self._orphans:
            self._adopt(key, heard)
        if name in self._keep:
            self._name(heard, key)
        if kind in SAYS:
            heard.whole.add(key)
        heard.ids = ids or {}
        heard.tags = tuple(tags or ())
        heard.metadata = dict(metadata) if metadata else {}
        heard.inputs = copy_value(inputs, self._copy)
        self._weigh(heard, size_of(heard.inputs) + (0 if prompt is None else sum(map(len, prompt))))

    def _name(self, heard: TraceNotes, key: Hashable) -> None:
        heard.named = {*heard.named, key}
        heard.whole.add(key)

    def _ask(self, heard: TraceNotes, id: Hashable, inputs: Any) -> None:
        asked = copy_value(inputs, self._copy)
        heard.notes += (_set_inputs, 2, id, asked)
        self._weigh(heard, size_of(asked))

    def _end_root(
        self, heard: TraceNotes, failed: str | None, ids: Mapping[str, str] | None, outputs: Any, documents: Any,
        inputs: Any, streamed: bool,
    ) -> None:  # fmt: skip
        heard.ended = time.time()
        try:
            if documents is not None:
                documents = copy_documents(documents, self._copy) if readable(documents) else _UNREADABLE
            outputs = copy_value(outputs, self._copy)
            if inputs is not None:
                heard.inputs = copy_value(inputs, self._copy)
            heard.over = (failed, ids, outputs, documents, streamed)
        finally:  # whatever the host's objects do, the trace is over
            self._drop(heard)
        heard.size += size_of(outputs) + RUN_SIZE * len(heard.known)

    def _read(self, heard: TraceNotes, documents: Any) -> Any:
        if not readable(documents):
            return _UNREADABLE
        copied = copy_documents(documents, self._copy)
        self._hold(heard, copied)
        return copied

    def _passed_on(self, heard: TraceNotes, outputs: Any) -> Any:
        """The lists of documents in what a step gave, copied, and nothing else of it."""
        lists = documents_in(outputs)
        if not lists:
            return None
        copied: dict[str, Sequence[Document]] = {}
        for name, items in lists.items():
            if not are_copies(heard.latest, items):
                self._hold(heard, copy_documents(items, self._copy))
            copied[name] = heard.latest
        return copied if isinstance(outputs, dict) else copied[""]

    def _trace_of(self, run: TraceNotes) -> TraceNotes:
        return run

    def _take_in(self, orphan: TraceNotes, above: TraceNotes, still_open: bool) -> None:
        above.notes += (_TAKEN_IN, 1, orphan)
        above.known += orphan.known
        above.whole |= orphan.whole
        above.named = {*above.named, *orphan.named}
        if still_open:
            for key in orphan.known:
                if key in self._runs:  # else it was over before it was taken in
                    self._runs[key] = above


def _input_texts(inputs: Any) -> dict[str, Sequence[str]] | None:
    lists = documents_in(inputs)
    return {name: texts_of(items) for name, items in lists.items()} if lists else None


# -- notes: what is done with a tree for each when the trace is read ---------------------------------------------------


def _events_of(heard: TraceNotes) -> Iterator[tuple[Callable[..., Trace | None], Sequence[Any]]]:
    """What to do with a tree for each event of a trace, and of those that it took in: without recursion, they nest."""
    under_way = [_own_events_of(heard)]
    while under_way:
        for note, about in under_way[-1]:
            if note is _TAKEN_IN:
                under_way.append(_own_events_of(*about))
                break
            yield note, about
        else:
            under_way.pop()


def _own_events_of(heard: TraceNotes) -> Iterator[tuple[Any, Sequence[Any]]]:
    yield _began, (heard,)
    notes, at = heard.notes, 0
    while at < len(notes):
        end = at + 2 + notes[at + 1]
        yield notes[at], notes[at + 2 : end]
        at = end
    if heard.over is not None:
        yield _over, (heard, *heard.over)


def _began(tree: RunCollector, heard: TraceNotes) -> None:
    """A root started, or a run that was taken for one and keeps what is kept of a root."""
    first = heard.parent is None or not tree.knows(heard.parent)
    tree.start(
        heard.id, heard.parent, heard.kind, heard.name, heard.inputs if first else None, heard.tags, heard.metadata,
        prompt=heard.prompt, ids=heard.ids, offered=heard.offered, at=heard.started,
    )  # fmt: skip
    run = tree.run_of(heard.id)
    if run is not None:
        run.inputs, run.tags, run.metadata = heard.inputs, heard.tags, heard.metadata


def _over(
    tree: RunCollector, heard: TraceNotes, failed: str | None, ids: Mapping[str, str] | None, outputs: Any,
    documents: Any, streamed: bool,
) -> Trace | None:  # fmt: skip
    """It ended. Of a run that was taken for a root, what was still going on below it was not heard of again."""
    run = tree.run_of(heard.id)
    trace = _ended(tree, heard.id, heard.ended, failed, ids, outputs, documents, streamed=streamed)
    if run is not None:
        run.outputs = outputs
        run.documents = None if documents is None or documents is _UNREADABLE else documents
        run.unread = documents is _UNREADABLE
    if run is not None and trace is None:
        known = set(heard.known)
        run.trace.running -= sum(one.ended is None and one.key in known for one in run.trace.members)
    return trace


def _started(
    tree: RunCollector, id: Hashable, parent: Hashable, kind: Kind, name: str | None, at: float,
    prompt: Sequence[str] | None = None, ids: Mapping[str, str] | None = None, offered: Sequence[str] = (),
) -> None:  # fmt: skip
    tree.start(id, parent, kind, name, prompt=prompt, ids=ids, offered=offered, at=at)


def _set_inputs(tree: RunCollector, id: Hashable, inputs: Any) -> None:
    run = tree.run_of(id)
    if run is not None:
        run.inputs = inputs


def _set_received(tree: RunCollector, id: Hashable, given: Mapping[str, Sequence[str]]) -> None:
    run = tree.run_of(id)
    if run is not None and run.prompt is None:
        run.given = given


def _ended(
    tree: RunCollector, id: Hashable, at: float | None, error: str | None = None, ids: Mapping[str, str] | None = None,
    outputs: Any = None, documents: Any = None, inputs: Any = None, given: Mapping[str, Sequence[str]] | None = None,
    *, streamed: bool = False,
) -> Trace | None:  # fmt: skip
    run = tree.run_of(id)
    first = run is not None and run.ended is None  # else it ends for a second time
    if run is not None and (run.prompt is not None or run.kind in UNREAD):
        given = None
    trace = tree.end(id, outputs, error=error, documents=documents, streamed=streamed, ids=ids, given=given, at=at)
    if run is not None and first and inputs is not None:
        run.inputs = inputs
    return trace


def _recorded(tree: RunCollector, id: Hashable, documents: tuple[Document, ...]) -> None:
    tree.add_documents(id, documents)
