"""The spans of one trace as samples: what spans leave unsaid is taken from the spans around them, or left unsaid."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay import Sample
from assay.extension import (
    CONVERSATION_KEYS,
    PASSES_ON,
    CaptureRules,
    Document,
    InterruptedTraces,
    Run,
    Trace,
    answer_of,
    answering_run,
    exchanges,
    last_question,
    sample_of,
    traces_of,
)
from assay_opentelemetry.evaluations import is_evaluation, is_evaluator_span
from assay_opentelemetry.llama_index_traces import (
    add_given_nodes,
    asked_question,
    builds_an_index,
    is_tool_lookup,
    writes_nodes,
    written_out,
)
from assay_opentelemetry.placeholders import is_stream, nodes_in, resolved
from assay_opentelemetry.span_data import SpanData
from assay_opentelemetry.spans import reading_of, run_from


@dataclass(slots=True)
class TraceSamples:
    """What came of a trace.

    Attributes:
        samples: One for each exchange.
        exchanges: The exchange of each sample.
        unfinished: Parts whose parent span, in the same process, has not been seen (yet).
    """

    samples: list[Sample]
    unfinished: int = 0
    exchanges: list[Trace] = field(default_factory=list)


def trace_samples(
    spans: Iterable[SpanData], rules: CaptureRules | None = None, interrupted: InterruptedTraces | None = None
) -> TraceSamples:
    """Read the samples in the spans of one trace.

    A trace holds one sample for each exchange: for its root, or, where the root is no part of the RAG system (a web
    server), for each outermost step that is. Guardrails and evaluations are left out with all that is below them.
    Where the root was never sent, or was not yet, its parts are no samples: they are counted as unfinished.

    Args:
        spans: The spans, in any order; one may come more than once.
        rules: Where question, answer and contexts are, if they are not found by themselves.
        interrupted: Exchanges of earlier traces that wait to be resumed. None: an interrupted exchange is a sample of
            its own.

    Returns:
        The samples, and how many parts are unfinished.
    """
    whole = _unique_spans(spans)
    local = {span.span_id for span in whole if span.parent_remote is False}
    runs = _runs(whole)
    _resolve_nodes(runs)
    made = TraceSamples([])
    traces = traces_of(runs)
    rooted = any(trace.root.parent is None for trace in traces)
    for trace in traces:
        if trace.root.parent is not None and (rooted or trace.root.ids["otel_span_id"] in local):
            made.unfinished += 1
            continue
        _add_agent_content(trace)
        _add_server_exchange(trace)
        for exchange in exchanges(trace):
            if is_evaluation(exchange) or builds_an_index(exchange.root):
                continue
            _end_stream(exchange)
            if exchange.root.kind in PASSES_ON:  # a state with all of its keys: what the steps below it did counts
                exchange.root.documents = None
            _name_conversation(exchange)
            ready = [exchange] if interrupted is None else interrupted.accept(exchange)
            for one in ready:
                _add_sample(made, one, rules)
    return made


def samples_of_exchanges(found: Iterable[Trace], rules: CaptureRules | None = None) -> TraceSamples:
    """The samples of exchanges whose spans have been read."""
    made = TraceSamples([])
    for exchange in found:
        _add_sample(made, exchange, rules)
    return made


def _name_conversation(exchange: Trace) -> None:
    """A chain around a graph has the graph's thread, which stands in the graph's own span alone."""
    known = [run.metadata for run in exchange.members if any(run.metadata.get(key) for key in CONVERSATION_KEYS)]
    if known and known[0] is not exchange.root.metadata:
        named = {key: known[0][key] for key in CONVERSATION_KEYS if key in known[0]}
        exchange.root.metadata = {**exchange.root.metadata, **named}


def _add_sample(made: TraceSamples, exchange: Trace, rules: CaptureRules | None) -> None:
    sample = sample_of(exchange, rules, id_name="otel_span_id")
    if sample is not None:
        told = replace(
            sample,
            question=sample.question and asked_question(sample.question),
            answer=sample.answer and written_out(sample.answer, exchange),
        )
        made.samples.append(_identified(_without_present_turn(told), exchange))
        made.exchanges.append(exchange)


def _unique_spans(spans: Iterable[SpanData]) -> list[SpanData]:
    """Every span once, in order of start, with the events of the log records that belong to it."""
    by_id: dict[str, SpanData] = {}
    events: dict[str, dict[str, SpanData]] = {}
    for span in spans:
        if span.partial:
            events.setdefault(span.span_id, {})[repr(span.events)] = span
            continue
        known = by_id.get(span.span_id)
        if known is None or _completeness(span) > _completeness(known):
            by_id[span.span_id] = span
    for id, parts in events.items():
        if id in by_id:
            more = tuple(event for _, part in sorted(parts.items()) for event in part.events)
            by_id[id] = replace(by_id[id], events=(*by_id[id].events, *more))
    # a parent starts no later and ends no earlier than its children
    return sorted(by_id.values(), key=lambda span: (span.started, -(span.ended or span.started), span.span_id))


def _completeness(span: SpanData) -> tuple[bool, float, int, str]:
    """Of two records of one span, the one that says more counts."""
    return span.ended is not None, span.ended or 0.0, len(span.attributes) + len(span.events), repr(span)


def _runs(spans: Sequence[SpanData]) -> list[Run]:
    runs: list[Run] = []
    parents: dict[str, str | None] = {}
    names = {span.span_id: span.name for span in spans}
    judging: set[str] = set()
    for span in spans:
        reading = reading_of(span)
        parents[span.span_id] = span.parent_id
        run = run_from(span, reading)
        above = names.get(span.parent_id or "", "")
        if reading.judges or is_evaluator_span(span.name) or is_tool_lookup(run, above):
            judging.add(span.span_id)
        runs.append(run)
    if not judging:
        return runs
    return [run for run in runs if not _below(run.ids["otel_span_id"], judging, parents)]


def _below(id: str | None, judging: set[str], parents: Mapping[str, str | None]) -> bool:
    seen: set[str] = set()
    while id is not None and id not in seen:
        if id in judging:
            return True
        seen.add(id)
        id = parents.get(id)
    return False


def _resolve_nodes(runs: Iterable[Run]) -> None:
    """Give steps that name nodes by their ids the documents, as other steps of the trace have written them out."""
    runs = list(runs)
    known: dict[str, Document] = {}
    for run in runs:
        for found in run.documents or ():
            if found.id is not None:
                known.setdefault(found.id, found)
    if not known:
        return
    wrote_nodes = writes_nodes(runs)
    for run in runs:
        nodes = nodes_in(run.outputs)
        handed = resolved(nodes_in(run.inputs) or (), known)
        if nodes is None and run.outputs == [] and handed:  # a post-processor that let nothing through
            nodes = []
        if nodes is None or run.documents is not None:
            continue
        run.documents = resolved(nodes, known)
        run.unread = run.documents is None and not wrote_nodes  # some were added on the way
        if handed and run.documents is not None:
            run.given = {"": tuple(found.text for found in handed)}
    add_given_nodes(runs, known.values())


def _add_agent_content(trace: Trace) -> None:
    """An agent whose own span has no content was asked what its first model call was and said what its last did."""
    children = trace.children()
    for run in trace.runs.values():
        if run.kind != "agent" or (run.inputs is not None and run.outputs is not None):
            continue
        calls = [call for call in _inside(run, children) if call.kind == "llm"]
        asked = [call for call in calls if isinstance(call.inputs, list)]
        told = [call for call in calls if call.outputs]
        if asked and run.inputs is None:
            run.inputs = asked[0].inputs
        if told and run.outputs is None and run.error is None:
            run.outputs = told[-1].outputs


def _inside(run: Run, children: Mapping[Hashable, list[Run]]) -> list[Run]:
    """The runs below one that belong to no other agent, in order of start."""
    found: list[Run] = []
    for child in children.get(run.id, ()):
        if child.kind != "agent":
            found += [child, *_inside(child, children)]
    return sorted(found, key=lambda run: run.started)


def _add_server_exchange(trace: Trace) -> None:
    """Retrieval and a model call side by side below a web server's span, with no chain around them: one exchange."""
    children = trace.children()
    for run in list(trace.runs.values()):
        steps = _outermost(run, children) if run.kind == "other" else []
        kinds = [step.kind for step in steps]
        if "retriever" in kinds and "llm" in kinds and not {"chain", "agent"} & set(kinds):
            calls = [step for step in steps if step.kind == "llm"]
            run.kind = "chain"
            run.inputs = _query_of(next(step for step in steps if step.kind == "retriever"), calls[-1])
            run.outputs = calls[-1].outputs
            return


