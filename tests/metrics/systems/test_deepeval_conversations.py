"""DeepEval's graphs, decision models, classifiers and expectations on 45 conversations, and ours."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.deepeval.conversational_g_eval import ConversationalGEval
from assay.metrics.deepeval.dag import DAG, ConversationalDAG
from assay.metrics.deepeval.g_eval import GEval, level_of, weighted_level
from assay.metrics.deepeval.graph import graph_of
from assay.metrics.deepeval.jev_eval import ConversationalJevEval, JevEval, Statement, mean_credit
from assay.metrics.deepeval.own_classifiers import ConversationalClassifier, OwnClassifier, labels_of
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.prompts import (
    ChoiceResult,
    Classification,
    Criterion,
    Extraction,
    MultipleChoice,
    Question,
    Rating,
    RatingResult,
)
from assay.prompts.base import JudgePrompt
from assay.records import Context, Message, Sample, Score, Turn, Usage, Verdict
from tests.metrics.systems.golden import agrees, golden

import decisions  # isort: skip
import talks  # isort: skip

GOLDEN = golden("deepeval_conversations")["values"]
TALKS = {talk.id: talk for talk in talks.talks()}
SHOWN = ["role", "content"]
GRAPH: dict[str, Any] = {
    "start": "source",
    "nodes": {
        "sources": {"task": "List the sources", "shown": SHOWN},
        "source": {
            "binary": "Is there a source?",
            "reads": ["sources"],
            "verdicts": {"yes": {"node": "tone"}, "no": 0},
        },
        "tone": {
            "choice": "What is the tone?",
            "shown": SHOWN,
            "turn_window": list(decisions.WINDOW),
            "verdicts": {**decisions.TONES, "rude": {"metric": "deepeval:turn_relevancy"}},
        },
    },
}
QUESTIONS = [
    {"statement": decisions.STATEMENT, "weight": decisions.WEIGHTS[decisions.STATEMENT]},
    {"question": decisions.SCALE, "levels": list(decisions.LEVELS)},
    {"question": decisions.CHOICE, "options": decisions.CREDITS, "weight": decisions.WEIGHTS[decisions.CHOICE]},
]
VARIANTS: Mapping[str, SystemMetric] = {
    "conversational_dag/strict": ConversationalDAG(strict_mode=True),
    "conversational_jev_eval/strict": ConversationalJevEval(strict_mode=True),
    "conversational_classifier": ConversationalClassifier(title="mood"),
    "conversational_classifier/resolution": ConversationalClassifier(kind="resolution"),
    "g_eval/weighted": GEval(evaluation_steps=("Read.",)),
}


class Knowing(ScriptedJudge):
    """A judge that says what the world says of a conversation, with its probabilities."""

    def __init__(self, talk: talks.Talk) -> None:
        super().__init__(criterion=0, rating=0, question=0, extraction=0, classification=0)
        self.talk = talk
        self.shown: list[str] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [Answer(judgement=self.known(prompt), usage=Usage(calls=1)) for prompt in prompts]

    def known(self, prompt: Any) -> Any:
        text = "\n".join(shown for _, shown in prompt.material)
        self.shown.append(text)
        match prompt:
            case Extraction():
                return ("a list",)
            case Criterion(question="Is there a source?"):
                return Verdict(label="yes" if decisions.has_source(self.talk) else "no")
            case Criterion(question=asked) if asked.endswith(decisions.STATEMENT):
                chance = decisions.odds(decisions.STATEMENT, ("yes", "no"), text)["yes"]
                return Verdict(label="yes" if chance >= 0.5 else "no", probability=chance)
            case Criterion():
                return Verdict(label="yes" if talks.yes("relevant", text) else "no")
            case Rating(question=decisions.SCALE):
                found = tuple(enumerate(decisions.odds(decisions.SCALE, decisions.LEVELS, text).values()))
                level = max(found, key=lambda one: one[1])[0]
                return RatingResult(level=level, expected=sum(number * odd for number, odd in found), odds=found)
            case Rating():
                return written(self.talk)
            case MultipleChoice():
                odds = decisions.odds(prompt.question, tuple(decisions.CREDITS), text)
                return ChoiceResult(option=max(odds, key=odds.__getitem__), odds=tuple(odds.items()))
            case Question(question="What is the tone?"):
                return Verdict(label=decisions.tone(text))
            case Question():
                kind = "resolution" if decisions.RESOLUTIONS[0] in prompt.labels() else "mood"
                return Verdict(label=decisions.label(kind, prompt.labels(), text))
            case Classification():
                return tuple(Verdict(label=decisions.keeps(one.partition(": ")[2], text)) for one in prompt.given)
        raise AssertionError(prompt)


def written(talk: talks.Talk) -> RatingResult:
    """The level as an endpoint's reply is read, with the probabilities of tokens."""
    tokens = [(token, odd) for token, odd in decisions.tokens(talk) if token.isdecimal()]
    mass = sum(odd for _, odd in tokens)
    probs = {token: odd / mass for token, odd in tokens}
    levels = tuple((level, "") for level in range(11))
    reply = {"label": str(decisions.written(talk)), "reason": "-", "probs": probs, "mass": mass}
    return Rating("How good?", levels, ()).read(reply)


