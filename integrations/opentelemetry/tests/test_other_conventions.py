"""Spans of OpenLLMetry, MLflow and Langfuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assay_opentelemetry import run_of

from assay.capture import Document
from integrations.opentelemetry.tests.spans_by_hand import event, sample, span, texts

QUESTION, ANSWER, CONTEXT = "Why do cats purr?", "Cats purr when calm.", "Cats purr when they are calm."
DOCUMENT = {"id": "d1", "metadata": {"page": 3}, "page_content": CONTEXT, "type": "Document"}


# -- OpenLLMetry ------------------------------------------------------------------------------------------------------


def traced(number: int, parent: int | None, kind: str, inputs: Any, outputs: Any, **fields: Any) -> Any:
    attributes = {
        "traceloop.span.kind": kind,
        "traceloop.entity.input": json.dumps(inputs),
        "traceloop.entity.output": json.dumps(outputs),
    }
    return span(number, parent, attributes=attributes, **fields)


def test_langchain_heard_by_openllmetry() -> None:
    """Its handler dumps inputs and outputs with what stands around them in the callback."""
    root_inputs = {"inputs": QUESTION, "tags": ["t"], "metadata": {"thread_id": "s"}, "kwargs": {"name": "chain"}}
    call = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": f"{CONTEXT} {QUESTION}",
        "gen_ai.completion.0.content": ANSWER,
    }
    one = sample(
        traced(1, None, "workflow", root_inputs, {"outputs": ANSWER, "kwargs": {}}, to=9),
        traced(2, 1, "task", {"inputs": QUESTION}, {"outputs": [DOCUMENT], "kwargs": {}}, at=1, to=2),
        span(3, 1, at=3, to=4, attributes=call),
    )
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])
    assert one.contexts is not None
    assert one.contexts[0].in_prompt is True
    assert (one.metadata["tags"], one.metadata["thread_id"]) == (["t"], "s")


@pytest.mark.parametrize("inputs", [{"args": [QUESTION], "kwargs": {}}, {"args": [], "kwargs": {"question": QUESTION}}])
def test_decorated_functions(inputs: Any) -> None:
    one = sample(traced(1, None, "workflow", inputs, ANSWER))
    assert (one.question, one.answer) == (QUESTION, ANSWER)


def test_queries_to_vector_stores_are_retrievers() -> None:
    found = event(
        "db.query.result",
        db__query__result__id="d1",
        db__query__result__score=0.3,
        db__query__result__document=CONTEXT,
        db__query__result__metadata='{"page": 3}',
    )
    query = span(2, 1, at=1, to=2, name="chroma.query", attributes={"db.system": "chroma"}, events=(found,))
    assert run_of(query).documents == (Document(CONTEXT, "d1", {"page": 3, "score": 0.3}),)
    one = sample(traced(1, None, "workflow", QUESTION, ANSWER, to=9), query)
    assert texts(one) == [CONTEXT]


# -- MLflow -----------------------------------------------------------------------------------------------------------


def logged(number: int, parent: int | None, type_: str, inputs: Any, outputs: Any, **fields: Any) -> Any:
    """MLflow writes every attribute as JSON."""
    attributes = {"spanType": type_, "spanInputs": inputs, "spanOutputs": outputs, "traceRequestId": "tr-1"}
    return span(
        number, parent, attributes={f"mlflow.{key}": json.dumps(value) for key, value in attributes.items()}, **fields
    )


def mlflow_trace() -> list[Any]:
    message = {"content": ANSWER, "type": "ai", "id": "m1"}
    return [
        logged(1, None, "CHAIN", {"question": QUESTION}, ANSWER, to=9),
        logged(2, 1, "RETRIEVER", QUESTION, [{"page_content": CONTEXT, "metadata": {"page": 3}, "id": "d1"}], at=1),
        logged(
            3,
            1,
            "CHAT_MODEL",
            [[{"content": f"{CONTEXT} {QUESTION}", "type": "human"}]],
            {"generations": [[{"text": ANSWER, "message": message, "type": "ChatGeneration"}]], "llm_output": None},
            at=3,
        ),
    ]


def test_spans_of_mlflow() -> None:
    one = sample(*mlflow_trace())
    assert (one.question, one.answer) == (QUESTION, ANSWER)
    assert one.contexts is not None
    assert [(c.text, c.id, c.in_prompt, dict(c.metadata)) for c in one.contexts] == [(CONTEXT, "d1", True, {"page": 3})]
    assert (one.ids["mlflow_trace_id"], one.ids["mlflow_span_id"]) == ("tr-1", f"{1:016x}")


def test_values_that_mlflows_client_has_parsed_already() -> None:
    parsed = span(
        1, attributes={"mlflow.spanType": "CHAIN", "mlflow.spanInputs": QUESTION, "mlflow.spanOutputs": ANSWER}
    )
    one = sample(parsed)
    assert (one.question, one.answer) == (QUESTION, ANSWER)


def test_a_model_with_the_openai_api_in_mlflow() -> None:
    inputs = {"model": "m", "messages": [{"role": "user", "content": QUESTION}]}
    outputs = {"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]}
    run = run_of(logged(1, None, "CHAT_MODEL", inputs, outputs))
    assert (run.prompt, run.outputs) == ((QUESTION,), ANSWER)


# -- Langfuse ---------------------------------------------------------------------------------------------------------


def observed(number: int, parent: int | None, type_: str, inputs: Any, outputs: Any, **fields: Any) -> Any:
    attributes = {
        "langfuse.observation.type": type_,
        "langfuse.observation.input": inputs if isinstance(inputs, str) else json.dumps(inputs),
        "langfuse.observation.output": outputs if isinstance(outputs, str) else json.dumps(outputs),
        **fields.pop("attributes", {}),
    }
    return span(number, parent, attributes=attributes, **fields)


def test_observations_of_langfuse() -> None:
    about = {"session.id": "s", "user.id": "u", "langfuse.trace.tags": ["t"], "langfuse.trace.metadata.route": "ask"}
    one = sample(
        observed(1, None, "span", {"question": QUESTION}, ANSWER, to=9, attributes=about),
        observed(2, 1, "retriever", QUESTION, [DOCUMENT], at=1),
        observed(
            3,
            1,
            "generation",
            [{"role": "user", "content": f"{CONTEXT} {QUESTION}"}],
            {"role": "assistant", "content": ANSWER},
            at=3,
        ),
        observed(4, 1, "evaluator", "judge this", "no", at=5),
    )
    assert (one.question, one.answer, texts(one)) == (QUESTION, ANSWER, [CONTEXT])
    assert one.contexts is not None
    assert one.contexts[0].in_prompt is True
    assert (one.ids["langfuse_trace_id"], one.ids["langfuse_observation_id"]) == (f"{1:032x}", f"{1:016x}")
    found = {name: one.metadata[name] for name in ("session_id", "user_id", "route", "tags")}
    assert found == {"session_id": "s", "user_id": "u", "route": "ask", "tags": ["t"]}
