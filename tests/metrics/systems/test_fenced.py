"""No text of a row stands outside the fences of a prompt: neither its fields nor what metrics read of its metadata."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import InvalidReply, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.prompt_rendering import render
from assay.judges.protocol import Answer
from assay.metrics import METRICS, systems
from assay.prompts import JudgePrompt, MultipleChoice, Question, Rating, RatingResult
from assay.prompts.multiple_choice import ChoiceResult
from assay.records import Context, Message, Sample, Score, Verdict
from tests.metrics.systems.any_judge import AnyJudge
from tests.metrics.systems.rich import rich

FENCED = re.compile(r'<data-([0-9a-f]{16}) title="[^"]*">\n.*?\n</data-\1>', re.DOTALL)
MARK = re.compile(r"ZQ\w*ZQ")
#: Words of metadata that lead metrics, and no texts: changed, nothing would be asked.
LEADING = frozenset(
    {"user", "assistant", "tool", "actual_output", "content", "__start__", "agent", "year", "object", "yes", "no"}
)
#: Columns whose values choose among a metric's own words.
CHOOSING = frozenset({"expected_labels", "expected_schema", "pattern"})


def marked(value: Any, path: str) -> Any:
    """The value with a mark in each text."""
    if isinstance(value, str):
        return value if value in LEADING or value.startswith(("{", "data:")) else f"{value} ZQ{path}ZQ"
    if isinstance(value, Mapping):
        return {key: marked(one, f"{path}_{re.sub(r'[^a-z]', '', str(key).lower())}") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(marked(one, path) for one in value)
    return value


def marked_sample(name: str) -> Sample:
    sample = rich(name)
    contexts, references = (
        tuple(Context(text=marked(one.text, field), id=marked(one.id, "id"), image=one.image) for one in group or ())
        for field, group in (("contexts", sample.contexts), ("expected", sample.reference_contexts))
    )
    messages = tuple(
        Message(role=one.role, content=marked(one.content, "message"), tool_calls=one.tool_calls)
        for one in sample.messages or ()
    )
    metadata = {key: value if key in CHOOSING else marked(value, key) for key, value in sample.metadata.items()}
    texts = (
        {} if "json" in name else {field: marked(getattr(sample, field), field) for field in ("answer", "reference")}
    )
    return replace(sample, question=marked(sample.question, "question"), contexts=contexts, messages=messages,
                   reference_contexts=references, metadata=metadata, **texts)  # fmt: skip


def outside(prompt: JudgePrompt[Any]) -> Iterator[str]:
    """The marks that a model reads as instructions."""
    content = prompt.full_content
    if content is None:
        return
    shown = render(content, show_schema=True)
    yield from MARK.findall(FENCED.sub("", shown))
    yield from (mark for section in content.material for mark in MARK.findall(section.title))
    yield from MARK.findall(json.dumps(content.schema))


def found_outside(name: str, profile: str) -> set[str]:
    judge, sample = AnyJudge(), marked_sample(name)
    metric = systems.named(name + profile) if ":" in name else METRICS[name]()
    with suppress(JudgeFailure):
        asyncio.run(metric.score(sample, judge))
    return {mark for prompt in judge.asked for mark in outside(prompt)}


@pytest.mark.parametrize("profile", ["", "@original"])
@pytest.mark.parametrize("system", ["own", *systems.SYSTEMS])
def test_all_metrics_keep_the_texts_of_a_row_between_fences(system: str, profile: str) -> None:
    names = tuple(METRICS) if system == "own" else systems.names(system)
    assert names
    found = {name: found_outside(name, "" if system == "own" else profile) for name in names}
    assert {name: marks for name, marks in found.items() if marks} == {}


def test_the_texts_are_shown_and_a_mark_outside_would_be_found() -> None:
    judge = AnyJudge()
    asyncio.run(
        systems.named("ragas:instance_specific_rubrics").score(marked_sample("ragas:instance_specific_rubrics"), judge)
    )
    (prompt,) = judge.asked
    assert prompt.full_content is not None
    shown = render(prompt.full_content, show_schema=True)
    assert {"ZQanswerZQ", "ZQrubrics_scoredescriptionZQ"} <= set(MARK.findall(shown))
    bare = Rating("Is it good? ZQquestionZQ", ((1, "no"), (2, "yes ZQlevelZQ")), (("ANSWER", "a"),))
    assert set(outside(bare)) == {"ZQquestionZQ", "ZQlevelZQ"}


# ---- what is fenced counts as before


class First(BaseJudge):
    """Chooses this level or option, by its place in the list."""

    fingerprint = "first"
    durable = False

    def __init__(self, place: int) -> None:
        self.place = place
        self.asked: list[JudgePrompt[Any]] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts
        return [Answer(judgement=self._one(prompt)) for prompt in prompts]

    def _one(self, prompt: Any) -> Any:
        if isinstance(prompt, Rating):
            return RatingResult(level=prompt.levels[self.place][0])
        if isinstance(prompt, MultipleChoice):
            return ChoiceResult(option=prompt.options[self.place][0])
        return Verdict(label=prompt.labels()[self.place])


def scored(name: str, place: int, **metadata: Any) -> Score:
    sample = Sample(question="q", answer="a", contexts=(Context(text="c"),), metadata=metadata)
    return asyncio.run(systems.named(name).score(sample, First(place)))


@pytest.mark.parametrize(
    ("name", "column", "place", "value"),
    [
        ("ragas:instance_specific_rubrics", {"rubrics": {"score1": "bad", "score3": "so", "score9": "good"}}, 2, 9.0),
        ("ragas:simple_criteria", {"definition": "How deep is it?"}, 4, 4.0),
        # level 1 of 0, 1, 2: 1 / 2
        ("deepeval:jev_eval", {"questions": [{"question": "How?", "levels": ["bad", "so", "good"]}]}, 1, 0.5),
        ("deepeval:jev_eval", {"questions": [{"question": "Which?", "options": {"x": 0.25, "y": 1.0}}]}, 0, 0.25),
        ("deepeval:classifier", {"labels": {"hi": "warm", "ho": ""}, "expected_labels": {"classifier": "ho"}}, 1, 1.0),
        ("deepeval:classifier", {"labels": ["hi", "ho"], "expected_labels": {"classifier": "ho"}}, 0, 0.0),
    ],
)  # fmt: skip
def test_the_value_is_that_of_the_rows_own_rubric(name: str, column: Any, place: int, value: float) -> None:
    assert scored(name, place, **column).value == value


@pytest.mark.parametrize(
    ("name", "column", "label"),
    [
        ("deepeval:jev_eval", {"questions": [{"question": "How?", "levels": ["bad", "good"]}]}, "good"),
        ("deepeval:jev_eval", {"questions": [{"question": "Which?", "options": {"x": 0.5, "y": 1.0}}]}, "y"),
        ("deepeval:classifier", {"labels": ["hi", "ho"], "expected_labels": {"classifier": "hi"}}, "ho"),
    ],
)
def test_verdicts_have_the_labels_of_the_row(name: str, column: Any, label: str) -> None:
    (verdicts,) = scored(name, 1, **column).verdicts.values()
    assert [verdict.label for verdict in verdicts] == [label]


# ---- the prompts themselves

LABELS = (("warm hearted", "as a friend"), ("cold", ""))
PROMPTS: list[Any] = [
    Question("Is it ZQaZQ?", (("ANSWER", "a"),), choices=LABELS, fenced=True),
    MultipleChoice("Is it ZQaZQ?", LABELS, (("ANSWER", "a"),), fenced=True),
    Rating("How ZQaZQ?", ((1, "ZQbZQ"), (4, "ZQcZQ")), (("ANSWER", "a"),), fenced=True),
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_fenced_prompt_has_no_text_of_the_row_in_what_is_asked(prompt: Any) -> None:
    assert list(outside(prompt)) == []
    asked = repr([(one.instructions, dict(one.labels)) for one in prompt.questions()])
    assert not any(text in asked for text in ("ZQ", "warm", "cold", "friend"))
    plain = replace(prompt, fenced=False)
    assert plain.key("j") != prompt.key("j")
    assert repr(plain) == repr(prompt)  # which is in the addresses of all judgements


@pytest.mark.parametrize("said", ["label_1", "LABEL 1", "warm hearted", "Warm-Hearted"])
def test_a_reply_names_a_label_of_the_row_by_its_number_or_itself(said: str) -> None:
    question, choice, _ = PROMPTS
    reply = {"label": said, "reason": "r", "probs": {"label_1": 0.75, "label_2": 0.25}}
    assert (question.read(reply).label, question.read(reply).probability) == ("warm hearted", 0.75)
    assert choice.read(reply).odds == (("warm hearted", 0.75), ("cold", 0.25))
    with pytest.raises(InvalidReply, match="must be one of label_1, label_2"):
        question.read({"label": "label_3"})


def test_decisions_are_read_by_number() -> None:
    question, choice, rating = PROMPTS
    odds = {"label_1": 0.25, "label_2": 0.75}
    assert question.from_decisions({"question": odds}) == Verdict(label="cold", probability=0.25)
    assert choice.from_decisions({"multiple_choice": odds}).odds == (("warm hearted", 0.25), ("cold", 0.75))
    assert rating.from_decisions({"rating": {"1": 0.25, "4": 0.75}}).level == 4