def sample_of(talk: talks.Talk) -> Sample:
    return Sample(
        id=talk.id, question="Q?", answer="A.",
        messages=tuple(Message(role=one.role, content=one.text) for one in talk.said),
        metadata={
            "conversational_dag": GRAPH, "questions": QUESTIONS, "labels": list(decisions.MOODS),
            "expectations": {"must": list(decisions.MUST), "must_not": list(decisions.MUST_NOT)},
            "expected_labels": {
                "mood": decisions.expected("mood", decisions.MOODS, talk),
                "resolution": decisions.expected("resolution", decisions.RESOLUTIONS, talk),
            },
        },
    )  # fmt: skip


def scored(metric: SystemMetric, sample: Sample, judge: ScriptedJudge) -> Score:
    return asyncio.run(metric.score(sample, judge))


@pytest.mark.parametrize("variant", sorted(GOLDEN))
def test_every_number_of_deepeval_is_ours(variant: str) -> None:
    assert sum(value is not None for value in GOLDEN[variant].values()) >= 30
    metric = VARIANTS.get(variant) or named(f"deepeval:{variant}")
    for talk, expected in GOLDEN[variant].items():
        agrees(scored(replace(metric, profile="original"), sample_of(TALKS[talk]), Knowing(TALKS[talk])), expected)


def test_improbable_levels_count_in_ours_and_not_in_the_original() -> None:
    odds = ((8, 0.5), (9, 0.491), (0, 0.009))
    # (8 * 0.5 + 9 * 0.491) / 0.991; with the level 0 the mean is 8 * 0.5 + 9 * 0.491 = 8.419
    assert weighted_level(odds, 8) == pytest.approx(8.495459)
    rated = RatingResult(level=8, expected=8.419, odds=odds)
    assert level_of(rated, original=True) == pytest.approx(8.495459)
    assert level_of(rated, original=False) == 8.419
    assert weighted_level(((8, 0.005), (9, 0.004)), 8) == 8.0  # none is probable enough: the level as it is written
    assert level_of(RatingResult(level=8), original=True) == 8.0


SHARES = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=11).map(
    lambda found: [one / max(1.0, sum(found)) for one in found]
)


@given(SHARES)
def test_a_weighted_level_lies_between_the_levels_that_count(shares: list[float]) -> None:
    odds = list(enumerate(shares))
    counted = [level for level, odd in odds if odd >= 0.01]
    found = weighted_level(odds, 1)
    assert min(counted, default=1) - 1e-9 <= found <= max(counted, default=1) + 1e-9


@given(SHARES, st.lists(st.none() | st.floats(0.0, 1.0), min_size=11, max_size=11))
def test_a_mean_credit_lies_between_the_credits(shares: list[float], given_: list[float | None]) -> None:
    odds = [(str(number), share if share > 1e-200 else 0.0) for number, share in enumerate(shares)]
    credits = {option: credit for (option, _), credit in zip(odds, given_, strict=False)}
    found = mean_credit(odds, credits)
    known = [credit for option, odd in odds if (credit := credits[option]) is not None and odd > 0]
    if found is not None:
        assert min(known) - 1e-9 <= found <= max(known) + 1e-9


def test_a_rating_keeps_the_probabilities_of_its_levels() -> None:
    rating = Rating("How good?", ((0, "bad"), (1, "good")), (("TEXT", "x"),))
    rated = rating.read({"label": "1", "reason": "", "probs": {"0": 0.25, "1": 0.75}, "mass": 0.8})
    assert (rated.expected, rated.odds) == (0.75, ((0, 0.2), (1, pytest.approx(0.6))))
    assert rating.from_decisions({"rating": {"0": 0.3, "1": 0.7}}).odds == ((0, 0.3), (1, 0.7))
    assert rating.check(RatingResult(level=1, odds=((2, 0.5),))) is not None
    assert rating.check(RatingResult(level=1, odds=((1, 1.5),))) is not None


