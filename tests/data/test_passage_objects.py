"""Passages as objects whose text has a key of its own: the answers of stores and services, as they document them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.rows import passages
from assay.errors import InputError
from assay.records import Context
from tests.capture.service_results import CALM, HEAL, SERVICES

TEXT = "The lamp was lit in 1862."
HITS: dict[str, dict[str, Any]] = {
    "a key of one's own": {"chunk": TEXT, "score": 0.5, "file": "a.md"},
    "a title beside it": {"title": "The lamp of Farrow", "excerpt": TEXT, "url": "https://example.org/lamp"},
    "within document": {"document": {"paragraph": TEXT}, "score": 0.5},
    "Qdrant's point": {
        "id": 12,
        "version": 3,
        "score": 0.5,
        "payload": {"text": TEXT, "file": "a.txt"},
        "vector": None,
    },
    "Elasticsearch's hit": {
        "_index": "docs",
        "_id": "x",
        "_score": 0.5,
        "_source": {"title": "The lamp", "body": TEXT},
    },
    "Pinecone's match": {"id": "v1", "score": 0.5, "values": [0.1, 0.2], "metadata": {"text": TEXT, "page": 3}},
    "Milvus' hit": {"id": 7, "distance": 0.5, "entity": {"passage": TEXT, "source": "a.md"}},
    "Weaviate's object": {"uuid": "u-1", "properties": {"chunk": TEXT, "url": "a.md"}, "metadata": {"distance": 0.1}},
    "Azure AI Search": {"@search.score": 0.5, "chunk_id": "c1", "parent_id": "p1", "chunk": TEXT, "title": "a.pdf"},
    "Cohere's rerank": {"document": {"text": TEXT}, "index": 0, "relevance_score": 0.5},
    "Bedrock's knowledge base": {"content": {"text": TEXT, "type": "TEXT"}, "location": {"type": "S3"}, "score": 0.5},
    "Vertex AI Search": {"chunk": {"id": "c1", "content": TEXT, "documentMetadata": {"title": "The lamp"}}},
    "OpenAI's file search": {"file_id": "f1", "filename": "a.md", "score": 0.5, "attributes": {}, "text": TEXT},
    "a script without blanks": {"段落": "灯塔于1862年点亮。", "url": "https://example.org/lamp"},
    "camel case": {"chunkText": TEXT, "sourceUri": "a b.md", "documentTitle": "The lamp"},
}


@pytest.mark.parametrize("how", ["an object", "JSON", "printed"])
@pytest.mark.parametrize("service", SERVICES)
def test_each_result_in_the_answer_of_a_service_is_one_passage(service: str, how: str) -> None:
    answer = SERVICES[service]
    found = passages({"an object": answer, "JSON": json.dumps(answer), "printed": str(answer)}[how])
    assert [context.text for context in found or ()] == [CALM, HEAL]


@pytest.mark.parametrize("service", SERVICES)
def test_each_result_alone_is_a_passage(service: str) -> None:
    """The list of results in a cell, without what stands around it."""
    answer, waiting = SERVICES[service], [SERVICES[service]]
    while waiting:
        answer = waiting.pop()
        waiting += [value for value in answer.values() if isinstance(value, dict)]
        lists = [value for value in answer.values() if isinstance(value, list) and len(value) == 2]
        if lists:
            found = passages(lists[0])
            assert [context.text for context in found or ()] == [CALM, HEAL]
            return
    raise AssertionError("no list of two results")


def test_a_service_leaves_its_source_and_its_score() -> None:
    (first, _) = passages(SERVICES["Bedrock"]) or ()
    assert first == Context(
        text=CALM,
        score=0.6,
        metadata={
            "source": "s3://b/a.pdf", "type": "TEXT", "uri": "s3://b/a.pdf",
            "x-amz-bedrock-kb-source-uri": "s3://b/a.pdf", "score": 0.6,
        },
    )  # fmt: skip


def test_an_object_with_a_text_and_sources_is_no_answer_of_a_service() -> None:
    (only,) = passages({"text": TEXT, "sources": SERVICES["Exa"]["results"]}) or ()
    assert only.text == TEXT


@pytest.mark.parametrize("hit", HITS.values(), ids=HITS)
def test_the_only_text_of_an_object_is_the_passage(hit: dict[str, Any]) -> None:
    (context,) = passages([hit]) or ()
    assert context.text == TEXT or context.text in hit.values()


def test_what_stands_beside_the_text_is_kept() -> None:
    found = passages([{"chunk": TEXT, "score": 0.5, "file": "a.md", "id": 4, "metadata": {"page": 2}}])
    assert found == (Context(text=TEXT, id="4", score=0.5, metadata={"file": "a.md", "page": 2}),)


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ({"original": "It was lit in 1862.", "translation": "Es brannte seit 1862."}, "'original' and 'translation'"),
        ({"document": {"de": "Es brannte.", "en": "It was lit."}}, "'document.de' and 'document.en'"),
    ],
)
def test_two_texts_are_both_named(item: dict[str, Any], names: str) -> None:
    with pytest.raises(InputError, match=rf"{names} can each be the text of the passage; name it, for example --map"):
        passages([item])


@pytest.mark.parametrize(
    "item", [{"title": "The lamp"}, {"score": 0.5}, {}, {"page_content": None}, {"tags": ["a"]}, {"no": "text"}]
)
def test_an_object_without_a_text_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"found the keys|a passage"):
        passages([item])


def test_an_object_with_the_list_of_passages_is_none() -> None:
    with pytest.raises(InputError, match=r"a list under 'contexts'; .* --map contexts=COLUMN\.contexts"):
        passages({"release": "b2", "contexts": [TEXT]})


@given(st.recursive(
    st.text("ab ") | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abtextid_.", max_size=6), inner, max_size=3),
    max_leaves=8,
))  # fmt: skip
def test_any_object_is_read_or_refused(value: Any) -> None:
    """What is read is a text that stands in the object."""
    try:
        found = passages([{"outer": value}])
    except InputError:
        return
    assert all(context.text in repr(value) for context in found or ())
