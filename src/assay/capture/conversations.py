"""Earlier turns of conversations: what was found for them, remembered in this process and nowhere else."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import replace

from assay._util.forks import own_lock
from assay.records import Sample, Turn

#: Keys of a sample's metadata that name its conversation.
CONVERSATION_KEYS = ("thread_id", "session_id", "conversation_id", "session.id", "chat_id")


def conversation_of(sample: Sample) -> str | None:
    """The name of the conversation that the sample is a turn of, if it has one."""
    found = (sample.metadata.get(name) for name in CONVERSATION_KEYS)
    return next((str(name) for name in found if isinstance(name, (str, int)) and name != ""), None)


class Conversations:
    """Gives the earlier turns of a sample the contexts they had, if they were captured here.

    max_conversations  the one heard of longest ago is forgotten for a new one
    max_turns          newest turns kept of each
    max_chars          characters kept of all together

    Where the sample has no history of its own, the turns of its conversation that were captured here are it.
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
        """The sample with its history completed; the sample itself is remembered for the next turn.

        again  a turn of this conversation is run again: what it replaces, and what came after that, is forgotten
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
