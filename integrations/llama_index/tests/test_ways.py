"""The way of an agent, captured live: its calls in the sample, judged with what the tools gave back."""

from __future__ import annotations

from typing import Any

from assay_llama_index import AssayInstrumentation
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool

from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample, ToolCall
from integrations.llama_index.tests.fakes import ANSWER, QUESTION, Caller, engine
from integrations.llama_index.tests.shapes.agents import ASK, calls, cats, run, thoughts
from integrations.llama_index.tests.shapes.base import CALM, HEAL


def search(query: str, most: int = 2) -> str:
    """Finds what is known about cats."""
    return CALM if query == "calm" else HEAL


TOOL = FunctionTool.from_defaults(search)


def called(sample: Sample | None) -> list[ToolCall]:
    assert sample is not None
    return [one for message in sample.messages for one in message.tool_calls]


def captured(agent: Any, assay: AssayInstrumentation) -> Sample | None:
    run(agent)
    assert assay.flush(30)
    return assay.last


def test_an_agent_that_calls_functions() -> None:
    wanted = [("search", {"query": "calm"}), ("search", {"query": "heal", "most": 1})]
    with AssayInstrumentation(metrics=()) as assay:
        sample = captured(FunctionAgent(tools=[TOOL], llm=Caller(say=calls(*wanted))), assay)
    assert [(one.name, one.arguments, one.output) for one in called(sample)] == [
        ("search", {"query": "calm"}, CALM),
        ("search", {"query": "heal", "most": 1}, HEAL),
    ]
    assert sample is not None
    assert (sample.messages[0].content, sample.messages[-1].content) == (QUESTION, ANSWER)


def test_an_agent_that_writes_what_it_does() -> None:
    llm = thoughts(
        'Thought: I look.\nAction: search\nAction Input: {"query": "calm"}', f"Thought: I know.\nAnswer: {ANSWER}"
    )
    with AssayInstrumentation(metrics=()) as assay:
        sample = captured(ReActAgent(tools=[TOOL], llm=llm, streaming=False), assay)
    assert [(one.name, one.arguments, one.output) for one in called(sample)] == [("search", {"query": "calm"}, CALM)]


def test_a_query_engine_as_a_tool_is_one_call_with_what_is_below_it() -> None:
    with AssayInstrumentation(metrics=()) as assay:
        sample = captured(FunctionAgent(tools=[cats()], llm=Caller(say=calls(ASK))), assay)
    (one,) = called(sample)
    assert (one.name, one.arguments) == ("cats", {"input": "why"})
    assert one.output == ANSWER  # what the engine said


def test_one_question_to_a_query_engine_is_no_way() -> None:
    with AssayInstrumentation(metrics=()) as assay:
        engine().query(QUESTION)
        assert assay.flush(30)
        sample = assay.last
    assert sample is not None
    assert (sample.messages, len(sample.contexts or ())) == ((), 2)


def test_what_a_tool_gave_back_is_evidence_where_no_contexts_are_known() -> None:
    judge = ScriptedJudge(
        claims=lambda text: ["Cats purr when calm.", "Dogs bark."],
        support=lambda claim, passage: "supported" if "Cats" in claim else "not_mentioned",
    )
    with AssayInstrumentation(metrics="faithfulness", judge=judge) as assay:
        sample = captured(FunctionAgent(tools=[TOOL], llm=Caller(say=calls(("search", {"query": "calm"})))), assay)
        assert sample is not None
        assert sample.id is not None
        assert sample.contexts is None
        result = assay.result(sample.id, 30)
    assert result is not None
    (score,) = result.scores.values()
    assert score.value == 1 / 2  # of two claims the tool's text supports one
    assert score.texts["tools"] == (CALM,)