def _outermost(run: Run, children: Mapping[Hashable, list[Run]]) -> list[Run]:
    found: list[Run] = []
    for child in children.get(run.id, ()):
        found += _outermost(child, children) if child.kind == "other" else [child]
    return found


def _query_of(retriever: Run, call: Run) -> object:
    """The query, where the model was sent it within a longer text; else what the model was sent."""
    query, sent = retriever.inputs, call.inputs
    last = last_question(sent) if isinstance(sent, list) else sent
    return query if isinstance(query, str) and isinstance(last, str) and query in last else sent


def _end_stream(exchange: Trace) -> None:
    """Look at what the model did after the root had returned.

    Where the root returned a stream, the answer and its end are those of the model call that the stream came from.
    Where the root says less than the model, which was still writing when it ended, the reader had gone away.
    """
    root = exchange.root
    if root.error is not None or root.ended is None or root.kind not in ("chain", "agent"):
        return
    if root.inputs == {} and root.outputs is None:  # a workflow: nobody wrote down what it returned
        return
    if is_stream(root.outputs):
        call = _streaming(root, exchange.children())
        root.outputs = None if call is None else call.outputs
        root.error = None if call is None else call.error
        return
    answer = answer_of(root.outputs)
    call = answering_run(exchange, answer)
    if call is not None and isinstance(call.outputs, str) and (call.ended or 0.0) > root.ended:
        exchange.cut_short = answer is None or (answer != call.outputs and call.outputs.startswith(answer))


def _streaming(run: Run, children: Mapping[Hashable, list[Run]]) -> Run | None:
    """The model call that a stream came from: the last one below the innermost step that returned the stream."""
    below = children.get(run.id, ())
    inner = [child for child in below if is_stream(child.outputs)]
    if inner:
        return _streaming(inner[-1], children)
    calls = [step for step in _inside(run, children) if step.kind == "llm"]
    return next((call for call in reversed(calls) if call.outputs or call.error), None)


def _without_present_turn(sample: Sample) -> Sample:
    """The sample without itself as history: a memory was written to a span when it had the present turn already."""
    last = sample.history[-1] if sample.history else None
    if last is None or (last.question, last.answer) != (sample.question, sample.answer):
        return sample
    return replace(sample, history=sample.history[:-1])


def _identified(sample: Sample, exchange: Trace) -> Sample:
    """The sample with the id of the provider's response that it got its answer from."""
    call = answering_run(exchange, sample.answer)
    response = call.ids.get("gen_ai_response_id") if call is not None else None
    if response is None or "gen_ai_response_id" in sample.ids:
        return sample
    return replace(sample, ids={**sample.ids, "gen_ai_response_id": response})
