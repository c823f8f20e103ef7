"""What happens behind the hooks: events into the journal, their ids in other systems, finished traces to the intake.

Nothing that goes wrong here goes further: it is counted, once, and loses no more than it must.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast
from uuid import UUID

from assay._util.normalise import leaving_out
from assay.capture import Document, Kind, Rules, Run, sample_of
from assay.capture.assemble import has_history
from assay.capture.conversations import NAMES, Conversations
from assay.capture.dedup import handed_to
from assay.capture.history import has_summary, trim_history
from assay.capture.journal import Journal, TraceNotes
from assay.capture.missing_answer import log_missing_answer
from assay.judges.protocol import JUDGING
from assay.live.handlers.captured import Captured, Remembered
from assay.live.intake import is_off
from assay.live.protocol import Intake
from assay.records import Sample
from assay.records.messages import prompt_of
from assay_langchain import ids
from assay_langchain.environment import conversation, run_around
from assay_langchain.events import AS_THEY_ARE, plain, tools_offered

ID = "langchain_run_id"

_SEARCHED = ("on_retriever_end", "on_retriever_error")


class Listener:
    """Takes the events of a handler. `left_out` counts finished traces that were not submitted or gave no sample.

    A KeyboardInterrupt passes: it is the user's Ctrl-C, which happened to come while we were at work.
    """

    def __init__(
        self,
        journal: Journal,
        scorer: Intake,
        rules: Rules,
        include: Callable[[Run], bool] | None,
        remembered: Remembered,
    ) -> None:
        self.left_out: Counter[str] = Counter()
        self._journal = journal
        self._scorer = scorer
        self._off = is_off(scorer)
        self._rules = rules
        self._include = include
        self._remembered = remembered
        self._conversations = Conversations()
        self._handed = handed_to(scorer)
        self._handed.join(journal)

    def start(
        self,
        run_id: UUID,
        parent: UUID | None,
        kind: Kind,
        name: str | None,
        inputs: Any,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        *,
        described: Any = None,
    ) -> None:
        """A run started. `described`: what a tool says of itself, or the parameters of a model that may call tools."""
        if self._off or JUDGING.get():  # a judge asks a model that has this handler among its callbacks
            return
        try:
            prompt: tuple[str, ...] | None = None
            if kind == "llm":
                prompt = self._read(prompt_of, inputs, "llm start")
            elif type(inputs) not in AS_THEY_ARE:
                inputs = self._read(plain, inputs, f"{kind} start")
            self._journal.start(
                run_id, parent, kind, name, inputs, tags, metadata, prompt,
                tools_offered(described) if described else (), self._surroundings,
            )  # fmt: skip
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, f"{kind} start")

    def end(
        self,
        run_id: UUID,
        where: str,
        outputs: Any = None,
        *,
        error: BaseException | None = None,
        documents: Any = None,
        inputs: Any = None,
        streamed: bool = False,
        read: Callable[[Any], Any] = plain,
        find: Callable[[Any], list[Any] | None] | None = None,
    ) -> None:
        """A run ended. `read` makes of its outputs what is kept of them, `find` the documents that it delivered."""
        if self._off or JUDGING.get():
            return
        try:
            if find is not None:
                documents = self._read(find, outputs, where)
            if read is not plain or type(outputs) not in AS_THEY_ARE:
                outputs = self._read(read, outputs, where)
            if type(inputs) not in AS_THEY_ARE:
                inputs = self._read(plain, inputs, where)
            span = self._span_of(run_id) if where in _SEARCHED else None
            heard = self._journal.end(run_id, outputs, error, documents, inputs, streamed, span)
            if heard is not None:
                if len(heard.known) == 1 or ids.followed():
                    self._identify(heard)
                self._ended(heard)
        except KeyboardInterrupt:
            raise
        except BaseException as fault:
            self._count(fault, where)

    def _read(self, read: Callable[[Any], Any], value: Any, where: str) -> Any:
        """What `read` makes of the host's object; None where that raises: the run is followed without it."""
        try:
            return read(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, where)
            return None

    def _ended(self, heard: TraceNotes) -> None:
        if self._include is not None and not self._include(heard.trace().root):
            self.left_out["excluded"] += 1
            return
        if heard.parent is not None and self._hears(heard.parent):
            self.left_out["part_of_another"] += 1
            return
        if not self._handed.first(heard.key):
            self.left_out["captured_twice"] += 1
            return
        captured = Captured(partial(self._sample, heard), heard.size)
        self._remembered.add(captured)
        self._scorer.submit(captured)

    def _sample(self, heard: TraceNotes) -> Sample | None:
        """On the intake's thread."""
        try:
            if heard.adopted:  # the parent was heard of after all: this is a part of its trace
                self.left_out["part_of_another"] += 1
                return None
            trace = heard.trace()
            with leaving_out() as errors:
                sample = sample_of(trace, self._rules, id_name=ID)
            for error in errors:
                self._count(error, "metadata")
            if sample is None:
                self.left_out["no_answer"] += 1
                log_missing_answer(trace, self._rules)
                return None
            root = trace.root
            joined = self._conversations.complete(sample, again=root.inputs is None)
            if sample.history or not has_history(root) or has_summary(root, joined.history):
                return joined
            return trim_history(joined, trace)
        except BaseException as error:
            self._count(error, "sample")
            return None

    # -- what others know of it --------------------------------------------------------------------------------------

    def _surroundings(
        self, run_id: UUID, parent: UUID | None, kind: Kind, above: TraceNotes | None
    ) -> tuple[UUID | None, Mapping[str, str] | None]:
        """The parent and the ids of a run that starts. What cannot be learned of others loses nothing but itself."""
        known: Mapping[str, str] | None = None
        try:
            if parent is None:  # LangChain starts the fallbacks of a chain without one
                around = run_around()
                if around is not None and self.knows(around):
                    parent, above = around, self._journal.notes_of(around)
            if above is None:
                known = ids.ids_at_start(run_id, parent)
                return parent, known
            if kind == "retriever":
                known = ids.span_ids(run_id)
            if len(above.known) == 1:
                self._inspect_root(above)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "surroundings")
        return parent, known

    def _hears(self, run: Hashable) -> bool:
        return self._handed.hears(run, self._journal)

    def _inspect_root(self, root: TraceNotes) -> None:
        """When its first child starts, the config of a root and the handlers beside ours can be seen."""
        named = conversation()
        if named and not any(name in root.metadata for name in NAMES):
            root.metadata = {**root.metadata, **named}
        if ids.has_neighbours():  # they have seen the root by now, whatever their place
            root.ids = {**root.ids, **ids.neighbour_ids(root.id)}
        traced = ids.langsmith_ids(root.id, root.parent)
        if traced:
            root.ids = {**root.ids, **traced}

    def _span_of(self, run_id: UUID) -> Mapping[str, str] | None:
        """The span that a retriever's run is in the trace of another system: it closes when the run ends."""
        try:
            return ids.span_ids(run_id)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "surroundings")
            return None

    def _identify(self, root: TraceNotes) -> None:
        """What other systems call a root that has just ended, where they did not know it at its start."""
        try:
            if ids.followed():
                root.ids = {**root.ids, **ids.ids_at_end(cast("UUID", root.id), root.ids)}
            if len(root.known) == 1:
                root.ids = {**root.ids, **ids.langsmith_ids(root.id, root.parent)}
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "surroundings")

    # -- documents of which the application tells by itself ---------------------------------------------------------

    def record(self, run_id: UUID, documents: tuple[Document, ...]) -> bool:
        """Documents that were found inside the run `run_id`. Applications call `assay.record_context` instead."""
        try:
            return self._journal.add_documents(run_id, documents)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "record_context")
            return False

    # -- for the middleware -----------------------------------------------------------------------------------------

    def knows(self, run: UUID) -> bool:
        """Whether this run is followed already, by this handler or by another of the same scorer."""
        return self._journal.knows(run) or self._hears(run)

    @contextmanager
    def counting(self, where: str) -> Iterator[None]:
        """In this block, what goes wrong of ours is counted, and goes no further."""
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, where)

    def _count(self, error: BaseException, where: str) -> None:
        try:
            self._scorer.count_error(error, where)
        except KeyboardInterrupt:
            raise
        except BaseException:  # there is nobody left to tell
            self.left_out["uncounted_errors"] += 1
