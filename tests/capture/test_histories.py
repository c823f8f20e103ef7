"""History is what the application knew when it answered: what a model was shown, or what a summary stands for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import Run, Trace, traces_of
from assay.capture.conversations import Conversations
from assay.capture.history import has_summary, trim_history
from assay.records import Sample, Turn

FIRST, SECOND = Turn(question="Why?", answer="They are calm."), Turn(question="When?", answer="At night.")


def asked(*prompts: tuple[str, ...]) -> Trace:
    calls = [
        Run(str(n), "root", "llm", prompt=prompt, started=n + 1.0, ended=n + 1.5) for n, prompt in enumerate(prompts)
    ]
    return traces_of([Run("root", inputs="q", outputs="a", started=0.0, ended=99.0), *calls])[0]


@pytest.mark.parametrize(
    ("prompts", "kept"),
    [
        ((("Why?", "They are calm.", "When?", "At night.", "q"),), (FIRST, SECOND)),
        ((("When?", "At night.", "q"),), (SECOND,)),  # the first was deleted before
        ((("q",),), ()),  # the conversation was reset
        ((("grade this",), ("user: Why?\nassistant: They are calm.\nuser: q",)), (FIRST,)),
        ((), (FIRST, SECOND)),  # no prompt is known
    ],
)
def test_turns_that_no_model_was_shown_are_forgotten(prompts: Any, kept: tuple[Turn, ...]) -> None:
    sample = Sample(question="q", answer="a", history=(FIRST, SECOND))
    assert trim_history(sample, asked(*prompts)).history == kept


@given(st.lists(st.sampled_from(("a", "b", "c")), max_size=6), st.integers(0, 6))
def test_the_newest_turns_are_kept_where_answers_repeat(answers: list[str], shown: int) -> None:
    turns = tuple(Turn(question=f"q{n}", answer=answer) for n, answer in enumerate(answers))
    kept = turns[len(turns) - min(shown, len(turns)) :]
    prompt = tuple(turn.answer for turn in kept) or ("nothing",)
    assert trim_history(Sample(question="q", answer="x", history=turns), asked(prompt)).history == kept


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([("human", "In short: they asked."), ("human", "When?"), ("ai", "At night.")], True),
        ([("system", "s"), ("human", "In short."), ("tool", "t"), ("human", "When?")], True),
        ([("human", "Why?"), ("human", "When?")], False),  # asked twice in a row: their own words
        ([("human", "Why?"), ("ai", "They are calm."), ("human", "When?")], False),
        ([("human", "When?")], False),
        ([], False),
        ("text", False),
        (None, False),
    ],
)
def test_a_summary_stands_in_the_place_of_turns(messages: Any, expected: bool) -> None:
    assert has_summary(Run("root", outputs={"messages": messages}), (FIRST,)) is expected
    assert has_summary(Run("root", outputs=messages), (FIRST,)) is False


def test_a_turn_that_is_run_again_replaces_itself_and_what_came_after() -> None:
    conversations = Conversations()

    def turn(question: str, answer: str = "a", *, again: bool = False) -> list[tuple[str, str]]:
        sample = Sample(question=question, answer=answer, metadata={"thread_id": "t"})
        return [(t.question, t.answer) for t in conversations.complete(sample, again=again).history]

    turn("q1"), turn("q2", "old"), turn("q3")
    assert turn("q2", "new", again=True) == [("q1", "a")]
    assert turn("q4") == [("q1", "a"), ("q2", "new")]
    assert turn("unknown", again=True) == [("q1", "a"), ("q2", "new"), ("q4", "a")]
