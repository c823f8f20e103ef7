"""Capture: spans and events of LlamaIndex into the common run tree, finished traces to the intake.

A trace begins with the outermost span of a query or chat engine, an agent or a workflow, and ends when its answer is
complete: when the call returns, or with the last token of a stream. LlamaIndex swallows whatever a handler raises, so
each hook catches and counts its own errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.extension import JUDGING, CaptureRules, Document, Intake, RecentExchanges, Run, RunCollector
from assay_llama_index import requests, responses, tool_retrievers
from assay_llama_index.answers import Answers
from assay_llama_index.callers import is_evaluated, is_of_the_application
from assay_llama_index.event_payloads import Notes, noted, notes_of
from assay_llama_index.faults import Faults
from assay_llama_index.ids import root_ids, span_ids
from assay_llama_index.kinds import UUID_LENGTH, ComponentKind, has_base, kind_of, name_of, run_kind
from assay_llama_index.records import copies_of, document_of, is_stream, items_of, plain
from assay_llama_index.samples import metadata_of
from assay_llama_index.streams import READING

#: What the application calls of LlamaIndex. Nothing else begins a trace.
_OUTERMOST = ("engine", "workflow", "synthesizer")

#: What may be called for another purpose than to answer, and what is handed nodes.
_MAYBE_ASIDE = ("retriever", "reranker", "engine")
_GIVEN = ("reranker", "synthesizer", "step")


class Capture:
    """The common ground of both handlers: what is open, where samples go, what went wrong.

    Attributes:
        answers: How exchanges end.
        faults: What went wrong.
        seen: Outermost calls that began.
    """

    def __init__(
        self,
        intake: Intake,
        *,
        rules: CaptureRules | None = None,
        max_open: int = 2000,
        ttl: float = 3600.0,
        remembered: RecentExchanges | None = None,
    ) -> None:
        self.rules = rules or CaptureRules()
        self.collector = RunCollector(max_traces=max_open, ttl=ttl, keep=self.rules.runs, copy=document_of)
        self.faults = Faults(intake, self._forget)
        self.answers = Answers(self.collector, intake, self.rules, self.faults, remembered or RecentExchanges(0))
        self.seen = 0
        self._named = self.rules.runs
        self._inside: dict[str, Run] = {}  # spans that mean nothing by themselves, and the runs in which they lie

    @property
    def open_spans(self) -> int:
        """How many spans are followed."""
        return self.collector.open_runs + len(self._inside)

    # -- spans ------------------------------------------------------------------------------------------------------

    def enter(
        self, span_id: str, arguments: Mapping[str, Any], instance: Any, parent_id: str | None, tags: Any
    ) -> None:
        name = span_id[:-UUID_LENGTH]
        kind = kind_of(type(instance), name)
        means_nothing = kind == "other" and name not in self._named
        if means_nothing and (above := self._inside.get(parent_id or "")) is not None and above.kind != "agent":
            self._inside[span_id] = above  # half of all spans: in one like themselves
            return
        above = self._run_at(parent_id)
        if above is None:
            above = self._run_at(READING.get())
        if above is None:
            if kind in _OUTERMOST and not JUDGING.get() and is_of_the_application(kind):
                self._begin(span_id, kind, name, arguments, instance, tags)
            return
        if kind == "other" and above.kind == "agent":
            kind = "step"
        elif means_nothing or (kind == "llm" and above.kind == "llm"):  # a model that asks itself says the same again
            self._inside[span_id] = above
            return
        self._go_on(span_id, kind, name, arguments, instance, above)

    def _run_at(self, span_id: str | None) -> Run | None:
        """The run that stands for a span, or in which it lies, while its trace is open."""
        if span_id is None:
            return None
        run = self._inside.get(span_id)  # most spans mean nothing by themselves
        if run is None:
            return self.collector.run_of(span_id)
        return run if self.collector.run_of(run.id) is run else None

    def _begin(
        self, span_id: str, kind: ComponentKind, name: str, arguments: Mapping[str, Any], instance: Any, tags: Any
    ) -> None:
        if kind == "engine":
            inputs = requests.engine_inputs(arguments, instance)
        elif kind == "synthesizer":
            inputs = {"question": requests.query_of(arguments)}
        else:
            inputs = requests.workflow_inputs(arguments, self.rules.question_key)
            agent = has_base(instance, "BaseWorkflowAgent", "AgentWorkflow")
            if "question" not in inputs and not agent and self.rules.question_run is None:
                return  # a workflow that is asked nothing: what is asked inside it are exchanges of their own
        self.seen += 1
        session = requests.session_of(arguments, instance)
        metadata = metadata_of(tags, session)
        by_memory = session is not None and metadata.get("session_id") is session
        if by_memory or kind == "workflow":
            looks_up = tool_retrievers.of(instance)
            metadata |= noted(Notes(by_memory, looks_up))
        ids = self.faults.ids(root_ids, span_id, {})
        self.collector.start(span_id, None, run_kind(kind), name, inputs, metadata=metadata, ids=ids)
        root = self.collector.run_of(span_id)
        if kind == "synthesizer" and root is not None:  # its caller has searched, and hands over what was found
            nodes = requests.input_nodes(arguments)
            root.documents = None if nodes is None else tuple(map(document_of, nodes))

    def _go_on(
        self, span_id: str, kind: ComponentKind, name: str, arguments: Mapping[str, Any], instance: Any, above: Run
    ) -> None:
        aside = kind in _MAYBE_ASIDE and _is_aside(kind, instance, above)
        asked = requests.request_of(kind, arguments) if kind in ("retriever", "tool") else None
        if kind == "retriever" and not (aside or above.below_retriever or above.kind == "retriever"):
            _note_search(above.trace.root, asked)
        if kind == "tool":
            name = str(getattr(getattr(instance, "metadata", None), "name", None) or name)
        self.collector.start(
            span_id,
            above.id,
            run_kind(kind),
            name,
            self._inputs(kind, arguments, instance) if name in self._named else asked,
            prompt=requests.prompt_of(arguments) if kind == "llm" else None,
            given=requests.node_texts(kind, arguments) if kind in _GIVEN else None,
            ids=self.faults.ids(span_ids, span_id) if kind == "retriever" else None,
        )
        run = self.collector.run_of(span_id) if aside or kind in ("synthesizer", "workflow") else None
        if run is None:
            return
        if aside:
            run.below_retriever = True
        elif kind == "workflow":
            run.metadata = noted(Notes(False, tool_retrievers.of(instance)))
        elif run.given:
            _note_nodes_read(run)

    @staticmethod
    def _inputs(kind: ComponentKind, arguments: Mapping[str, Any], instance: Any) -> Any:
        """The inputs of a run that the rules name."""
        if kind == "engine":
            return requests.engine_inputs(arguments, instance)
        if kind == "workflow":
            return requests.workflow_inputs(arguments)
        if kind in ("retriever", "synthesizer"):
            return {"question": requests.query_of(arguments)}
        events = requests.events_in(arguments)
        return responses.outputs_of(events[0]) if events else plain(dict(arguments))

    def exit(self, span_id: str, instance: Any, result: Any) -> None:
        # most spans mean nothing by themselves, and have no run
        run = self.collector.run_of(span_id) if self._inside.pop(span_id, None) is None else None
        if run is None:
            return
        root = run.trace.root
        kind = kind_of(type(instance), name_of(span_id))
        if run is root:
            self.answers.returned(run, result)
        elif kind == "writer":
            self.answers.wrote(run, instance, None)
        elif kind == "llm":
            # how a stream ended is told by an event, and so is what was written, where LlamaIndex' own model wrote it
            if run.ended is None and not is_stream(result):
                self.collector.end(span_id, responses.written_by(result))
        else:
            self._over(run, kind, result)
            if root.kind == "agent" and run.parent == root.id and has_base(result, "AgentInput"):
                self._remember(root, result)

    def _over(self, run: Run, kind: ComponentKind, result: Any) -> None:
        """A step below the root returned."""
        documents: Sequence[Document] | None = None
        if kind in ("retriever", "reranker"):
            documents = None if run.below_retriever else _delivered(run, result)
        elif run.kind != "other" and kind != "synthesizer":  # a synthesizer's sources are the nodes it was given
            documents = responses.documents_of(result, run.given.get("") if run.given else None)
        outputs = responses.outputs_of(result) if run.name in self._named or kind == "tool" else None
        ids = self.faults.ids(span_ids, str(run.id)) if kind == "retriever" else None
        self.collector.end(run.id, outputs, documents=documents, ids=ids)

    @staticmethod
    def _remember(root: Run, started: Any) -> None:
        """An agent has read its memory: all but the last message, which is the question, is the history."""
        messages = requests.messages_of(started.input)
        if isinstance(root.inputs, dict) and len(messages) > 1 and "chat_history" not in root.inputs:
            root.inputs = {**root.inputs, "chat_history": messages}

    def drop(self, span_id: str, instance: Any, error: BaseException | None) -> None:
        run = self.collector.run_of(span_id) if self._inside.pop(span_id, None) is None else None
        if run is None:
            return
        error = error if error is not None else Exception()
        if run is run.trace.root:
            self.answers.dropped(run, error)
        elif kind_of(type(instance), name_of(span_id)) == "writer":
            self.answers.wrote(run, instance, error)
        else:
            self.collector.end(span_id, error=error)

    # -- events -----------------------------------------------------------------------------------------------------

    def delta(self, span_id: str | None, text: str) -> None:
        """One token of a chat stream."""
        run = self.collector.run_of(span_id)
        if run is not None:
            self.answers.heard(run, text)

    def written(self, span_id: str | None, response: Any) -> None:
        """A model has come to the end of a stream."""
        run = self.collector.run_of(span_id)
        if run is not None and run.kind == "llm":
            self.collector.end(span_id, responses.written_by(response))
            self.answers.wrote_all(run)

    def broke(self, span_id: str | None, error: BaseException | None) -> None:
        """A model's stream has broken, or its reader has left it."""
        run = self.collector.run_of(span_id)
        if run is not None and run.kind == "llm" and error is not None:
            self.answers.wrote_all(run, error)

    def record(self, span_id: str, documents: tuple[Document, ...]) -> bool:
        """Documents that were found inside the span `span_id`. Applications call `assay.record_context` instead."""
        with self.faults.hook("record_context", None):
            run = self._run_at(span_id)
            return run is not None and self.collector.add_documents(run.id, documents)
        return False

    def sweep(self) -> None:
        """Give up what never ended."""
        with self.faults.hook("sweep", None):
            self.collector.sweep()
            self.answers.sweep()

    def abandon(self, *, streams: bool = True) -> None:
        """Give up everything that is open; with `streams` False, not the streams that we hear to their end."""
        self.answers.abandon(streams=streams)
        for span_id, run in list(self._inside.items()):
            if self.collector.run_of(run.id) is not run:
                self._inside.pop(span_id, None)

    def _forget(self, hook: str, span_id: str) -> None:
        """After an error of ours. Where the end of a root failed, its trace is dropped: nothing is left behind."""
        self._inside.pop(span_id, None)
        run = self.collector.run_of(span_id) if hook != "enter" else None
        if run is not None and run is run.trace.root:
            self.answers.streams.pop(span_id, None)
            self.collector.end(span_id)


