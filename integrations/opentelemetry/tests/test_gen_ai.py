"""Spans by the OpenTelemetry GenAI conventions, in every form in which they carry content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assay_opentelemetry import Event, run_of

from integrations.opentelemetry.tests.spans_by_hand import event, sample, samples, span, texts

QUESTION, ANSWER = "Weather in Paris?", "Rainy."
CONTEXT = "It rains in Paris today."
SENT = [
    {"role": "user", "parts": [{"type": "text", "content": "Hello?"}]},
    {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Hi."}]},
    {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
]
WRITTEN = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
SYSTEM = [{"type": "text", "content": CONTEXT}]


def chat(number: int = 1, parent: int | None = None, **fields: Any) -> Any:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **fields.pop("attributes", {})}
    return span(number, parent, name="chat m", kind="CLIENT", attributes=attributes, **fields)


FORMS: dict[str, Any] = {
    "attributes as JSON": chat(
        attributes={
            "gen_ai.system_instructions": json.dumps(SYSTEM),
            "gen_ai.input.messages": json.dumps(SENT),
            "gen_ai.output.messages": json.dumps(WRITTEN),
        }
    ),
    "structured attributes": chat(
        attributes={
            "gen_ai.system_instructions": SYSTEM,
            "gen_ai.input.messages": SENT,
            "gen_ai.output.messages": WRITTEN,
        }
    ),
    "event with all details": chat(
        events=(
            Event(
                name="gen_ai.client.inference.operation.details",
                attributes={
                    "gen_ai.system_instructions": SYSTEM,
                    "gen_ai.input.messages": SENT,
                    "gen_ai.output.messages": WRITTEN,
                },
            ),
        )
    ),
    "an event for each message": chat(
        events=(
            Event(name="gen_ai.choice", body={"index": 0, "message": {"role": "assistant", "content": ANSWER}}, time=9),
            Event(name="gen_ai.system.message", body={"content": CONTEXT}, time=1),
            Event(name="gen_ai.user.message", body={"content": "Hello?"}, time=2),
            Event(name="gen_ai.assistant.message", body={"content": "Hi."}, time=3),
            Event(name="gen_ai.user.message", body={"content": QUESTION}, time=4),
        )
    ),
    "the same, as JSON in an attribute": chat(
        events=(
            event("gen_ai.system.message", 1, gen_ai__event__content=json.dumps({"content": CONTEXT})),
            event("gen_ai.user.message", 2, gen_ai__event__content=json.dumps({"content": "Hello?"})),
            event("gen_ai.assistant.message", 3, gen_ai__event__content=json.dumps({"content": "Hi."})),
            event("gen_ai.user.message", 4, gen_ai__event__content=json.dumps({"content": QUESTION})),
            event("gen_ai.choice", 5, gen_ai__event__content=json.dumps({"message": {"content": ANSWER}})),
        )
    ),
    "the same, as attributes": chat(
        events=(
            event("gen_ai.system.message", 1, content=CONTEXT),
            event("gen_ai.user.message", 2, content="Hello?"),
            event("gen_ai.assistant.message", 3, content="Hi."),
            event("gen_ai.user.message", 4, content=QUESTION),
            event("gen_ai.choice", 5, message=json.dumps({"content": ANSWER})),
        )
    ),
    "numbered attributes": chat(
        attributes={
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": CONTEXT,
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hello?",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.content": "Hi.",
            "gen_ai.prompt.3.role": "user",
            "gen_ai.prompt.3.content": json.dumps([{"type": "text", "text": QUESTION}]),
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_model_call_alone_is_an_exchange(form: str) -> None:
    """Question: what the user said last. History: the turn before. The prompt holds the system's words."""
    one = sample(FORMS[form])
    assert (one.question, one.answer) == (QUESTION, ANSWER)
    assert [(turn.question, turn.answer) for turn in one.history] == [("Hello?", "Hi.")]
    assert run_of(FORMS[form]).prompt == (CONTEXT, "Hello?", "Hi.", QUESTION)
    assert one.metadata["no_context"] == "no retriever run was seen"


def test_content_in_events_of_the_first_age() -> None:
    sent, written = [{"role": "user", "content": QUESTION}], [{"role": "assistant", "content": ANSWER}]
    one = sample(
        chat(
            events=(
                event("gen_ai.content.prompt", 1, gen_ai__prompt=json.dumps(sent)),
                event("gen_ai.content.completion", 2, gen_ai__completion=json.dumps(written)),
            )
        )
    )
    assert (one.question, one.answer) == (QUESTION, ANSWER)


def test_content_in_log_records_finds_its_span() -> None:
    """Log records come apart from the spans, before or after them."""
    details = FORMS["event with all details"].events
    log = span(1, events=details, partial=True)
    for order in ((chat(), log), (log, chat()), (log, chat(), log)):
        one = sample(*order)
        assert (one.question, one.answer) == (QUESTION, ANSWER)
    assert samples(log) == []


