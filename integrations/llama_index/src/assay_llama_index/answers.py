"""How exchanges end: with the return of their call, with the last token of a stream, or given up."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from assay import Sample
from assay.extension import (
    CaptureRules,
    Document,
    Intake,
    MayForget,
    RecentExchanges,
    Run,
    RunCollector,
    Trace,
    TraceSubmitter,
)
from assay_llama_index import responses
from assay_llama_index.event_payloads import notes_of
from assay_llama_index.faults import Faults
from assay_llama_index.ids import root_ids
from assay_llama_index.kinds import has_base
from assay_llama_index.records import answer_of, is_chat_stream, is_query_stream, is_stream, streams
from assay_llama_index.samples import sample_from
from assay_llama_index.streams import Stream, atee, is_of_library, tee


class Answers:
    """Ends the traces of a collector and submits their samples.

    Attributes:
        streams: Answers that are not complete though their call may have returned, by id of the root.
        left_out: Finished traces that gave no sample, by reason.
    """

    def __init__(
        self, collector: RunCollector, intake: Intake, rules: CaptureRules, faults: Faults, remembered: RecentExchanges
    ) -> None:
        self.streams: dict[str, Stream] = {}
        self._collector = collector
        self._rules = rules
        self._faults = faults
        self._submitter = TraceSubmitter(collector, intake, rules, remembered, self._make, faults.count)
        self.left_out = self._submitter.left_out

    def returned(self, root: Run, result: Any) -> None:
        """The outermost call returned: its answer is complete, or a stream."""
        ids = self._faults.ids(root_ids, str(root.id), root.ids)
        response = responses.result_of(result)
        documents = responses.documents_of(response, known=root.trace.latest)
        if not streams(type(response)):
            self._end(root, responses.outputs_of(result), documents=documents, ids=ids)
            return
        self._collector.identify(root.id, ids or {})  # it may go on for as long as it is read
        if is_query_stream(response) and response.response_txt is None:
            self._listen(root, response, documents, "response_gen", lambda token: token)
        elif is_chat_stream(response) and not response.is_writing_to_memory:  # the reader drives the stream
            name = "chat_stream" if response.chat_stream is not None else "achat_stream"
            self._listen(root, response, documents, name, lambda chunk: chunk.delta or "")
        elif is_chat_stream(response):
            stream = self._stream(root)
            stream.documents = documents
            stream.answer = answer_of(response)
            stream.returned = True
            if stream.ended:
                self._end(root, stream.text() or stream.answer, error=stream.error, documents=documents)
        elif is_stream(response):
            self._leave_to_reader(root, response)
        else:
            self._end(root, responses.outputs_of(result), documents=documents)

    def dropped(self, root: Run, error: BaseException) -> None:
        """The outermost call raised."""
        stream = self.streams.get(str(root.id))
        ids = self._faults.ids(root_ids, str(root.id), root.ids)
        self._end(root, None if stream is None else stream.text(), error=error, ids=ids)

    def heard(self, run: Run, text: str) -> None:
        """One token that is written to the history of the chat."""
        if run.parent == run.trace.root.id:
            self._stream(run.trace.root).pieces.append(text)

    def wrote(self, run: Run, response: Any, error: BaseException | None) -> None:
        """LlamaIndex has written a chat stream to the history."""
        root = run.trace.root
        if run.parent == root.id:
            stream = self._stream(root)
            stream.error = error
            stream.ended = True
            if stream.returned:
                answer = stream.text() or answer_of(response)
                self._end(root, answer, error=error, documents=stream.documents)
                return
        self._collector.end(run.id, error=error)

    def _leave_to_reader(self, root: Run, response: Any) -> None:
        """A workflow returned an iterator, which nobody may read or replace.

        Where it is LlamaIndex' own, over the one model that is still writing, its text is the answer when the model
        comes to the end. Of any other, nobody knows what the reader will get.
        """
        writing = [run for run in root.trace.runs.values() if run.kind == "llm" and run.ended is None]
        if len(writing) != 1 or not is_of_library(response):
            self._end(root, {})
            return
        model = writing[0]
        stream = self._stream(root)
        stream.heard = stream.returned = True
        stream.model = model

        def dropped() -> None:
            with self._faults.hook("stream", str(root.id)):
                if model.ended is None:
                    self._end(root, None, error=GeneratorExit())

        weakref.finalize(response, dropped).atexit = False

    def wrote_all(self, model: Run, error: BaseException | None = None) -> None:
        """A model has come to the end of what it streamed, or failed before."""
        root = model.trace.root
        stream = self.streams.get(str(root.id))
        if stream is not None and stream.model is model:
            self._end(root, model.outputs, error=error)

    def _listen(self, root: Run, response: Any, documents: Sequence[Document] | None, name: str, read: Any) -> None:
        """Put our ear on the stream that `response` holds under `name`."""
        source = getattr(response, name)
        stream = self._stream(root)
        stream.documents = documents
        stream.heard = stream.returned = True
        span_id = str(root.id)

        def piece(token: Any) -> None:
            with self._faults.hook("stream", span_id):
                stream.pieces.append(read(token))

        def end(error: BaseException | None) -> None:
            with self._faults.hook("stream", span_id):
                self._end(root, stream.text(), error=error, documents=stream.documents)

        # told by what holds it: the streams that other handlers put in their place may be both, sync and async
        wrap = atee if name == "achat_stream" or has_base(response, "AsyncStreamingResponse") else tee
        setattr(response, name, wrap(source, span_id, piece, end))

    def _stream(self, root: Run) -> Stream:
        if len(self.streams) > self._collector.max_traces:  # of traces that were given up
            self.sweep()
        return self.streams.setdefault(str(root.id), Stream())

    def _end(
        self,
        root: Run,
        outputs: Any,
        *,
        error: BaseException | None = None,
        documents: Sequence[Document] | None = None,
        ids: Mapping[str, str] | None = None,
    ) -> None:
        self.streams.pop(str(root.id), None)
        trace = self._collector.end(root.id, outputs, error=error, documents=documents, ids=ids)
        if trace is not None:
            self._submitter.submit(trace)

    def _make(self, trace: Trace) -> tuple[Sample | None, MayForget]:
        by_memory = notes_of(trace.root).by_memory
        return sample_from(trace, self._rules), lambda joined: by_memory

    def sweep(self) -> None:
        """Forget the streams of traces that were given up."""
        for id in list(self.streams):
            if self._collector.run_of(id) is None:
                self.streams.pop(id, None)

    def abandon(self, *, streams: bool = True) -> None:
        """Give up everything that is open; with `streams` False, not the streams that we hear to their end."""
        for root in self._collector.open_roots():
            with self._faults.hook("close", str(root.id)):
                stream = self.streams.get(str(root.id))
                if streams or stream is None or not stream.heard:
                    text, found = (None, None) if stream is None else (stream.text(), stream.documents)
                    self._end(root, text, error=GeneratorExit(), documents=found)
