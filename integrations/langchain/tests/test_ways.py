"""The way of an agent, captured live: its calls in the sample, judged with what the tools gave back."""

from __future__ import annotations

from typing import Any, TypedDict

from assay_langchain import AssayCallbackHandler
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_react_agent
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample, Score, ToolCall
from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, on
from integrations.langchain.tests.shapes.parts import Shelf, call, model


@tool
def search(query: str, most: int = 2) -> str:
    """Finds what is known about cats."""
    return CALM if query == "calm" else HEAL


def calls(sample: Sample | None) -> list[ToolCall]:
    assert sample is not None
    return [one for message in sample.messages for one in message.tool_calls]


def captured(handler: AssayCallbackHandler) -> Sample | None:
    assert handler.flush(30)
    return handler.last


def scored(handler: AssayCallbackHandler) -> Score:
    sample = captured(handler)
    assert sample is not None
    assert sample.id is not None
    result = handler.result(sample.id, 30)
    assert result is not None
    (score,) = result.scores.values()
    return score


def test_an_agent_with_messages() -> None:
    handler = AssayCallbackHandler(metrics=())
    create_agent(model(call("calm"), call("heal"), ANSWER), [search]).invoke(
        {"messages": [("user", QUESTION)]}, on(handler)
    )
    sample = captured(handler)
    assert [(one.name, one.arguments, one.output) for one in calls(sample)] == [
        ("search", {"query": "calm"}, CALM),
        ("search", {"query": "heal"}, HEAL),
    ]
    assert sample is not None
    assert [message.role for message in sample.messages] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert (sample.messages[0].content, sample.messages[-1].content) == (QUESTION, ANSWER)


def test_a_second_turn_of_a_thread_tells_of_its_own_calls_alone() -> None:
    handler = AssayCallbackHandler(metrics=())
    agent = create_agent(model(call("calm"), "First.", call("heal"), "Second."), [search], checkpointer=InMemorySaver())
    config = on(handler, configurable={"thread_id": "1"})
    agent.invoke({"messages": [("user", "One?")]}, config)
    agent.invoke({"messages": [("user", "Two?")]}, config)
    sample = captured(handler)
    assert [one.output for one in calls(sample)] == [HEAL]
    assert sample is not None
    assert [(turn.question, turn.answer) for turn in sample.history] == [("One?", "First.")]


REACT = "{tools} {tool_names} {input} {agent_scratchpad}"


def test_an_agent_executor_has_no_messages_and_its_tools_tell() -> None:
    handler = AssayCallbackHandler(metrics=())
    llm = model("Thought: look\nAction: search\nAction Input: calm", f"Final Answer: {ANSWER}")
    agent = create_react_agent(llm, [search], PromptTemplate.from_template(REACT))
    AgentExecutor(agent=agent, tools=[search]).invoke({"input": QUESTION}, on(handler))
    sample = captured(handler)
    assert [(one.name, one.arguments, one.output) for one in calls(sample)] == [("search", {"query": "calm"}, CALM)]
    assert sample is not None
    assert sample.messages[-1].content == ANSWER


class State(TypedDict, total=False):
    question: str
    documents: list[Any]
    answer: str


def test_a_graph_that_searches_again_and_again_is_judged_call_by_call() -> None:
    """Two searches for one claim each: the first brings it, the second brings nothing new: 1 of 2."""
    shelf = Shelf()

    def find(state: State, config: RunnableConfig) -> State:
        first = shelf.invoke("why cats purr", config)
        return {"documents": [*first, *shelf.invoke("cats purring", config)]}

    graph = StateGraph(State)
    graph.add_node("find", find)
    graph.add_node("answer", RunnableLambda(lambda state: {"answer": "Cats purr when they are calm."}))
    graph.add_edge(START, "find")
    graph.add_edge("find", "answer")
    graph.add_edge("answer", END)
    judge = ScriptedJudge(claims=lambda text: [text], support=lambda claim, passage: "supported")
    handler = AssayCallbackHandler(metrics="retrieval_calls", judge=judge)
    graph.compile().invoke({"question": QUESTION}, on(handler))
    sample = captured(handler)
    assert [one.arguments for one in calls(sample)] == [{"query": "why cats purr"}, {"query": "cats purring"}]
    score = scored(handler)
    assert score.value == 1 / 2
    assert (score.parts["calls"], score.parts["calls_after"]) == (2, 1)


def test_what_a_tool_gave_back_is_evidence_where_no_contexts_are_known() -> None:
    judge = ScriptedJudge(
        claims=lambda text: ["Cats purr when calm.", "Dogs bark."],
        support=lambda claim, passage: "supported" if "Cats" in claim else "not_mentioned",
    )
    handler = AssayCallbackHandler(metrics="faithfulness", judge=judge)
    create_agent(model(call("calm"), "Cats purr when calm. Dogs bark."), [search]).invoke(
        {"messages": [("user", QUESTION)]}, on(handler)
    )
    sample = captured(handler)
    assert sample is not None
    assert sample.contexts is None
    score = scored(handler)
    assert score.value == 1 / 2  # of two claims the tool's text supports one
    assert score.texts["tools"] == (CALM,)
