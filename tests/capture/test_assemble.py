"""Question, answer, contexts and history out of the values that chains take and give."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from assay.capture import CaptureRules, RunCollector, Trace, sample_of
from assay.capture.assemble import answer_of, history_of, question_of
from assay.records.messages import role_of, text_of


def human(text: Any) -> Any:
    return SimpleNamespace(type="human", content=text)


def ai(text: Any) -> Any:
    return SimpleNamespace(type="ai", content=text)


@pytest.mark.parametrize(
    ("inputs", "question"),
    [
        ("q", "q"),
        ("  ", None),
        (None, None),
        ({"input": ""}, None),
        ({"question": "q", "context": "c"}, "q"),
        ({"user_input": "q"}, "q"),
        ({"query": "q", "k": 4}, "q"),
        ({"inputs": {"question": "q"}}, "q"),
        ({"input": human("q")}, "q"),
        ({"anything": "q"}, "q"),
        ({"one": "a", "two": "b"}, None),
        ({"messages": [human("first"), ai("a"), human("q")]}, "q"),
        ({"messages": [("user", "q")]}, "q"),
        ({"messages": [{"role": "user", "content": "q"}]}, "q"),
        ([human("q")], "q"),
        ([[human("q")]], "q"),
        (human([{"type": "text", "text": "q"}, {"type": "image_url", "image_url": "x"}]), "q"),
        (SimpleNamespace(to_messages=lambda: [human("q")]), "q"),
        (object(), None),
        (7, None),
    ],
)
def test_question(inputs: Any, question: str | None) -> None:
    assert question_of(inputs) == question


@pytest.mark.parametrize(
    ("outputs", "answer"),
    [
        ("a", "a"),
        ("", None),
        (None, None),
        ({"answer": "a", "input": "q", "context": []}, "a"),
        ({"result": "a", "query": "q"}, "a"),
        ({"output": "a", "input": "q", "chat_history": []}, "a"),
        ({"answer": ai("a")}, "a"),
        ({"answer": {"text": "a", "citations": []}}, "a"),
        ({"text": "a", "question": "q"}, "a"),
        ({"anything": "a"}, "a"),
        ({"one": "a", "two": "b"}, None),
        ({"messages": [human("q"), ai("earlier"), ai("a")]}, "a"),
        ({"messages": [human("q"), ai("a"), SimpleNamespace(type="tool", content="t")]}, "a"),
        ({"messages": [human("q"), ai(""), SimpleNamespace(type="tool", content="t")]}, None),
        ({"messages": [human("old"), ai("old answer"), human("q")]}, None),
        (ai([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}]), "a"),
        ({"role": "assistant", "content": "a"}, "a"),
        (SimpleNamespace(answer="a"), "a"),
        ([], None),
    ],
)
def test_answer(outputs: Any, answer: str | None) -> None:
    assert answer_of(outputs) == answer


def test_named_keys_decide() -> None:
    assert question_of({"question": "no", "frage": {"text": "no", "question": "q"}}, "frage") == "q"
    assert answer_of({"answer": "no", "antwort": "a"}, "antwort") == "a"
    assert answer_of({"answer": "no"}, "antwort") is None


@pytest.mark.parametrize(
    ("inputs", "turns"),
    [
        ({"question": "q", "chat_history": [("a?", "b.")]}, [("a?", "b.")]),
        ({"question": "q", "chat_history": [human("a?"), ai("b.")]}, [("a?", "b.")]),
        ({"question": "q", "history": "as one text"}, []),
        ({"messages": [human("a?"), ai(""), ai("b."), human("no answer"), human("q")]}, [("a?", "b.")]),
        ([("user", "a?"), ("assistant", "b."), ("user", "q")], [("a?", "b.")]),
        ("q", []),
    ],
)
def test_history(inputs: Any, turns: list[tuple[str, str]]) -> None:
    assert [(turn.question, turn.answer) for turn in history_of(inputs, None)] == turns


def test_what_is_no_message() -> None:
    assert [role_of(value) for value in ({"a": 1}, ("a", "b"), "human", None, SimpleNamespace(type="human"))] == [
        None
    ] * 5
    assert text_of(ai(None)) == ""


def trace_of(
    *documents: Any, inputs: Any = "q", outputs: Any = "a", error: Any = None, failed: Any = None, kind: Any = "chain"
) -> Trace:
    collector = RunCollector()
    collector.start("root", None, kind, inputs=inputs)
    for number, found in enumerate(documents):
        collector.start(number, "root", "retriever")
        if found is not None:
            collector.end(number, documents=[SimpleNamespace(page_content=t, id=i, metadata=m) for t, i, m in found])
        elif failed is not None:
            collector.end(number, error=failed)
    trace = collector.end("root", outputs, error=error)
    assert trace is not None
    return trace


def test_contexts_in_order_each_once_with_scores_and_plain_metadata() -> None:
    first = [("one", "1", {"relevance_score": 0.9, "live": object()}), ("two", None, {})]
    second = [("two", None, {}), ("one", "other id", {}), ("three", 3, {"source": "s"})]
    sample = sample_of(trace_of(first, second), id_name="run")
    assert sample is not None
    assert sample.contexts is not None
    assert [(c.text, c.id) for c in sample.contexts] == [("one", "1"), ("two", None), ("three", "3")]
    assert sample.contexts[0].score == 0.9
    assert sample.contexts[0].metadata == {"relevance_score": 0.9}
    assert (sample.id, sample.ids) == ("root", {"run": "root"})


@pytest.mark.parametrize(
    ("trace", "contexts", "why"),
    [
        (trace_of(), None, "no retriever run was seen"),
        (trace_of([]), (), None),
        (trace_of(None), None, "the retriever did not end"),
        (trace_of(None, failed=OSError()), None, "the retriever failed"),
        (trace_of(outputs={"answer": "a", "context": ["p"]}), ("p",), None),
        (trace_of(outputs={"answer": "a", "context": "as one text"}), ("as one text",), None),
        (trace_of(inputs={"question": "q", "documents": [{"text": "p"}]}), ("p",), None),
        (trace_of(outputs={"answer": "a", "context": [1, 2]}), None, "no retriever run was seen"),
    ],
)
def test_contexts_or_the_reason_why_there_are_none(trace: Trace, contexts: Any, why: str | None) -> None:
    sample = sample_of(trace)
    assert sample is not None
    assert (None if sample.contexts is None else sample.passages) == contexts
    assert sample.metadata.get("no_context") == why


def test_a_named_key_takes_the_place_of_retrievers() -> None:
    trace = trace_of([("raw", None, {})], outputs={"answer": "a", "reranked": ["best"]})
    assert sample_of(trace, CaptureRules(contexts_key="reranked")).passages == ("best",)  # type: ignore[union-attr]
    missing = sample_of(trace, CaptureRules(contexts_key="nowhere"))
    assert missing is not None
    assert (missing.contexts, "'nowhere'" in missing.metadata["no_context"]) == (None, True)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (GeneratorExit(), "abandoned"),
        (asyncio.CancelledError(), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
        (ValueError("with the user's text"), "failed"),
    ],
)
def test_status(error: BaseException, status: str) -> None:
    sample = sample_of(trace_of(outputs=None, error=error))
    assert sample is not None
    assert (sample.status, sample.answer) == (status, None)
    assert "user's text" not in str(sample.to_dict())


@pytest.mark.parametrize("kind", ["retriever", "tool", "prompt", "parser"])
def test_parts_on_their_own_are_no_exchange(kind: str) -> None:
    assert sample_of(trace_of(kind=kind)) is None
    assert sample_of(trace_of(kind=kind, outputs=None, error=ValueError())) is None


def test_no_answer_is_no_exchange() -> None:
    assert sample_of(trace_of(outputs={"documents": []})) is None
