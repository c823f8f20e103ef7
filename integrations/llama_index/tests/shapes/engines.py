"""Query engines: what is around a retriever and a synthesizer."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
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
from llama_index.core.response_synthesizers import TreeSummarize, get_response_synthesizer
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from pydantic import BaseModel

from integrations.llama_index.tests.fakes import ANSWER, NODES, QUESTION, FakeLLM, Last, Nothing, Shelf, engine
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Expected, Group

shape = Group("Query engines")

OTHER = TextNode(id_="n9", text=BARK)


@shape("a retriever query engine", Expected())
def retriever_query_engine(attach: Attach) -> None:
    attach()
    engine().query(QUESTION)


@shape("the same, awaited", Expected())
def retriever_query_engine_async(attach: Attach) -> None:
    attach()
    asyncio.run(engine().aquery(QUESTION))


@shape("an index as a query engine, asked with a query bundle", Expected(contexts=((CALM, True),)))
def vector_index(attach: Attach) -> None:
    attach()
    index = VectorStoreIndex([NODES[0]], embed_model=MockEmbedding(4))
    index.as_query_engine(llm=FakeLLM(), similarity_top_k=1).query(QueryBundle(QUESTION))


@shape("nothing was found: no contexts, and that is known", Expected(contexts=(), answer="Empty Response"))
def nothing_found(attach: Attach) -> None:
    attach()
    engine(Nothing()).query(QUESTION)


@shape(
    "two queries at once", Expected(question="q0"), Expected(question="q1"), in_order=False
)  # fmt: skip
def gathered(attach: Attach) -> None:
    async def both() -> None:
        asked = engine()
        await asyncio.gather(asked.aquery("q0"), asked.aquery("q1"))

    attach()
    asyncio.run(both())


def tools() -> list[QueryEngineTool]:
    return [
        QueryEngineTool.from_defaults(engine(), name="cats", description="cats"),
        QueryEngineTool.from_defaults(engine(Shelf(OTHER)), name="dogs", description="dogs"),
    ]


@shape("a router that chooses one engine", Expected(contexts=((BARK, True),)))
def router(attach: Attach) -> None:
    attach()
    selector = LLMSingleSelector.from_defaults(FakeLLM(replies=['[{"choice": 2, "reason": "so"}]']))
    RouterQueryEngine(selector, tools(), llm=FakeLLM()).query(QUESTION)


@shape(
    "a router that chooses two engines and sums up their answers",
    # the answer of the first engine, which the last call was shown, happens to be its first passage word by word
    Expected(answer="Both.", contexts=((CALM, True), (HEAL, False), (BARK, False))),
)
def router_of_several(attach: Attach) -> None:
    attach()
    chosen = '[{"choice": 1, "reason": "so"}, {"choice": 2, "reason": "so"}]'
    selector = LLMMultiSelector.from_defaults(FakeLLM(replies=[chosen]))
    summarizer = TreeSummarize(llm=FakeLLM(tokens=["Both."]))
    RouterQueryEngine(selector, tools(), llm=FakeLLM(), summarizer=summarizer).query(QUESTION)


class Asks(BaseQuestionGenerator):
    """Divides every question into two."""

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def generate(self, tools: Any, query: QueryBundle) -> list[SubQuestion]:
        return [SubQuestion(sub_question=q, tool_name="cats") for q in ("When do cats purr?", "Why do cats heal?")]

    async def agenerate(self, tools: Any, query: QueryBundle) -> list[SubQuestion]:
        return self.generate(tools, query)


def sub_question_engine(use_async: bool) -> SubQuestionQueryEngine:
    tool = QueryEngineTool(engine(), ToolMetadata(name="cats", description="cats"))
    synthesizer = get_response_synthesizer(FakeLLM(tokens=["In short: ", "calm."]))
    return SubQuestionQueryEngine(Asks(), synthesizer, [tool], verbose=False, use_async=use_async)


SUB = Expected(answer="In short: calm.", contexts=((CALM, True), (HEAL, False)))  # the answers to the parts quote one


@shape("sub-questions: their answers, which the engine lists as sources, are no contexts", SUB)
def sub_questions(attach: Attach) -> None:
    attach()
    sub_question_engine(False).query(QUESTION)


@shape("the same, awaited, both at once", SUB)
def sub_questions_async(attach: Attach) -> None:
    attach()
    asyncio.run(sub_question_engine(True).aquery(QUESTION))


@shape(
    "steps: the answers to the earlier ones are no contexts",
    Expected(answer="In short.", contexts=((CALM, True), (HEAL, False))),
)
def multi_step(attach: Attach) -> None:
    attach()
    transform = StepDecomposeQueryTransform(FakeLLM(tokens=["When?"]))
    synthesizer = get_response_synthesizer(FakeLLM(tokens=["In short."]))
    MultiStepQueryEngine(
        engine(), transform, response_synthesizer=synthesizer, num_steps=2, early_stopping=False, index_summary="cats"
    ).query(QUESTION)


@shape(
    "citations: the numbered pieces that the model saw",
    Expected(contexts=((f"Source 1:\n{CALM}\n", True), (f"Source 2:\n{HEAL}\n", True))),
)
def citations(attach: Attach) -> None:
    attach()
    CitationQueryEngine(Shelf(), llm=FakeLLM()).query(QUESTION)


@shape("a hypothetical document is searched for, the user's question is the question", Expected())
def hyde(attach: Attach) -> None:
    attach()
    TransformQueryEngine(engine(), HyDEQueryTransform(llm=FakeLLM(tokens=["Purring."]))).query(QUESTION)


class Second(BaseEvaluator):
    """Content with the second answer."""

    seen = 0

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    async def aevaluate(
        self, query: Any = None, response: Any = None, contexts: Any = None, **kwargs: Any
    ) -> EvaluationResult:
        self.seen += 1
        return EvaluationResult(passing=self.seen > 1, feedback="no", response=response)


@shape("a retry: the last answer", Expected())
def retry(attach: Attach) -> None:
    attach()
    RetryQueryEngine(engine(llm=FakeLLM(replies=["Bad."])), Second(), max_retries=2).query(QUESTION)


@shape("an engine of one's own that returns a response", Expected(answer="Yes.", contexts=((CALM, None),)))
def custom_response(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            return Response("Yes.", source_nodes=Shelf().retrieve(query_str)[:1])

    attach()
    Custom().query(QUESTION)


@shape(
    "an engine of one's own that returns a text: what was retrieved, and what of it was kept",
    Expected(answer="2 nodes.", contexts=((HEAL, None), (BARK, None))),
)
def custom_text(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            nodes = Last().postprocess_nodes(Shelf().retrieve(query_str))
            return f"{len(nodes + Shelf(OTHER).retrieve('dogs'))} nodes."

    attach()
    Custom().query(QUESTION)


@shape(
    "the same, with a choice made by hand and a synthesizer",
    Expected(contexts=((HEAL, True),)),
)
def custom_synthesis(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            nodes = [node for node in Shelf().retrieve(query_str) if "heal" in node.text]
            return str(get_response_synthesizer(FakeLLM()).synthesize(query_str, nodes))

    attach()
    Custom().query(QUESTION)


@shape(
    "an engine of one's own without a retriever: contexts are not known",
    Expected(answer="42.", contexts=None, no_context="no retriever run was seen"),
)
def custom_without_retrieval(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            return "42."

    attach()
    Custom().query(QUESTION)


@shape(
    "a structured answer without an answer among its fields is its JSON",
    Expected(answer='{"name":"cat","legs":"four"}', contexts=None, no_context="no retriever run was seen"),
)
def structured(attach: Attach) -> None:
    class Animal(BaseModel):
        name: str
        legs: str

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return PydanticResponse(Animal(name="cat", legs="four"))

    attach()
    Custom().query(QUESTION)


@shape("a span of the application's own around the engine", Expected(answer=ANSWER))
def own_span(attach: Attach) -> None:
    from llama_index_instrumentation import get_dispatcher

    @get_dispatcher("app").span
    def handle(question: str) -> str:
        return str(engine().query(question))

    attach()
    handle(QUESTION)
