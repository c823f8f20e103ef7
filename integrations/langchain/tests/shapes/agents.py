"""Agents of `langchain.agents`, and what their tools bring back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, create_retriever_tool, tool
from langgraph.types import Command

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, Shelf, call, joined, model

shape = Group("Agents")

ASKED = {"messages": [("user", QUESTION)]}
UNSEEN = (
    "no retriever run was seen, and no tool returned documents (search)"
    "; CaptureRules(contexts_tools=) names tools whose texts are passages"
)


def searching(retriever: Any = None, form: Any = "content", name: str = "search") -> Any:
    return create_retriever_tool(retriever or Shelf(), name, "finds documents", response_format=form)


@shape("an agent that calls no tool", Expected(contexts=None, no_context="no retriever run was seen"))
def no_tool_call(handler: Any) -> None:
    create_agent(model(ANSWER), [searching()]).invoke(ASKED, on(handler()))


@shape("one call of a retriever tool, which returns one text", Expected())
def retriever_tool(handler: Any) -> None:
    create_agent(model(call("cats"), ANSWER), [searching()]).invoke(ASKED, on(handler()))


@shape("one call of a retriever tool, documents attached", Expected())
def retriever_tool_with_artifact(handler: Any) -> None:
    agent = create_agent(model(call("cats"), ANSWER), [searching(form="content_and_artifact")])
    agent.invoke(ASKED, on(handler()))


@shape("the same, awaited", Expected())
def async_agent(handler: Any) -> None:
    agent = create_agent(model(call("cats"), ANSWER), [searching(form="content_and_artifact")])
    asyncio.run(agent.ainvoke(ASKED, on(handler())))


@shape("two calls, one after the other", Expected(contexts=((CALM, True), (HEAL, True), (BARK, True))))
def two_tool_calls(handler: Any) -> None:
    tools = [searching(), searching(Shelf(documents=(OTHER,)), name="more")]
    create_agent(model(call("cats"), call("dogs", name="more"), ANSWER), tools).invoke(ASKED, on(handler()))


@shape("two calls at once", Expected(contexts=((CALM, True), (HEAL, True))))
def parallel_tool_calls(handler: Any) -> None:
    @tool
    def search(query: str) -> str:
        """Finds documents."""
        return joined(Shelf(documents=(DOCUMENTS[0] if query == "calm" else DOCUMENTS[1],)).invoke(query))

    agent = create_agent(model(call("calm", "heal"), ANSWER), [search])
    agent.invoke(ASKED, on(handler(), max_concurrency=1))


@shape("a tool that attaches documents, without a retriever", Expected(contexts=((BARK, False),)))
def artifact_without_retriever(handler: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Finds documents."""
        return "found one", [OTHER]

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape("a tool that attaches a dict with documents", Expected())
def artifact_in_a_dict(handler: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, dict[str, Any]]:
        """Finds documents."""
        return joined(DOCUMENTS), {"documents": list(DOCUMENTS), "total": 2}

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape("a tool that attaches passages as dicts", Expected())
def artifact_of_dicts(handler: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[dict[str, Any]]]:
        """Finds documents."""
        return f"{CALM} {HEAL}", [{"text": CALM, "score": 0.9}, {"text": HEAL, "score": 0.4}]

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape("a tool that returns documents: LangChain makes a text of them before anybody sees them",
       Expected(contexts=None, no_context=UNSEEN))  # fmt: skip
def tool_returns_documents(handler: Any) -> None:
    @tool
    def search(query: str) -> list[Document]:
        """Finds documents."""
        return list(DOCUMENTS)

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape("a tool that answers with a command, documents attached to its message", Expected())
def tool_returns_a_command(handler: Any) -> None:
    @tool
    def search(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Finds documents."""
        message = ToolMessage(joined(DOCUMENTS), tool_call_id=tool_call_id, artifact=list(DOCUMENTS))
        return Command(update={"messages": [message]})

    create_agent(model(call("cats"), ANSWER), [search]).invoke(ASKED, on(handler()))


@shape("a tool that is no search", Expected(contexts=None, no_context=UNSEEN.replace("search", "clock")))
def tool_without_documents(handler: Any) -> None:
    @tool
    def clock(query: str) -> str:
        """Tells the time."""
        return "12:00"

    create_agent(model(call("x", name="clock"), ANSWER), [clock]).invoke(ASKED, on(handler()))


@shape("an agent as a tool of another", Expected())
def agent_as_a_tool(handler: Any) -> None:
    inner = create_agent(model(call("cats"), f"{CALM} {HEAL}"), [searching()])

    @tool
    def research(query: str) -> str:
        """Asks somebody who looks it up."""
        return str(inner.invoke({"messages": [("user", query)]})["messages"][-1].content)

    create_agent(model(call("x", name="research"), ANSWER), [research]).invoke(ASKED, on(handler()))
