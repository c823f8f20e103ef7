"""DeepEval's numbers on 45 conversations, driven by the same verdicts, and ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.deepeval import agent_ratings, exchange_ratings, loops, tool_correctness, turns
from assay.metrics.deepeval.agent_loop_detection import WEIGHTS
from assay.metrics.deepeval.scales import Rate
from assay.metrics.deepeval.tool_correctness import any_order, arguments_match, exact, in_order
from assay.metrics.deepeval.tool_permission import share_allowed
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.metrics.systems.conversation import exchanges, role_text
from assay.prompts import Usefulness
from assay.prompts.base import JudgePrompt
from assay.prompts.classification import Classification
from assay.prompts.criterion import Criterion
from assay.prompts.extraction import Extraction
from assay.prompts.rating import Rating, RatingResult
from assay.records import Context, Message, Sample, Score, ToolCall, Turn, Usage, Verdict
from tests.metrics.systems.golden import agrees, golden

import talks  # isort: skip
import worlds  # isort: skip

GOLDEN = golden("deepeval_agents")["values"]
TALKS = {talk.id: talk for talk in talks.talks()}

#: What a rating is called in the world, by its question.
RATINGS = {
    agent_ratings.TaskCompletion.question: "task_completion",
    agent_ratings.StepEfficiency.question: "step_efficiency",
    agent_ratings.PlanQuality.question: "plan_quality",
    agent_ratings.PlanAdherence.question: "plan_adherence",
    exchange_ratings.TOOLS: "tools",
    exchange_ratings.ARGUMENTS: "arguments",
    exchange_ratings.GOAL: "GoalScore",
    exchange_ratings.PLAN: "PlanScore",
    exchange_ratings.TASK: "mcp_task_completion",
    tool_correctness.CHOICE: "tools",
}
CRITERIA = {turns.RELEVANT: "relevant", turns.FORGETS: "forgets"}
TOPIC = {"TP": "on_topic_answered", "TN": "off_topic_refused", "FP": "off_topic_answered", "FN": "on_topic_refused"}


def _all() -> list[tuple[str, SystemMetric]]:
    """The metrics of this page by name: those that were driven."""
    names = {variant.partition("/")[0] for variant in GOLDEN}
    return [(name, named(f"deepeval:{name}")) for name in sorted(names)]


class Knowing(ScriptedJudge):
    """A judge that says what the world says, also where it depends on more than a script's rules are told."""

    def __init__(self, talk: talks.Talk, told: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(
            claims=lambda text: told.get(text, ()),
            support=worlds.label,
            usefulness=lambda question, passage: worlds.useful(question, passage),
            rating=0, criterion=0, extraction=0, classification=0,
        )  # fmt: skip
        self.talk = talk

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers = []
        for prompt in prompts:
            found = self.known(prompt)
            answers += (
                [Answer(judgement=found, usage=Usage(calls=1))] if found is not None else await super().answer([prompt])
            )
        return answers

    def known(self, prompt: JudgePrompt[Any]) -> Any:
        if isinstance(prompt, Rating):
            level = talks.level(RATINGS.get(prompt.question, "g_eval"), texts_of(prompt))
            return RatingResult(level=level, expected=None if prompt.question in RATINGS else 10 * level / talks.TOP)
        if isinstance(prompt, Criterion):
            return Verdict(label="yes" if talks.yes(CRITERIA[prompt.question], texts_of(prompt)) else "no")
        if isinstance(prompt, Extraction):
            return self.listed(prompt)
        if isinstance(prompt, Classification):
            return tuple(Verdict(label=self.sorted(prompt.what, item)) for item in prompt.given)
        if isinstance(prompt, Usefulness) and prompt.given:
            return tuple(
                Verdict(
                    label="useful" if worlds.useful(prompt.question, text, prompt.given) else "not_useful", passage=n
                )
                for n, text in enumerate(prompt.passages)
            )
        return None

    def listed(self, prompt: Extraction) -> tuple[str, ...]:
        if prompt.what == "facts":
            return self.talk.facts(dict(prompt.material)["MESSAGE"])
        if prompt.what == "questions":
            return tuple(one.text for one in self.talk.said if one.role == "user" and one.text in texts_of(prompt))
        return {"intentions": self.talk.intentions, "plan": self.talk.plan}[prompt.what]

    def sorted(self, what: str, item: str) -> str:
        if what == "intentions":
            return "met" if talks.yes("met", item, "i") else "not_met"
        if what == "role":
            return "in_role" if talks.yes("role", item) else "out_of_role"
        if what == "topics":
            return TOPIC[worlds.pick(("TP", "TN", "FP", "FN"), "topic", talks.last_mark(item, "u"))]
        name, _, arguments = item.partition("(")
        return "correct" if worlds.share("arguments", name, arguments.removesuffix(")")) < 0.6 else "incorrect"


def texts_of(prompt: Any) -> str:
    return "\n".join(text for _, text in prompt.material)


def tool(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(name=call["name"], arguments=call["args"], output=call["output"])


def sample_of(talk: talks.Talk) -> Sample:
    """A conversation as a sample: the passages of its exchanges are those of its history."""
    messages = tuple(
        Message(role=one.role, content=one.text, tool_calls=tuple(map(tool, one.calls))) for one in talk.said
    )
    by_text = {one.text: one for one in talk.said}
    history = tuple(
        Turn(
            question=role_text(found, "user"),
            answer=role_text(found, "assistant"),
            contexts=tuple(Context(text=text) for message in found for text in by_text[message.content].contexts),
        )
        for found in exchanges(messages)
    )
    return Sample(
        id=talk.id, question=next((one.text for one in talk.said if one.role == "user"), "-"), messages=messages,
        history=history, reference=talk.reference, answer="\n".join(one.text for one in talk.said),
        metadata={
            "expected_tools": list(talk.expected), "tools_called": list(talk.calls),
            "allowed_tools": list(talks.TOOLS[:3]), "denied_tools": ["lookup"],
            "chatbot_role": "guide", "criteria": "Is it good?", "relevant_topics": ["it"], "mcp_servers": ["server"],
        },
    )  # fmt: skip


def judge_of(talk: talks.Talk, sample: Sample) -> Knowing:
    by_text = {one.text: one for one in talk.said}
    told: dict[str, tuple[str, ...]] = {talk.reference: talk.known}
    for found in exchanges(sample.messages):
        told[role_text(found, "assistant")] = tuple(
            claim for message in found if message.role == "assistant" for claim in by_text[message.content].told
        )
    return Knowing(talk, told)


def with_tools(sample: Sample) -> Sample:
    return replace(sample, metadata={**sample.metadata, "available_tools": list(talks.TOOLS)})


def with_trace(sample: Sample) -> Sample:
    """What DeepEval saw in its trace: a root, below it the tools and the model's texts, in every fifth a cycle."""
    number = list(TALKS).index(sample.id or "")
    called = tuple(call for message in sample.messages for call in message.tool_calls)
    written = talks.traces().get(sample.id or "", [])
    way = [Message(role="assistant", content=text) for text in written]
    below = [{"type": "agent", "name": "root", "input": "Go"}] if number % 5 == 0 else []
    trace = {"type": "agent", "name": "root", "input": "Go", "children": below}
    messages = (Message(role="assistant", tool_calls=called), *way)
    return replace(sample, messages=messages, metadata={"trace": trace})


#: Parameters of the variants that are compared, and what their samples have besides.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "tool_correctness/arguments": {"evaluation_params": ("input_parameters",)},
    "tool_correctness/output": {"evaluation_params": ("input_parameters", "output")},
    "tool_correctness/ordered": {"evaluation_params": ("input_parameters",), "should_consider_ordering": True},
    "tool_correctness/exact": {"evaluation_params": ("input_parameters", "output"), "should_exact_match": True},
    "turn_relevancy/window": {"window_size": 1},
    "turn_faithfulness/strict": {"penalize_ambiguous_claims": True, "window_size": 2},
    "agent_loop_detection": {"repetition_threshold": 2},
    "conversational_g_eval": {"evaluation_steps": ("Look",)},
}
MADE: Mapping[str, Callable[[Sample], Sample]] = {
    "tool_correctness/available": with_tools,
    "tool_use": with_tools,
    "agent_loop_detection": with_trace,
}


def scored(variant: str, talk: talks.Talk, profile: str = "@original") -> Score:
    metric = replace(named(f"deepeval:{variant.partition('/')[0]}{profile}"), **VARIANTS.get(variant, {}))
    sample = sample_of(talk)
    return asyncio.run(metric.score(MADE.get(variant, lambda one: one)(sample), judge_of(talk, sample)))


@pytest.mark.parametrize("variant", sorted(GOLDEN))
def test_every_number_of_deepeval_is_ours(variant: str) -> None:
    assert len(GOLDEN[variant]) >= 40
    for talk, expected in GOLDEN[variant].items():
        agrees(scored(variant, TALKS[talk]), expected)


def call(name: str, output: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, output=output)


@pytest.mark.parametrize(
    ("expected", "called", "value"),
    [
        ({"a": 1}, {"a": 1}, 1.0),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, 1 / 2),
        ({"a": 1}, {"a": 1, "b": 3, "c": 4}, 1 / 3),  # names of both count
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3}}, 1 / 2),
        ({"a": {"x": 1}, "b": 1}, {"a": {"x": 1, "y": 3}, "b": 1}, (1 / 2 + 1) / 2),
        ({"a": 1}, {}, 0.0),
    ],
)
def test_arguments_match(expected: dict[str, Any], called: dict[str, Any], value: float) -> None:
    assert arguments_match(expected, called) == pytest.approx(value)


