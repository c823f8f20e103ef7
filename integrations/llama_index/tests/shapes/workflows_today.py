"""Workflows with typed events, stores, retries and workflows inside, and agents with what their tools return."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from llama_index.core import Document
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.retry_policy import ConstantDelayRetryPolicy
from pydantic import BaseModel

from integrations.llama_index.tests.fakes import ANSWER, NODES, PASSAGES, QUESTION, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes.agents import ASK, UNSEEN, run
from integrations.llama_index.tests.shapes.applications_agents import script
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Workflows of today")

UNKNOWN_PROMPT = ((CALM, None), (HEAL, None))


class Found(Event):
    nodes: list[NodeWithScore]


class Asked(StartEvent):
    query: str


class Answered(StopEvent):
    answer: str
    sources: list[NodeWithScore]


class Reply(BaseModel):
    answer: str
    sources: list[str]


def start(workflow: Any, **given: Any) -> Any:
    async def main() -> Any:
        return await workflow.run(**given)

    return asyncio.run(main())


async def answered(question: str, nodes: Any) -> str:
    return str(await get_response_synthesizer(FakeLLM()).asynthesize(question, nodes=nodes))


@shape("start and stop events with fields of their own", Expected())
def typed_events(attach: Attach) -> None:
    class Rag(Workflow):
        @step
        async def search(self, ev: Asked) -> Found:
            return Found(nodes=await Shelf().aretrieve(ev.query))

        @step
        async def answer(self, ev: Found) -> Answered:
            return Answered(answer=await answered("Why?", ev.nodes), sources=ev.nodes)

    attach()
    start(Rag(), start_event=Asked(query=QUESTION))


@shape("a pydantic model as the result", Expected())
def result_as_a_model(attach: Attach) -> None:
    class Rag(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            said = await answered(ev.query, await Shelf().aretrieve(ev.query))
            return StopEvent(result=Reply(answer=said, sources=["n1"]))

    attach()
    start(Rag(), query=QUESTION)


@shape("a dict as the result, with ids of sources", Expected())
def result_as_a_dict(attach: Attach) -> None:
    class Rag(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            nodes = await Shelf().aretrieve(ev.query)
            return StopEvent(
                result={"answer": await answered(ev.query, nodes), "sources": [one.node_id for one in nodes]}
            )

    attach()
    start(Rag(), query=QUESTION)


@shape("the question in the context's store", Expected())
def question_in_the_store(attach: Attach) -> None:
    class Rag(Workflow):
        @step
        async def search(self, ctx: Context, ev: StartEvent) -> Found:
            await ctx.store.set("question", ev.query)
            return Found(nodes=await Shelf().aretrieve(ev.query))

        @step
        async def answer(self, ctx: Context, ev: Found) -> StopEvent:
            return StopEvent(result=await answered(await ctx.store.get("question"), ev.nodes))

    attach()
    start(Rag(), query=QUESTION)


@shape("a workflow that searches, in a step of another", Expected())
def workflow_in_a_step(attach: Attach) -> None:
    class Search(Workflow):
        @step
        async def search(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=await Shelf().aretrieve(ev.query))

    class Rag(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=await answered(ev.query, await Search().run(query=ev.query)))

    attach()
    start(Rag(), query=QUESTION)


@shape("a step that is tried again after it had searched", Expected())
def step_tried_again(attach: Attach) -> None:
    fails = iter([True, False])
    with warnings.catch_warnings():  # newer releases have another name for it
        warnings.simplefilter("ignore")
        again = ConstantDelayRetryPolicy(delay=0.001, maximum_attempts=2)

    class Rag(Workflow):
        @step(retry_policy=again)
        async def answer(self, ev: StartEvent) -> StopEvent:
            nodes = await Shelf().aretrieve(ev.query)
            if next(fails):
                raise ConnectionError("no model")
            return StopEvent(result=await answered(ev.query, nodes))

    attach()
    start(Rag(), query=QUESTION)


@shape("searches side by side, collected", Expected(), since="0.14")
def searches_collected(attach: Attach) -> None:
    class Part(Event):
        number: int

    class Rag(Workflow):
        @step
        async def split(self, ctx: Context, ev: StartEvent) -> Part | None:
            await ctx.store.set("question", ev.query)
            for number in range(2):
                ctx.send_event(Part(number=number))
            return None

        @step(num_workers=1)
        async def search(self, ev: Part) -> Found:
            return Found(nodes=await Shelf(NODES[ev.number]).aretrieve("part"))

        @step
        async def answer(self, ctx: Context, ev: Found) -> StopEvent | None:
            found = ctx.collect_events(ev, [Found, Found])
            if found is None:
                return None
            nodes = [node for one in found for node in one.nodes]
            return StopEvent(result=await answered(await ctx.store.get("question"), nodes))

    attach()
    start(Rag(), query=QUESTION)


@shape("an agent that never comes to an end",
       Expected(answer=None, status="failed", contexts=((CALM, True), (HEAL, True))))  # fmt: skip
def too_many_iterations(attach: Attach) -> None:
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    attach()
    try:
        run(FunctionAgent(tools=[tool], llm=Caller(say=lambda messages: [ASK])), max_iterations=2)
    except Exception:
        return
    raise AssertionError("it came to an end")


@shape("a tool whose result is the answer", Expected(contexts=None, no_context=UNSEEN.format("faq")))
def tool_returns_direct(attach: Attach) -> None:
    def faq(query: str) -> str:
        """Answers what is asked often."""
        return ANSWER

    attach()
    tool = FunctionTool.from_defaults(faq, return_direct=True)
    run(FunctionAgent(tools=[tool], llm=script([("faq", {"query": "why"})], "Never said.")))


@shape("an engine's answer as the answer", Expected())
def engine_returns_direct(attach: Attach) -> None:
    tool = QueryEngineTool.from_defaults(engine(), name="cats", description="about cats", return_direct=True)
    attach()
    run(FunctionAgent(tools=[tool], llm=script([ASK], "Never said.")))


@shape("a function tool that returns documents", Expected())
def documents_of_a_function(attach: Attach) -> None:
    def look(query: str) -> list[Document]:
        """Looks it up."""
        return [Document(text=text) for text in PASSAGES]

    attach()
    run(FunctionAgent(tools=[FunctionTool.from_defaults(look)], llm=script([("look", {"query": "why"})], ANSWER)))


@shape("a function tool that searches and returns the nodes", Expected())
def nodes_of_a_function(attach: Attach) -> None:
    async def look(query: str) -> Any:
        """Looks it up."""
        return await Shelf().aretrieve(query)

    attach()
    tool = FunctionTool.from_defaults(async_fn=look)
    run(FunctionAgent(tools=[tool], llm=script([("look", {"query": "why"})], ANSWER)))


@shape("a ReAct agent with a retriever", Expected())
def react_with_a_retriever(attach: Attach) -> None:
    thought = "I can answer without using any more tools. I'll use the user's language to answer"
    says = script(
        'Thought: I search.\nAction: cats\nAction Input: {"input": "why"}\n', f"Thought: {thought}\nAnswer: {ANSWER}"
    )
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    attach()
    run(ReActAgent(tools=[tool], llm=says))


@shape("a history that is given along", Expected(question="And why else?", answer="To heal.", contexts=None,
       no_context="no retriever run was seen", history=((QUESTION, ANSWER, ()),)))  # fmt: skip
def history_given(attach: Attach) -> None:
    said = [ChatMessage(role="user", content=QUESTION), ChatMessage(role="assistant", content=ANSWER)]
    attach()
    run(FunctionAgent(tools=[], llm=script("To heal.")), "And why else?", chat_history=said)
