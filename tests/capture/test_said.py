"""An answer under any key: what the last model call wrote decides, and nothing is guessed where two keys fit."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import CaptureRules, Run, RunCollector, Trace, sample_of, traces_of
from assay.capture import missing_answer as unanswered
from assay.capture.answer_text import find_answer_key
from assay.capture.missing_answer import log_missing_answer, why_unanswered

LONG = "Cats purr when they are calm, and to heal."
OTHER = "Dogs bark when a stranger comes to the door."


def trace_of(*said: str, outputs: Any, inputs: Any = None, name: str = "graph", error: str | None = None) -> Trace:
    """A graph in which models wrote these texts, one after another."""
    collector = RunCollector()
    collector.start("root", None, "chain", name, {"question": "Why?"} if inputs is None else inputs)
    for number, text in enumerate(said):
        collector.start(number, "root", "llm", prompt=("p",))
        collector.end(number, text)
    if error is not None:
        collector.start("node", "root", "chain")
        collector.end("node", error=type(error, (Exception,), {})())
    trace = collector.end("root", outputs)
    assert trace is not None
    return trace


def answer(*said: str, outputs: Any, **more: Any) -> str | None:
    sample = sample_of(trace_of(*said, outputs=outputs, **more))
    return None if sample is None else sample.answer


@pytest.mark.parametrize(
    "key", ["generation", "final_answer", "reply", "text_out", "antwort", "ai_message", "x", "final_report", "a.b"]
)
def test_any_key(key: str) -> None:
    assert answer(LONG, outputs={"question": "Why?", key: LONG}) == LONG


@pytest.mark.parametrize(
    ("said", "outputs", "expected"),
    [
        (("outline text here", LONG), {"outline": "outline text here", "essay": LONG}, LONG),
        ((LONG, "yes"), {"essay": LONG}, LONG),  # the check's word stands nowhere
        ((LONG, "yes"), {"essay": LONG, "verdict": "yes"}, None),  # a word beside what it may have checked
        ((LONG, "yes"), {"generation": LONG, "verdict": "yes"}, LONG),  # but a well-known name tells
        (("yes",), {"verdict": "yes"}, "yes"),  # a short answer is an answer
        ((LONG,), {"one": LONG, "two": LONG}, LONG),  # the same under both
        ((LONG,), {"one": f"{LONG} [1]", "two": f"So: {LONG}"}, None),  # both hold it
        ((LONG,), {"one": LONG, "two": f"So: {LONG}"}, LONG),  # the text itself, and not what holds it
        ((f"Thoughts. {LONG}",), {"one": LONG}, LONG),  # cut out of what the model wrote: most of it
        ((f"Cats: {LONG}",), {"topic": "Cats"}, None),  # a word of it is not
        ((LONG,), {"documents": LONG, "history": LONG, "query": LONG}, None),  # names of other fields
        ((LONG,), {"essay": 3, "other": None}, None),
        ((LONG,), {1: LONG}, None),  # no name
        ((), {"summary": LONG}, LONG),  # no model was heard, but a well-known name
        ((), {"summary": LONG, "report": "Another."}, None),
        ((), {"notes": LONG, "more": "x"}, None),
        (("a b c", "d e f"), {"one": "a b c", "two": "d e f"}, "d e f"),
        ((" \n",), {"one": "  ", "two": "x"}, None),
    ],
)
def test_which_key(said: tuple[str, ...], outputs: Any, expected: str | None) -> None:
    assert answer(*said, outputs={"question": "Why?", **outputs}) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1.0, 4.0), (2.0, 3.0), None),  # one within the other's time
        ((1.0, 3.0), (2.0, 4.0), None),
        ((2.0, 4.0), (1.0, 3.0), None),  # whichever began first
        ((1.0, 2.0), (2.0, 3.0), OTHER),  # one after the other: the last decides
        ((2.0, 3.0), (1.0, 2.0), LONG),
        ((1.0, None), (2.0, 3.0), None),  # it never ended
    ],
)
def test_of_calls_side_by_side_none_is_the_last(first: Any, second: Any, expected: str | None) -> None:
    """The branches decide, not the calls: each call takes no time here, somewhere within its branch."""
    runs = [Run("root", inputs={"question": "Why?"}, outputs={"one": LONG, "two": OTHER}, started=0.0, ended=9.0)]
    for name, said, (started, ended) in (("a", LONG, first), ("b", OTHER, second)):
        at = started + 0.1
        runs += [
            Run(name, "root", started=started, ended=ended),
            Run(f"{name} call", name, "llm", outputs=said, prompt=("p",), started=at, ended=at),
        ]
    (trace,) = traces_of(runs)
    assert find_answer_key(trace, trace.root).answer == expected
    named = Run("root", inputs={"question": "Why?"}, outputs={"one": LONG, "generation": OTHER}, started=0.0, ended=9.0)
    (trace,) = traces_of([named, *runs[1:]])
    assert find_answer_key(trace, trace.root).answer == (expected or OTHER)  # a well-known name tells


def test_what_was_given_is_no_answer() -> None:
    given = {"question": "Why?", "style": LONG}
    assert answer(LONG, outputs={**given, "more": 1}, inputs=given) is None


def test_well_known_names_and_messages_come_first() -> None:
    assert answer(LONG, outputs={"answer": "This.", "notes": LONG}) == "This."
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "That."}]
    assert answer(LONG, outputs={"messages": messages, "summary": LONG}) == "That."


def test_the_summary_of_a_talk_whose_messages_are_removed_is_no_answer() -> None:
    asked = {"messages": [{"role": "user", "content": "Why?"}]}
    trace = trace_of(LONG, "A talk about cats and purring.", inputs=asked, outputs={
        "messages": [], "summary": "A talk about cats and purring."
    })  # fmt: skip
    assert sample_of(trace) is None
    assert why(trace) == "its messages are all removed; CaptureRules(answer_run=) can name the run of the answer"
    assert sample_of(trace, CaptureRules(answer_key="summary")).answer == "A talk about cats and purring."  # type: ignore[union-attr]
    unused = {"question": "Why?", "messages": []}  # a state that has messages and does not use them
    assert answer(LONG, inputs=unused, outputs={**unused, "reply": LONG}) == LONG


def test_a_message_under_a_key_is_its_text() -> None:
    assert answer(LONG, outputs={"question": "Why?", "out": {"role": "assistant", "content": LONG}}) == LONG


def test_where_nothing_was_asked_there_is_no_exchange() -> None:
    assert answer(LONG, outputs={"essay": LONG, "n": 1}, inputs={"a": "x", "b": "y"}) is None


def test_a_graph_that_waits_for_a_human_has_not_answered() -> None:
    assert answer(LONG, outputs={"draft": LONG, "n": 1}, error="GraphInterrupt") is None


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=60), max_size=6), st.lists(st.text(max_size=60), max_size=4)
)
def test_the_answer_stands_in_the_output_or_is_none(outputs: dict[str, str], said: list[str]) -> None:
    found = find_answer_key((trace := trace_of(*said, outputs=outputs)), trace.root)
    assert set(found.keys) <= set(outputs)
    if found.answer is not None:
        assert {" ".join(outputs[key].split()) for key in found.keys} == {" ".join(outputs[found.keys[0]].split())}


# -- what is said when nothing comes --------------------------------------------------------------------------------


def why(trace: Trace, **rules: Any) -> str:
    return why_unanswered(trace, CaptureRules(**rules)) or ""


def test_why_names_the_keys_and_the_rule() -> None:
    assert "its keys are b, question" in why(trace_of(LONG, outputs={"question": "Why?", "b": 1}))
    assert "CaptureRules(answer_key=)" in why(trace_of(LONG, outputs={"question": "Why?", "b": 1}))
    two = {"one": f"{LONG} [1]", "two": f"So: {LONG}"}
    assert "'one' and 'two'" in why(trace_of(LONG, outputs=two))
    assert "CaptureRules(answer_key='one')" in why(trace_of(LONG, outputs=two))
    assert "nothing was asked" in why(trace_of(LONG, outputs={"essay": LONG, "n": 1}, inputs={"a": "x", "b": "y"}))
    assert "CaptureRules(answer_run=)" in why(trace_of(LONG, outputs=[1, 2]))
    assert "nothing, and no text" in why(trace_of(LONG, outputs=None))
    assert "no text under CaptureRules(answer_key='c')" in why(trace_of(LONG, outputs={"b": 1}), answer_key="c")
    assert "no run is named 'write'" in why(trace_of(LONG, outputs={"b": 1}), answer_run="write")


def test_nothing_is_said_of_what_is_no_application() -> None:
    assert why(trace_of(outputs={"b": 1, "c": 2})) == ""  # no model, no search
    assert why(trace_of(LONG, outputs={"b": 1}, error="GraphInterrupt")) == ""  # waits for a human
    assert why(trace_of(LONG, outputs={"answer": "x"})) == ""  # a rule left it out
    tool = trace_of(LONG, outputs={"b": 1})
    tool.root.kind = "tool"
    assert why(tool) == ""


def test_said_once_for_each_name_and_for_so_many_names(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(unanswered, "_said", {})
    monkeypatch.setattr(unanswered, "NAMES", 3)
    with caplog.at_level(logging.WARNING, "assay.capture"):
        for name in ("a", "b", "a", "c", "d", "e"):
            log_missing_answer(trace_of(LONG, outputs={"b": 1, "c": 2}, name=name))
    assert [record.args[0] for record in caplog.records] == ["a", "b", "c"]  # type: ignore[index]


def test_keys_that_hold_anything_do_not_break_the_line() -> None:
    keys = {f"key {n}" * 20: n for n in range(50)}
    line = why(trace_of(LONG, outputs=keys))
    assert len(line) < 800
    assert "…" in line


# -- tools that were looked up --------------------------------------------------------------------------------------


def searched(*texts: str, offered: tuple[str, ...]) -> Trace:
    collector = RunCollector()
    collector.start("root", None, "chain", "agent", "Why?")
    collector.start("find", "root", "retriever", "tools")
    collector.end("find", documents=[{"text": text} for text in texts])
    collector.start("model", "root", "llm", prompt=("p",), offered=offered)
    collector.end("model", LONG)
    trace = collector.end("root", LONG)
    assert trace is not None
    return trace


ABOUT = "Finds what is known about cats."


@pytest.mark.parametrize(
    ("texts", "offered", "expected"),
    [
        ((ABOUT,), (ABOUT,), None),
        ((f"search: {ABOUT}", "Adds."), (ABOUT, "Adds."), None),
        ((ABOUT, "Cats purr."), (ABOUT,), (ABOUT, "Cats purr.")),  # one of them is a passage
        (("Cats purr.",), (ABOUT,), ("Cats purr.",)),
        (("Adds up cats.",), ("Adds",), ("Adds up cats.",)),  # a short description stands in any text
        ((ABOUT,), (), (ABOUT,)),
    ],
)
def test_descriptions_of_tools_are_no_passages(texts: Any, offered: Any, expected: Any) -> None:
    sample = sample_of(searched(*texts, offered=offered))
    assert sample is not None
    assert sample.passages == (expected or ())
    assert (sample.metadata.get("no_context") == "nothing was looked up but the tools to call") is (expected is None)


def test_run_says_what_it_is() -> None:
    assert repr(Run("x", kind="llm")) == "<Run llm  x>"


def test_a_worker_s_message_is_the_answer_where_a_model_wrote_it_though_it_is_a_human_one() -> None:
    asked: dict[str, Any] = {"messages": [("human", "Why?")]}

    def said(*messages: Any) -> dict[str, Any]:
        return {"messages": [("human", "Why?"), *messages]}

    assert answer("Notes.", LONG, outputs=said(("human", "Notes."), ("human", LONG)), inputs=asked) == LONG
    assert answer(LONG, outputs=said(("human", "And why else?")), inputs=asked) is None  # somebody else asked
    assert answer(LONG, outputs=said(), inputs=asked) is None


def test_a_structure_that_an_agent_responds_with_comes_before_its_messages() -> None:
    messages = [("human", "Why?"), ("ai", '{"answer": "Calm."}')]
    assert answer(LONG, outputs={"messages": messages, "structured_response": {"answer": "Calm."}}) == "Calm."
    other = {"messages": [("human", "Why?"), ("ai", "Calm.")], "structured_response": {"city": "Rome", "land": "Italy"}}
    assert answer("Calm.", outputs=other) == "Calm."


@pytest.mark.parametrize("empty", ["", "  ", {"type": "ai", "content": "", "tool_calls": [{"name": "search"}]}])
def test_of_a_text_that_is_empty_it_is_said_that_the_model_wrote_none(empty: Any) -> None:
    """A chain that only calls a tool: there is no second key to name, and no other run that would help."""
    told = why(trace_of("", outputs=empty))
    assert told == "the model wrote no text, as where it only calls a tool or fills in a structure"
    assert "its output is an empty text; CaptureRules(answer_run=)" in why(trace_of(LONG, outputs=empty))


@pytest.mark.parametrize("name", ["CriteriaEvalChain", "QAEvalChain", "MyOwnEvalChain"])
def test_an_evaluator_is_no_application(name: str) -> None:
    judged = trace_of("GRADE: CORRECT", outputs={"result": "GRADE: CORRECT"}, name=name)
    assert sample_of(judged) is None
    assert why(judged) == ""
    assert why(trace_of(LONG, outputs={"b": 1}, name=name)) == ""
    assert answer(LONG, outputs={"result": LONG}, name="EvalChainOfMine") == LONG
