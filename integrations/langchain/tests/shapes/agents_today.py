"""Agents of LangChain 1.5 with what middleware and tools do to their messages, and graphs with caches and retries."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelCallLimitMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
)
from langchain.tools import ToolRuntime
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import create_retriever_tool, tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy, Send

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.interrupts import State, generate, retrieve, thread
from integrations.langchain.tests.shapes.parts import DOCUMENTS, Shelf, call, joined, model
from integrations.langchain.tests.shapes.right import NO_DOCUMENTS

shape = Group("Agents of today")

ASKED: Any = {"messages": [("user", QUESTION)]}
UNSEEN = ((CALM, False), (HEAL, False))
LIMIT = "Model call limits exceeded: run limit (1/1)"


def search() -> Any:
    return create_retriever_tool(Shelf(), "search", "Searches for what is known about cats.")


@tool(return_direct=True)
def faq(query: str) -> str:
    """Answers what is asked often."""
    return ANSWER


@shape("a tool whose result is the answer (`return_direct`)",
       Expected(contexts=None, no_context=NO_DOCUMENTS.format("faq")))  # fmt: skip
def return_direct(handler: Any) -> None:
    create_agent(model(call("why", name="faq"), "Never said."), [faq]).invoke(ASKED, on(handler()))


@shape("the same with a memory", Expected(contexts=None, no_context=NO_DOCUMENTS.format("faq")), since="1.4")
def return_direct_in_a_thread(handler: Any) -> None:
    agent: Any = create_agent(model(call("why", name="faq"), "Never."), [faq], checkpointer=InMemorySaver())
    agent.invoke(ASKED, thread(handler()))


@shape("a retriever's text as the answer", Expected(answer=f"{CALM}\n\n{HEAL}", contexts=UNSEEN))
def retriever_returns_direct(handler: Any) -> None:
    found = search()
    found.return_direct = True
    create_agent(model(call("why"), "Never said."), [found]).invoke(ASKED, on(handler()))


@shape("a limit of model calls, reached after the search", Expected(answer=LIMIT, contexts=UNSEEN))
def call_limit(handler: Any) -> None:
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    create_agent(model(call(QUESTION), ANSWER), [search()], middleware=[limit]).invoke(ASKED, on(handler()))


@shape("results that are cleared from the prompt", Expected(contexts=UNSEEN))
def cleared_results(handler: Any) -> None:
    clear = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    create_agent(model(call(QUESTION), ANSWER), [search()], middleware=[clear]).invoke(ASKED, on(handler()))


@shape("a tool that is tried again", Expected())
def tool_tried_again(handler: Any) -> None:
    fails = iter([True, False])

    @tool
    def look(query: str) -> str:
        """Looks it up."""
        if next(fails):
            raise ConnectionError("no index")
        return joined(Shelf().invoke(query))

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    create_agent(model(call("why", name="look"), ANSWER), [look], middleware=[retry]).invoke(ASKED, on(handler()))


@shape("a list of things to do, which is no result", Expected())
def things_to_do(handler: Any) -> None:
    todos = [{"content": "Search the web.", "status": "pending"}]
    plan = AIMessage("", tool_calls=[{"name": "write_todos", "args": {"todos": todos}, "id": "1"}])
    says = model(plan, call(QUESTION), ANSWER)
    create_agent(says, [search()], middleware=[TodoListMiddleware()]).invoke(ASKED, on(handler()))


@shape("a tool that puts documents into the state, and tells the model how many", Expected(contexts=UNSEEN))
def documents_by_command(handler: Any) -> None:
    @tool
    def find(query: str, runtime: ToolRuntime) -> Command[Any]:
        """Finds documents."""
        said = ToolMessage("Found 2.", tool_call_id=runtime.tool_call_id)
        found = [{"page_content": one.page_content, "metadata": one.metadata} for one in DOCUMENTS]
        return Command(update={"documents": found, "messages": [said]})

    class Found(AgentState[Any]):
        documents: list[Any]

    agent = create_agent(model(call("why", name="find"), ANSWER), [find], state_schema=Found)
    agent.invoke(ASKED, on(handler()))


@shape("a search whose node is cached: the second run finds the same", Expected(), Expected())
def cached_search(handler: Any) -> None:
    builder = StateGraph(State)
    builder.add_node("retrieve", retrieve, cache_policy=CachePolicy())
    builder.add_node("generate", generate)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "generate")
    builder.add_edge("generate", END)
    graph, config = builder.compile(cache=InMemoryCache()), on(handler())
    for _ in range(2):
        graph.invoke({"question": QUESTION}, config)


@shape("a node that is tried again after it had searched", Expected())
def node_tried_again(handler: Any) -> None:
    fails = iter([True, False])

    def search_and_answer(state: Any) -> Any:
        found = {**state, **retrieve(state)}
        if next(fails):
            raise ConnectionError("no model")
        return generate(found)

    builder = StateGraph(State)
    retry = RetryPolicy(initial_interval=0.001, retry_on=ConnectionError)
    builder.add_node("answer", search_and_answer, retry_policy=retry)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    builder.compile().invoke({"question": QUESTION}, on(handler()))


@shape("an agent for each part (`Send`): its messages are no exchange", Expected(contexts=UNSEEN))
def agents_side_by_side(handler: Any) -> None:
    class Parts(TypedDict, total=False):
        question: str
        parts: Annotated[list[str], operator.add]
        answer: str

    def researcher(document: Document, said: str) -> Any:
        found = create_retriever_tool(Shelf(documents=(document,)), "search", "Searches for cats.")
        return create_agent(model(call("part"), said), [found])

    agents = [researcher(*both) for both in zip(DOCUMENTS, ("At ease.", "To mend."), strict=True)]

    def work(state: Any) -> Any:
        done = agents[state["n"]].invoke({"messages": [("user", f"Part {state['n']}")]})
        return {"parts": [done["messages"][-1].text]}

    builder = StateGraph(Parts)
    builder.add_node("plan", lambda state: {})
    builder.add_node("work", work)
    builder.add_node("write", lambda state: {"answer": model().invoke(" ".join(state["parts"])).text})
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("work", {"n": n}) for n in (0, 1)], ["work"])
    builder.add_edge("work", "write")
    builder.add_edge("write", END)
    builder.compile().invoke({"question": QUESTION}, on(handler(), max_concurrency=1))
