"""A trace gives the same samples, whatever order its spans come in, and no sample of what is not complete."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from assay_opentelemetry import Counts, SpanData, spans_to_samples
from assay_opentelemetry.grouping import by_trace
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import CaptureRules
from integrations.opentelemetry.tests.spans_by_hand import event, sample, samples, span, texts
from integrations.opentelemetry.tests.test_gen_ai import agent_trace
from integrations.opentelemetry.tests.test_other_conventions import mlflow_trace

CHAIN = {"openinference.span.kind": "CHAIN"}


def chain(
    number: int = 1, parent: int | None = None, question: str = "Why?", answer: str | None = "So.", **fields: Any
):
    attributes = {**CHAIN, "input.value": question, **({} if answer is None else {"output.value": answer})}
    return span(number, parent, attributes={**attributes, **fields.pop("attributes", {})}, **fields)


def in_trace(trace: int, spans: list[SpanData]) -> list[SpanData]:
    return [replace(one, trace_id=f"{trace:032x}") for one in spans]


TRACES = [
    *in_trace(1, agent_trace(content=True)),
    *in_trace(2, agent_trace(content=False)),
    *in_trace(3, mlflow_trace()),
    chain(trace=4),
]


@pytest.mark.long
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_order_and_repetition_of_spans_change_nothing(randomly: random.Random, in_memory: int) -> None:
    """Also where most spans wait in a file."""
    expected = [one.to_dict() for one in samples(*TRACES)]
    mixed = [*TRACES, *randomly.sample(TRACES, 5)]
    randomly.shuffle(mixed)
    assert [one.to_dict() for one in samples(*mixed, in_memory=in_memory)] == expected
    assert len(expected) == 4


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 50)), max_size=60), st.integers(1, 20))
def test_every_span_is_in_the_group_of_its_trace(ids: list[tuple[int, int]], in_memory: int) -> None:
    spans = [span(number, trace=trace, at=number) for trace, number in ids]
    groups = [group for group in by_trace(spans, in_memory) if isinstance(group, list)]
    assert sorted((one.trace_id, one.span_id) for group in groups for one in group) == sorted(
        (one.trace_id, one.span_id) for one in spans
    )
    assert len(groups) == len({one.trace_id for one in spans})
    starts = [min(one.started for one in group) for group in groups]
    assert starts == sorted(starts)


def test_a_span_written_twice_is_the_one_that_says_more() -> None:
    """Some exporters write a span when it starts, and again when it has ended."""
    begun = replace(chain(answer=None), ended=None)
    for order in ((begun, chain()), (chain(), begun)):
        assert sample(*order).answer == "So."


def test_parts_whose_parent_was_not_sent_yet_are_no_samples() -> None:
    part = replace(chain(2, parent=1), parent_remote=False)
    counts = Counts()
    assert samples(part, counts=counts) == []
    assert counts == Counts(spans=1, traces=1, unfinished=1)
    (whole,) = samples(part, chain(1, question="Root?", to=9))
    assert whole.question == "Root?"


def test_a_part_of_a_trace_whose_root_is_there_is_no_sample_of_its_own() -> None:
    counts = Counts()
    found = samples(chain(1, question="Root?", to=9), chain(3, parent=2), counts=counts)
    assert [one.question for one in found] == ["Root?"]
    assert counts.unfinished == 1


def test_the_part_of_another_service_is_a_sample() -> None:
    """Its parent is a span of the caller, which is in another file."""
    assert sample(replace(chain(2, parent=1), parent_remote=True)).answer == "So."
    assert sample(chain(2, parent=1)).answer == "So."


def test_two_exchanges_below_one_server_are_two_samples() -> None:
    found = samples(
        span(1, to=9, name="POST /batch", kind="SERVER"),
        chain(2, 1, "One?", at=1),
        chain(3, 1, "Two?", at=2),
    )
    assert [one.question for one in found] == ["One?", "Two?"]
    assert len({one.key() for one in found}) == 2


def test_traces_without_an_exchange_are_counted() -> None:
    counts = Counts()
    found = samples(
        span(1, name="GET /health", kind="SERVER"),
        chain(trace=2),
        chain(trace=3, answer=None),
        span(1, trace=4, attributes={"openinference.span.kind": "RETRIEVER"}),
        counts=counts,
    )
    assert len(found) == 1
    assert counts == Counts(spans=4, traces=4, samples=1, empty=3)


def test_parents_in_a_circle_do_not_hang() -> None:
    assert len(samples(chain(1, parent=2), chain(2, parent=1))) <= 1


def test_what_is_no_span_is_told_and_the_rest_is_read() -> None:
    error, one = spans_to_samples([{"trace_id": "?"}, chain()])
    assert getattr(error, "message", "").startswith("span 1: trace id: expected 32 hex digits")
    assert getattr(one, "answer", None) == "So."


def test_rules_say_where_things_are() -> None:
    inputs, outputs = {"ask": "Why?", "more": "x"}, {"verdict": "So.", "more": "y"}
    span_ = chain(attributes={
        "input.value": json.dumps(inputs), "input.mime_type": "application/json",
        "output.value": json.dumps(outputs), "output.mime_type": "application/json",
    })  # fmt: skip
    one = sample(span_, rules=CaptureRules(question_key="ask", answer_key="verdict"))
    assert (one.question, one.answer) == ("Why?", "So.")


def test_earlier_turns_of_a_session_are_its_history() -> None:
    found = {"retrieval.documents.0.document.content": "fact"}
    first, second = samples(
        chain(trace=2, question="And then?", at=10, to=12, attributes={"session.id": "s"}),
        chain(trace=1, attributes={"session.id": "s"}, to=3),
        span(2, 1, at=1, to=2, attributes={"openinference.span.kind": "RETRIEVER", **found}),
    )
    assert first.history == ()
    assert [(turn.question, turn.answer, [c.text for c in turn.contexts]) for turn in second.history] == [
        ("Why?", "So.", ["fact"])
    ]


# -- streams ----------------------------------------------------------------------------------------------------------


def model(number: int, parent: int, text: str, **fields: Any) -> SpanData:
    attributes = {"openinference.span.kind": "LLM", "input.value": "prompt"}
    return span(
        number, parent, attributes=attributes if text is None else {**attributes, "output.value": text}, **fields
    )


@pytest.mark.parametrize("answer", [None, "Cats "])
def test_a_reader_who_left_has_a_part_of_the_answer(answer: str | None) -> None:
    """LangChain ends the root when the reader leaves, and reads the model's stream to its end."""
    one = sample(chain(answer=answer, to=3), model(2, 1, "Cats purr.", at=1, to=4))
    assert (one.status, one.answer) == ("abandoned", answer)