def test_expected_calls() -> None:
    a, b = call("a"), call("b")
    assert any_order([a, b], [b, a], ()) == 1.0
    assert in_order([a, b], [b, a], ()) == 1 / 2  # one of the two in order
    assert exact([a, b], [b, a], ()) == 0.0
    assert (any_order([a, b], [a], ()), any_order([a], [a, b, b], ())) == (1 / 2, 1.0)  # too many cost nothing
    assert (exact([a], [a], ()), exact([a], [a, b], ())) == (1.0, 0.0)
    assert any_order([call("a", "x")], [call("a", "y")], ("output",)) == 0.0
    assert in_order([call("a", p=1), b], [call("a", p=2), b], ("input_parameters",)) == 1 / 2
    for formula in (any_order, in_order, exact):
        assert formula([], [], ()) == 1.0
        assert formula([], [a], ()) == 0.0


def test_equal_calls_count_each_unless_the_original_is_wanted() -> None:
    a = call("a")
    assert any_order([a, a], [a, a], ()) == 1.0
    assert any_order([a, a], [a, a], (), alike_once=True) == 1 / 2


def test_share_allowed() -> None:
    assert share_allowed(["a", "b", "c"], ["a", "b"], ["b"]) == 1 / 3  # denied wins over allowed
    assert share_allowed(["a", "b"], None, ["b"]) == 1 / 2
    assert share_allowed(["a"], [], ()) == 0.0