def test_mean_credit() -> None:
    credits = {"a": 1.0, "b": 0.5, "none": None}
    assert mean_credit([("a", 0.5), ("b", 0.3), ("none", 0.2)], credits) == pytest.approx((0.5 + 0.15) / 0.8)
    assert mean_credit([("a", 0.5), ("none", 0.5)], credits) is None  # half of it: the question does not apply
    assert mean_credit([("b", 1.0)], credits) == 0.5
    assert mean_credit([("a", 0.0), ("b", 0.0), ("none", 0.4)], credits) is None


def test_a_choice_is_asked_as_ask_and_keeps_all_probabilities() -> None:
    choosing = MultipleChoice("What tone?", (("glad", "it is glad"), ("angry", "")), (("TEXT", "x"),))
    asked = Question("What tone?", (("TEXT", "x"),), labels={"glad": "it is glad", "angry": ""})
    assert choosing.content() == asked.content()
    found = choosing.read({"label": "Angry", "reason": "Loud.", "probs": {"glad": 0.1, "angry": 0.9}})
    assert found == ChoiceResult(option="angry", odds=(("glad", 0.1), ("angry", 0.9)), reason="Loud.")
    assert choosing.from_decisions({"multiple_choice": {"glad": 0.6, "angry": 0.4}}).option == "glad"
    assert choosing.check(ChoiceResult(option="sad")) is not None
    assert choosing.check(ChoiceResult(option="glad", odds=(("glad", 2.0),))) is not None
    assert choosing.check(found) is None
    with pytest.raises(InputError, match="labels"):
        MultipleChoice("What tone?", (("glad", ""),), ())


HELLO = Sample(
    messages=(
        Message(role="system", content="Be kind."),
        Message(role="user", content="One?"),
        Message(role="assistant", content="One."),
        Message(role="tool", content="found"),
        Message(role="user", content="Two?"),
        Message(role="assistant", content="Two."),
    ),
    history=(Turn(question="One?", answer="One.", contexts=(Context(text="First."),)),),
    question="Two?",
    contexts=(Context(text="Second."),),
    metadata={"scenario": "A shop.", "criteria": "Kind?"},
)


def looking(window: list[int] | None, shown: Sequence[str] = SHOWN) -> tuple[Score, list[str]]:
    """The score of a graph with one judgement that shows these turns, and what the judge saw."""
    node: dict[str, Any] = {"binary": "Is there a source?", "shown": list(shown), "verdicts": {"yes": 10, "no": 0}}
    if window:
        node["turn_window"] = window
    judge = Knowing(TALKS["greeting"])
    metric = ConversationalDAG(graph_of({"start": "a", "nodes": {"a": node}}, conversational=True))
    return scored(metric, HELLO, judge), judge.shown


def test_a_node_shows_the_turns_of_its_window() -> None:
    score, (seen,) = looking([1, 2])
    assert score.value is not None
    assert seen == "ASSISTANT: One.\nUSER: Two?"
    assert "One?" in looking(None)[1][0]


@pytest.mark.parametrize("window", [[0, 4], [3, 9], [7, 8]])
def test_a_window_without_its_turns_is_no_score(window: list[int]) -> None:
    score, seen = looking(window)
    assert score.error is not None
    assert (score.error.cause, seen) == (Cause.MISSING_INPUT, [])
    assert "there are 4 turns" in score.error.message


def test_passages_are_those_of_the_turns_shown() -> None:
    assert looking([0, 1], ["content", "retrieval_context"])[1][0].startswith("First.\nUSER: One?")
    assert looking([2, 3], ["content", "retrieval_context"])[1][0].startswith("Second.\nUSER: Two?")


@pytest.mark.parametrize(
    "node",
    [
        {"shown": ["actual_output"]},
        {"shown": SHOWN, "turn_window": [2, 2]},
        {"shown": SHOWN, "turn_window": [-1, 2]},
        {"shown": SHOWN, "turn_window": "0-2"},
        {"reads": ["list"], "turn_window": [0, 1]},
    ],
)
def test_graphs_that_cannot_be_are_refused(node: dict[str, Any]) -> None:
    nodes = {
        "list": {"task": "List.", "shown": SHOWN},
        "a": {"binary": "Is it so?", "verdicts": {"yes": 10, "no": 0}, **node},
    }
    with pytest.raises(InputError, match="'a'"):
        graph_of({"start": "a", "nodes": nodes}, conversational=True)