def _is_aside(kind: ComponentKind, instance: Any, above: Run) -> bool:
    """Whether what this call finds is not for the answer: an agent looks for tools, an evaluator for evidence."""
    if kind in ("retriever", "reranker"):
        agent = above.trace.runs.get(above.parent)  # `above` is the step of its in which it looks
        return agent is not None and id(instance) in notes_of(agent).looks_up
    return kind == "engine" and is_evaluated()


def _delivered(run: Run, result: Any) -> list[Document] | None:
    """The documents of a retriever or a post-processor; None where they are not known, or descriptions of tools."""
    nodes = () if result is None else items_of(result)
    if nodes is None:
        run.unread = True
        return None
    if run.kind == "reranker":
        _note_nodes_read(run)
    if tool_retrievers.are_tools(nodes):
        run.below_retriever = True
        return None
    return copies_of(nodes)


def _note_nodes_read(run: Run) -> None:
    """A step has nodes in a list: what came as an iterator before it, beside it, has been read and is known now."""
    for other in run.trace.runs.values():
        if other.unread and other.parent == run.parent:
            other.unread = False


def _note_search(root: Run, asked: str | None) -> None:
    """What retrievers were asked, where it is not the user's question, goes into the metadata of the sample."""
    question = root.inputs.get("question") if isinstance(root.inputs, dict) else None
    if asked and asked != question and isinstance(root.metadata, dict):
        searched = root.metadata.setdefault("searched", [])
        if asked not in searched:
            searched.append(asked)
