"""OpenInference spans become runs with the same meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assay_opentelemetry import run_of

from assay.capture import Document
from integrations.opentelemetry.tests.spans_by_hand import TRACE, event, sample, samples, span, texts


def made(kind: str, **attributes: Any) -> Any:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return span(1, name="step", attributes={"openinference.span.kind": kind, **named})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("CHAIN", "chain"),
        ("RETRIEVER", "retriever"),
        ("RERANKER", "reranker"),
        ("LLM", "llm"),
        ("TOOL", "tool"),
        ("AGENT", "agent"),
        ("EMBEDDING", "embedding"),
        ("PROMPT", "prompt"),
        ("UNKNOWN", "chain"),
        ("GUARDRAIL", "other"),
        ("EVALUATOR", "other"),
        ("DECISION", "other"),
        ("something new", "chain"),
    ],
)
def test_kinds(kind: str, expected: str) -> None:
    assert run_of(made(kind)).kind == expected


def test_ids_times_and_name() -> None:
    run = run_of(span(2, parent=1, at=1, to=3, name="step"))
    assert (run.id, run.parent) == (f"{TRACE}-{2:016x}", f"{TRACE}-{1:016x}")
    assert run.ids == {"otel_trace_id": TRACE, "otel_span_id": f"{2:016x}"}
    assert run.ended - run.started == 2
    assert (run.name, run.kind) == ("step", "other")


def test_values_are_json_only_where_the_mime_type_says_so() -> None:
    text = '{"question": "Why?"}'
    plain = run_of(made("CHAIN", input__value=text))
    parsed = run_of(made("CHAIN", input__value=text, input__mime_type="application/json"))
    assert (plain.inputs, parsed.inputs) == (text, {"question": "Why?"})


def test_nothing_is_not_the_text_null() -> None:
    run = run_of(made("CHAIN", input__value="q", output__value="null"))
    assert (run.inputs, run.outputs) == ("q", None)


def test_masked_values_are_unknown() -> None:
    run = run_of(made("CHAIN", input__value="__REDACTED__", output__value="__REDACTED__"))
    assert (run.inputs, run.outputs) == (None, None)


def test_documents_of_a_retriever() -> None:
    run = run_of(
        made(
            "RETRIEVER",
            input__value="Why?",
            retrieval__documents__0__document__id="d1",
            retrieval__documents__0__document__content="Cats purr.",
            retrieval__documents__0__document__score=0.9,
            retrieval__documents__0__document__metadata='{"page": 3}',
            retrieval__documents__1__document__content="Dogs bark.",
        )
    )
    assert run.documents == (Document("Cats purr.", "d1", {"page": 3, "score": 0.9}), Document("Dogs bark.", None, {}))


def test_ids_that_only_the_output_has_are_taken_from_it() -> None:
    """LangChain's instrumentor does not write `document.id`."""
    documents = [{"id": "d1", "page_content": "Cats purr.", "metadata": {"page": 3}, "type": "Document"}]
    run = run_of(
        made(
            "RETRIEVER",
            output__value=json.dumps({"documents": documents}),
            output__mime_type="application/json",
            retrieval__documents__0__document__content="Cats purr.",
        )
    )
    assert run.documents == (Document("Cats purr.", "d1", {"page": 3}),)


def test_a_retriever_that_found_nothing_is_told_from_one_that_does_not_say() -> None:
    nothing = made("RETRIEVER", output__value='{"documents": []}', output__mime_type="application/json")
    assert run_of(nothing).documents == ()
    assert run_of(made("RETRIEVER")).documents is None


def test_a_reranker_replaces_what_it_was_given() -> None:
    run = run_of(
        made(
            "RERANKER",
            reranker__query="Why?",
            reranker__input_documents__0__document__content="one",
            reranker__input_documents__1__document__content="two",
            reranker__output_documents__0__document__content="two",
            reranker__output_documents__0__document__score=0.7,
        )
    )
    assert run.given == {"": ("one", "two")}
    assert run.documents == (Document("two", None, {"score": 0.7}),)
    assert run.inputs == "Why?"


def test_messages_of_a_model() -> None:
    run = run_of(
        made(
            "LLM",
            llm__input_messages__0__message__role="system",
            llm__input_messages__0__message__content="Be kind.",
            llm__input_messages__1__message__role="user",
            llm__input_messages__1__message__contents__0__message_content__type="text",
            llm__input_messages__1__message__contents__0__message_content__text="Why?",
            llm__input_messages__1__message__contents__1__message_content__type="image",
            llm__output_messages__0__message__role="assistant",
            llm__output_messages__0__message__content="Because.",
        )
    )
    assert run.prompt == ("Be kind.", "Why?")
    assert run.outputs == "Because."


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm__prompts": ["Why?"]},
        {"llm__prompts__0__prompt__text": "Why?"},
        {"input__value": "Why?"},
        {"llm__prompt_template__template": "{q}?", "llm__prompt_template__variables": '{"q": "Why"}'},
    ],
)
def test_prompts_of_a_model(attributes: dict[str, Any]) -> None:
    assert run_of(made("LLM", **attributes)).prompt == ("Why?",)


