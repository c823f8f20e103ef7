"""A question of a user's own: what is asked, how a reply is read, and who can answer it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause, InputError, InvalidReply
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.classifier.judge import SystemOneJudge
from assay.judges.embedded.judge import EmbeddedJudge
from assay.prompts import Question
from assay.records import Verdict
from assay.testing import FavourableJudge
from tests._support.servers.decision_server import DecisionServer
from tests.judges.conftest import Says, ask

POLITE = Question("Is the ANSWER polite?", {"ANSWER": "Thank you."})
TONE = Question("What tone has it?", {"ANSWER": "Hi!"}, labels={"Very formal": "as in a letter", "casual": ""})


def test_the_prompt_fences_the_texts_and_asks_in_the_task() -> None:
    content = TONE.content()
    assert [(section.title, section.text) for section in content.material] == [("ANSWER", "Hi!")]
    assert content.task.startswith(
        "What tone has it?\n\nChoose exactly one label:\nVery formal: as in a letter\ncasual\n"
    )
    assert content.schema["properties"]["label"]["enum"] == ["Very formal", "casual"]
    assert list(content.schema["properties"]) == ["reason", "label"]  # the reason comes first


def test_several_texts_under_one_title_are_numbered() -> None:
    pairs = Question("?", [("QUESTION", "q"), ("PASSAGE", ("one", "two"))]).material
    assert pairs == (("QUESTION", "q"), ("PASSAGE P1", "one"), ("PASSAGE P2", "two"))


@pytest.mark.parametrize("label", ["Very formal", "very formal", " VERY_FORMAL ", "very-formal"])
def test_a_reply_is_read_with_its_reason(label: str) -> None:
    verdict = TONE.read({"reason": "It bows.", "label": label, "probs": {"Very formal": 0.9, "casual": 0.1}})
    assert verdict == Verdict(label="Very formal", probability=0.9, reason="It bows.")


@pytest.mark.parametrize("label", ["maybe", "", None, 3, "yes, no", ["yes"]])
def test_a_label_outside_the_closed_set_is_refused(label: Any) -> None:
    with pytest.raises(InvalidReply, match="must be one of yes, no"):
        POLITE.read({"reason": "", "label": label})


def test_what_changes_the_question_changes_its_address() -> None:
    asks = [
        POLITE,
        replace(POLITE, question="Is the ANSWER very polite?"),
        replace(POLITE, vote=1),
        replace(POLITE, choices=(("no", "no"), ("yes", "yes"))),
        Question("Is the ANSWER polite?", {"ANSWER": "Thanks."}),
        Question("Is the ANSWER polite?", {"REPLY": "Thank you."}),
    ]
    assert len({one.key("judge") for one in asks}) == len(asks)
    assert Question("Is the ANSWER polite?", (("ANSWER", "Thank you."),)).key("judge") == POLITE.key("judge")


def test_replacing_a_field_keeps_the_labels() -> None:
    assert replace(TONE, vote=2).labels() == ("Very formal", "casual")


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.floats(0, 1), min_size=2, max_size=4))
def test_the_most_probable_label_is_the_answer(odds: dict[str, float]) -> None:
    prompt = Question("?", labels=dict.fromkeys(odds, ""))
    verdict = prompt.from_decisions({"question": odds})
    assert odds[verdict.label] == max(odds.values())
    assert verdict.probability == odds[prompt.labels()[0]]
    assert prompt.check(verdict) is None
    assert Question.load(Question.dump(verdict)) == verdict


def test_a_judgement_of_another_set_is_no_answer() -> None:
    assert "none of yes, no" in (POLITE.check(Verdict(label="Yes")) or "")


def test_parts_labels_and_verdicts_for_planners() -> None:
    first, second = Verdict(label="yes"), Verdict(label="no")
    assert (POLITE.items(), POLITE.labels(), POLITE.part([0])) == (1, ("yes", "no"), POLITE)
    assert POLITE.with_part(first, [0], second) is second
    assert POLITE.verdicts(first) == (first,)


@pytest.mark.parametrize(("said", "label"), [(True, "Very formal"), (False, "casual"), ("very formal", "Very formal")])
def test_a_script_answers_by_label_or_by_truth(said: Any, label: str) -> None:
    assert TONE.apply_rule(lambda question: said).label == label
    with pytest.raises(InputError, match="question rule: expected one of 'Very formal', 'casual'"):
        TONE.apply_rule(lambda question: "rude")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Question(" "), "question: expected a text"),
        (lambda: Question("?", labels={"one": ""}), "labels: expected two or more that differ"),
        (lambda: Question("?", labels={"a b": "", "A-B": ""}), "labels: expected two or more that differ"),
        (lambda: Question("?", {"ANSWER": [3]}), "material 'ANSWER'"),  # type: ignore[dict-item]
        (lambda: Question("?", {"ANSWER": None}), "material 'ANSWER'"),  # type: ignore[dict-item]
    ],
)
def test_what_cannot_be_asked_says_why(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


# ---- who answers ----


async def test_a_judge_that_writes_answers_it() -> None:
    judge = Says(lambda request: json.dumps({"reason": "It thanks.", "label": "yes"}))
    (answer,) = await ask(judge, POLITE)
    assert answer.judgement == Verdict(label="yes", reason="It thanks.")


async def test_each_is_asked_on_its_own() -> None:
    """What one metric asks is not seen by another one's question."""
    judge = Says(lambda request: json.dumps({"reason": "", "label": "yes"}))
    await ask(judge, POLITE, Question("Is the ANSWER short?", {"ANSWER": "Thank you."}))
    assert len(judge.requests) == 2


async def test_a_judge_that_decides_answers_it() -> None:
    with DecisionServer() as server:
        judge = SystemOneJudge("fake", base_url=server.base_url)
        answers = await ask(judge, POLITE, TONE)
        await judge.release()
    assert server.problems == []
    assert all(one.check(answer.judgement) is None for one, answer in zip((POLITE, TONE), answers, strict=True))


async def test_a_cascade_answers_it_by_its_second_judge() -> None:
    second = FavourableJudge()
    (answer,) = await ask(CascadeJudge(EmbeddedJudge(), second, band=(0.2, 0.8)), POLITE)
    assert (answer.judgement, second.asked) == (Verdict(label="yes", probability=1.0), [POLITE])


def test_the_embedded_judge_says_that_it_cannot() -> None:
    failure = EmbeddedJudge().cannot(Question)
    assert failure is not None
    assert failure.cause == Cause.JUDGE_CANNOT
