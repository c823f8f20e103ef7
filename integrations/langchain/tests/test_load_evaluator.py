"""Evaluators by LangChain's own types: the same interfaces and results as langchain-classic's, with assay's judges."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from assay_langchain import load_evaluator, load_evaluators
from langchain_classic import evaluation
from langchain_classic.evaluation import EmbeddingDistance, EvaluatorType, StringDistance
from langchain_classic.evaluation.schema import AgentTrajectoryEvaluator, PairwiseStringEvaluator, StringEvaluator
from langchain_core.agents import AgentAction
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import tool
from pydantic import BaseModel

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

JUDGE = ScriptedJudge(
    criterion=lambda question, vote: True,
    rating=lambda question: 4,
    question=lambda question: "neither",
    similarity=lambda a, b: 0.75,
)
NAMES = [one.value for one in EvaluatorType]
#: What LangChain's model has to say for the same result.
SAID = {
    "qa": "GRADE: CORRECT", "cot_qa": "GRADE: CORRECT", "context_qa": "GRADE: CORRECT",
    "criteria": "Y", "labeled_criteria": "Y", "score_string": "[[4]]", "labeled_score_string": "[[4]]",
    "pairwise_string": "[[C]]", "labeled_pairwise_string": "[[C]]", "trajectory": "Score: 4",
}  # fmt: skip


def theirs(name: str, **kwargs: Any) -> Any:
    if "embedding" in name:
        kwargs["embeddings"] = DeterministicFakeEmbedding(size=4)
    llm = FakeListChatModel(responses=[SAID.get(name, "-")])
    return evaluation.load_evaluator(EvaluatorType(name), llm=llm, **kwargs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_every_type_has_the_interface_of_langchains_own(name: str) -> None:
    ours, original = load_evaluator(EvaluatorType(name), judge=JUDGE), theirs(name)
    for interface in (StringEvaluator, PairwiseStringEvaluator, AgentTrajectoryEvaluator):
        assert isinstance(ours, interface) is isinstance(original, interface)
    assert ours.requires_reference is original.requires_reference
    assert ours.evaluation_name == getattr(original, "evaluation_name", ours.evaluation_name)
    assert ours.requires_input is original.requires_input


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NAMES if "embedding" not in name])
async def test_every_result_is_langchains_own(name: str) -> None:
    steps = [(AgentAction(tool="search", tool_input={"q": "x"}, log=""), "found")]
    given: dict[str, Any] = {"prediction": '{"a": 1}', "reference": '{"a": 1}', "input": "Why?"}
    method = "evaluate_strings"
    if name == "trajectory":
        method, given = "evaluate_agent_trajectory", {**given, "agent_trajectory": steps}
    elif "pairwise" in name:
        method, given = "evaluate_string_pairs", {**given, "prediction_b": '{"a": 2}'}
    expected = getattr(theirs(name), method)(**given)
    ours = load_evaluator(name, judge=JUDGE)
    found = getattr(ours, method)(**given)
    assert found["score"] == expected["score"]
    assert found["value"] == expected.get("value")
    assert found["reasoning"]
    again = await getattr(load_evaluator(name, judge=JUDGE), f"a{method}")(**given)
    assert (again["score"], again["value"]) == (found["score"], found["value"])


def test_names_of_evaluations_carry_their_arguments() -> None:
    judge = {"judge": JUDGE}
    assert load_evaluator("criteria", criteria="depth", **judge).evaluation_name == "depth"
    assert load_evaluator("score_string", criteria="depth", **judge).evaluation_name == "score_string:depth"
    assert load_evaluator("string_distance", distance=StringDistance.INDEL).evaluation_name == "indel_distance"
    made = load_evaluator("embedding_distance", distance_metric=EmbeddingDistance.EUCLIDEAN, **judge)
    assert made.evaluation_name == "embedding_euclidean_distance"


def test_arguments_are_langchains() -> None:
    rated: Any = load_evaluator("score_string", normalize_by=10, judge=JUDGE)
    assert rated.evaluate_strings(prediction="a", input="q")["score"] == 0.4  # 4 / 10
    equal: Any = load_evaluator("exact_match", ignore_case=True)
    assert equal.evaluate_strings(prediction="A", reference="a")["score"] == 1.0
    matched: Any = load_evaluator("regex_match", flags=re.IGNORECASE)
    assert matched.evaluate_strings(prediction="A", reference="a")["score"] == 1.0


def test_cosines_come_from_the_judge() -> None:
    made: Any = load_evaluator("embedding_distance", judge=JUDGE)
    assert made.evaluate_strings(prediction="a", reference="b")["score"] == 0.25  # 1 - 0.75
    pair: Any = load_evaluator("pairwise_embedding_distance", judge=JUDGE)
    assert pair.evaluate_string_pairs(prediction="a", prediction_b="b")["score"] == 0.25


def test_pairs_are_asked_in_both_orders_unless_as_in_the_original() -> None:
    judge = ScriptedJudge(question=lambda question: "first")
    given = {"prediction": "a", "prediction_b": "b", "input": "q"}
    both: Any = load_evaluator("pairwise_string", judge=judge)
    assert (both.evaluate_string_pairs(**given)["score"], judge.asked["question"]) == (0.5, 2)
    once: Any = load_evaluator("pairwise_string", judge=judge, profile="original")
    assert once.evaluate_string_pairs(**given)["score"] == 1.0
    assert once.evaluate_string_pairs(**given)["value"] == "A"


def test_a_schema_may_be_a_dict_or_a_model() -> None:
    class Person(BaseModel):
        name: str

    made: Any = load_evaluator("json_schema_validation")
    schema = {"type": "object", "required": ["name"]}
    assert made.evaluate_strings(prediction='{"name": "Ann"}', reference=schema)["score"] == 1.0
    assert made.evaluate_strings(prediction='{"age": 3}', reference=schema)["score"] == 0.0
    assert made.evaluate_strings(prediction={"name": 3}, reference=Person)["score"] == 0.0


def test_context_qa_takes_its_context_as_reference_or_as_contexts() -> None:
    made: Any = load_evaluator("context_qa", judge=JUDGE)
    given = {"prediction": "a", "input": "q", "reference": "The context."}
    assert made.evaluate_strings(**given)["score"] == 1.0
    assert made.evaluate_strings(**given, contexts=["One.", "Two."])["score"] == 1.0
    blank = made.evaluate_strings(**given, contexts=[])
    assert (blank["score"], blank["value"]) == (None, "no_context")


def test_tools_of_an_agent_are_shown() -> None:
    @tool
    def search(q: str) -> str:
        """Looks things up."""
        return q

    made: Any = load_evaluator("trajectory", judge=JUDGE, agent_tools=[search])
    found = made.evaluate_agent_trajectory(prediction="a", input="q", agent_trajectory="1. search", reference=None)
    assert found["score"] == 0.75  # (4 - 1) / 4
    nothing = made.evaluate_agent_trajectory(prediction="a", input="q", agent_trajectory=[])
    assert (nothing["score"], nothing["value"]) == (None, "missing_input")


SUPPORTS = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")


def test_a_metric_of_assay_is_loaded_by_its_name() -> None:
    made: Any = load_evaluator("faithfulness", judge=SUPPORTS)
    assert isinstance(made, StringEvaluator)
    assert made.evaluation_name == "faithfulness"
    # one of two sentences stands in the passage: 1 / 2
    result = made.evaluate_strings(prediction="Cats purr. They fly.", contexts=["Cats purr."])
    assert result["score"] == 0.5
    assert made.evaluate_strings(prediction="Cats purr.")["value"] == "missing_input"


def test_metrics_are_loaded_beside_langchains_types() -> None:
    made = load_evaluators(["faithfulness", "exact_match"], judge=SUPPORTS)
    assert [one.evaluation_name for one in made] == ["faithfulness", "exact_match"]


def test_missing_inputs_raise_as_there() -> None:
    made: Any = load_evaluator("qa", judge=JUDGE)
    with pytest.raises(ValueError, match="reference"):
        made.evaluate_strings(prediction="a", input="q")
    with pytest.raises(ValueError, match="input"):
        made.evaluate_strings(prediction="a", reference="r")


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("quality", {}, "expected the name of a metric, or one of qa, cot_qa"),
        ("faithfulness", {"criteria": "x"}, "a metric takes no arguments by name; found criteria"),
        ("criteria", {"criteria": "correctness"}, "correctness"),
        ("criteria", {"prompt": "x"}, "prompt is not taken"),
        ("embedding_distance", {"embeddings": "x"}, "embeddings is not taken"),
        ("exact_match", {"flags": 1}, "'flags'; it takes ignore_case, ignore_punctuation, ignore_numbers"),
    ],
)
def test_wrong_arguments_are_named(name: str, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_evaluator(name, judge=JUDGE, **kwargs)


NAN = float("nan")


@pytest.mark.parametrize("name", ["exact_match", "regex_match", "string_distance", "embedding_distance"])
@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (NAN, "missing_input"),
        (ValueError("timeout"), "bad_row"),
        ({}, "missing_input"),
        ({"a": 1}, "bad_row"),
        (7, "bad_row"),
    ],
)
def test_what_is_no_text_equals_nothing(name: str, value: Any, cause: str) -> None:
    made: Any = load_evaluator(name, judge=JUDGE)
    for prediction, reference in [(value, value), (value, "a"), ("a", value)]:
        found = made.evaluate_strings(prediction=prediction, reference=reference)
        assert (found["score"], found["value"]) == (None, cause)


@pytest.mark.parametrize("name", ["json_equality", "json_edit_distance", "json_validity", "json_schema_validation"])
@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (NAN, "missing_input"),
        (ValueError("timeout"), "bad_row"),
        ({"a": NAN}, "bad_row"),
        ({"a": ValueError("timeout")}, "bad_row"),
        ([object()], "bad_row"),
        (b"{}", "bad_row"),
        ({1, 2}, "bad_row"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_json_equals_nothing(name: str, value: Any, cause: str) -> None:
    made: Any = load_evaluator(name)
    found = made.evaluate_strings(prediction=value, reference=value)
    assert (found["score"], found["value"]) == (None, cause)
    if cause == "bad_row":
        assert f"prediction: expected JSON, found {type(value).__name__}" in found["reasoning"]


@pytest.mark.parametrize("value", [{}, [], {"a": [1, None, 2.5]}, 3.5, True, date(2024, 5, 1)])
def test_structured_values_are_json(value: Any) -> None:
    equality: Any = load_evaluator("json_equality")
    assert equality.evaluate_strings(prediction=value, reference=value)["score"] == 1.0
    assert equality.evaluate_strings(prediction=value, reference={"b": 1})["score"] == 0.0
    validity: Any = load_evaluator("json_validity")
    assert validity.evaluate_strings(prediction=value)["score"] == 1.0


@pytest.mark.parametrize(
    ("prediction_b", "cause"), [(NAN, "missing_input"), (ValueError("timeout"), "bad_row"), ({}, "missing_input")]
)
async def test_a_second_answer_that_is_no_text_is_compared_with_nothing(prediction_b: Any, cause: str) -> None:
    for name in ("pairwise_string", "pairwise_string_distance", "pairwise_embedding_distance"):
        made: Any = load_evaluator(name, judge=JUDGE)
        given = {"prediction": "a", "prediction_b": prediction_b} | ({"input": "q"} if made.requires_input else {})
        for found in (made.evaluate_string_pairs(**given), await made.aevaluate_string_pairs(**given)):
            assert (found["score"], found["value"]) == (None, cause)


@pytest.mark.parametrize(
    ("given", "cause", "reason"),
    [
        ({"prediction": NAN}, "missing_input", "needs 'answer'"),
        (
            {"prediction": ValueError("timeout")},
            "bad_row",
            "prediction (the answer): expected a text, found ValueError",
        ),
        ({"agent_trajectory": NAN}, "missing_input", "needs 'messages'"),
        ({"agent_trajectory": 7}, "bad_row", "agent_trajectory: expected a text or a list of steps, found int"),
        (
            {"agent_trajectory": [NAN]},
            "bad_row",
            "step 1 of 1: expected a pair of an action and its output, found float",
        ),
        (
            {"agent_trajectory": [("search", "x")]},
            "bad_row",
            "expected a pair of an action and its output, found tuple",
        ),
    ],
)
def test_a_trajectory_that_cannot_be_read_is_skipped(given: dict[str, Any], cause: str, reason: str) -> None:
    made: Any = load_evaluator("trajectory", judge=JUDGE)
    whole = {"prediction": "a", "input": "q", "agent_trajectory": "1. search", **given}
    found = made.evaluate_agent_trajectory(**whole)
    assert (found["score"], found["value"]) == (None, cause)
    assert reason in found["reasoning"]


def test_outputs_of_tools_may_be_any_values() -> None:
    steps = [(AgentAction(tool="search", tool_input="x", log=""), output) for output in ({"n": 1}, None, [date.max])]
    made: Any = load_evaluator("trajectory", judge=JUDGE)
    assert (
        made.evaluate_agent_trajectory(prediction="a", input="q", agent_trajectory=steps)["score"] == 0.75
    )  # (4 - 1) / 4


def test_a_judge_that_cannot_answer_is_refused_when_it_is_loaded() -> None:
    with pytest.raises(InputError, match="criterion"):
        load_evaluator("qa", judge=ScriptedJudge(rating=lambda question: 1))


def test_several_at_once_with_arguments_of_their_own() -> None:
    found = load_evaluators(
        [EvaluatorType.CRITERIA, "exact_match"],
        judge=JUDGE,
        config={EvaluatorType.CRITERIA: {"criteria": "detail"}, "exact_match": {"ignore_case": True}},
    )
    assert [one.evaluation_name for one in found] == ["detail", "exact_match"]


def test_a_chat_model_may_be_given_as_llm() -> None:
    answer = '{"answers": [{"question": "Q1", "reason": "so", "label": "yes"}]}'
    made: Any = load_evaluator("qa", llm=FakeListChatModel(responses=[answer]))
    found = made.evaluate_strings(prediction="a", input="q", reference="r")
    assert (found["score"], found["value"]) == (1.0, "CORRECT")
