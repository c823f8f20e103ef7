"""Agents and graphs: documents from tools, questions and answers from messages."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
PASSAGES = ["Cats purr when they are calm.", "Cats also purr to heal."]


def call(name: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": {"query": "cats"}, "id": "c1"}])


@pytest.mark.parametrize("form", ["content", "content_and_artifact"])
def test_agent_with_a_retriever_tool(captured: Any, kit: Any, form: Any) -> None:
    search = create_retriever_tool(kit.Shelf(), "search", "finds documents", response_format=form)
    it = captured()
    agent = create_agent(kit.model(call("search"), ANSWER), [search])
    agent.invoke({"messages": [("user", QUESTION)]}, config=it.config)
    sample = it.sample
    assert (sample.question, list(sample.passages), sample.answer) == (QUESTION, PASSAGES, ANSWER)
    assert sample.status == "complete"


def test_documents_in_the_artifact_of_a_tool_without_retriever(captured: Any, kit: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Finds documents."""
        return "found", [Document("from elsewhere")]

    it = captured()
    agent = create_agent(kit.model(call("search"), ANSWER), [search])
    agent.invoke({"messages": [("user", QUESTION)]}, config=it.config)
    assert it.sample.passages == ("from elsewhere",)


class State(TypedDict):
    messages: Annotated[list[Any], operator.add]
    found: Annotated[list[Any], operator.add]


def graph(kit: Any, **options: Any) -> Any:
    def find(state: Any) -> Any:
        return {"found": kit.Shelf().invoke("cats")}

    def say(state: Any) -> Any:
        return {"messages": [kit.model(ANSWER).invoke("x")]}

    builder = StateGraph(State)
    builder.add_node("find", find)
    builder.add_node("say", say)
    builder.add_edge(START, "find")
    builder.add_edge("find", "say")
    builder.add_edge("say", END)
    return builder.compile(**options)


@pytest.mark.parametrize("mode", ["values", "updates", "messages"])
def test_graph_in_every_stream_mode(captured: Any, kit: Any, mode: Any) -> None:
    it = captured()
    list(graph(kit).stream({"messages": [HumanMessage(QUESTION)], "found": []}, config=it.config, stream_mode=mode))
    sample = it.sample
    assert (sample.question, list(sample.passages), sample.answer) == (QUESTION, PASSAGES, ANSWER)


async def test_async_graph(captured: Any, kit: Any) -> None:
    it = captured()
    await graph(kit).ainvoke({"messages": [HumanMessage(QUESTION)], "found": []}, config=it.config)
    assert it.sample.answer == ANSWER


def test_second_turn_of_a_thread_has_its_own_answer_and_the_first_as_history(captured: Any, kit: Any) -> None:
    it = captured()
    app = graph(kit, checkpointer=InMemorySaver())
    config = {**it.config, "configurable": {"thread_id": "t"}}
    app.invoke({"messages": [HumanMessage("First?")], "found": []}, config=config)
    app.invoke({"messages": [HumanMessage(QUESTION)], "found": []}, config=config)
    first, second = it.samples
    assert (first.question, first.history) == ("First?", ())
    assert (second.question, second.answer) == (QUESTION, ANSWER)
    assert [(turn.question, turn.answer) for turn in second.history] == [("First?", ANSWER)]
    assert second.metadata["thread_id"] == "t"


def test_fan_out_collects_all_branches(captured: Any, kit: Any) -> None:
    def find(state: Any) -> Any:
        return {"found": kit.Shelf(documents=(Document(f"about {state['topic']}"),)).invoke("x")}

    builder = StateGraph(State)
    builder.add_node("find", find)
    builder.add_node("say", lambda state: {"messages": [AIMessage(ANSWER)]})
    builder.add_conditional_edges(START, lambda state: [Send("find", {"topic": t}) for t in ("a", "b")], ["find"])
    builder.add_edge("find", "say")
    builder.add_edge("say", END)
    it = captured()
    builder.compile().invoke({"messages": [HumanMessage(QUESTION)], "found": []}, config=it.config)
    assert sorted(it.sample.passages) == ["about a", "about b"]


def test_subgraph_counts_as_one_trace(captured: Any, kit: Any) -> None:
    builder = StateGraph(State)
    builder.add_node("inner", graph(kit))
    builder.add_edge(START, "inner")
    builder.add_edge("inner", END)
    it = captured()
    builder.compile().invoke({"messages": [HumanMessage(QUESTION)], "found": []}, config=it.config)
    assert (list(it.sample.passages), it.sample.answer) == (PASSAGES, ANSWER)


def test_interrupt_is_no_failure_and_no_answer(captured: Any) -> None:
    def ask(state: Any) -> Any:
        return {"messages": [AIMessage(interrupt("sure?"))]}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    it = captured()
    app = builder.compile(checkpointer=InMemorySaver())
    config = {**it.config, "configurable": {"thread_id": "t"}}
    app.invoke({"messages": [HumanMessage(QUESTION)], "found": []}, config=config)
    assert it.samples == []
    app.invoke(Command(resume=ANSWER), config=config)
    assert (it.sample.answer, it.sample.status) == (ANSWER, "complete")


def test_graph_left_early_is_abandoned(captured: Any, kit: Any) -> None:
    it = captured()
    stream = graph(
        kit,
    ).stream({"messages": [HumanMessage(QUESTION)], "found": []}, config=it.config)
    next(stream)
    stream.close()
    assert it.sample.status == "abandoned"
    assert it.scored[0].scores["faithfulness"].unscored.cause == "partial"