def test_a_model_that_ended_late_and_was_heard_to_the_end_is_complete() -> None:
    assert sample(chain(answer="Cats purr.", to=3), model(2, 1, "Cats purr.", at=1, to=4)).status == "complete"


STREAMED = {
    "output.value": json.dumps({"response_gen": "<generator object>", "source_nodes": [], "response_txt": None}),
    "output.mime_type": "application/json",
}


def test_the_answer_of_a_streaming_engine_is_what_its_model_wrote() -> None:
    """The call that made the search query wrote a text as well, and is not the one."""
    one = sample(
        chain(to=3, attributes=STREAMED),
        model(2, 1, "query", at=0.5, to=0.6),
        chain(3, 1, at=1, to=3, attributes=STREAMED),
        model(4, 3, "Cats purr.", at=2, to=5),
    )
    assert (one.status, one.answer) == ("complete", "Cats purr.")


def test_a_stream_that_nobody_heard_is_no_sample() -> None:
    """What the reader received is written nowhere; the text of another call must not stand for it."""
    found = samples(
        chain(to=3, attributes=STREAMED), model(2, 1, "query", at=0.5, to=0.6), chain(3, 1, at=1, attributes=STREAMED)
    )
    assert found == []


def test_a_stream_that_broke_ends_like_its_model_call() -> None:
    gone = event("exception", exception__type="GeneratorExit")
    one = sample(chain(to=3, attributes=STREAMED), model(2, 1, "Cats ", at=1, to=4, status="ERROR", events=(gone,)))
    assert (one.status, one.answer) == ("abandoned", "Cats ")


# -- workflows of LlamaIndex ------------------------------------------------------------------------------------------


def workflow(event_: str, result: str) -> SpanData:
    return chain(to=9, attributes={
        "input.value": json.dumps({"init_state": {}, "start_event": event_}), "input.mime_type": "application/json",
        "output.value": result, "output.mime_type": "text/plain",
    })  # fmt: skip


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ("StopEvent(result='So.')", "So."),
        ("StopEvent(result={'answer': 'So.', 'took': 3})", "So."),
        ("Done(answer='So.', took=3)", "So."),
        ("StopEvent(result=Response(response='It\\'s so.', source_nodes=[NodeWithScore(node=TextNo...", "It's so."),
        ("StopEvent(result=Response(response='It is cu...", None),
        ("StopEvent(result=Thing(<0x1>))", None),
    ],
)
def test_results_of_workflows(result: str, answer: str | None) -> None:
    """They are written as Python prints them, cut after 200 characters; what is not whole is not known."""
    found = samples(workflow("StartEvent()", result))
    assert [one.answer for one in found] == ([answer] if answer else [])


