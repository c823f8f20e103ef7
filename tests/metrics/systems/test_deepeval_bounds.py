"""Where DeepEval's parameters end, and what is counted at the edges of its formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from assay.errors import Cause, InputError
from assay.metrics.deepeval import loops
from assay.metrics.deepeval.agent_loop_detection import AgentLoopDetection
from assay.metrics.deepeval.deepeval_metric import SHOWN
from assay.metrics.deepeval.faithfulness import Faithfulness
from assay.metrics.deepeval.g_eval import GEval, levels_of, titles, weighted_level
from assay.metrics.deepeval.graph import Graph, Node, graph_of
from assay.metrics.deepeval.hallucination import Hallucination, HallucinationV3
from assay.metrics.deepeval.jev_eval import Choice, JevEval, Scale, Statement, question_of
from assay.metrics.deepeval.json_correctness import JsonCorrectness
from assay.metrics.deepeval.safety import NonAdvice
from assay.metrics.deepeval.turn_contexts import TurnFaithfulness
from assay.metrics.deepeval.turns import TurnRelevancy
from assay.records import Context, Message, Sample, ToolCall
from tests.metrics.systems.scoring import measured

FULL = Sample(question="How old is it?", contexts=(Context(text="It is old."),), answer="It is old.", reference="Old.")


class Shape(BaseModel):
    name: str


@pytest.mark.parametrize(
    "make",
    [
        lambda: AgentLoopDetection(similarity_threshold=1.0),
        lambda: AgentLoopDetection(similarity_threshold=0.01),
        lambda: AgentLoopDetection(repetition_threshold=1),
        lambda: Faithfulness(threshold=0.0),
        lambda: Faithfulness(threshold=1.0),
        lambda: GEval("x", rubric=((0, 10, "all"),)),
        lambda: GEval("x", rubric=((0, 0, "no"), (10, 10, "yes"))),
        lambda: GEval("x", rubric=((0, 0, "no"), (5, 5, "half"), (10, 10, "yes"))),
        lambda: JevEval((Scale("x", ("a", "b")),)),
        lambda: JevEval((Scale("x", tuple("abcdefghij")),)),
        lambda: JevEval((Choice("x", (("a", 1.0), ("b", 0.0))),)),
        lambda: JevEval((Choice("x", (("a", 1.0), ("b", None))),)),
        lambda: JevEval((Statement("x"),), evaluation_params=tuple(SHOWN)),
        lambda: JsonCorrectness(Shape),
        lambda: JsonCorrectness({"type": "object"}),
        lambda: NonAdvice(("legal",)),
        lambda: graph_of({"start": "a", "nodes": {"a": {**YES_OR_NO, "shown": list(SHOWN)}}}),
        lambda: Graph("a", (("a", Node("binary", "?", ("input",), (), (("yes", 10), ("no", 0)))),)),
    ],
)
def test_the_last_value_that_is_allowed(make: Callable[[], Any]) -> None:
    assert make() == make()


YES_OR_NO: dict[str, Any] = {"binary": "?", "shown": "input", "verdicts": {"yes": 10, "no": 0}}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AgentLoopDetection(similarity_threshold=0.0), "similarity_threshold"),
        (lambda: AgentLoopDetection(similarity_threshold=1.01), "similarity_threshold"),
        (lambda: AgentLoopDetection(repetition_threshold=0), "repetition_threshold"),
        (lambda: Faithfulness(threshold=-0.01), "threshold"),
        (lambda: GEval("x", rubric=((-1, 5, "a"),)), "from 0 to 10"),
        (lambda: GEval("x", rubric=((5, 4, "a"),)), "lowest level first"),
        (lambda: GEval("x", rubric=((5, 5, "a"),)), "more than one level"),
        (lambda: JevEval((Scale("x", ("a",)),)), "levels"),
        (lambda: JevEval((Scale("x", ("a", "a")),)), "levels"),
        (lambda: JevEval((Scale("x", tuple("abcdefghijk")),)), "levels"),
        (lambda: JevEval((Choice("x", (("a", 1.0),)),)), "options"),
        (lambda: JevEval((Choice("x", (("a", None), ("b", None))),)), "options"),
        (lambda: JevEval((Choice("x", (("a", 1.1), ("b", 0.0))),)), "options"),
        (lambda: JevEval((Choice("x", (("a", 1.0), ("b", -0.1))),)), "options"),
        (lambda: JevEval((Statement("x"),), evaluation_params=()), "evaluation_params"),
        (lambda: JevEval((Statement("x"),), evaluation_params=("answer",)), "evaluation_params"),
        (lambda: JsonCorrectness("object"), "expected_schema"),  # type: ignore[arg-type]
        (lambda: NonAdvice(("legal", " ")), "advice_types"),
        (lambda: NonAdvice(("legal", 1)), "advice_types"),  # type: ignore[arg-type]
        (lambda: graph_of({"start": "a", "nodes": {"a": {**YES_OR_NO, "verdicts": {"yes": True, "no": 0}}}}), "True"),
        (lambda: graph_of({"start": "a", "nodes": {"a": {**YES_OR_NO, "verdicts": {"yes": "b", "no": 0}}}}), "'b'"),
    ],
)
def test_the_first_value_that_is_not(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


# ---- signs of loops


def told(*texts: str, calls: tuple[ToolCall, ...] = ()) -> tuple[Message, ...]:
    return tuple(Message(role="assistant", content=text, tool_calls=calls) for text in texts)


def test_a_loop_is_seen_in_messages_or_in_a_trace() -> None:
    loop = {"type": "agent", "name": "a", "children": [{"type": "agent", "name": "a"}]}
    nothing = measured(AgentLoopDetection(), Sample())
    assert nothing.error is not None
    assert nothing.error.cause is Cause.MISSING_INPUT
    traced = measured(AgentLoopDetection(), Sample(metadata={"trace": loop}))
    assert (traced.value, traced.parts) == (0.0, {"call_graph_cycles": 0.0})  # what is not there is no sign
    search = ToolCall(name="search", arguments={"q": "x"})
    calling = Sample(messages=told("Well.", "Well.", "Well.", calls=(search,)))
    seen = measured(AgentLoopDetection(), calling)
    assert (seen.value, seen.parts) == (0.5, {"tool_repetition": 0.5})  # three equal calls
    theirs = measured("deepeval:agent_loop_detection@original", calling)
    assert theirs.value == pytest.approx(0.4 * 0.5 + 0.35 + 0.25)  # what cannot be looked at counts as 1
    both = measured(AgentLoopDetection(), replace(calling, metadata={"trace": loop}))
    assert both.value == pytest.approx(0.4 * 0.5 / 0.65)  # (0.4 * 0.5 + 0.25 * 0) / (0.4 + 0.25)


def test_words_pairs_and_labels_of_loops() -> None:
    assert loops.most_alike_calls([]) == 0
    assert loops.words_of("ab abc abcd") == ["abc", "abcd"]  # three letters count, two do not
    assert loops.likeness(["abc"], ["xyz"]) == 0.0  # no pair of words, no common letter
    one, other = ["aaa", "bbb", "ccc", "ddd", "eee"], ["ccc", "ddd", "eee", "aaa", "bbb"]
    assert loops.likeness(one, other) == pytest.approx(0.6)  # 3 pairs of 5; in order "ccc ddd eee": 11 / 19
    long, short = " ".join(f"word{n}" for n in range(20)), "word1 word2"
    assert loops.most_alike_texts([long, short]) is None
    assert loops.words_of("y" * 4996 + " abcd") == ["y" * 4996, "abc"]  # of the first 5000 characters
    step = {"type": "agent", "name": "a", "input": "x" * 64}
    assert loops.cycles({**step, "children": [{**step, "input": "x" * 64 + "y"}]}) == 0.0  # alike in the first 64
    assert loops.cycles({**step, "children": [{**step, "input": "x" * 63 + "y"}]}) == 1.0
    deep = {"type": "agent", "name": "a", "input": {"x": 1, "y": 2}}
    assert loops.cycles({**deep, "children": [{**deep, "input": {"y": 2, "x": 1}}]}) == 0.0


# ---- levels, thresholds, directions


def test_levels_of_a_probability_of_1_percent_count() -> None:
    assert weighted_level([(0, 0.01), (10, 0.99)], 10) == pytest.approx(9.9)
    assert weighted_level([(0, 0.0099), (10, 0.99)], 10) == 10.0


def test_titles_are_in_the_order_in_which_texts_are_shown() -> None:
    assert titles(("actual_output", "input")) == ("QUESTION", "ANSWER")


def test_levels_of_bands_reach_from_the_first_to_the_last() -> None:
    assert [level for level, _ in levels_of(((0, 2, "low"), (4, 5, "mid"), (7, 9, "high")))] == list(range(10))
    ends = dict(levels_of(()))
    assert (ends[0], ends[10]) == ("the criteria are not met at all", "the criteria are met in full")
    assert {ends[level] for level in range(1, 10)} == {"between the two"}


def test_the_old_hallucination_is_better_when_lower() -> None:
    assert (HallucinationV3().direction, Hallucination().direction) == ("lower", "higher")
    assert GEval("x").threshold == 0.5
    assert TurnFaithfulness().window_size == TurnRelevancy().window_size == 10
    sample = replace(FULL, reference_contexts=(Context(text="a"), Context(text="b")))
    contradicted = {("It is old.", "a"): "contradicted"}
    found = measured(HallucinationV3(), sample, support=contradicted)
    assert (found.value, found.parts["passed"]) == (0.5, 1.0)  # one of two, and not above the threshold
    assert measured(HallucinationV3(threshold=0.4), sample, support=contradicted).parts["passed"] == 0.0


def test_what_needs_a_judge_that_tells_contradictions() -> None:
    assert Hallucination().needs_contradiction
    assert Faithfulness().needs_contradiction
    assert not Faithfulness(penalize_ambiguous_claims=True).needs_contradiction


# ---- questions with weights


def test_questions_weigh_1_unless_they_say_more() -> None:
    judge = {"criterion": lambda question, vote: True, "rating": lambda question: 0}
    sample = replace(FULL, metadata={})
    questions = (Statement("a"), Scale("b", ("bad", "good"), weight=3.0))
    found = measured(JevEval(questions), sample, **judge)
    assert found.value == 0.25  # (1 * 1 + 3 * 0) / 4
    assert found.parts["question_1"] == 1.0
    assert found.parts["question_2"] == 0.0
    assert measured(JevEval((Scale("b", ("bad", "good")), Statement("a", 3.0))), sample, **judge).value == 0.75
    chosen = measured(
        JevEval((Choice("c", (("x", 1.0), ("y", 0.0))), Statement("a", 3.0))),
        sample, criterion=lambda question, vote: False, question=lambda question: "x",
    )  # fmt: skip
    assert chosen.value == 0.25
    assert question_of({"statement": "a"}) == Statement("a", 1.0)


def test_questions_that_do_not_apply_have_no_part_and_all_of_them_no_value() -> None:
    choice = Choice("c", (("x", 1.0), ("none", None)))
    rules: dict[str, Any] = {"question": lambda question: "none", "criterion": lambda question, vote: True}
    found = measured(JevEval((choice, Statement("a"))), FULL, **rules)
    assert found.value == 1.0
    assert {name for name in found.parts if name.startswith("question")} == {"question_2"}
    assert measured(JevEval((choice,)), FULL, **rules).value is None
    theirs = measured(JevEval((choice,), profile="original"), FULL, **rules)
    assert (theirs.value, theirs.convention is None) == (1.0, False)
