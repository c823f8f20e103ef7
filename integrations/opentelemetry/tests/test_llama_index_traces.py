"""What spans of LlamaIndex tell between the lines."""

from __future__ import annotations

from typing import Any

import pytest
from assay_opentelemetry.llama_index_traces import (
    add_given_nodes,
    asked_question,
    builds_an_index,
    is_tool_lookup,
    written_out,
)

from assay.capture import Document, Run, Trace

CALM = Document("Cats purr when calm.", "n1", {"page": 3})
HEAL = Document("They also heal.", "n2", {})


def synthesis(*chunks: str, above: str = "CompactAndRefine.synthesize") -> tuple[Run, Run]:
    outer = Run("s", None, "chain", above)
    inner = Run(
        "g", "s", "chain", "CompactAndRefine.get_response", inputs={"query_str": "Why?", "text_chunks": [*chunks]}
    )
    add_given_nodes([outer, inner], [CALM, HEAL])
    return outer, inner


@pytest.mark.parametrize(
    ("chunks", "given", "unread"),
    [
        ((CALM.text, HEAL.text), (CALM.text, HEAL.text), False),
        ((HEAL.text, f"page: 3\n\n{CALM.text}"), (HEAL.text, CALM.text), False),  # in the order of the synthesizer
        ((f"page: 3\nfile: a.txt\n\n{CALM.text}\n",), (CALM.text,), False),
        (("Dogs bark.", CALM.text), None, True),  # one was added or rewritten
        ((f"{CALM.text} {HEAL.text}",), None, True),  # a window of several sentences
        (("Sub question: When?\nResponse: At ease.", CALM.text), (CALM.text,), False),
        (("Sub question: When?\nResponse: At ease.",), None, False),
        ((), None, False),
    ],
)
def test_what_a_synthesizer_was_given(chunks: tuple[str, ...], given: tuple[str, ...] | None, unread: bool) -> None:
    outer, inner = synthesis(*chunks)
    assert (inner.given, outer.unread) == (None if given is None else {"": given}, unread)


def test_summaries_of_summaries_were_retrieved_nowhere() -> None:
    outer, inner = synthesis("A summary.", above="TreeSummarize.get_response")
    assert (inner.given, outer.unread) == (None, False)


@pytest.mark.parametrize(
    ("kind", "above", "expected"),
    [
        ("retriever", "BaseWorkflowAgent.run_agent_step", True),
        ("retriever", "BaseWorkflowAgent.call_tool", True),
        ("retriever", "RetrieverTool.acall", False),
        ("tool", "BaseWorkflowAgent.call_tool", False),
    ],
)
def test_an_agent_that_looks_for_its_tools(kind: Any, above: str, expected: bool) -> None:
    assert is_tool_lookup(Run("r", "a", kind), above) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<memory>\n<user>\nLikes cats.\n</user>\n</memory>Why?", "Why?"),
        ("Why?", "Why?"),
        ("What is <memory>\nx\n</memory>?", "What is <memory>\nx\n</memory>?"),
    ],
)
def test_a_memory_before_the_question(text: str, expected: str) -> None:
    assert asked_question(text) == expected


@pytest.mark.parametrize(
    ("answer", "written", "expected"),
    [
        ("Animal(name='cat', legs=4)", "{}", '{"name":"cat","legs":4}'),
        ("Cited(answer='Calm.', sure=1.0)", "{}", "Calm."),
        ("Point(x=1, y=2)", "Point(x=1, y=2)", "Point(x=1, y=2)"),  # a model wrote that
        ("Use Point(x=1).", "", "Use Point(x=1)."),
        ("Broken(x=", "", "Broken(x="),
    ],
)
def test_an_object_as_python_prints_it(answer: str, written: str, expected: str) -> None:
    trace = Trace(Run("r", None, "chain"))
    trace.add(Run("l", "r", "llm", trace=trace, outputs=written), trace.root)
    assert written_out(answer, trace) == expected


def test_a_text_that_is_summed_up_for_an_index() -> None:
    asked = "Describe what the provided text is about. Also describe some of the questions that this text can answer. "
    assert builds_an_index(Run("r", None, "chain", inputs=asked))
    assert builds_an_index(Run("r", None, "llm", prompt=("Write a summary of the following. Try to use only the "
                                                         "information provided. ...",)))  # fmt: skip
    assert not builds_an_index(Run("r", None, "chain", inputs="Write a summary of the following: ..."))
