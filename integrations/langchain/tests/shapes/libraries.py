"""Agents of libraries built on LangGraph, and tools of a real MCP server: deepagents, supervisor, swarm, MCP adapters.

They are in no environment of the default tests; see `test_library_matrix.py`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool, tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langgraph_supervisor import create_supervisor
from langgraph_supervisor.handoff import create_forward_message_tool
from langgraph_swarm import create_handoff_tool, create_swarm
from pydantic import BaseModel

from assay.capture import CaptureRules
from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.interrupts import thread
from integrations.langchain.tests.shapes.parts import DOCUMENTS, Shelf, call, model
from integrations.langchain.tests.shapes.right import NO_DOCUMENTS

shape = Group("Libraries")

ASKED: Any = {"messages": [("user", QUESTION)]}
UNSEEN = ((CALM, False), (HEAL, False))
APPROVED = Command(resume={"decisions": [{"type": "approve"}]})
PARTS = "They are calm."


def calls(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"{name}-{len(str(arguments))}"}])


def search(*documents: Any) -> Any:
    return create_retriever_tool(Shelf(documents=documents or DOCUMENTS), "search", "Searches for cats.")


def researcher(*says: Any, **more: Any) -> Any:
    """A subagent that searches."""
    told = model(call("cats"), *(says or (PARTS,)))
    return {"name": "researcher", "description": "searches", "system_prompt": "Search.", "tools": [search()],
            "model": told, **more}  # fmt: skip


DELEGATE = calls("task", description="Find out.", subagent_type="researcher")


@shape("a deep agent that plans and searches", Expected())
def deep_agent(handler: Any) -> None:
    plan = calls("write_todos", todos=[{"content": "Search the web.", "status": "pending"}])
    create_deep_agent(model=model(plan, call(QUESTION), ANSWER), tools=[search()]).invoke(ASKED, on(handler()))


@shape("a deep agent, streamed with its subgraphs", Expected())
def deep_agent_streamed(handler: Any) -> None:
    agent: Any = create_deep_agent(model=model(call(QUESTION), ANSWER), tools=[search()])
    for _ in agent.stream(ASKED, on(handler()), stream_mode=["updates", "messages"], subgraphs=True):
        pass


@shape("a subagent that searches: the answer was written from its report", Expected(contexts=UNSEEN))
def deep_subagent(handler: Any) -> None:
    create_deep_agent(model=model(DELEGATE, ANSWER), subagents=[researcher()]).invoke(ASKED, on(handler()))


@shape("two subagents in one message", Expected(contexts=UNSEEN))
def deep_subagents_at_once(handler: Any) -> None:
    agents = [researcher(f"Part {n}.", name=f"r{n}", tools=[search(document)]) for n, document in enumerate(DOCUMENTS)]
    both = [{"name": "task", "args": {"description": "Find.", "subagent_type": f"r{n}"}, "id": str(n)} for n in (0, 1)]
    agent: Any = create_deep_agent(model=model(AIMessage("", tool_calls=both), ANSWER), subagents=agents)
    agent.invoke(ASKED, on(handler(), max_concurrency=1))


@shape("a deep agent's search that waits for approval", Expected())
def deep_agent_approved(handler: Any) -> None:
    says = model(call(QUESTION), ANSWER)
    agent: Any = create_deep_agent(
        model=says, tools=[search()], interrupt_on={"search": True}, checkpointer=InMemorySaver()
    )
    config = thread(handler())
    agent.invoke(ASKED, config)
    agent.invoke(APPROVED, config)


@shape("a subagent's search that waits for approval", Expected(contexts=UNSEEN))
def deep_subagent_approved(handler: Any) -> None:
    waits = researcher(interrupt_on={"search": True})
    agent: Any = create_deep_agent(model=model(DELEGATE, ANSWER), subagents=[waits], checkpointer=InMemorySaver())
    config = thread(handler())
    agent.invoke(ASKED, config)
    agent.invoke(APPROVED, config)


@shape("files that a deep agent wrote and read: plain texts",
       Expected(contexts=None, no_context=NO_DOCUMENTS.format("read_file, write_file")))  # fmt: skip
def deep_agent_files(handler: Any) -> None:
    says = model(
        calls("write_file", file_path="/notes.txt", content=CALM), calls("read_file", file_path="/notes.txt"), ANSWER
    )
    create_deep_agent(model=says).invoke(ASKED, on(handler()))


@shape("a structured answer of a deep agent", Expected())
def deep_agent_structured(handler: Any) -> None:
    class Reply(BaseModel):
        """What to say."""

        answer: str
        sure: float

    says = model(call(QUESTION), calls("Reply", answer=ANSWER, sure=1.0))
    create_deep_agent(model=says, tools=[search()], response_format=Reply).invoke(ASKED, on(handler()))


@shape(
    "results that are too long for the prompt, and are put into a file",
    Expected(contexts=((f"{CALM}{' x' * 60000}", False), (HEAL, False))),
)
def deep_agent_long_results(handler: Any) -> None:
    @tool
    def web(query: str) -> dict[str, Any]:
        """Searches the web."""
        return {"results": [{"url": "a", "content": f"{CALM}{' x' * 60000}"}, {"url": "b", "content": HEAL}]}

    create_deep_agent(model=model(call("cats", name="web"), ANSWER), tools=[web]).invoke(ASKED, on(handler()))


def worker(*says: str) -> Any:
    return create_agent(model(call("cats"), *says), [search()], name="worker")


@shape("a supervisor and a worker", Expected(contexts=UNSEEN))
def supervisor_and_worker(handler: Any) -> None:
    says = model(calls("transfer_to_worker"), ANSWER)
    create_supervisor([worker(PARTS)], model=says).compile().invoke(ASKED, on(handler()))


@shape("a supervisor that hands on what the worker said", Expected())
def supervisor_forwards(handler: Any) -> None:
    says = model(calls("transfer_to_worker"), calls("forward_message", from_agent="worker"))
    forward = create_forward_message_tool("supervisor")
    create_supervisor([worker(ANSWER)], model=says, tools=[forward]).compile().invoke(ASKED, on(handler()))


@shape("a swarm, and a second turn with the agent that took over", Expected(), Expected(
    question="And why else?", answer="To heal.", contexts=None, no_context="no retriever run was seen",
    history=((QUESTION, ANSWER, (CALM, HEAL)),)))  # fmt: skip
def swarm_of_two(handler: Any) -> None:
    first = create_agent(model(calls("transfer_to_second")), [create_handoff_tool(agent_name="second")], name="first")
    says = model(call("cats"), ANSWER, "To heal.")
    second = create_agent(says, [search(), create_handoff_tool(agent_name="first")], name="second")
    swarm = create_swarm([first, second], default_active_agent="first").compile(checkpointer=InMemorySaver())
    config = thread(handler())
    for question in (QUESTION, "And why else?"):
        swarm.invoke({"messages": [("user", question)]}, config)


# -- tools of a real server over stdio ---------------------------------------------------------------------------------

SERVER = Path(__file__).parents[1] / "mcp_server.py"


def of_server(about: str, name: str, expected: Expected | None = None, **rules: Any) -> Callable[[Any], None]:
    """A shape of an agent that calls this tool of the server once."""

    async def ask(handler: Any) -> None:
        server: Any = {"command": sys.executable, "args": [str(SERVER)], "transport": "stdio"}
        tools = {one.name: one for one in await MultiServerMCPClient({"cats": server}).get_tools()}
        agent: Any = create_agent(model(calls(name, query="cats"), ANSWER), [tools[name]])
        await agent.ainvoke(ASKED, on(handler))

    def run(handler: Any) -> None:
        asyncio.run(ask(handler(rules=CaptureRules(**rules)) if rules else handler()))

    run.__name__ = "mcp_" + about.replace(" ", "_").replace(",", "")
    return shape(f"MCP: {about}", Expected() if expected is None else expected)(run)


def unknown(name: str) -> Expected:
    return Expected(contexts=None, no_context=NO_DOCUMENTS.format(name))


of_server("results in a list", "search_list")
of_server("results in an object", "search_object")
of_server("texts in a list", "search_texts", unknown("search_texts"))
of_server("texts in a list, by name", "search_texts", contexts_tools=["search_*"])
of_server("one text, with a separator", "search_text", contexts_tools={"search_text": "\n\n"})
of_server("resources, by name", "search_resources", contexts_tools=["search_resources"])
of_server("a call that fails", "fails", unknown("fails"), contexts_tools=["*"])
