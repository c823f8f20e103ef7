"""What happens behind the hooks: events into the run tree, their ids in other systems, finished traces to the intake.

Nothing that goes wrong here goes further: it is counted, once, and loses no more than it must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from assay import Sample
from assay.extension import (
    CONVERSATION_KEYS,
    JUDGING,
    CaptureRules,
    Document,
    Intake,
    RecentExchanges,
    Run,
    RunCollector,
    RunKind,
    Trace,
    TraceSubmitter,
    is_off,
    prompt_of,
    sample_of,
)
from assay_langchain import ids
from assay_langchain.components import COMPONENTS, warn_of_component
from assay_langchain.environment import conversation, run_around
from assay_langchain.events import AS_THEY_ARE, is_resume, plain, tools_offered

ID = "langchain_run_id"

_SEARCHED = ("on_retriever_end", "on_retriever_error")


class Listener:
    """Takes the events of a handler. `left_out` counts finished traces that were not scored, by reason.

    A KeyboardInterrupt passes: it is the user's Ctrl-C, which happened to come while we were at work.
    """

    def __init__(
        self,
        collector: RunCollector,
        scorer: Intake,
        rules: CaptureRules,
        include: Callable[[Run], bool] | None,
        remembered: RecentExchanges,
        hears_interrupts: Callable[[], bool],
    ) -> None:
        self._collector = collector
        self._scorer = scorer
        self._off = is_off(scorer)
        self._rules = rules
        self._include = include
        self._hears_interrupts = hears_interrupts
        self._submitter = TraceSubmitter(collector, scorer, rules, remembered, self._make, self._count)
        self.left_out = self._submitter.left_out

    def start(
        self,
        kind: RunKind,
        inputs: Any,
        /,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        described: Any = None,
        **_: Any,
    ) -> None:
        """Note that a run started.

        Args:
            kind: What kind of run it is.
            inputs: What it is given.
            run_id, parent_run_id, name, tags, metadata: As LangChain's hooks get them.
            described: What a tool says of itself, or the parameters of a model that may call tools.
        """
        if self._off or JUDGING.get():  # a judge asks a model that has this handler among its callbacks
            return
        try:
            prompt: tuple[str, ...] | None = None
            given = inputs
            if kind == "llm":
                prompt = self._read(prompt_of, inputs, "llm start")
            elif type(inputs) not in AS_THEY_ARE:
                inputs = self._read(plain, inputs, f"{kind} start")
            parent, known = parent_run_id, None
            above = self._collector.run_of(parent)
            if above is None or kind == "retriever" or len(above.trace.members) == 1:  # else there is nothing to learn
                parent, known = self._surroundings(run_id, parent, kind, above)
            resumed = above is None and is_resume(given)
            self._collector.start(
                run_id, parent, kind, name, inputs, tags, metadata,
                prompt=prompt, ids=known, offered=tools_offered(described) if described else (),
            )  # fmt: skip
            if resumed:
                self._collector.note_graph(run_id, resumed=True)
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
            trace = self._collector.end(
                run_id, outputs, error=error, documents=documents, inputs=inputs, streamed=streamed, ids=span
            )
            if trace is not None:
                trace.hears_interrupts = self._hears_interrupts()
                if len(trace.members) == 1 or ids.followed():
                    self._identify(trace)
                if self._include is None or self._include(trace.root):
                    self._submitter.submit(trace)
                else:
                    self.left_out["excluded"] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as fault:
            self._count(fault, where)

    def note_graph(self, event: Any, *, interrupted: bool = False, resumed: bool = False) -> None:
        """Note that a graph stopped, or goes on. `event` is LangGraph's."""
        with self.counting("graph"):
            if event.run_id is not None:
                self._collector.note_graph(event.run_id, interrupted=interrupted, resumed=resumed)

    def _read(self, read: Callable[[Any], Any], value: Any, where: str) -> Any:
        """What `read` makes of the host's object; None where that raises: the run is followed without it."""
        try:
            return read(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, where)
            return None

    def _make(self, trace: Trace) -> tuple[Sample | None, None]:
        if trace.parent is not None and trace.root.kind in COMPONENTS:
            warn_of_component(trace.root)
        return sample_of(trace, self._rules, id_name=ID), None

    # -- what others know of it --------------------------------------------------------------------------------------

    def _surroundings(
        self, run_id: UUID, parent: UUID | None, kind: RunKind, above: Run | None
    ) -> tuple[UUID | None, Mapping[str, str] | None]:
        """The parent and the ids of a run that starts. What cannot be learned of others loses nothing but itself."""
        known: Mapping[str, str] | None = None
        with self.counting("surroundings"):
            if parent is None:  # LangChain starts the fallbacks of a chain without one
                around = run_around()
                if around is not None and self.knows(around):
                    parent, above = around, self._collector.run_of(around)
            if above is None:
                known = ids.ids_at_start(run_id, parent)
                return parent, known
            if kind == "retriever":
                known = ids.span_ids(run_id)
            if len(above.trace.members) == 1:
                self._inspect_root(above.trace.root)
        return parent, known

    @staticmethod
    def _inspect_root(root: Run) -> None:
        """When its first child starts, the config of a root and the handlers beside ours can be seen."""
        named = conversation()
        if named and not any(name in root.metadata for name in CONVERSATION_KEYS):
            root.metadata = {**root.metadata, **named}
        if ids.has_neighbours():  # they have seen the root by now, whatever their place
            root.ids = {**root.ids, **ids.neighbour_ids(root.id)}
        traced = ids.langsmith_ids(root.id, root.parent)
        if traced:
            root.ids = {**root.ids, **traced}

    def _span_of(self, run_id: UUID) -> Mapping[str, str] | None:
        """The span that a retriever's run is in the trace of another system: it closes when the run ends."""
        with self.counting("surroundings"):
            return ids.span_ids(run_id)
        return None

    def _identify(self, trace: Trace) -> None:
        """What other systems call a root that has just ended, where they did not know it at its start."""
        root = trace.root
        with self.counting("surroundings"):
            if ids.followed():
                root.ids = {**root.ids, **ids.ids_at_end(cast("UUID", root.id), root.ids)}
            if len(trace.members) == 1:
                root.ids = {**root.ids, **ids.langsmith_ids(root.id, root.parent)}

    # -- documents of which the application tells by itself ---------------------------------------------------------

    def record(self, run_id: UUID, documents: tuple[Document, ...]) -> bool:
        """Documents that were found inside the run `run_id`. Applications call `assay.record_context` instead."""
        with self.counting("record_context"):
            return self._collector.add_documents(run_id, documents)
        return False

    # -- for the middleware -----------------------------------------------------------------------------------------

    def give_up(self) -> None:
        """Submit the interrupted graphs that nobody has resumed."""
        with self.counting("close"):
            self._submitter.give_up()

    @property
    def interrupted(self) -> int:
        """Number of interrupted graphs that wait to be resumed."""
        return self._submitter.interrupted

    def knows(self, run: UUID) -> bool:
        """Whether this run is followed already, by this handler or by another of the same scorer."""
        return self._submitter.knows(run)

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
