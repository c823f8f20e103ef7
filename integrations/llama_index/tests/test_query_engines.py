"""Each shape of query engine: exact question, contexts, answer and status."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, ToolMetadata
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
    assert sample.question == QUESTION
    assert sample.answer == ANSWER
    assert sample.status == "complete"
    assert sample.contexts == (
        Context(text=PASSAGES[0], id="n1", score=0.9, metadata={"page": 3}),
        Context(text=PASSAGES[1], id="n2", score=0.8, metadata={"source": "cats.txt"}),
    )
    assert sample.ids == {"llama_index_span_id": sample.id}
    assert sample.id.startswith("RetrieverQueryEngine.")
    assert sample.metadata == {"engine": "RetrieverQueryEngine"}


def test_vector_index_with_query_bundle(kit, heard):
    index = VectorStoreIndex([*kit.NODES], embed_model=MockEmbedding(4))
    index.as_query_engine(llm=kit.FakeLLM(), similarity_top_k=2).query(QueryBundle(QUESTION))
    assert heard.one.question == QUESTION
    assert set(heard.one.passages) == set(PASSAGES)


@both
def test_postprocessed_nodes_are_final(kit, heard, how):
    ask(kit.engine(node_postprocessors=[kit.Last()]), how)
    assert heard.one.passages == PASSAGES[1:]


@both
def test_nothing_found_is_empty_not_unknown(kit, heard, how):
    class Nothing(BaseRetriever):
        def _retrieve(self, query_bundle):
            return []

    ask(kit.engine(Nothing()), how)
    assert heard.one.contexts == ()
    assert heard.one.answer == "Empty Response"


def test_fusion_retriever_counts_once(kit, heard):
    fusion = QueryFusionRetriever(
        [kit.Shelf(), kit.Shelf()], llm=kit.FakeLLM(), num_queries=1, use_async=False, similarity_top_k=2
    )
    kit.engine(fusion).query(QUESTION)
    assert set(heard.one.passages) == set(PASSAGES)
    assert len(heard.one.passages) == 2


@both
def test_router_is_one_sample(kit, heard, how):
    tools = [QueryEngineTool.from_defaults(kit.engine(), name=name, description=name) for name in ("a", "b")]
    choice = '[{"choice": 2, "reason": "so"}]'
    selector = LLMSingleSelector.from_defaults(kit.FakeLLM(replies=[choice]))
    ask(RouterQueryEngine(selector, tools, llm=kit.FakeLLM()), how)
    assert heard.one.passages == PASSAGES
    assert heard.one.answer == ANSWER
    assert heard.one.metadata["engine"] == "RouterQueryEngine"


class Asks(BaseQuestionGenerator):
    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def generate(self, tools, query):
        return [SubQuestion(sub_question=q, tool_name="a") for q in ("When do cats purr?", "Why do cats heal?")]

    async def agenerate(self, tools, query):
        return self.generate(tools, query)


@both
@pytest.mark.parametrize("use_async", [True, False])
def test_sub_questions_leave_out_intermediate_answers(kit, heard, how, use_async):
    tool = QueryEngineTool(kit.engine(), ToolMetadata(name="a", description="cats"))
    engine = SubQuestionQueryEngine(
        Asks(), get_response_synthesizer(kit.FakeLLM()), [tool], verbose=False, use_async=use_async
    )
    response = ask(engine, how)
    # two synthetic nodes, then both passages once for each sub-question
    assert len(response.source_nodes) == 6
    assert heard.one.question == QUESTION
    assert heard.one.passages == PASSAGES
    assert heard.one.metadata["searched"] == ["When do cats purr?", "Why do cats heal?"]


def test_multi_step_leaves_out_intermediate_answers(kit, heard):
    class Same:
        def __call__(self, query, metadata=None):
            return query

    engine = MultiStepQueryEngine(
        kit.engine(), Same(), response_synthesizer=get_response_synthesizer(kit.FakeLLM()), num_steps=1
    )
    response = engine.query(QUESTION)
    assert response.source_nodes[0].node.get_content().startswith("\nQuestion: ")
    assert heard.one.passages == PASSAGES


def test_citation_engine_keeps_its_numbered_sources(kit, heard):
    CitationQueryEngine(kit.Shelf(), llm=kit.FakeLLM()).query(QUESTION)
    assert [text.splitlines() for text in heard.one.passages] == [
        ["Source 1:", PASSAGES[0]],
        ["Source 2:", PASSAGES[1]],
    ]


@both
def test_transformed_query_keeps_the_users_question(kit, heard, how):
    engine = TransformQueryEngine(kit.engine(), HyDEQueryTransform(llm=kit.FakeLLM()))
    ask(engine, how)
    assert heard.one.question == QUESTION
    assert heard.one.passages == PASSAGES


def test_retry_is_one_sample_with_the_last_answer(kit, heard):
    class Second(BaseEvaluator):
        seen = 0

        def _get_prompts(self):
            return {}

        def _update_prompts(self, prompts):
            pass

        async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
            self.seen += 1
            return EvaluationResult(passing=self.seen > 1, feedback="no", response=response)

    engine = RetryQueryEngine(kit.engine(llm=kit.FakeLLM(replies=["Bad."])), Second(), max_retries=2)
    engine.query(QUESTION)
    assert heard.one.question == QUESTION
    assert heard.one.answer == ANSWER


def test_custom_engine_with_a_response(kit, heard):
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str):
            return Response("Yes.", source_nodes=kit.Shelf().retrieve(query_str)[:1])

    Custom().query(QUESTION)
    assert heard.one.answer == "Yes."
    assert heard.one.passages == PASSAGES[:1]


@both
def test_custom_engine_with_a_string_takes_what_was_retrieved_and_reranked(kit, heard, how):
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str):
            nodes = kit.Last().postprocess_nodes(kit.Shelf().retrieve(query_str))
            other = kit.Shelf(TextNode(id_="n9", text="Dogs bark.")).retrieve("dogs")
            return f"{len(nodes + other)} nodes."

    ask(Custom(), how)
    assert heard.one.answer == "2 nodes."
    assert heard.one.passages == (PASSAGES[1], "Dogs bark.")
    assert heard.one.metadata["searched"] == ["dogs"]


def test_custom_engine_without_retrieval_has_unknown_contexts(heard):
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str):
            return "42."

    Custom().query(QUESTION)
    assert heard.one.contexts is None


@both
def test_failing_model_is_failed_and_raises_as_before(kit, heard, how):
    with pytest.raises(ConnectionError, match="sk-123"):
        ask(kit.engine(llm=kit.FakeLLM(fail_after=0)), how)
    sample = heard.one
    assert (sample.status, sample.answer) == ("failed", None)
    assert sample.passages == PASSAGES
    assert sample.metadata["error"] == "ConnectionError"
    assert "sk-123" not in str(sample.to_dict())


async def test_cancelled_query(kit, heard):
    class Slow(kit.FakeLLM):
        async def acomplete(self, *args: Any, **kwargs: Any):
            await asyncio.sleep(60)

    task = asyncio.create_task(kit.engine(llm=Slow()).aquery(QUESTION))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.one.status == "cancelled"


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


def test_a_span_of_the_application_around_the_engine(kit, heard):
    from llama_index_instrumentation import get_dispatcher

    @get_dispatcher("app").span
    def handle(question: str) -> str:
        return str(kit.engine().query(question))

    assert handle(QUESTION) == ANSWER
    assert heard.one.question == QUESTION


def test_the_hosts_nodes_are_copied_and_unchanged(kit, heard):
    node = TextNode(id_="m", text="Before.", metadata={"list": [1]})
    before = node.model_dump_json()
    kit.engine(kit.Shelf(node)).query(QUESTION)
    assert node.model_dump_json() == before
    node.set_content("After.")
    node.metadata["list"].append(2)
    assert heard.one.contexts[0].text == "Before."
    assert heard.one.contexts[0].metadata == {"list": [1]}
    assert node.get_content(metadata_mode=MetadataMode.NONE) == "After."


def test_many_threads(kit, heard):
    engine = kit.engine()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(engine.query, [f"question {n}" for n in range(200)]))
    assert heard.idle()
    assert not heard.errors
    assert sorted(sample.question for sample in heard) == sorted(f"question {n}" for n in range(200))
    assert all(sample.passages == PASSAGES for sample in heard)