def test_an_agent_of_llama_index_is_asked_what_its_model_is_asked_first() -> None:
    messages = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Why?"}
    one = sample(
        workflow("AgentWorkflowStartEvent()", "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole..."),
        model(2, 1, "So.", at=1, to=2),
        span(3, 1, at=3, to=4, attributes={
            "openinference.span.kind": "LLM", **messages, "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Because.",
        }),
    )  # fmt: skip
    assert (one.question, one.answer) == ("Why?", "Because.")


def test_a_chosen_passage_alone_is_a_context() -> None:
    """A step that was given documents and delivers some of them has replaced the others."""
    documents = [{"page_content": text, "metadata": {}, "id": text, "type": "Document"} for text in ("one", "two")]
    mime = {"input.mime_type": "application/json", "output.mime_type": "application/json"}
    one = sample(
        chain(to=9),
        span(2, 1, at=1, to=2, attributes={
            "openinference.span.kind": "RETRIEVER", **mime, "output.value": json.dumps({"documents": documents})
        }),
        chain(3, 1, at=3, to=4, attributes={
            **mime, "input.value": json.dumps(documents), "output.value": json.dumps(documents[1:])
        }),
    )  # fmt: skip
    assert texts(one) == ["two"]


# -- whatever comes ---------------------------------------------------------------------------------------------------

NAMES = [
    "openinference.span.kind", "input.value", "input.mime_type", "output.value", "output.mime_type", "metadata",
    "tag.tags", "session.id", "retrieval.documents", "retrieval.documents.0.document.content",
    "retrieval.documents.0.document.metadata", "retrieval.documents.x", "reranker.output_documents", "llm.prompts",
    "llm.input_messages", "llm.input_messages.0.message.content", "llm.input_messages.0.message.contents",
    "llm.output_messages.0", "llm.choices", "llm.prompt_template.template", "llm.prompt_template.variables",
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
    "gen_ai.prompt", "gen_ai.prompt.0", "gen_ai.completion.0.content", "gen_ai.retrieval.documents",
    "gen_ai.tool.call.result", "traceloop.span.kind", "traceloop.entity.input", "traceloop.entity.output",
    "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.traceRequestId",
    "langfuse.observation.type", "langfuse.observation.input", "langfuse.trace.tags", "langfuse.trace.metadata",
]  # fmt: skip
WORDS = ["LLM", "RETRIEVER", "RERANKER", "TOOL", "AGENT", "CHAIN", "chat", "retrieval", "execute_tool", "workflow",
         "generation", "application/json", "[]", "{}", '[["user", "x"]]', '{"messages": 3}', '{"lc": 1, "kwargs": []}',
         '{"init_state": 1, "start_event": 2}', "<generator object>", "StopEvent(result=", "null",
         "[" * 2000]  # fmt: skip
PLAIN = st.one_of(st.sampled_from(WORDS), st.text(max_size=5), st.integers(), st.booleans(), st.floats(), st.none())
VALUES = st.recursive(PLAIN, lambda inner: st.one_of(
    st.lists(inner, max_size=3),
    st.dictionaries(st.sampled_from(["role", "content", "type", "text", "message", "parts", "documents", "0", "a.b"]),
                    inner, max_size=3)), max_leaves=6)  # fmt: skip
ANY_SPAN = st.builds(
    SpanData,
    trace_id=st.just(f"{1:032x}"),
    span_id=st.integers(1, 6).map(lambda number: f"{number:016x}"),
    parent_id=st.one_of(st.none(), st.integers(1, 6).map(lambda number: f"{number:016x}")),
    started=st.integers(0, 3).map(float),
    ended=st.one_of(st.none(), st.integers(0, 5).map(float)),
    attributes=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
    status=st.sampled_from(["OK", "ERROR", "UNSET"]),
)


@pytest.mark.long
@given(st.lists(ANY_SPAN, max_size=6))
def test_no_span_is_beyond_reading(spans: list[SpanData]) -> None:
    """Attributes may hold anything: nothing raises, and what comes out is a sample that can be written and read."""
    for one in samples(*spans):
        assert type(one).from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_a_rule_that_fails_loses_its_own_trace_only() -> None:
    def adjust(one: Any, trace: Any) -> Any:
        return {"One?": one}[one.question]

    counts = Counts()
    found = list(
        spans_to_samples(
            [chain(question="Two?"), chain(trace=2, question="One?", at=1)], CaptureRules(adjust=adjust), counts=counts
        )
    )
    assert [getattr(one, "message", None) for one in found] == [f"trace {1:032x}: KeyError: 'Two?'", None]
    assert (counts.unreadable, counts.samples) == (1, 1)
