"""Look-ups of tools: an agent or a router searches for the tool to use, and then for passages."""

from __future__ import annotations

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.objects import ObjectIndex, ObjectRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine, ToolRetrieverRouterQueryEngine
from llama_index.core.response_synthesizers import TreeSummarize
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, RetrieverTool

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes.agents import ASK, calls, cats, dogs, run, thoughts
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Expected, Group

shape = Group("Look-ups of tools")

#: An agent's model saw the answer of the tool, which the first passage is.
TOOL = Expected(contexts=((CALM, True), (HEAL, False)))


def tools_index(*tools: Any) -> ObjectIndex[Any]:
    return ObjectIndex.from_objects(
        list(tools), index_cls=VectorStoreIndex, embed_model=MockEmbedding(embed_dim=4)
    )  # fmt: skip


def tool_retriever(*tools: Any, **more: Any) -> Any:
    return tools_index(*tools).as_retriever(similarity_top_k=len(tools), **more)


@shape("a FunctionAgent with a tool retriever: what it found are tools, and no passages", TOOL)
def function_agent(attach: Attach) -> None:
    attach()
    run(FunctionAgent(tool_retriever=tool_retriever(cats(), dogs()), llm=Caller(say=calls(ASK))))


@shape("a ReAct agent with a tool retriever", TOOL)
def react_agent(attach: Attach) -> None:
    attach()
    llm = thoughts('Thought: I look.\nAction: cats\nAction Input: {"input": "why"}', f"Thought: Ok.\nAnswer: {ANSWER}")
    run(ReActAgent(tool_retriever=tool_retriever(cats()), llm=llm, streaming=False))


@shape("agents in a workflow, one with a tool retriever", TOOL)
def agent_workflow(attach: Attach) -> None:
    attach()
    agent = FunctionAgent(name="a", description="a", tool_retriever=tool_retriever(cats()), llm=Caller(say=calls(ASK)))
    run(AgentWorkflow(agents=[agent]))


@shape("no tool is called: what was searched for were tools alone",
       Expected(contexts=None, no_context="no retriever run was seen"))  # fmt: skip
def no_tool_called(attach: Attach) -> None:
    attach()
    run(FunctionAgent(tool_retriever=tool_retriever(cats()), llm=Caller(say=calls())))


@shape("multi-document agents: an agent for each document, found by a retriever of tools",
       Expected(contexts=((CALM, True), (HEAL, False))))  # fmt: skip
def multi_document_agents(attach: Attach) -> None:
    def document_agent(name: str, *tools: Any) -> FunctionTool:
        agent = FunctionAgent(name=name, description=name, tools=list(tools), llm=Caller(say=calls(ASK)))

        async def ask(query: str) -> str:
            return str(await agent.run(user_msg=query))

        return FunctionTool.from_defaults(async_fn=ask, name=name, description=f"about {name}")

    class WithAPlan(ObjectRetriever[Any]):
        """As in the guide: a reranker chooses, and one tool is always there."""

        async def aretrieve(self, str_or_query_bundle: Any) -> list[Any]:
            return [*await super().aretrieve(str_or_query_bundle), dogs()]

    class Best(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
            return nodes[:1]

    attach()
    index = tools_index(document_agent("animals", cats()))
    found = WithAPlan(index.index.as_retriever(), index.object_node_mapping, [Best()])
    run(FunctionAgent(tool_retriever=found, llm=Caller(say=calls(("animals", {"query": "why"})))))


@shape("tools whose descriptions have a form of their own: known by the agent they belong to", TOOL)
def tools_in_a_form_of_ones_own(attach: Attach) -> None:
    class ByName(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> Any:
            return Shelf(TextNode(text="use cats for cats", id_="cats"))._retrieve(query_bundle)

    class Mapped(ObjectRetriever[Any]):
        def __init__(self) -> None:
            super().__init__(ByName(), None)  # type: ignore[arg-type]  # nothing is mapped

        async def aretrieve(self, str_or_query_bundle: Any) -> list[Any]:
            return [cats() for _ in await self._retriever.aretrieve(str_or_query_bundle)]

    attach()
    run(FunctionAgent(tool_retriever=Mapped(), llm=Caller(say=calls(ASK))))


@shape("an agent that searches by itself, besides looking for tools: what it found are passages",
       Expected(contexts=((BARK, True),)))  # fmt: skip
def agent_that_searches(attach: Attach) -> None:
    class Searches(FunctionAgent):
        async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
            found = await Shelf(TextNode(text=BARK)).aretrieve(QUESTION)
            known = [ChatMessage(role="system", content=node.text) for node in found]
            return await super().take_step(ctx, [*known, *llm_input], tools, memory)

    attach()
    run(Searches(tool_retriever=tool_retriever(cats()), llm=Caller(say=calls())))


@shape("a router that looks for the engine to ask: the passages of that, not its description", Expected())
def tool_router(attach: Attach) -> None:
    attach()
    ToolRetrieverRouterQueryEngine(tool_retriever(cats()), FakeLLM(), TreeSummarize(llm=FakeLLM())).query(QUESTION)


@shape("an engine that looks for a retriever among tools, and answers by itself", Expected())
def tools_in_an_engine(attach: Attach) -> None:
    found = tool_retriever(RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats"))

    class Picks(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            nodes = found.retrieve(query_str)[0].retriever.retrieve(query_str)
            return engine().synthesize(QueryBundle(query_str), nodes)

    attach()
    Picks().query(QUESTION)
