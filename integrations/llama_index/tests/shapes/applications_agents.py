"""Agents and workflows as LlamaIndex's documentation builds them; `right.AGENTS` says what is right."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import Document, SummaryIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.memory import Memory, StaticMemoryBlock
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, Caller, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes import right
from integrations.llama_index.tests.shapes.agents import ASK, run
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Written

shape = Written("Applications: agents and workflows", right.AGENTS)


def script(*says: Any) -> Caller:
    """A model that says these, one after the other: a text, or calls of tools."""
    left = iter(says)
    return Caller(say=lambda messages: next(left))


def search() -> RetrieverTool:
    return RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats")


def hand(to: str) -> list[tuple[str, dict[str, Any]]]:
    return [("handoff", {"to_agent": to, "reason": "it is next"})]


@shape.application
def three_agents(attach: Attach) -> None:
    def write_report(text: str) -> str:
        """Keeps a report."""
        return "Kept."

    def agent(name: str, tools: list[Any], to: list[str], *says: Any) -> FunctionAgent:
        return FunctionAgent(name=name, description=name, system_prompt=name, tools=tools, llm=script(*says),
                             can_handoff_to=to)  # fmt: skip

    attach()
    report = ("write_report", {"text": "They rest."})
    researcher = agent("researcher", [search()], ["writer"], [ASK], hand("writer"))
    writer = agent("writer", [FunctionTool.from_defaults(write_report)], ["reviewer"], [report], hand("reviewer"))
    run(AgentWorkflow(agents=[researcher, writer, agent("reviewer", [], ["writer"], ANSWER)], root_agent="researcher"))


@shape.application
def orchestrator(attach: Attach) -> None:
    inner = FunctionAgent(
        name="inner", description="looks things up", tools=[search()], llm=script([ASK], "They rest.")
    )

    async def research(prompt: str) -> str:
        """Asks somebody who looks it up."""
        return str(await inner.run(user_msg=prompt))

    attach()
    tools: list[Any] = [FunctionTool.from_defaults(async_fn=research)]
    run(FunctionAgent(tools=tools, llm=script([("research", {"prompt": "Find out about cats."})], ANSWER)))


@shape.application
def asks_a_human(attach: Attach) -> None:
    async def confirm(ctx: Context) -> str:
        """Asks a human."""
        asked = InputRequiredEvent(prefix="Go on?")  # type: ignore[call-arg]
        reply = await ctx.wait_for_event(HumanResponseEvent, waiter_id="go", waiter_event=asked)
        return str(reply.response)

    async def main() -> None:
        tools: list[Any] = [search(), FunctionTool.from_defaults(async_fn=confirm)]
        agent = FunctionAgent(tools=tools, llm=script([ASK], [("confirm", {})], ANSWER))
        handler = agent.run(user_msg=QUESTION)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response="yes"))  # type: ignore[call-arg, union-attr]
        assert str(await handler) == ANSWER

    attach()
    asyncio.run(main())


@shape.application
def memory_blocks(attach: Attach) -> None:
    attach()
    known = StaticMemoryBlock(name="user", static_content="The user likes short answers.")  # type: ignore[arg-type]
    memory = Memory.from_defaults(session_id="s1", token_limit=3000, memory_blocks=[known], insert_method="user")  # type: ignore[arg-type]
    seen = []

    def say(messages: list[Any]) -> Any:
        seen.append(" ".join(str(message.content) for message in messages))
        return ANSWER if any(message.role == "tool" for message in messages) else [ASK]

    run(FunctionAgent(tools=[search()], llm=Caller(say=say)), memory=memory)
    assert all("likes short answers" in asked for asked in seen)


class Retrieved(Event):
    """What was found for a question."""

    query: str
    nodes: list[NodeWithScore]


class Kept(Event):
    """What was kept of it."""

    query: str
    text: str


class Corrective(Workflow):
    """Grades what it retrieved, and searches elsewhere for the rest."""

    llm: FakeLLM

    @step
    async def retrieve(self, ev: StartEvent) -> Retrieved:
        shelf = Shelf(TextNode(text=CALM), TextNode(text=BARK))
        return Retrieved(query=ev.query, nodes=await shelf.aretrieve(ev.query))

    @step
    async def grade(self, ev: Retrieved) -> Kept:
        grades = [(node.text, str(await self.llm.acomplete(f"{ev.query} {node.text}"))) for node in ev.nodes]
        kept = [said for said, grade in grades if grade == "yes"]
        await self.llm.acomplete(f"Reword for the web: {ev.query}")
        return Kept(query=ev.query, text="\n".join([*kept, HEAL]))

    @step
    async def answer(self, ev: Kept) -> StopEvent:
        index = SummaryIndex.from_documents([Document(text=ev.text)])
        return StopEvent(result=await index.as_query_engine(llm=self.llm).aquery(ev.query))


def ask(workflow: Workflow) -> Any:
    async def main() -> Any:
        return await workflow.run(query=QUESTION)

    return asyncio.run(main())


@shape.application
def corrective_rag(attach: Attach) -> None:
    attach()
    flow = Corrective()
    flow.llm = FakeLLM(replies=["yes", "no", "purring cats"])
    assert str(ask(flow)) == ANSWER


class SubQuestion(Event):
    """A part of the question."""

    number: int
    question: str


class SubAnswer(Event):
    """Its answer."""

    question: str
    answer: str


class Divided(Workflow):
    """Asks an engine for each part."""

    @step
    async def divide(self, ctx: Context, ev: StartEvent) -> SubQuestion | None:
        parts = str(await FakeLLM(tokens=["When?\nWhat for?"]).acomplete(f"Divide: {ev.query}")).splitlines()
        for number, question in enumerate(parts):
            ctx.send_event(SubQuestion(number=number, question=question))
        return None

    @step(num_workers=1)
    async def look(self, ev: SubQuestion) -> SubAnswer:
        text, said = ((CALM, "They rest."), (HEAL, "They mend."))[ev.number]
        answer = await engine(Shelf(TextNode(text=text)), FakeLLM(tokens=[said])).aquery(ev.question)
        return SubAnswer(question=ev.question, answer=str(answer))

    @step
    async def combine(self, ctx: Context, ev: SubAnswer) -> StopEvent | None:
        parts = ctx.collect_events(ev, [SubAnswer, SubAnswer])
        if parts is None:
            return None
        pairs = "\n".join(f"{part.question} {part.answer}" for part in parts)
        return StopEvent(result=str(await FakeLLM().acomplete(f"Sum up:\n{pairs}")))


@shape.application
def sub_questions(attach: Attach) -> None:
    attach()
    assert ask(Divided()) == ANSWER


@shape.application
def router_as_a_tool(attach: Attach) -> None:
    attach()
    tools = [
        QueryEngineTool.from_defaults(engine(shelf), name=name, description=name)
        for name, shelf in (("purring", Shelf()), ("barking", Shelf(TextNode(text=BARK))))
    ]
    selector = LLMSingleSelector.from_defaults(FakeLLM(replies=['[{"choice": 2, "reason": "so"}]']))
    router = RouterQueryEngine(selector, tools, llm=FakeLLM())
    tool = QueryEngineTool.from_defaults(router, name="cats", description="about animals")
    run(FunctionAgent(tools=[tool], llm=script([ASK], ANSWER)))


class Worded(Event):
    """One wording of the question."""

    query: str


class Hits(Event):
    """What was found for one wording."""

    nodes: list[NodeWithScore]


class FanOut(Workflow):
    """Searches for several wordings at once, and answers from what a reranker made of it."""

    @step
    async def word(self, ctx: Context, ev: StartEvent) -> Worded | None:
        for query in ("cats at ease", "purring", "mending"):
            ctx.send_event(Worded(query=query))
        return None

    @step(num_workers=3)
    async def search(self, ev: Worded) -> Hits:
        return Hits(nodes=await Shelf().aretrieve(ev.query))

    @step
    async def answer(self, ctx: Context, ev: Hits) -> StopEvent | None:
        found = ctx.collect_events(ev, [Hits] * 3)
        if found is None:
            return None
        each = {node.node_id: node for hits in found for node in hits.nodes}
        longest = sorted(each.values(), key=lambda node: len(node.text), reverse=True)
        return StopEvent(result=await get_response_synthesizer(FakeLLM()).asynthesize(QUESTION, longest))


@shape.application
def fan_out(attach: Attach) -> None:
    async def main() -> None:
        assert str(await FanOut().run(query=QUESTION)) == ANSWER

    attach()
    asyncio.run(main())
