"""What a handler makes of a trace beyond its shape: metadata, ids, causes, what it leaves out, where it hands it on."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

from assay.capture import CaptureRules
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.sinks import MemorySink

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."


def test_metadata_tags_and_documents_are_those_of_the_application(captured: Any, kit: Any) -> None:
    it = captured()
    config = {**it.config, "tags": ["t1"], "metadata": {"user": "u1"}, "run_name": "rag"}
    kit.rag().invoke(QUESTION, config=config)
    sample = it.sample
    assert {name: sample.metadata[name] for name in ("user", "name", "tags")} == {
        "user": "u1", "name": "rag", "tags": ["t1"],
    }  # fmt: skip
    assert sample.metadata["started"] <= sample.metadata["ended"]
    assert [(context.id, context.metadata) for context in sample.contexts] == [
        ("d1", {"page": 3, "tags": ["cat"]}),
        ("d2", {"source": "cats.txt"}),
    ]
    assert sample.ids == {"langchain_run_id": sample.id}


def test_result_by_run_id(captured: Any, kit: Any) -> None:
    it = captured()
    run_id = uuid.uuid4()
    kit.rag().invoke(QUESTION, config={**it.config, "run_id": run_id})
    scored = it.handler.result(run_id, timeout=10)
    assert scored is not None
    assert scored.sample.id == str(run_id)
    assert it.handler.result(uuid.uuid4()) is None


@pytest.mark.parametrize(
    ("retriever", "cause"),
    [
        (lambda kit: kit.Shelf(documents=()), "no_context"),  # known to be empty
        (lambda kit: RunnableLambda(lambda question: "by hand"), "missing_input"),  # not known
    ],
)
def test_no_number_without_contexts(captured: Any, kit: Any, retriever: Any, cause: str) -> None:
    it = captured()
    kit.rag(retriever(kit)).invoke(QUESTION, config=it.config)
    assert it.scored[0].scores["faithfulness"].error.cause == cause


def test_a_failure_is_named_and_not_scored(captured: Any, kit: Any) -> None:
    it = captured()
    with pytest.raises(ConnectionError):
        kit.rag(kit.Broken()).invoke(QUESTION, config=it.config)
    assert it.sample.metadata["error"] == "ConnectionError"
    assert it.scored[0].scores["faithfulness"].error.cause == "partial"


def test_retriever_and_prompt_alone_are_no_exchange(captured: Any, kit: Any) -> None:
    it = captured()
    kit.Shelf().invoke(QUESTION, config=it.config)
    ChatPromptTemplate.from_template("{x}").invoke({"x": "y"}, config=it.config)
    assert it.samples == []
    assert it.handler.health().left_out == {"no_answer": 2}


def test_include_leaves_traces_out(captured: Any, kit: Any) -> None:
    it = captured(include=lambda root: root.name == "wanted")
    kit.rag().invoke(QUESTION, config={**it.config, "run_name": "wanted"})
    kit.rag().invoke(QUESTION, config={**it.config, "run_name": "other"})
    assert [sample.metadata["name"] for sample in it.samples] == ["wanted"]
    assert it.handler.health().left_out == {"excluded": 1}


def test_a_rule_may_leave_a_trace_out(captured: Any, kit: Any) -> None:
    it = captured(rules=CaptureRules(adjust=lambda sample, trace: None))
    kit.rag().invoke(QUESTION, config=it.config)
    assert it.samples == []
    assert it.handler.health().left_out == {"no_answer": 1}


def test_handlers_may_share_a_scorer_which_stays_open(kit: Any) -> None:
    sink = MemorySink()
    with_judge = LiveScorer("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"), sinks=[sink])
    first, second = AssayCallbackHandler(scorer=with_judge), AssayCallbackHandler(scorer=with_judge)
    kit.rag().invoke("first?", config={"callbacks": [first]})
    assert first.close(10).live.delivered == 1
    kit.rag().invoke("second?", config={"callbacks": [second]})
    assert with_judge.close(10).delivered == 2
    assert [scored.sample.question for scored in sink.written] == ["first?", "second?"]


def test_a_scorer_and_its_options_do_not_go_together() -> None:
    scorer = LiveScorer("faithfulness", ScriptedJudge())
    with pytest.raises(InputError, match="deadline"):
        AssayCallbackHandler(scorer=scorer, deadline=3)
    scorer.close(1)


@pytest.mark.parametrize("name", ["thread_id", "session_id", "conversation_id"])
@pytest.mark.parametrize("place", ["metadata", "configurable"])
def test_turns_of_a_conversation_by_any_of_the_usual_names(captured: Any, kit: Any, name: str, place: str) -> None:
    it = captured(concurrency=1)
    for question, conversation in (("first?", "a"), ("of another?", "b"), ("second?", "a")):
        kit.rag().invoke(question, config={**it.config, place: {name: conversation}})
    histories = {sample.question: [turn.question for turn in sample.history] for sample in it.samples}
    assert histories == {"first?": [], "of another?": [], "second?": ["first?"]}
    assert it.samples[0].metadata[name] == "a"
