"""Events of runs as they are heard, noted down trace by trace, and read into a run tree when the trace is over.

For integrations that ask nothing of runs under way. A hook then does what cannot wait and no more: it copies what the
host may change later, and makes a note. Whoever wants the tree has it built, on a thread of ours.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from assay.capture.collector import ASKED, PASSES_ON, RUN_SIZE, SAYS, UNREAD, RunCollector
from assay.capture.copies import (
    are_copies,
    copy_documents,
    copy_value,
    documents_in,
    readable,
    size_of,
    texts_of,
)
from assay.capture.open_traces import OpenTraces
from assay.capture.tree import Found, Kind, Trace, key_of

_UNREADABLE = object()  # stands for documents that can be read only once, and are the host's


#: Asked with the id of a run that starts, the one that it names as its parent, its kind, and what was heard of the
#: trace of that parent: who its parent is, and what other systems call the run.
Around = Callable[[Any, Any, Kind, "Heard | None"], tuple[Hashable | None, Mapping[str, str] | None]]


class Going(NamedTuple):
    """What has to be known of a run while it goes on: `below` a retriever, `named` by the rules."""

    heard: Heard
    kind: Kind
    below: bool
    named: bool


class Heard:
    """What was heard of one trace: notes of its events, in order, of which `trace` makes the tree.

    id, parent, inputs, tags, metadata, ids, started, ended  those of its root, as of a `Run`
    size, latest, adopted                                    see `assay.capture.open_traces.Followed`
    known                                                    the keys of its runs
    """

    __slots__ = (
        "_journal", "_tree", "adopted", "ended", "id", "ids", "inputs", "key", "known", "latest", "metadata", "notes",
        "parent", "size", "started", "tags",
    )  # fmt: skip

    def __init__(self, id: Hashable, key: Hashable, parent: Hashable | None, journal: Journal) -> None:
        self.id = id
        self.key = key
        self.parent = parent
        self.inputs: Any = None
        self.tags: Sequence[str] = ()
        self.metadata: Mapping[str, Any] = {}
        self.ids: Mapping[str, str] = {}
        self.started = time.time()
        self.ended: float | None = None
        self.size = 0
        self.latest: tuple[Found, ...] = ()
        self.adopted = False
        self.known: list[Hashable] = []
        self.notes: list[tuple[Any, ...]] = []
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
                self.notes = []  # they refer back to this: it would stay until the garbage is collected
        return self._tree


class Journal(OpenTraces[Going, Heard]):
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
        ids: Mapping[str, str] | None = None
        if look_around is not None:
            above = self._runs.get(above_key)
            if above is None or kind == "retriever" or len(above.heard.known) == 1:  # else there is nothing to learn
                parent, ids = look_around(id, parent, kind, None if above is None else above.heard)
                above_key = key_of(parent)
        with self._lock:
            self.events += 1
            runs = self._runs
            above = runs.get(above_key)
            if key in runs or key in self._gone or (above is None and above_key in self._gone):
                self._ignore(key)
                return
            named = name is not None and name in self._keep
            if above is None:
                heard = Heard(id, key, parent, self)
                self._open(heard)
                going = Going(heard, kind, False, named)
                note: tuple[Any, ...] = (_began, heard, kind, name, prompt, offered)
            else:
                heard = above.heard
                going = above
                if kind != above.kind or kind == "retriever" or named != above.named:  # else one will do for both
                    going = Going(heard, kind, above.below or above.kind == "retriever", named)
                note = (_started, id, parent, kind, name, time.time(), prompt, ids, offered)
            runs[key] = going
            heard.known.append(key)
            heard.notes.append(note)  # before host's objects are read: where they raise, what lies below finds this run
            if self._orphans and key in self._orphans:
                self._adopt(key, going)
            size = 0 if prompt is None else sum(map(len, prompt))
            if above is None:
                heard.ids = ids or {}
                heard.tags = tuple(tags or ())
                heard.metadata = dict(metadata) if metadata else {}
                heard.inputs = copy_value(inputs, self._copy)
                size += size_of(heard.inputs)
            elif named or kind in ASKED:
                asked = copy_value(inputs, self._copy)
                heard.notes.append((_asked, id, asked))
                size += size_of(asked)
            elif type(inputs) is not str and prompt is None and kind not in UNREAD:
                given = _texts_given(inputs)
                if given is not None:
                    heard.notes.append((_given, id, given))
            if size:
                self._weigh(heard, size)

    def end(
        self,
        id: Hashable,
        outputs: Any = None,
        error: BaseException | None = None,
        documents: Any = None,
        inputs: Any = None,
        streamed: bool = False,
        ids: Mapping[str, str] | None = None,
    ) -> Heard | None:
        """A run ended: see `RunCollector.end`. Returns what was heard of the trace when it was the root."""
        key = id.int if type(id) is UUID else id
        with self._lock:
            self.events += 1
            going = self._runs.get(key)
            if going is None:
                self.ignored += 1
                return None
            heard, kind, below, named = going
            about = (id, time.time(), None if error is None else type(error).__name__, ids)
            if key == heard.key:
                self._end_root(heard, about, outputs, documents, inputs, streamed)
                return heard
            said = found = given = asked = None
            try:
                if inputs is not None and kind not in UNREAD:
                    given = _texts_given(inputs)
                if inputs is not None and named:
                    asked = copy_value(inputs, self._copy)
                if documents is not None and not below:
                    found = self._read(heard, documents)
                if outputs is None:
                    pass
                elif named or kind in SAYS:
                    said = copy_value(outputs, self._copy)
                    if kind == "tool" and not named:
                        self._weigh(heard, size_of(said))
                elif kind in PASSES_ON and type(outputs) is not str and not below:
                    said = self._passed_on(heard, outputs)
            finally:  # whatever the host's objects do, the run is over
                heard.notes.append((_ended, about, said, found, False, asked, given))
            return None

    def add_documents(self, id: Hashable, documents: Sequence[Any]) -> bool:
        """Documents that the run `id` has found, told by the application itself. False: the run is not known."""
        copied = copy_documents(documents, self._copy)
        with self._lock:
            self.events += 1
            going = self._runs.get(key_of(id))
            if going is None:
                self.ignored += 1
                return False
            going.heard.notes.append((_recorded, id, copied))
            self._weigh(going.heard, sum(len(found.text) for found in copied))
            return True

    def heard_of(self, id: Hashable) -> Heard | None:
        """What was heard of the open trace that the run `id` belongs to."""
        going = self._runs.get(key_of(id))
        return None if going is None else going.heard

    def read(self, heard: Heard) -> Trace:
        """The tree of a trace that is over, of the notes that were made of it."""
        ever = sys.maxsize
        tree = RunCollector(max_traces=ever, max_runs=ever, max_bytes=ever, ttl=ever, keep=self._keep, copy=self._copy)
        over: Trace | None = None
        for note, *about in heard.notes:
            over = note(tree, *about) or over
        if tree.ignored:  # an end that came twice
            with self._lock:
                self.ignored += tree.ignored
        if over is None or over.root.id != heard.id:
            raise ValueError("the root has not ended")
        return over

    # -- below: with the lock held ----------------------------------------------------------------------------------

    def _end_root(
        self, heard: Heard, about: tuple[Any, ...], outputs: Any, documents: Any, inputs: Any, streamed: bool
    ) -> None:
        heard.ended = about[1]
        try:
            if documents is not None:
                documents = copy_documents(documents, self._copy) if readable(documents) else _UNREADABLE
            outputs = copy_value(outputs, self._copy)
            if inputs is not None:
                heard.inputs = copy_value(inputs, self._copy)
            heard.notes.append((_over, heard, about, outputs, documents, streamed))
        finally:  # whatever the host's objects do, the trace is over
            self._drop(heard)
        heard.size += size_of(outputs) + RUN_SIZE * len(heard.known)

    def _read(self, heard: Heard, documents: Any) -> Any:
        if not readable(documents):
            return _UNREADABLE
        copied = copy_documents(documents, self._copy)
        self._hold(heard, copied)
        return copied

    def _passed_on(self, heard: Heard, outputs: Any) -> Any:
        """The lists of documents in what a step gave, copied, and nothing else of it."""
        lists = documents_in(outputs)
        if not lists:
            return None
        copied: dict[str, Sequence[Found]] = {}
        for name, items in lists.items():
            if not are_copies(heard.latest, items):
                self._hold(heard, copy_documents(items, self._copy))
            copied[name] = heard.latest
        return copied if isinstance(outputs, dict) else copied[""]

    def _trace_of(self, run: Going) -> Heard:
        return run.heard

    def _take_in(self, orphan: Heard, above: Going, still_open: bool) -> None:
        heard = above.heard
        heard.notes += orphan.notes
        heard.known += orphan.known
        if still_open:
            below = above.below or above.kind == "retriever"
            for key in orphan.known:
                going = self._runs.get(key)
                if going is not None:  # else it was over before it was taken in
                    self._runs[key] = Going(heard, going.kind, below or going.below, going.named)


def _texts_given(inputs: Any) -> dict[str, Sequence[str]] | None:
    lists = documents_in(inputs)
    return {name: texts_of(items) for name, items in lists.items()} if lists else None


# -- notes: what is done with a tree for each when the trace is read ---------------------------------------------------


def _began(
    tree: RunCollector, heard: Heard, kind: Kind, name: str | None, prompt: Sequence[str] | None, offered: Sequence[str]
) -> None:
    """A root started, or a run that was taken for one and keeps what is kept of a root."""
    first = heard.parent is None or not tree.knows(heard.parent)
    tree.start(
        heard.id, heard.parent, kind, name, heard.inputs if first else None, heard.tags, heard.metadata,
        prompt=prompt, ids=heard.ids, offered=offered, at=heard.started,
    )  # fmt: skip
    run = tree.run_of(heard.id)
    if run is not None:
        run.inputs, run.tags, run.metadata = heard.inputs, heard.tags, heard.metadata


def _over(
    tree: RunCollector, heard: Heard, about: tuple[Any, ...], outputs: Any, documents: Any, streamed: bool
) -> Trace | None:
    """It ended. Of a run that was taken for a root, what was still going on below it was not heard of again."""
    run = tree.run_of(heard.id)
    trace = _ended(tree, about, outputs, documents, streamed)
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
    prompt: Sequence[str] | None, ids: Mapping[str, str] | None, offered: Sequence[str],
) -> None:  # fmt: skip
    tree.start(id, parent, kind, name, prompt=prompt, ids=ids, offered=offered, at=at)


def _asked(tree: RunCollector, id: Hashable, inputs: Any) -> None:
    run = tree.run_of(id)
    if run is not None:
        run.inputs = inputs


def _given(tree: RunCollector, id: Hashable, given: Mapping[str, Sequence[str]]) -> None:
    run = tree.run_of(id)
    if run is not None and run.prompt is None:
        run.given = given


def _ended(
    tree: RunCollector, about: tuple[Any, ...], outputs: Any, documents: Any, streamed: bool, inputs: Any = None,
    given: Mapping[str, Sequence[str]] | None = None,
) -> Trace | None:  # fmt: skip
    id, at, error, ids = about
    run = tree.run_of(id)
    first = run is not None and run.ended is None  # else it ends for a second time
    if run is not None and run.prompt is not None:
        given = None
    trace = tree.end(id, outputs, error=error, documents=documents, streamed=streamed, ids=ids, given=given, at=at)
    if run is not None and first and inputs is not None:
        run.inputs = inputs
    return trace


def _recorded(tree: RunCollector, id: Hashable, documents: tuple[Found, ...]) -> None:
    tree.add_documents(id, documents)
