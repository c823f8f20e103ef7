"""What a sample of a query says besides question, contexts and answer; many at once. The shapes are in `shapes`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.query_engine import (
    CustomQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import MetadataMode, TextNode
from llama_index_instrumentation.dispatcher import instrument_tags

from assay.records import Context

QUESTION, ANSWER = "Why do cats purr?", "Cats purr when calm."
PASSAGES = ("Cats purr when calm.", "Cats also purr to heal.")


def ask(engine: Any, how: str, question: Any = QUESTION) -> Any:
    return engine.query(question) if how == "sync" else asyncio.run(engine.aquery(question))


both = pytest.mark.parametrize("how", ["sync", "async"])


@both
def test_retriever_query_engine(kit, heard, how):
    response = ask(kit.engine(), how)
    assert str(response) == ANSWER
    sample = heard.one
    assert (sample.question, sample.answer, sample.status) == (QUESTION, ANSWER, "complete")
    assert sample.contexts == (
        Context(text=PASSAGES[0], id="n1", score=0.9, in_prompt=True, metadata={"page": 3, "score": 0.9}),
        Context(text=PASSAGES[1], id="n2", score=0.8, in_prompt=True, metadata={"source": "cats.txt", "score": 0.8}),
    )
    assert sample.ids == {"llama_index_span_id": sample.id}
    assert sample.id.startswith("RetrieverQueryEngine.")
    name = "RetrieverQueryEngine.query" if how == "sync" else "RetrieverQueryEngine.aquery"
    started, ended = sample.metadata["started"], sample.metadata["ended"]
    assert sample.metadata == {"name": name, "started": started, "ended": ended}
    assert started <= ended


def test_rewritten_questions_are_kept_in_the_metadata(kit, heard):
    engine = TransformQueryEngine(kit.engine(), HyDEQueryTransform(llm=kit.FakeLLM()))
    fusion = QueryFusionRetriever(
        [kit.Shelf(), kit.Shelf()], llm=kit.FakeLLM(), num_queries=1, use_async=False, similarity_top_k=2
    )

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str):
            for query in (query_str, "dogs", "cats", "dogs"):
                fusion.retrieve(query)
            return str(engine.query("a part of it"))

    Custom().query(QUESTION)
    assert heard.one.question == QUESTION
    assert heard.one.metadata["searched"] == ["dogs", "cats", "a part of it"]


@both
def test_failing_model_raises_as_before_and_its_message_is_not_kept(kit, heard, how):
    with pytest.raises(ConnectionError, match="sk-123"):
        ask(kit.engine(llm=kit.FakeLLM(fail_after=0)), how)
    sample = heard.one
    assert (sample.status, sample.answer) == ("failed", None)
    assert sample.passages == PASSAGES
    assert sample.metadata["error"] == "ConnectionError"
    assert "sk-123" not in str(sample.to_dict())


@pytest.mark.long
async def test_many_at_once(kit, heard):
    """200 queries in parallel: 200 samples, none mixed up with another."""

    class Echo(kit.FakeLLM):
        async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any):
            await asyncio.sleep(0.001 * (hash(prompt) % 7))
            return kit.CompletionResponse(text=prompt.split("Query: ")[1].split("\n")[0])

    class Numbered(BaseRetriever):
        def _retrieve(self, query_bundle):
            return kit.Shelf(TextNode(text=f"about {query_bundle.query_str}")).retrieve(query_bundle)

    engine = kit.engine(Numbered(), Echo())
    await asyncio.gather(*(engine.aquery(f"question {n}") for n in range(200)))
    assert heard.idle()
    assert not heard.errors
    assert sorted(sample.question for sample in heard) == sorted(f"question {n}" for n in range(200))
    assert all(s.answer == s.question and s.passages == (f"about {s.question}",) for s in heard)


def test_tags_become_metadata(kit, heard):
    with instrument_tags({"user": "u7", "nested": {"n": 1}}):
        kit.engine().query(QUESTION)
    assert heard.one.metadata["user"] == "u7"
    assert heard.one.metadata["nested"] == {"n": 1}


def test_the_hosts_nodes_are_copied_and_unchanged(kit, heard):
    node = TextNode(id_="m", text="Before.", metadata={"list": [1]})
    before = node.model_dump_json()
    kit.engine(kit.Shelf(node)).query(QUESTION)
    assert node.model_dump_json() == before
    node.set_content("After.")
    node.metadata["list"].append(2)
    assert heard.one.contexts[0].text == "Before."
    assert heard.one.contexts[0].metadata == {"list": [1], "score": 0.9}
    assert node.get_content(metadata_mode=MetadataMode.NONE) == "After."


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda found: found.node.metadata.update(page=4), ("n1", "Cats purr when calm.", {"page": 4, "score": 0.9})),
        (
            lambda found: found.node.metadata.update(page=True),
            ("n1", "Cats purr when calm.", {"page": True, "score": 0.9}),
        ),
        (lambda found: found.node.metadata.pop("page"), ("n1", "Cats purr when calm.", {"score": 0.9})),
        (lambda found: found.node.set_content("After."), ("n1", "After.", {"page": 1, "score": 0.9})),
        (lambda found: setattr(found.node, "id_", "n7"), ("n7", "Cats purr when calm.", {"page": 1, "score": 0.9})),
        (lambda found: setattr(found, "score", 0.1), ("n1", "Cats purr when calm.", {"page": 1, "score": 0.1})),
        (lambda found: setattr(found, "score", None), ("n1", "Cats purr when calm.", {"page": 1})),
    ],
    ids=["metadata", "of another type", "less metadata", "text", "id", "score", "no score"],
)
def test_what_the_engine_changed_before_it_answered_counts_and_what_it_changed_after_does_not(
    kit, heard, change, expected
):
    """The sources of an answer are compared with the copies that were made when they were found."""

    class Changes(CustomQueryEngine):
        retriever: BaseRetriever

        def custom_query(self, query_str: str) -> Response:
            found = self.retriever.retrieve(query_str)
            change(found[0])
            return Response(ANSWER, source_nodes=found)

    node = TextNode(id_="n1", text="Cats purr when calm.", metadata={"page": 1})
    response = Changes(retriever=kit.Shelf(node)).query(QUESTION)
    response.response = "Changed."
    response.source_nodes[0].node.metadata["page"] = 9
    response.source_nodes[0].node.set_content("Changed.")
    response.source_nodes[0].score = 0.5
    response.source_nodes.clear()
    assert heard.one.answer == ANSWER
    (context,) = heard.one.contexts
    assert (context.id, context.text, context.metadata) == expected
    assert type(context.metadata.get("page")) is type(expected[2].get("page"))


@pytest.mark.long
def test_many_threads(kit, heard):
    engine = kit.engine()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(engine.query, [f"question {n}" for n in range(200)]))
    assert heard.idle()
    assert not heard.errors
    assert sorted(sample.question for sample in heard) == sorted(f"question {n}" for n in range(200))
    assert all(sample.passages == PASSAGES for sample in heard)
