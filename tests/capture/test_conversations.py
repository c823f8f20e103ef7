"""Earlier turns keep the contexts they had, as long as they were captured here; nothing grows without bound."""

from __future__ import annotations

from assay.capture.conversations import Conversations, conversation_of
from assay.records import Context, Sample, Turn


def turn(number: int, thread: str = "t", *, history: tuple[Turn, ...] = (), size: int = 1) -> Sample:
    return Sample(
        question=f"q{number}",
        answer=f"a{number}",
        contexts=(Context(text=f"{number}" * size),),
        history=history,
        metadata={"thread_id": thread},
    )


def test_earlier_turns_of_a_conversation_are_the_history_of_the_next() -> None:
    conversations = Conversations()
    assert conversations.complete(turn(1)).history == ()
    assert conversations.complete(turn(1, "other")).history == ()
    second = conversations.complete(turn(2))
    assert [(t.question, t.answer, t.contexts[0].text) for t in second.history] == [("q1", "a1", "1")]
    assert [t.question for t in conversations.complete(turn(3)).history] == ["q1", "q2"]


def test_a_history_of_its_own_is_kept_and_only_its_contexts_are_added() -> None:
    conversations = Conversations()
    conversations.complete(turn(1))
    told = (Turn(question="q0", answer="a0"), Turn(question="q1", answer="a1"), Turn(question="q1", answer="changed"))
    completed = conversations.complete(turn(2, history=told))
    assert [[c.text for c in t.contexts] for t in completed.history] == [[], ["1"], []]
    own = (Turn(question="q1", answer="a1", contexts=(Context(text="mine"),)),)
    assert conversations.complete(turn(3, history=own)).history == own


def test_samples_of_no_conversation_and_partial_answers_are_not_remembered() -> None:
    conversations = Conversations()
    alone = Sample(question="q", answer="a")
    assert conversations.complete(alone) is alone
    partial = Sample(question="q", answer="par", status="abandoned", metadata={"session_id": "s"})
    conversations.complete(partial)
    assert conversations.complete(Sample(question="q2", answer="a2", metadata={"session_id": "s"})).history == ()
    assert conversation_of(alone) is None
    assert conversation_of(Sample(metadata={"session_id": 7})) == "7"


def test_bounded_by_conversations_turns_and_characters() -> None:
    few = Conversations(max_conversations=2, max_turns=3)
    for name in "abc":
        few.complete(turn(1, name))
    assert len(few) == 2
    assert few.complete(turn(2, "a")).history == ()  # forgotten for "c"
    for number in range(10):
        completed = few.complete(turn(number, "c"))
    assert [t.question for t in completed.history] == ["q6", "q7", "q8"]

    small = Conversations(max_chars=100)
    for name in "abcdefghij":
        small.complete(turn(1, name, size=30))
    assert len(small) == 2  # each turn holds 2 + 2 + 30 characters: three would be 102


def test_forgetting_counts_exactly() -> None:
    conversations = Conversations(max_conversations=1, max_turns=2)
    for number in range(50):
        conversations.complete(turn(number, f"{number % 3}"))
    assert conversations._chars == sum(
        len(t.question) + len(t.answer) + sum(len(c.text) for c in t.contexts)
        for turns in conversations._turns.values()
        for t in turns
    )
