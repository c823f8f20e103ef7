"""What DeepEval's metrics read of a row, of tools and of turns, and what goes before it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from assay.errors import Cause, JudgeFailure
from assay.metrics.deepeval.arena_g_eval import ArenaGEval
from assay.metrics.deepeval.classifier_labels import KINDS
from assay.metrics.deepeval.classifiers import Classifier, goes_by
from assay.metrics.deepeval.conversational_g_eval import ConversationalGEval
from assay.metrics.deepeval.dag import DAG
from assay.metrics.deepeval.g_eval import GEval
from assay.metrics.deepeval.graph import graph_of
from assay.metrics.deepeval.json_correctness import JsonCorrectness
from assay.metrics.deepeval.matching import PatternMatch
from assay.metrics.deepeval.prompt_alignment import PromptAlignment
from assay.metrics.deepeval.safety import NonAdvice
from assay.metrics.deepeval.tool_correctness import arguments_match
from assay.metrics.deepeval.tool_permission import ToolPermission
from assay.metrics.deepeval.turn_contexts import TurnContextualPrecision, TurnFaithfulness
from assay.metrics.deepeval.turn_fields import turn_sections
from assay.records import Context, Message, Sample, ToolCall, Turn
from tests.metrics.systems.scoring import measured, sections

FULL = Sample(question="How old is it?", contexts=(Context(text="It is old."),), answer="It is old.", reference="Old.")


class Shape(BaseModel):
    name: str


YES_OR_NO: dict[str, Any] = {"binary": "?", "shown": "input", "verdicts": {"yes": 10, "no": 0}}


# ---- what stands in the row, and what is given


def test_own_parameters_go_before_those_of_the_row() -> None:
    row = replace(FULL, metadata={"prompt_instructions": ["a", "b"], "advice_types": ["tax"], "about": "x"})
    said: dict[str, Any] = {"classification": lambda what, item, texts: "followed" if item == "c" else "not_followed"}
    assert measured(PromptAlignment(("c",)), row, **said).texts["instructions"] == ("c",)
    assert measured(PromptAlignment(), row, **said).texts["instructions"] == ("a", "b")
    advice: dict[str, Any] = {
        "extraction": lambda what, texts: ("Buy.",),
        "classification": lambda what, item, texts: "allowed",
    }
    assert sections(NonAdvice(("legal",)), row, **advice)["FORBIDDEN KINDS"] == "legal"
    assert sections(NonAdvice(), row, **advice)["FORBIDDEN KINDS"] == "tax"


def test_steps_are_those_given_then_those_of_the_row_then_those_written() -> None:
    row = replace(FULL, metadata={"evaluation_steps": ["Row."], "criteria": "Old?"})
    rules: dict[str, Any] = {"extraction": lambda what, texts: ("Written.",), "rating": lambda question: 5}

    def judged_by(metric: GEval | ConversationalGEval, sample: Sample = row) -> tuple[str, str | None]:
        shown = sections(metric, sample, **rules)
        return shown["EVALUATION STEPS"], shown.get("CRITERIA")

    assert judged_by(GEval()) == ("1. Row.", None)
    assert judged_by(GEval("Good?")) == ("1. Written.", "Good?")
    assert judged_by(GEval("Good?", ("Own.", "Next."))) == ("1. Own.\n2. Next.", "Good?")
    assert judged_by(GEval(evaluation_steps=("Own.",))) == ("1. Own.", None)
    assert judged_by(GEval(), replace(row, metadata={"criteria": "Old?"})) == ("1. Written.", "Old?")
    assert GEval("x", title="tone").label == "deepeval:g_eval:tone"
    assert GEval("x", title="tone", profile="original").label == "deepeval:g_eval:tone@original"


def test_the_arena_is_judged_by_criteria_or_steps_and_shows_every_answer_once() -> None:
    row = replace(FULL, metadata={"contestants": {"other": "It is new."}, "criteria": "Old?"})
    rules: dict[str, Any] = {
        "extraction": lambda what, texts: ("Written.",),
        "question": lambda question: "contestant_1",
    }
    own = sections(ArenaGEval("Good?"), row, **rules)
    assert (own["CRITERIA"], own["EVALUATION STEPS"]) == ("Good?", "Written.")
    assert sections(ArenaGEval(), row, **rules)["CRITERIA"] == "Old?"
    steps = sections(ArenaGEval(evaluation_steps=("Own.",)), row, **rules)
    assert set(steps) == {"QUESTION", "ANSWER OF CONTESTANT_1", "ANSWER OF CONTESTANT_2", "EVALUATION STEPS"}
    assert steps["EVALUATION STEPS"] == "Own."


def test_fields_are_shown_under_their_names() -> None:
    row = replace(
        FULL, reference_contexts=(Context(text="Ideal."),), metadata={"tags": ["ä"], "expected_tools": [], "x": 1}
    )
    rules: dict[str, Any] = {"extraction": lambda what, texts: ("Written.",), "rating": lambda question: 5}
    shown = sections(GEval("x", evaluation_params=("retrieval_context", "context", "tags", "metadata")), row, **rules)
    assert shown["PASSAGE P1"] == "It is old."
    assert shown["IDEAL PASSAGE P1"] == "Ideal."
    assert shown["TAGS"] == '["ä"]'
    assert json.loads(shown["METADATA"]) == dict(row.metadata)
    lacking = measured(GEval("x", evaluation_params=("input", "expected_tools")), row, **rules)
    assert lacking.error is not None
    assert lacking.error.cause is Cause.MISSING_INPUT


def test_a_classifier_reads_the_column_that_it_goes_by() -> None:
    for name, kind in KINDS.items():
        assert Classifier(kind=name).may_read == ((kind.about,) if kind.about else ())
    assert Classifier(kind="refusal").may_read == ()
    assert any(Classifier(kind=name).may_read for name in KINDS)


def test_what_a_classifier_goes_by_and_the_label_for_none() -> None:
    about, plain = (next(kind for kind in KINDS.values() if bool(kind.about) is given) for given in (True, False))
    title = about.about.upper()
    row = replace(FULL, metadata={about.about: ["a", "b"]})
    assert goes_by(about, row) == ((title, "a\nb"),)
    assert goes_by(about, replace(FULL, metadata={about.about: "a"})) == ((title, "a"),)
    assert goes_by(about, row, "own") == ((title, "own"),)
    assert goes_by(about, FULL) == goes_by(about, row, "") == goes_by(plain, row) == goes_by(plain, row, "own") == ()
    assert "NONE" not in Classifier().labels()
    assert Classifier(allow_none=True).labels() == {**Classifier().labels(), "NONE": "none of the others fits"}


def test_a_pattern_minds_the_case_unless_it_is_told_not_to() -> None:
    assert measured(PatternMatch("IT is old."), FULL).value == 0.0
    assert measured(PatternMatch("IT is old.", ignore_case=True), FULL).value == 1.0


def test_json_that_is_wrong_says_what() -> None:
    right, wrong = (replace(FULL, answer=text) for text in ('{"name": "a"}', "{"))
    assert (measured(JsonCorrectness(Shape), right).value, measured(JsonCorrectness(Shape), right).texts) == (1.0, {})
    assert measured(JsonCorrectness(Shape), wrong).value == 0.0
    assert set(measured(JsonCorrectness(Shape), wrong).texts) == {"wrong"}


def test_a_metric_without_a_value_leaves_its_graph_without_one() -> None:
    graph = graph_of(
        {"start": "a", "nodes": {"a": {**YES_OR_NO, "verdicts": {"yes": {"metric": "deepeval:exact_match"}, "no": 0}}}}
    )
    found = measured(DAG(graph), replace(FULL, reference=None), criterion=lambda question, vote: True)
    assert found.error is not None
    assert found.error.cause is Cause.MISSING_INPUT
    assert "exact_match" in found.error.message


# ---- tools and turns


def test_arguments_of_two_kinds_are_not_equal() -> None:
    assert arguments_match({"a": {"b": 1}, "c": 1}, {"a": 1, "c": 1}) == 0.5
    assert arguments_match({"a": 1, "c": 1}, {"a": {"b": 1}, "c": 1}) == 0.5
    assert arguments_match({"a": {"b": 1, "d": 2}, "c": 1}, {"a": {"b": 1}, "c": 1}) == 0.75  # 1/2 + (1/2) / 2


def test_tools_may_be_allowed_or_denied() -> None:
    calls = Sample(metadata={"tools_called": ["a", "a", "b"]})
    denied = measured(ToolPermission(denied_tools=("b",)), calls)
    assert (denied.value, denied.texts) == (2 / 3, {"not_allowed": ("b",)})
    allowed = measured(ToolPermission(allowed_tools=("a", "b")), calls)
    assert (allowed.value, allowed.texts) == (1.0, {})
    both = measured(ToolPermission(allowed_tools=("a", "b"), denied_tools=("a",)), calls)
    assert (both.value, both.texts) == (1 / 3, {"not_allowed": ("a", "a")})
    assert measured(ToolPermission(), calls).value is None


TALK = (
    Message(role="user", content="How old?"),
    Message(role="assistant", content="It is old."),
    Message(role="user", content="And now?"),
    Message(role="assistant", content="It is new."),
)


def test_windows_without_anything_to_judge_are_left_out_by_us_and_1_in_the_original() -> None:
    turn = Turn(question="How old?", answer="It is old.", contexts=(Context(text=" "), Context(text="It is old.")))
    sample = Sample(messages=TALK, history=(turn,), question="And now?", contexts=(), reference="It is old.")
    rules: dict[str, Any] = {"support": lambda claim, passage: "contradicted" if "old" in claim else "supported"}
    ours = measured(TurnFaithfulness(1), sample, **rules)
    assert (ours.value, ours.parts, set(ours.verdicts)) == (0.0, {"window 1": 0.0}, {"window 1"})
    precise: dict[str, Any] = {"usefulness": lambda question, passage: "old" in passage}
    found = measured(TurnContextualPrecision(1), sample, **precise)
    assert (found.value, found.parts) == (0.5, {"window 1": 0.5})  # useful in the second place: 1/2
    theirs = measured(TurnContextualPrecision(1, profile="original"), sample, **precise)
    assert (theirs.value, theirs.parts) == (0.75, {"window 1": 0.5})  # (1/2 + 1) / 2


def test_passages_of_turns_that_are_shown() -> None:
    turn = Turn(question="How old?", answer="It is old.", contexts=(Context(text="A."), Context(text="B.")))
    sample = Sample(messages=TALK, history=(turn,), question="And now?", contexts=(Context(text="C."),))
    metric, names = ConversationalGEval("x"), ("role", "content", "retrieval_context")
    first = dict(turn_sections(sample, metric, names, (0, 1)))
    assert {title: text for title, text in first.items() if title != "CONVERSATION"} == {
        "PASSAGE P1": "A.",
        "PASSAGE P2": "B.",
    }
    between = dict(turn_sections(sample, metric, names, (0, 2)))  # the user's turn alone has no passages
    assert set(between) == {"PASSAGE P1", "PASSAGE P2", "CONVERSATION"}
    assert set(dict(turn_sections(sample, metric, names))) == {"PASSAGE P1", "PASSAGE P2", "PASSAGE P3", "CONVERSATION"}
    twice = (*TALK[:2], Message(role="assistant", content="Very."), *TALK[2:])
    cut = dict(turn_sections(replace(sample, messages=twice), metric, names, (0, 1)))  # one of two answers is shown
    assert cut["PASSAGE P1"] == "A."
    with pytest.raises(JudgeFailure, match="turn_window"):
        turn_sections(sample, metric, names, (1, 1))


def test_questions_on_topic_are_counted_by_what_became_of_them() -> None:
    sample = Sample(messages=TALK, metadata={"relevant_topics": ["age"]})
    kinds = iter(("on_topic_answered", "on_topic_answered", "off_topic_answered"))
    asked = iter((("a", "b"), ("c",)))
    found = measured(
        "deepeval:topic_adherence", sample,
        extraction=lambda what, texts: next(asked), classification=lambda what, item, texts: next(kinds),
    )  # fmt: skip
    assert found.value == 2 / 3
    assert found.parts == {
        "on_topic_answered": 2.0, "off_topic_refused": 0.0, "off_topic_answered": 1.0, "on_topic_refused": 0.0,
    }  # fmt: skip


def test_tool_use_shows_arguments_where_tools_were_called() -> None:
    calling = replace(TALK[1], tool_calls=(ToolCall(name="clock", arguments={}),))
    levels = iter((4, 2))
    metadata = {"available_tools": ["clock"]}
    found = measured(
        "deepeval:tool_use", Sample(messages=(TALK[0], calling), metadata=metadata), rating=lambda q: next(levels)
    )
    assert (found.value, found.parts) == (0.5, {"tool_selection": 1.0, "arguments": 0.5})  # 4/4 and 2/4
    silent = measured("deepeval:tool_use", Sample(messages=TALK[:2], metadata=metadata), rating=lambda q: 3)
    assert silent.parts == {"tool_selection": 0.75}
