"""Earlier turns of conversations: what was found for them, remembered in this process and nowhere else."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay._util.forks import own_lock
from assay.records import Sample, Turn

#: Keys of a sample's metadata that name its conversation.
CONVERSATION_KEYS = ("thread_id", "session_id", "conversation_id", "session.id", "chat_id")


def conversation_of(sample: Sample) -> str | None:
    """The name of the conversation that the sample is a turn of, if it has one."""
    return named_conversation(sample.metadata)


def named_conversation(metadata: Mapping[str, Any]) -> str | None:
    """The name of the conversation in this metadata, if it has one."""
    found = (metadata.get(name) for name in CONVERSATION_KEYS)
    return next((str(name) for name in found if isinstance(name, (str, int)) and name != ""), None)


class Conversations:
    """Memory of the turns of conversations in this process, with their contexts.

    It completes the history of later turns. Above a limit, the conversation that has had no new turn for the longest
    time is removed. It is safe for threads.

    Args:
        max_conversations: Conversations to keep.
        max_turns: Newest turns to keep of each conversation.
        max_chars: Characters to keep of all conversations together.
    """

    def __init__(self, *, max_conversations: int = 1000, max_turns: int = 8, max_chars: int = 32_000_000) -> None:
        self._max_conversations = max_conversations
        self._max_turns = max_turns
        self._max_chars = max_chars
        self._lock = own_lock(self)
        self._turns: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._chars = 0

    def __len__(self) -> int:
        return len(self._turns)

    def complete(self, sample: Sample, *, again: bool = False) -> Sample:
        """Complete the history of a sample, and remember the sample as a turn of its conversation.

        If the sample has no history, the remembered turns become its history. Otherwise its turns without contexts get
        the contexts of the remembered turns with the same question and answer. Only complete samples with a question
        and an answer are remembered.

        Args:
            sample: The sample. Its metadata names the conversation, under one of `CONVERSATION_KEYS`.
            again: Whether the application runs a turn of this conversation again. The remembered turn with the same
                question is removed, with all later turns.

        Returns:
            The sample with its history. The same object if nothing is remembered or the metadata names no conversation.
        """
        name = conversation_of(sample)
        if name is None:
            return sample
        with self._lock:
            if again:
                self._rewind(name, sample)
            known = tuple(self._turns.get(name, ()))
            self._remember(name, sample)
        if not known:
            return sample
        if not sample.history:
            return replace(sample, history=known)
        contexts = {(turn.question, turn.answer): turn.contexts for turn in known}
        history = tuple(
            turn if turn.contexts else replace(turn, contexts=contexts.get((turn.question, turn.answer), ()))
            for turn in sample.history
        )
        return replace(sample, history=history)

    def _rewind(self, name: str, sample: Sample) -> None:
        turns = self._turns.get(name, deque())
        at = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].question == sample.question), len(turns))
        while len(turns) > at:
            self._chars -= _chars(turns.pop())

    def _remember(self, name: str, sample: Sample) -> None:
        if sample.question is None or sample.answer is None or sample.status != "complete":
            return
        turns = self._turns.setdefault(name, deque())
        self._turns.move_to_end(name)
        turn = Turn(question=sample.question, answer=sample.answer, contexts=sample.contexts or ())
        turns.append(turn)
        self._chars += _chars(turn)
        while len(turns) > self._max_turns:
            self._chars -= _chars(turns.popleft())
        while len(self._turns) > self._max_conversations or (self._chars > self._max_chars and self._turns):
            _, forgotten = self._turns.popitem(last=False)
            self._chars -= sum(map(_chars, forgotten))


def _chars(turn: Turn) -> int:
    return len(turn.question) + len(turn.answer) + sum(len(context.text) for context in turn.contexts)
