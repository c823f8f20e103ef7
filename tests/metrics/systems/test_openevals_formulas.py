"""The formulas of openevals' evaluators by hand, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.openevals.json_match import JsonMatch, aggregated, by_key
from assay.metrics.openevals.llm_as_judge import LlmAsJudge, in_tenths
from assay.metrics.openevals.records import pairs
from assay.metrics.openevals.rubrics import RUBRICS, Rubric
from assay.metrics.openevals.texts import EmbeddingSimilarity
from assay.metrics.openevals.tool_args import MODES, covers, on_keys
from assay.metrics.openevals.trajectories import reference_trajectory
from assay.metrics.openevals.trajectory_match import TrajectoryMatch, calls_match, strict
from assay.metrics.systems import named
from assay.prompts import Criterion
from assay.prompts.rating import RatingResult
from assay.records import Message, Sample, ToolCall
from tests.metrics.systems.scoring import prompts, score, sections
from tests.metrics.systems.test_openevals import messages_of, texts_of


def test_yes_is_bad_where_the_prompt_is_about_a_fault() -> None:
    worse = {name for name in RUBRICS if named(f"openevals:{name}").direction == "lower"}
    assert worse == {
        *("laziness", "toxicity", "fairness", "pii_leakage", "prompt_injection", "code_injection", "perceived_error"),
    }


def test_tenths_are_the_mean_where_probabilities_are_known() -> None:
    assert in_tenths(RatingResult(level=7)) == 0.7
    assert in_tenths(RatingResult(level=7, expected=6.5)) == 0.65


def test_choices_are_the_range() -> None:
    metric = LlmAsJudge(choices=(0.0, 2.0, 5.0))
    assert (metric.low, metric.high, metric.label) == (0.0, 5.0, "openevals:llm_as_judge_choices")
    sample = Sample(answer="a", metadata={"prompt": "brevity"})
    assert score(metric, sample, ScriptedJudge(question=lambda question: "2.0")).value == 2.0


def test_a_rubric_of_ones_own() -> None:
    metric = LlmAsJudge(Rubric("politeness", "Is the ANSWER polite?", ("answer",), ("answer",)))
    asked: list[str] = []

    def say(question: str, vote: int) -> bool:
        asked.append(question)
        return True

    found = score(metric, Sample(answer="Please."), ScriptedJudge(criterion=say))
    assert (found.metric, found.value, asked) == ("openevals:politeness", 1.0, ["Is the ANSWER polite?"])


@pytest.mark.parametrize(
    "given", [{"continuous": True, "choices": (0.0, 1.0)}, {"choices": (1.0,)}, {"choices": (1.0, float("nan"))}]
)
def test_forms_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="choices"):
        LlmAsJudge(**given)


@pytest.mark.parametrize(
    ("mode", "ours", "theirs", "agree"),
    [
        ("exact", {"a": 1}, {"a": 1}, True),
        ("exact", {"a": 1}, {"a": 2}, False),
        ("ignore", {"a": 1}, {"b": 2}, True),
        ("subset", {"a": 1}, {"a": 1, "b": 2}, True),
        ("subset", {"a": 1, "b": 2}, {"a": 1}, False),
        ("subset", {"a": 1}, {"a": 2}, False),
        ("superset", {"a": 1, "b": 2}, {"a": 1}, True),
        ("superset", {"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_arguments_agree_by_mode(mode: str, ours: Any, theirs: Any, agree: bool) -> None:
    assert MODES[mode](ours, theirs) is agree


@pytest.mark.parametrize(
    ("keys", "agree"),
    [(["a"], True), (["b"], False), (["a", "b"], False), (["c.d"], True), (["x"], False), (["a.b"], False)],
)
def test_arguments_agree_by_keys_that_both_have(keys: list[str], agree: bool) -> None:
    assert on_keys(keys)({"a": 1, "b": 1, "c": {"d": 1}}, {"a": 1, "b": 2, "c": {"d": 1}}) is agree


A, B = ToolCall(name="a", arguments={"x": 1}), ToolCall(name="b")


def test_each_call_is_matched_once() -> None:
    assert covers((A, A), (A, A), "exact", {}, swapped=False)
    assert not covers((A,), (A, A), "exact", {}, swapped=False)
    assert covers((B, A), (A,), "exact", {}, swapped=False)


def test_the_arguments_of_the_agent_go_first_to_a_matcher() -> None:
    more = ToolCall(name="a", arguments={"x": 1, "y": 2})
    assert covers((more,), (A,), "superset", {}, swapped=False)  # the call has more than what is wanted
    assert not covers((more,), (A,), "superset", {}, swapped=True)
    seen: list[Any] = []
    override = {"a": lambda ours, theirs: seen.append((dict(ours), dict(theirs))) or True}
    assert covers((more,), (A,), "exact", override, swapped=True)
    assert seen == [({"x": 1}, {"x": 1, "y": 2})]


@pytest.mark.parametrize(
    ("how", "ours", "theirs", "match"),
    [
        ("unordered", (A, B), (B, A), True),
        ("unordered", (A, B), (A,), False),
        ("unordered", (A,), (A, B), False),
        ("subset", (A,), (A, B), True),
        ("subset", (A, B), (A,), False),
        ("superset", (A, B), (A,), True),
        ("superset", (A,), (A, B), False),
    ],
)
def test_calls_match_by_mode(how: Any, ours: Any, theirs: Any, match: bool) -> None:
    assert calls_match(how, ours, theirs, "exact", {}) is match


def test_an_agent_without_calls_has_none_to_look_for_in_subset_alone() -> None:
    silent = Sample(
        messages=(Message(role="assistant", content="done"),),
        metadata={"reference_outputs": [{"role": "assistant", "tool_calls": [{"name": "b", "args": {}}]}]},
    )
    assert score(TrajectoryMatch("subset"), silent).value is None
    assert score(TrajectoryMatch("superset"), silent).value == 0.0
    assert score(TrajectoryMatch("unordered"), silent).value == 0.0


def test_strict_looks_at_roles_and_calls_of_each_message() -> None:
    asks, calls, says = Message(role="user"), Message(role="assistant", tool_calls=(A, B)), Message(role="assistant")
    turned = Message(role="assistant", content="other words", tool_calls=(B, A))
    assert strict((asks, calls), (asks, turned), "exact", {})
    assert not strict((asks, calls), (asks, says), "exact", {})
    assert not strict((asks, says), (asks, asks), "exact", {})
    assert not strict((asks,), (asks, asks), "exact", {})


@pytest.mark.parametrize(
    "given",
    [
        {"trajectory_match_mode": "loose"},
        {"tool_args_match_mode": "loose"},
        {"tool_args_match_mode": ["x"]},
        {"tool_args_match_overrides": {"a": "loose"}},
        {"tool_args_match_overrides": {"a": 3}},
        {"tool_args_match_overrides": {"a": ["x", 3]}},
    ],
)
def test_match_modes_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected one of"):
        TrajectoryMatch(**given)


def test_a_reference_is_read_as_openai_and_langchain_write_it() -> None:
    openai = [
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "a", "arguments": '{"x": 1}'}}]}
    ]
    langchain = [{"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {"x": 1}, "id": "1"}]}]
    expected = (Message(role="assistant", tool_calls=(A,)),)
    assert messages_of(openai) == messages_of(langchain) == expected
    parts = [{"type": "text", "text": "Köln"}]
    assert messages_of([{"role": "user", "content": parts}])[0].content == '[{"type": "text", "text": "Köln"}]'
    wrapped = Sample(metadata={"reference_outputs": {"messages": openai}})
    assert reference_trajectory(wrapped, TrajectoryMatch()) == expected


def test_levenshtein_is_closeness() -> None:
    # kitten, sitting: 3 edits of 7 characters
    found = score(named("openevals:levenshtein_distance"), Sample(answer="kitten", reference="sitting"))
    assert found.value == pytest.approx(1 - 3 / 7)
    assert found.direction == "higher"


def test_similarity_is_rounded_only_in_the_original() -> None:
    judge = ScriptedJudge(similarity=lambda a, b: 0.123456)
    sample = Sample(answer="a", reference="b")
    assert score(EmbeddingSimilarity(), sample, judge).value == 0.123456
    assert score(EmbeddingSimilarity(profile="original"), sample, judge).value == 0.12
    with pytest.raises(InputError, match="algorithm"):
        EmbeddingSimilarity("euclidean")  # type: ignore[arg-type]


@pytest.mark.parametrize(("numbers", "mean", "every"), [((1.0, 0.0, 0.0, 1.0), 0.5, 0.0), ((1.0, 1.0), 1.0, 1.0)])
def test_numbers_are_aggregated(numbers: Any, mean: float, every: float) -> None:
    assert (aggregated(numbers, "average"), aggregated(numbers, "all")) == (mean, every)


def test_numbers_by_key_are_of_the_objects_that_have_it() -> None:
    assert by_key([{"a": 1.0}, {"a": 0.0, "b": 1.0}]) == {"a": [1.0, 0.0], "b": [1.0]}


P, Q, R = {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("mode", "ours", "theirs", "expected"),
    [
        ("ordered", [P, Q], [Q], [(P, Q), (Q, None)]),
        ("same_elements", [P, Q], [Q, P], [(P, P), (Q, Q)]),
        ("same_elements", [P, R], [Q], [(P, Q), (R, None)]),  # the first takes what would suit the second as well
        ("same_elements", [P], [R, Q], [(P, Q), (None, R)]),
        ("subset", [P], [R, Q], [(P, Q)]),
        ("superset", [R, Q], [P], [(Q, P)]),
        ("superset", [], [P], [(None, P)]),
    ],
)
def test_records_are_paired(mode: Any, ours: Any, theirs: Any, expected: Any) -> None:
    assert pairs(ours, theirs, mode, set()) == expected


def test_skipped_keys_have_no_say_in_the_pairing() -> None:
    assert pairs([P], [Q, R], "subset", set()) == [(P, Q)]
    assert pairs([Q], [P, R], "subset", {"a"}) == [(Q, R)]  # of b alone


def test_json_match_by_key() -> None:
    found = score(JsonMatch(), texts_of({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "d": 4}))
    assert dict(found.parts) == {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}
    assert found.value == 0.25  # 1 of 4 keys


def test_json_match_of_lists_by_key_and_by_object() -> None:
    sample = texts_of([P, Q], [P, R])  # objects: 1 and 1; then a wrong and b right
    assert score(JsonMatch("average", "average"), sample).value == 0.75  # (1 + 1/2) / 2
    assert score(JsonMatch("all", "average"), sample).value == 0.5  # (1 + 0) / 2
    assert score(JsonMatch("average"), sample).value == 0.0  # not every object is 1
    by_keys = score(JsonMatch(list_aggregator="average"), sample)
    assert (by_keys.value, dict(by_keys.parts)) == (0.75, {"a": 0.5, "b": 1.0})


def test_json_match_asks_the_judge_for_keys_with_a_rubric() -> None:
    metric = JsonMatch("average", rubric={"b": "close enough"})
    judge = ScriptedJudge(criterion=lambda question, vote: "close enough" in question)
    found = score(metric, texts_of({"a": 1, "b": 2}, {"a": 1, "b": 3}), judge)
    assert (found.value, judge.asked["criterion"], list(found.verdicts)) == (1.0, 1, ["b 0"])
    assert score(metric, texts_of({"b": 2}, {"a": 1}), judge).value == 0.0  # a key that one lacks is not asked about


@pytest.mark.parametrize(
    "given", [{"aggregator": "mean"}, {"list_aggregator": None}, {"list_match_mode": "any"}, {"exclude_keys": "ab"}]
)
def test_json_match_refuses_what_it_does_not_know(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        JsonMatch(**given)


def test_very_long_lists_are_not_paired() -> None:
    found = score(JsonMatch(), texts_of([{}] * 1001, []))
    assert found.error is not None
    assert found.error.cause is Cause.TOO_LONG
    assert score(JsonMatch(), texts_of([{"a": 1}] * 1000, [])).value == 0.0  # as many as are paired


def test_json_match_shows_the_share_of_each_key_beside_the_mean_of_objects() -> None:
    found = score(JsonMatch("average", "average"), texts_of([P, Q], [P, R]))
    assert dict(found.parts) == {"a": 0.5, "b": 1.0}  # of two objects one has a right, both b
    metric = JsonMatch("average", rubric={"b": "close enough"})
    (asked,) = prompts(metric, texts_of({"b": "x"}, {"b": ["Köln"]}), criterion=lambda question, vote: True)
    assert isinstance(asked, Criterion)
    assert (asked.material, asked.vote) == ((("VALUE", "x"), ("REFERENCE", '["Köln"]')), 0)


def test_turns_of_a_graph_without_a_result_are_shown_without_one() -> None:
    metadata = {"graph_trajectory": {"steps": [["a"], ["b"]], "results": ["r"], "inputs": ["i", ""]}}
    shown = sections("openevals:graph_trajectory_accuracy", Sample(metadata=metadata), criterion=lambda q, v: True)
    assert shown["STEPS"] == 'ASKED: "i"\nNODES: ["a"]\nRESULT: "r"\nNODES: ["b"]'


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("correctness", ()),
        ("llm_as_judge", ("prompt",)),
        ("plan_adherence", ("plan",)),
        ("trajectory_accuracy_with_reference", ("reference_outputs",)),
    ],
)
def test_a_rubric_needs_the_columns_that_it_shows(name: str, columns: tuple[str, ...]) -> None:
    assert named(f"openevals:{name}").columns == columns