def test_completion_of_a_model() -> None:
    assert run_of(made("LLM", llm__choices__0__completion__text="Because.")).outputs == "Because."


def test_session_user_tags_and_metadata() -> None:
    one = sample(
        made(
            "CHAIN",
            input__value="Why?",
            output__value="Because.",
            session__id="s1",
            user__id="u1",
            tag__tags=["a", "b"],
            metadata='{"route": "ask", "session_id": "own"}',
        )
    )
    found = {name: one.metadata[name] for name in ("session_id", "user_id", "tags", "route")}
    assert found == {"session_id": "own", "user_id": "u1", "tags": ["a", "b"], "route": "ask"}


@pytest.mark.parametrize(
    ("type_", "status"),
    [
        ("GeneratorExit", "abandoned"),
        ("asyncio.exceptions.CancelledError", "cancelled"),
        ("app.errors.NoIndex", "failed"),
    ],
)
def test_how_an_exchange_ended(type_: str, status: str) -> None:
    broken = span(
        1,
        attributes={"openinference.span.kind": "CHAIN", "input.value": "Why?"},
        status="ERROR",
        events=(event("exception", exception__type=type_, exception__message="sk-secret"),),
    )
    one = sample(broken)
    assert (one.status, one.answer) == (status, None)
    assert "sk-secret" not in json.dumps(one.to_dict())
    assert one.metadata.get("error") == ("NoIndex" if status == "failed" else None)


@pytest.mark.parametrize(
    "dumped",
    [
        {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Why?"}},
        {"type": "human", "data": {"content": "Why?", "type": "human"}},
        {"type": "human", "content": "Why?"},
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        ["user", "Why?"],
    ],
)
def test_a_graph_is_asked_in_any_form_of_message(dumped: Any) -> None:
    answer = {"messages": [dumped, {"type": "ai", "data": {"content": "Because.", "type": "ai"}}]}
    one = sample(
        made(
            "CHAIN",
            input__value=json.dumps({"messages": [dumped]}),
            input__mime_type="application/json",
            output__value=json.dumps(answer),
            output__mime_type="application/json",
        )
    )
    assert (one.question, one.answer) == ("Why?", "Because.")


def test_guardrails_and_evaluations_are_left_out_with_all_below_them() -> None:
    chain = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "No reason."}
    model = {"openinference.span.kind": "LLM", "input.value": "safe?", "output.value": "No"}
    found = samples(
        span(1, to=9, attributes=chain),
        span(2, 1, at=7, to=8, attributes={"openinference.span.kind": "GUARDRAIL"}),
        span(3, 2, at=7, to=8, attributes=model),
        span(1, trace=2, attributes={"openinference.span.kind": "EVALUATOR", "input.value": "x", "output.value": "y"}),
        span(2, 1, trace=2, attributes=model),
    )
    assert [one.answer for one in found] == ["No reason."]
    assert found[0].contexts is None


def test_nodes_that_are_named_by_their_ids_are_those_that_were_retrieved() -> None:
    """LlamaIndex' post-processors write nodes like this; what they let through replaces what they were given."""
    one, two = (f"<NodeWithScore(node=TextNode(id_=n{number}), score=0.{number})>" for number in (1, 2))
    found = {f"retrieval.documents.{n}.document.{key}": value for n in (0, 1) for key, value in
             {"id": f"n{n + 1}", "content": f"text {n + 1}"}.items()}  # fmt: skip
    chosen = sample(
        span(1, to=9, attributes={"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}),
        span(2, 1, at=1, to=2, attributes={"openinference.span.kind": "RETRIEVER", **found}),
        span(
            3,
            1,
            at=3,
            to=4,
            attributes={
                "openinference.span.kind": "CHAIN",
                "input.value": json.dumps({"nodes": [one, two]}),
                "input.mime_type": "application/json",
                "output.value": json.dumps([two]),
                "output.mime_type": "application/json",
            },
        ),
    )
    assert texts(chosen) == ["text 2"]
    assert chosen.contexts is not None
    assert (chosen.contexts[0].id, chosen.contexts[0].score) == ("n2", 0.2)
