"""Agents as the documentation of LangChain and LangGraph builds them; `right.AGENTS` says what is right."""

from __future__ import annotations

import asyncio
import operator
import warnings
from typing import Annotated, Any, Literal, TypedDict

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
    SummarizationMiddleware,
    dynamic_prompt,
    hook_config,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from integrations.langchain.tests.shapes import right
from integrations.langchain.tests.shapes.agents import ASKED, searching
from integrations.langchain.tests.shapes.base import ANSWER, QUESTION, Written, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, FakeModel, Shelf, call, joined, model
from integrations.langchain.tests.shapes.retrievers import store

shape = Written("Applications: agents", right.AGENTS)


def structure(schema: type[BaseModel], **values: Any) -> AIMessage:
    """A message in which a model fills in a schema."""
    return AIMessage("", tool_calls=[{"name": schema.__name__, "args": values, "id": schema.__name__}])


class Plan(BaseModel):
    """Steps to follow."""

    steps: list[str]


class Reply(BaseModel):
    """What to say to the user."""

    response: str


class Act(BaseModel):
    """Either go on or reply."""

    action: Reply | Plan


class PlanState(TypedDict, total=False):
    """The state of plan and execute."""

    input: str
    plan: list[str]
    past_steps: Annotated[list[tuple[str, str]], operator.add]
    response: str


@shape.application
def plan_and_execute(handler: Any) -> None:
    planner = model(structure(Plan, steps=["when", "why"])).with_structured_output(Plan)
    acts = (structure(Act, action={"steps": ["why"]}), structure(Act, action={"response": ANSWER}))
    replanner = model(*acts).with_structured_output(Act)
    workers = iter(
        create_agent(model(call(step), said), [searching(Shelf(documents=(document,)))])
        for step, said, document in zip(("when", "why"), ("At ease.", "To mend."), DOCUMENTS, strict=True)
    )

    async def plan(state: PlanState) -> Any:
        return {"plan": (await planner.ainvoke(f"Plan: {state['input']}")).steps}

    async def execute(state: PlanState) -> Any:
        step = state["plan"][0]
        done = await next(workers).ainvoke({"messages": [("user", f"Do this step: {step}")]})
        return {"past_steps": [(step, done["messages"][-1].content)]}

    async def replan(state: PlanState) -> Any:
        act = await replanner.ainvoke(f"{state['input']}\nDone so far: {state['past_steps']}")
        return {"response": act.action.response} if isinstance(act.action, Reply) else {"plan": act.action.steps}

    def ended(state: PlanState) -> str:
        return END if state.get("response") else "execute"

    builder = StateGraph(PlanState)
    for node in (plan, execute, replan):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "execute")
    builder.add_edge("execute", "replan")
    builder.add_conditional_edges("replan", ended, ["execute", END])
    asyncio.run(builder.compile().ainvoke({"input": QUESTION}, on(handler(), recursion_limit=50)))


class Route(BaseModel):
    """Who is next."""

    next: str


@shape.application
def supervisor(handler: Any) -> None:
    turns = (structure(Route, next="researcher"), structure(Route, next="writer"), structure(Route, next="FINISH"))
    chooser = model(*turns).with_structured_output(Route)
    researcher_agent = create_agent(model(call("cats"), "They are at ease, or mend."), [searching()])
    writer_agent = create_agent(model(ANSWER), [])

    def supervisor(state: MessagesState) -> Command[Literal["researcher", "writer", "__end__"]]:
        chosen: Any = chooser.invoke([("system", "Who is next?"), *state["messages"]])
        return Command(goto=END if chosen.next == "FINISH" else chosen.next)

    def worker(name: str, agent: Any) -> Any:
        def node(state: MessagesState) -> Command[Literal["supervisor"]]:
            said = agent.invoke(state)["messages"][-1].content
            return Command(update={"messages": [HumanMessage(said, name=name)]}, goto="supervisor")

        return node

    builder = StateGraph(MessagesState)
    builder.add_node("supervisor", supervisor)
    builder.add_node("researcher", worker("researcher", researcher_agent))
    builder.add_node("writer", worker("writer", writer_agent))
    builder.add_edge(START, "supervisor")
    builder.compile().invoke(ASKED, on(handler()))  # type: ignore[arg-type]


class Found(BaseModel):
    """An answer and the pages that it is from."""

    answer: str
    pages: list[int]


@shape.application
def structured_response(handler: Any) -> None:
    says = model(call("cats"), structure(Found, answer=ANSWER, pages=[3]))
    done = create_agent(says, [searching()], response_format=ToolStrategy(Found)).invoke(ASKED, on(handler()))
    assert done["structured_response"].answer == ANSWER