def test_signs_of_loops() -> None:
    assert [loops.repetition(count, 3) for count in (0, 2, 3, 5, 6)] == [1.0, 1.0, 0.5, 0.5, 0.0]
    assert [loops.stagnation(alike, 0.85) for alike in (0.84, 0.85, 0.95, 0.951)] == [1.0, 0.5, 0.5, 0.0]
    assert loops.most_alike_calls([call("a", q=1), call("a", q=2), call("a", q=1), call("b", q=1)]) == 2
    assert loops.most_alike_texts(["short", "short"]) is None
    long = " ".join(f"word{n}" for n in range(20))
    assert loops.most_alike_texts([long, long]) == 1.0
    assert loops.words_of("The agent is at it") == ["agent"]
    step = {"type": "agent", "name": "a", "input": "x"}
    assert loops.cycles({**step, "children": [{**step, "input": "y"}, {**step, "input": "y"}]}) == 1.0
    assert loops.cycles({**step, "children": [{"children": [step]}]}) == 0.0
    assert loops.combined({"tool_repetition": 0.5, "call_graph_cycles": 1.0}, WEIGHTS) == pytest.approx(0.45 / 0.65)
    assert dict(WEIGHTS) == {"tool_repetition": 0.40, "reasoning_stagnation": 0.35, "call_graph_cycles": 0.25}


def test_shares() -> None:
    assert (
        turns.share_right(["on_topic_answered", "off_topic_refused", "off_topic_answered", "on_topic_refused"]) == 0.5
    )
    assert Rate((1.0, 0.25), ()).mean == 0.625
    assert Rate((), ()).mean == 0.0


@pytest.mark.parametrize("name", [name for name, metric in _all() if metric.conventions])
def test_what_the_original_invents_is_no_number_without_its_profile(name: str) -> None:
    nothing = Sample(
        messages=(Message(role="assistant", content="Hello"),), question="Go", reference="It is so.",
        metadata={"allowed_tools": [], "available_tools": [], "mcp_servers": [], "relevant_topics": []},
    )  # fmt: skip
    if name == "agent_loop_detection":
        nothing = Sample()
    judge = Knowing(talks.Talk("none", (), (), ()), {})
    ours = asyncio.run(named(f"deepeval:{name}").score(nothing, judge))
    theirs = asyncio.run(named(f"deepeval:{name}@original").score(nothing, judge))
    assert ours.error is not None
    assert ours.error.cause in (Cause.NOT_APPLICABLE, Cause.MISSING_INPUT)
    assert theirs.value in (0.0, 1.0)


def test_tool_use_without_a_call_is_the_choice_alone() -> None:
    talk = TALKS["greeting"]
    ours = scored("tool_use", talk, profile="")
    assert ours.value == ours.parts["tool_selection"] == talks.level("tools", "#a40.11") / talks.TOP
    assert scored("tool_use", talk).value == 0.0


@pytest.mark.parametrize("name", ["turn_relevancy", "turn_faithfulness"])
def test_windows_must_hold_something(name: str) -> None:
    with pytest.raises(InputError, match="window_size"):
        replace(named(f"deepeval:{name}"), window_size=0)  # type: ignore[call-arg]
