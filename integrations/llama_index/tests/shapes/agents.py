"""Agents: one run is one sample, with what the tools of all its steps brought back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool

from integrations.llama_index.tests.fakes import ANSWER, NODES, QUESTION, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Expected, Group

shape = Group("Agents")

Call = tuple[str, dict[str, Any]]


def calls(*wanted: Call, answer: str = ANSWER) -> Callable[[list[ChatMessage]], Any]:
    """A model that calls these tools, one after the other, and then answers."""

    def say(messages: list[ChatMessage]) -> str | list[Call]:
        last = max((n for n, message in enumerate(messages) if message.role == "user"), default=0)
        done = sum(message.role == "tool" for message in messages[last:])
        return [wanted[done]] if done < len(wanted) else answer

    return say


def cats(llm: Any = None) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(engine(llm=llm), name="cats", description="about cats")


def dogs() -> QueryEngineTool:
    shelf = Shelf(TextNode(id_="n9", text=BARK))
    return QueryEngineTool.from_defaults(engine(shelf), name="dogs", description="about dogs")


def run(agent: Any, *turns: str, **more: Any) -> None:
    async def main() -> None:
        for question in turns or (QUESTION,):
            await agent.run(user_msg=question, **more)

    asyncio.run(main())


NO_NODES = "no retriever run was seen, and no tool returned documents ({})"
UNSEEN = f"{NO_NODES}; CaptureRules(contexts_tools=) names tools whose texts are passages"

ASK: Call = ("cats", {"input": "why"})


@shape("no tool is called", Expected(contexts=None, no_context="no retriever run was seen"))
def no_tool_call(attach: Attach) -> None:
    attach()
    run(FunctionAgent(tools=[cats()], llm=Caller(say=calls())))


@shape("a query engine as a tool: the agent's model saw its answer, not its passages",
       Expected(answer="So: calm.", contexts=((CALM, True), (HEAL, False))))  # fmt: skip
def query_engine_tool(attach: Attach) -> None:
    attach()
    run(FunctionAgent(tools=[cats()], llm=Caller(say=calls(ASK, answer="So: calm."))))


@shape("two query engines, one after the other",
       Expected(contexts=((CALM, True), (HEAL, False), (BARK, False))))  # fmt: skip
def two_tool_calls(attach: Attach) -> None:
    attach()
    run(FunctionAgent(tools=[cats(), dogs()], llm=Caller(say=calls(ASK, ("dogs", {"input": "why"})))))


@shape("two tools in one step",
       Expected(contexts=((BARK, True), (CALM, True), (HEAL, True))))  # fmt: skip
def two_tools_at_once(attach: Attach) -> None:
    def say(messages: list[ChatMessage]) -> Any:
        if any(message.role == "tool" for message in messages):
            return ANSWER
        return [("dogs", {"input": "why"}), ("cats", {"input": "why"})]

    attach()
    about_cats = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    about_dogs = RetrieverTool.from_defaults(Shelf(TextNode(text=BARK)), name="dogs", description="about dogs")
    run(FunctionAgent(tools=[about_cats, about_dogs], llm=Caller(say=say)))


@shape("a retriever as a tool: the model saw the passages", Expected())
def retriever_tool(attach: Attach) -> None:
    attach()
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    run(FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))))


@shape("a function as a tool that returns nodes", Expected())
def function_tool_with_nodes(attach: Attach) -> None:
    def search(query: str) -> list[NodeWithScore]:
        """Finds passages."""
        return [NodeWithScore(node=node) for node in NODES]

    attach()
    run(FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=Caller(say=calls(("search", {"query": "why"})))))


@shape("a function as a tool that returns a text",
       Expected(contexts=None, no_context=UNSEEN.format("clock")))  # fmt: skip
def function_tool(attach: Attach) -> None:
    def clock() -> str:
        """Tells the time."""
        return "noon"

    attach()
    run(FunctionAgent(tools=[FunctionTool.from_defaults(clock)], llm=Caller(say=calls(("clock", {})))))


@shape("a tool whose answer is the agent's: the engine's model answered, and saw the passages", Expected())
def return_direct(attach: Attach) -> None:
    attach()
    tool = QueryEngineTool.from_defaults(engine(), name="cats", description="about cats", return_direct=True)
    run(FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))))


def thoughts(*said: str) -> FakeLLM:
    return FakeLLM(replies=list(said))


@shape("a ReAct agent", Expected(contexts=((CALM, True), (HEAL, False))))
def react(attach: Attach) -> None:
    attach()
    llm = thoughts(
        'Thought: I look.\nAction: cats\nAction Input: {"input": "why"}', f"Thought: I know.\nAnswer: {ANSWER}"
    )
    run(ReActAgent(tools=[cats()], llm=llm, streaming=False))


@shape("a ReAct agent that needs no tool", Expected(contexts=None, no_context="no retriever run was seen"))
def react_without(attach: Attach) -> None:
    attach()
    run(ReActAgent(tools=[cats()], llm=thoughts(f"Thought: I know.\nAnswer: {ANSWER}"), streaming=False))


@shape("two agents in a workflow, one hands over to the other", Expected())
def two_agents(attach: Attach) -> None:
    def route(messages: list[ChatMessage]) -> Any:
        return [("handoff", {"to_agent": "writer", "reason": "it can look"})]

    def write(messages: list[ChatMessage]) -> Any:
        found = any(message.role == "tool" and CALM in (message.content or "") for message in messages)
        return ANSWER if found else [ASK]

    attach()
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    first = FunctionAgent(name="router", description="r", system_prompt="r", tools=[], llm=Caller(say=route),
                          can_handoff_to=["writer"])  # fmt: skip
    second = FunctionAgent(name="writer", description="w", system_prompt="w", tools=[tool], llm=Caller(say=write))
    run(AgentWorkflow(agents=[first, second], root_agent="router"))


@shape("events are streamed to the end", Expected())
def streamed_events(attach: Attach) -> None:
    async def main() -> None:
        tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
        handler = FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))).run(user_msg=QUESTION)
        assert [event async for event in handler.stream_events()]
        await handler

    attach()
    asyncio.run(main())


@shape("the reader of the events leaves; the agent goes on", Expected())
def streamed_events_left(attach: Attach) -> None:
    async def main() -> None:
        tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
        handler = FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))).run(user_msg=QUESTION)
        async for _ in handler.stream_events():
            break
        await handler

    attach()
    asyncio.run(main())


@shape("cancelled", Expected(answer=None, status="cancelled", contexts=None, no_context=NO_NODES.format("wait")))
def cancelled(attach: Attach) -> None:
    async def main() -> None:
        started = asyncio.Event()

        async def wait() -> str:
            """Waits."""
            started.set()
            await asyncio.Event().wait()
            return "never"

        agent = FunctionAgent(tools=[FunctionTool.from_defaults(async_fn=wait)], llm=Caller(say=calls(("wait", {}))))
        handler = agent.run(user_msg=QUESTION)
        await started.wait()
        await handler.cancel_run()
        await asyncio.gather(handler, return_exceptions=True)

    attach()
    asyncio.run(main())


@shape(
    "a second turn, memory in a buffer: the first as it was said",
    Expected(question="Do cats purr?"),
    Expected(history=(("Do cats purr?", ANSWER, ()),)),
)
def second_turn(attach: Attach) -> None:
    attach()
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    agent = FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK)))
    run(agent, "Do cats purr?", QUESTION, memory=ChatMemoryBuffer.from_defaults(token_limit=3000))


@shape(
    "a second turn, memory with a session: the first with its contexts",
    Expected(question="Do cats purr?"),
    Expected(history=(("Do cats purr?", ANSWER, (CALM, HEAL)),)),
)
def second_turn_in_a_session(attach: Attach) -> None:
    attach()
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    agent = FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK)))
    run(agent, "Do cats purr?", QUESTION, memory=Memory.from_defaults(session_id="s1", token_limit=3000))


@shape("a history that is given", Expected(history=(("Do cats purr?", "Yes.", ()),)))
def given_history(attach: Attach) -> None:
    attach()
    tool = RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")
    given = [ChatMessage(role="user", content="Do cats purr?"), ChatMessage(role="assistant", content="Yes.")]
    run(FunctionAgent(tools=[tool], llm=Caller(say=calls(ASK))), chat_history=given)


@shape("messages alone: the last one is the question",
       Expected(contexts=None, no_context="no retriever run was seen",
                history=(("Do cats purr?", "Yes.", ()),)))  # fmt: skip
def messages_alone(attach: Attach) -> None:
    async def main() -> None:
        given = [ChatMessage(role="user", content="Do cats purr?"), ChatMessage(role="assistant", content="Yes."),
                 ChatMessage(role="user", content=QUESTION)]  # fmt: skip
        await FunctionAgent(tools=[cats()], llm=Caller(say=calls())).run(chat_history=given)

    attach()
    asyncio.run(main())
