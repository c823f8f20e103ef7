"""The passages in what tools return, in the forms that searches, vector stores and MCP servers give."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import CaptureRules, Document, Run, Trace, sample_of
from assay.capture.tool_results import documents_in_result, texts_in_result
from tests.capture.service_results import CALM, HEAL, SERVICES

#: Two results with a title and an address, as a search engine lists them.
WEB = [{"title": "A", "url": "http://a", "content": CALM}, {"title": "B", "url": "http://b", "content": HEAL}]

#: The same two passages as services return them.
RESULTS: dict[str, Any] = {
    **SERVICES,
    "a list": WEB,
    "Tavily": {
        "query": "why",
        "answer": "Calm.",
        "results": [{**one, "score": 0.9} for one in WEB],
    },
    "Brave: snippets": {"web": {"results": [{"type": "x", "url": "u", "snippet": t} for t in (CALM, HEAL)]}},
    "Serper": {"organic": [{"title": "A", "link": "l", "snippet": text, "position": 1} for text in (CALM, HEAL)]},
    "Bing": {"webPages": {"value": [{"name": "A", "url": "u", "snippet": text} for text in (CALM, HEAL)]}},
    "Google": {"items": [{"title": "A", "link": "l", "snippet": text} for text in (CALM, HEAL)]},
    "DuckDuckGo": [{"title": "A", "href": "l", "body": text} for text in (CALM, HEAL)],
    "Elasticsearch": {"hits": {"hits": [{"_id": "1", "_score": 2.0, "_source": {"text": t}} for t in (CALM, HEAL)]}},
    "Pinecone": {"matches": [{"id": "1", "score": 0.5, "metadata": {"text": text}} for text in (CALM, HEAL)]},
    "Qdrant": {"result": [{"id": 1, "score": 0.5, "payload": {"page_content": text}} for text in (CALM, HEAL)]},
    "Chroma": {"ids": [["1", "2"]], "documents": [[CALM, HEAL]], "metadatas": [[{"page": 1}, {"page": 2}]]},
    "Azure": {"value": [{"@search.score": 1.0, "chunk_id": "1", "chunk": text} for text in (CALM, HEAL)]},
    "nodes": {"results": [{"node": {"text": text, "id_": "1"}, "score": 0.5} for text in (CALM, HEAL)]},
    "documents of LangChain": [{"page_content": text, "metadata": {}} for text in (CALM, HEAL)],
    "MCP: resources": [{"type": "resource", "resource": {"uri": "file:a", "text": text}} for text in (CALM, HEAL)],
    "MCP: a text for each result": [{"type": "text", "text": json.dumps(one)} for one in WEB],
    "MCP: one text": [{"type": "text", "text": json.dumps({"results": WEB})}],
    "search results as blocks": [
        {"type": "search_result", "title": "A", "source": "a", "content": [{"type": "text", "text": text}]}
        for text in (CALM, HEAL)
    ],
}

#: What tools return that may be anything.
OTHERS: dict[str, Any] = {
    "a number": 42,
    "a text": f"{CALM}\n\n{HEAL}",
    "rows": [{"name": "Tom", "age": 3}],
    "printed rows": "[('Tom', 3)]",
    "scored rows": [("Tom", 0.5)],
    "texts": [CALM, HEAL],
    "tasks": {"items": [{"content": "buy milk", "title": "milk", "status": "done"}]},
    "to-dos": {"todos": [{"content": "search the web", "status": "pending"}]},
    "messages": [{"role": "user", "content": CALM, "title": "A"}],
    "MCP: a text": [{"type": "text", "text": CALM}],
    "weather": {"city": "Paris", "temperature": 21.5, "text": "sunny"},
    "half a JSON": '{"results": [{"url": "a", "content": "b"',
    "nothing": None,
    "an empty list": {"results": []},
    "issues without an address": {"items": [{"title": "A", "description": CALM, "id": 7}]},
    "a text with a list beside it": {"text": CALM, "notes": [{"content": HEAL}]},
    "comments": {"results": [{"avatar_url": "https://a", "type": "comment", "body": CALM}]},
    "a failed call": {"tool_call_id": "1", "status": "error", "content": json.dumps(WEB)},
}


def texts(found: list[Document] | None) -> list[str]:
    return [one.text for one in found or ()]


@pytest.mark.parametrize("form", RESULTS)
@pytest.mark.parametrize("wrap", ["as it is", "in JSON", "as printed", "in a message", "in a message of JSON"])
def test_each_result_is_one_passage(form: str, wrap: str) -> None:
    value: Any = RESULTS[form]
    if wrap.endswith("JSON"):
        value = json.dumps(value)
    if wrap == "as printed":
        value = str(value)
    if wrap.startswith("in a message"):
        value = SimpleNamespace(content=value, tool_call_id="1", status="success")
    assert texts(documents_in_result(value)) == [CALM, HEAL]


@pytest.mark.parametrize("form", OTHERS)
def test_what_may_be_anything_is_no_passage(form: str) -> None:
    assert documents_in_result(OTHERS[form]) is None


def test_a_result_has_its_source() -> None:
    (found, _) = documents_in_result({"results": [{**WEB[0], "id": "d1", "score": 0.9}, WEB[1]]}) or ()
    assert found == Document(CALM, "d1", {"title": "A", "url": "http://a", "id": "d1", "score": 0.9})


@pytest.mark.parametrize(
    ("service", "source"),
    [
        ("Azure AI Search content", ("sourcepage", "a.pdf#page=1")),
        ("Brave", ("url", "https://a")),
        ("Bedrock", ("source", "s3://b/a.pdf")),
        ("Kendra query", ("DocumentURI", "https://a")),
        ("Vertex AI Search chunks", ("source", "gs://a")),
        ("Vertex AI Search snippets", ("source", "https://a")),
        ("You.com", ("url", "https://a")),
        ("OpenAI vector store", ("filename", "a.md")),
    ],
)
def test_the_result_of_a_service_has_its_source(service: str, source: tuple[str, str]) -> None:
    found = documents_in_result(SERVICES[service]) or []
    assert [one.metadata.get(source[0]) for one in found] == [source[1]] * 2


def test_the_score_of_a_service_is_the_score() -> None:
    (first, _) = documents_in_result(SERVICES["Azure AI Search content"]) or ()
    assert first.metadata["score"] == 1.2
    (first, _) = documents_in_result(SERVICES["Bedrock"]) or ()
    assert first.metadata["score"] == 0.6


def test_a_result_with_many_objects_in_it_is_read_in_no_time() -> None:
    deep: dict[str, Any] = {"text": CALM, "url": "u"}
    for _ in range(200):
        deep = {"document": deep, "payload": deep, "metadata": deep}
    assert texts(documents_in_result({"results": [deep]})) in ([], [CALM])


def test_further_excerpts_of_a_page_stand_below_its_text() -> None:
    """Brave gives them beside the description, of which they are no parts."""
    page = {"title": "A", "url": "https://a", "description": CALM, "extra_snippets": [HEAL, "Some do not."]}
    assert texts(documents_in_result({"web": {"results": [page]}})) == [f"{CALM}\n{HEAL}\nSome do not."]


def test_of_two_texts_of_a_result_the_longer_counts() -> None:
    page = f"{CALM} {HEAL}"
    assert texts(documents_in_result([{"url": "u", "content": CALM, "raw_content": page}])) == [page]


@pytest.mark.parametrize(
    ("value", "separator", "expected"),
    [
        (f"{CALM}\n\n{HEAL}", None, [f"{CALM}\n\n{HEAL}"]),
        (f"{CALM}\n\n{HEAL}", "\n\n", [CALM, HEAL]),
        ([CALM, HEAL], None, [CALM, HEAL]),
        ([{"type": "text", "text": CALM}, {"type": "text", "text": HEAL}], None, [CALM, HEAL]),
        ({"tool_call_id": "1", "content": CALM}, None, [CALM]),
        ({"tool_call_id": "1", "content": CALM, "status": "error"}, None, []),
        ({"messages": [SimpleNamespace(content=CALM, tool_call_id="1")]}, None, [CALM]),
        ({"results": WEB}, None, [CALM, HEAL]),
        ({"Tom": 3}, None, ['{"Tom": 3}']),
        (42, None, ["42"]),
        ("  ", None, []),
        (None, None, []),
    ],
)
def test_the_texts_of_a_tool_that_is_named(value: Any, separator: str | None, expected: list[str]) -> None:
    assert texts(texts_in_result(value, separator)) == expected


def contexts_by(rules: CaptureRules | None, *below: Run, outputs: Any = CALM, name: str = "search") -> list[str] | None:
    root = Run("r", None, "agent", inputs="Why?", outputs="So.", ended=9.0)
    trace = Trace(root)
    tool = Run("t", "r", "tool", name, trace, outputs=outputs, started=root.started + 1)
    trace.add(tool, root)
    for run in below:
        trace.add(run, tool)
    sample = sample_of(trace, rules)
    assert sample is not None
    return None if sample.contexts is None else [context.text for context in sample.contexts]


@pytest.mark.parametrize(
    "rules",
    [
        CaptureRules(contexts_tools=["search"]),
        CaptureRules(contexts_tools={"look", "sea*"}),
        CaptureRules(contexts_tools="search"),
        CaptureRules(contexts_tools={"search": None}),
        CaptureRules(contexts_run="search"),
    ],
)
def test_a_rule_names_the_tools_whose_texts_are_passages(rules: CaptureRules) -> None:
    assert contexts_by(None) is None
    assert contexts_by(CaptureRules(contexts_tools=["other"])) is None
    assert contexts_by(rules) == [CALM]


def test_the_documents_of_a_retriever_in_a_tool_are_not_read_twice() -> None:
    inner = Run("i", "t", "retriever", documents=[Document(HEAL, None, {})])
    assert contexts_by(CaptureRules(contexts_tools=["search"]), inner, outputs=f"found: {HEAL}") == [HEAL]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["results", "content", "url", "type", "text", "hits", "resource"]), inner)
    ),
    max_leaves=12,
)


@given(values, st.sampled_from([None, "\n\n", ","]))
def test_any_value_is_read_without_an_error(value: Any, separator: str | None) -> None:
    for found in (
        documents_in_result(value),
        documents_in_result(json.dumps(value)),
        texts_in_result(value, separator),
    ):
        assert found is None or all(isinstance(one, Document) for one in found)