def test_graphs_of_answers_and_of_conversations_are_two_things() -> None:
    of_turns = graph_of(GRAPH, conversational=True)
    with pytest.raises(InputError, match="one exchange"):
        DAG(of_turns)
    with pytest.raises(InputError, match="shown"):
        DAG(GRAPH)
    node = {"binary": "Is it so?", "shown": ["actual_output"], "verdicts": {"yes": 10, "no": 0}}
    of_answers = graph_of({"start": "a", "nodes": {"a": node}})
    with pytest.raises(InputError, match="turns of a conversation"):
        ConversationalDAG(of_answers)


def test_what_is_missing_of_the_case_is_no_score() -> None:
    judge = Knowing(TALKS["greeting"])
    found = scored(ConversationalJevEval((Statement(decisions.STATEMENT),), ("content", "chatbot_role")), HELLO, judge)
    assert found.error is not None
    assert "chatbot_role" in found.error.message
    shown = replace(HELLO, metadata={**HELLO.metadata, "chatbot_role": "A clerk."})
    assert (
        scored(
            ConversationalJevEval((Statement(decisions.STATEMENT),), ("content", "chatbot_role")), shown, judge
        ).value
        is not None
    )
    assert judge.shown[-1].endswith("A clerk.")


def test_a_conversation_is_rated_by_steps_and_rubric() -> None:
    asked: list[tuple[str, ...]] = []

    def listing(what: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(texts)
        return ("Look.",)

    judge = ScriptedJudge(rating=lambda question: 4, extraction=listing)
    score = scored(ConversationalGEval(rubric=((2, 4, "low"), (5, 8, "high"))), HELLO, judge)
    assert (score.value, asked) == (0.4, [("Kind?",)])  # the rubric does not change the scale
    assert score.texts["evaluation_steps"] == ("Look.",)
    strict = ConversationalGEval(evaluation_steps=("Look.",), strict_mode=True, profile="original")
    assert scored(strict, HELLO, judge).value == 0.0
    with pytest.raises(InputError, match="evaluation_params"):
        ConversationalGEval(evaluation_params=("actual_output",))


def test_steps_that_are_given_need_no_judge_that_writes() -> None:
    steps = ("Look.",)
    assert (
        scored(ConversationalGEval(evaluation_steps=steps), HELLO, ScriptedJudge(rating=lambda question: 5)).value
        == 0.5
    )
    answer = Sample(question="Q?", answer="A.")
    assert scored(GEval(evaluation_steps=steps), answer, ScriptedJudge(rating=lambda question: 5)).value == 0.5
    cannot = scored(ConversationalGEval(), HELLO, ScriptedJudge(rating=lambda question: 5))
    assert cannot.error is not None
    assert cannot.error.cause is Cause.JUDGE_CANNOT


def test_labels_of_one_s_own() -> None:
    sample = Sample(question="Q?", answer="A.", metadata={"expected_labels": {"mood": "calm"}})
    metric = OwnClassifier((("calm", "no anger"), ("angry", "")), "mood")
    assert scored(metric, sample, ScriptedJudge(question=lambda question: "calm")).value == 1.0
    assert scored(metric, sample, ScriptedJudge(question=lambda question: "angry")).value == 0.0
    none = scored(replace(metric, allow_none=True), sample, ScriptedJudge(question=lambda question: "NONE"))
    assert (none.value, none.texts["label"]) == (0.0, ("NONE",))
    assert labels_of({"a": "one", "b": None}) == (("a", "one"), ("b", ""))
    for wrong in ("a b", ["a"], ["a", " "], 3):
        with pytest.raises(InputError, match="labels"):
            labels_of(wrong)
    bad = scored(
        OwnClassifier(), replace(sample, metadata={"labels": ["a"]}), ScriptedJudge(question=lambda question: "a")
    )
    assert bad.error is not None
    assert bad.error.cause == Cause.MISSING_INPUT
    with pytest.raises(InputError, match="kind"):
        ConversationalClassifier(kind="mood")


def test_a_statement_passes_strictly_from_one_half_on() -> None:
    class Half(Knowing):
        def known(self, prompt: Any) -> Any:
            return Verdict(label="yes", probability=0.5)

    metric = JevEval((Statement("It is so."),), strict_mode=True, profile="original")
    sample = Sample(question="Q?", answer="A.")
    assert scored(metric, sample, Half(TALKS["greeting"])).value == 1.0
    assert scored(replace(metric, profile="assay"), sample, Half(TALKS["greeting"])).value == 0.5