@shape.application
def summarised_conversation(handler: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later versions have other names for these, and take them still
        shorten = SummarizationMiddleware(
            model("It was asked why cats purr: they are at ease."),
            max_tokens_before_summary=5,  # of messages, as they are counted here
            messages_to_keep=1,
            token_counter=len,  # type: ignore[arg-type]
        )
    says = model(call("cats"), ANSWER, right.SECOND)
    agent = create_agent(says, [searching()], middleware=[shorten], checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    done = agent.invoke({"messages": [HumanMessage(right.FOLLOW_UP)]}, config)
    assert QUESTION not in [message.content for message in done["messages"]]


@shape.application
def approved_by_a_human(handler: Any) -> None:
    agent = create_agent(
        model(call("cats"), ANSWER),
        [searching()],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"search": True})],
        checkpointer=InMemorySaver(),
    )
    config = on(handler(), configurable={"thread_id": "t"})
    assert agent.invoke(ASKED, config)["__interrupt__"]
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)


@shape.application
def streamed_agent(handler: Any) -> None:
    one = handler()

    def agent() -> Any:
        return create_agent(model(call("cats"), ANSWER), [searching(form="content_and_artifact")])

    async def read() -> None:
        async for _ in agent().astream(ASKED, on(one), stream_mode=["updates", "messages"]):
            pass

    assert list(agent().stream(ASKED, on(one), stream_mode=["updates", "messages"]))
    asyncio.run(read())


@shape.application
def prompt_middleware(handler: Any) -> None:
    @dynamic_prompt
    def with_passages(request: Any) -> str:
        return f"Answer from:\n{joined(Shelf().invoke(request.state['messages'][-1].text))}"

    create_agent(model(ANSWER), [], middleware=[with_passages]).invoke(ASKED, on(handler()))


class WithDocuments(AgentState[Any]):
    """What an agent knows, and what was found for it."""

    context: list[Document]


class Retrieves(AgentMiddleware[Any, Any]):
    """Looks the last message up, and puts what it found around it."""

    state_schema = WithDocuments

    def __init__(self) -> None:
        self.store = store(DOCUMENTS[0])

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        last = state["messages"][-1]
        found = self.store.similarity_search(last.text)
        asked = f"{last.text}\nUse this:\n{joined(found)}"
        return {"messages": [last.model_copy(update={"content": asked})], "context": found}


@shape.application
def documents_middleware(handler: Any) -> None:
    done = create_agent(model(ANSWER), [], middleware=[Retrieves()]).invoke(ASKED, on(handler()))
    assert done["context"] == [DOCUMENTS[0]]


class Refuses(AgentMiddleware[Any, Any]):
    """Lets nothing through."""

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [{"role": "assistant", "content": right.REFUSAL}], "jump_to": "end"}


@shape.application
def guardrail(handler: Any) -> None:
    create_agent(model(ANSWER), [searching()], middleware=[Refuses()]).invoke(ASKED, on(handler()))


@shape.application
def search_result_blocks(handler: Any) -> None:
    @tool
    def search(query: str) -> list[dict[str, Any]]:
        """Finds passages."""
        return [
            {
                "type": "search_result",
                "source": f"https://cats.example/{document.id}",
                "title": "Cats",
                "content": [{"type": "text", "text": document.page_content}],
                "citations": {"enabled": True},
            }
            for document in DOCUMENTS
        ]

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape.application
def two_shelves_in_events(handler: Any) -> None:
    both = AIMessage("", tool_calls=[*call("cats", name="cats").tool_calls, *call("dogs", name="dogs").tool_calls])
    tools = [searching(form="content_and_artifact", name="cats"), searching(Shelf(documents=(OTHER,)), name="dogs")]

    async def read() -> list[str]:
        events = create_agent(model(both, ANSWER), tools).astream_events(ASKED, on(handler()), version="v2")
        return [event["data"]["chunk"].text async for event in events if event["event"] == "on_chat_model_stream"]

    assert "".join(asyncio.run(read())) == ANSWER


@shape.application
def handed_over(handler: Any) -> None:
    @tool
    def to_the_writer(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Hands over."""
        told = [call(query, name="to_the_writer"), ToolMessage("Handed over.", tool_call_id=tool_call_id)]
        return Command(goto="writer", graph=Command.PARENT, update={"messages": told})

    builder = StateGraph(MessagesState)
    builder.add_node("clerk", create_agent(model(call("cats", name="to_the_writer")), [to_the_writer]))
    builder.add_node("writer", create_agent(model(call("cats"), ANSWER), [searching()]))
    builder.add_edge(START, "clerk")
    done = builder.compile().invoke(ASKED, on(handler()))  # type: ignore[arg-type]
    assert done["messages"][-1].text == ANSWER


@shape.application
def fallback_model(handler: Any) -> None:
    def fails_later() -> Any:
        yield call("cats")
        raise ConnectionError("no model")

    middleware = [ModelFallbackMiddleware(model(ANSWER))]
    create_agent(FakeModel(messages=fails_later()), [searching()], middleware=middleware).invoke(ASKED, on(handler()))


@shape.application
def agents_as_completed(handler: Any) -> None:
    agent = create_agent(model(call("cats"), ANSWER, call("cats"), ANSWER), [searching()])
    asked: Any = [{"messages": [("user", f"{QUESTION} ({n})")]} for n in range(2)]

    async def read() -> list[int]:
        # one at a time: the scripted model answers whoever asks next
        done = agent.abatch_as_completed(asked, on(handler(), max_concurrency=1))
        return [number async for number, _ in done]

    assert sorted(asyncio.run(read())) == [0, 1]