def agent_trace(content: bool) -> list[Any]:
    """An agent that searches once: it calls a model, a tool with a retrieval in it, and the model again."""
    call = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "paris"}}
    answer = {"type": "tool_call_response", "id": "c1", "response": CONTEXT}
    after = [*SENT, {"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}]
    own = {"gen_ai.input.messages": json.dumps(SENT[-1:]), "gen_ai.output.messages": json.dumps(WRITTEN)}
    documents = [{"id": "d1", "score": 0.9, "content": CONTEXT}]
    return [
        span(
            1,
            to=9,
            name="invoke_agent guide",
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c", **own}
            if content
            else {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c"},
        ),
        chat(2, 1, at=1, to=2, attributes={
            "gen_ai.input.messages": json.dumps(SENT),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [call]}]),
        }),
        span(3, 1, at=3, to=5, name="execute_tool search", attributes={
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": json.dumps({"q": "paris"}), "gen_ai.tool.call.result": json.dumps(CONTEXT),
        }),
        span(4, 3, at=4, to=5, name="retrieval", attributes={
            "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "paris",
            "gen_ai.retrieval.documents": json.dumps(documents),
        }),
        chat(5, 1, at=6, to=7, attributes={
            "gen_ai.input.messages": json.dumps(after), "gen_ai.output.messages": json.dumps(WRITTEN),
            "gen_ai.response.id": "resp-1",
        }),
    ]  # fmt: skip


@pytest.mark.parametrize("content", [True, False])
def test_an_agent_with_a_retrieving_tool_is_one_exchange(content: bool) -> None:
    """Where the agent's span has no content, its first model call has the question, its last one the answer."""
    one = sample(*agent_trace(content))
    assert (one.question, one.answer) == (QUESTION, ANSWER)
    assert one.contexts is not None
    assert [(c.text, c.id, c.score, c.in_prompt) for c in one.contexts] == [(CONTEXT, "d1", 0.9, True)]
    assert one.ids["gen_ai_response_id"] == "resp-1"
    assert one.ids["otel_retriever_span_id"] == f"{4:016x}"
    assert one.metadata["conversation_id"] == "c"


def test_passages_that_a_tool_returns_are_contexts() -> None:
    *before, tool, _, last = agent_trace(content=True)
    result = {"documents": [{"content": CONTEXT, "id": "d1"}]}
    searched = span(3, 1, at=3, to=5, name=tool.name,
                    attributes={**tool.attributes, "gen_ai.tool.call.result": json.dumps(result)})  # fmt: skip
    assert texts(sample(*before, searched, last)) == [CONTEXT]


def test_documents_without_a_text_are_not_known() -> None:
    """The conventions ask for id and score alone."""
    *others, retrieval, last = agent_trace(content=True)
    named = span(4, 3, at=4, to=5, attributes={
        **retrieval.attributes, "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "score": 0.9}])
    })  # fmt: skip
    one = sample(*others, named, last)
    assert one.contexts is None
    assert one.metadata["no_context"] == "the texts of what was retrieved were not recorded"


def test_retrieval_and_model_call_below_a_server_are_one_exchange() -> None:
    """Nothing but the server stands around them; the query is the question where the model was sent it."""
    retrieval = span(2, 1, at=1, to=2, attributes={
        "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": QUESTION,
        "gen_ai.retrieval.documents": json.dumps([{"content": CONTEXT}]),
    })  # fmt: skip
    prompt = [{"role": "user", "parts": [{"type": "text", "content": f"Use: {CONTEXT}\nQuestion: {QUESTION}"}]}]
    call = chat(3, 1, at=3, to=4, attributes={
        "gen_ai.input.messages": json.dumps(prompt), "gen_ai.output.messages": json.dumps(WRITTEN)
    })  # fmt: skip
    server = span(1, to=9, name="POST /ask", kind="SERVER", attributes={"http.request.method": "POST"})
    one = sample(server, retrieval, call)
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])
    assert one.ids["otel_span_id"] == server.span_id


def test_a_chain_below_a_server_is_the_exchange() -> None:
    server = span(1, to=9, name="POST /ask", kind="SERVER", attributes={"http.request.method": "POST"})
    chain = span(2, 1, at=1, to=8, attributes={
        "openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER
    })  # fmt: skip
    one = sample(server, chain, chat(3, 2, at=2, to=3, attributes=FORMS["attributes as JSON"].attributes))
    assert (one.question, one.answer, one.ids["otel_span_id"]) == (QUESTION, ANSWER, chain.span_id)


@pytest.mark.parametrize("operation", ["create_agent", "create_memory", "search_memory", "upsert_memory"])
def test_operations_that_answer_nothing_are_no_exchange(operation: str) -> None:
    attributes = {"gen_ai.operation.name": operation, "gen_ai.output.messages": json.dumps(WRITTEN)}
    assert samples(span(1, attributes=attributes)) == []


def test_embeddings_and_calls_without_content_are_no_exchange() -> None:
    assert samples(span(1, attributes={"gen_ai.operation.name": "embeddings"}), chat(2, trace=2)) == []
