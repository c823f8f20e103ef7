"""What an application still knew of a conversation when it answered: what a model was shown of earlier turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from assay.capture.answering_call import calls_of, spaced
from assay.capture.assemble import has_history
from assay.capture.conversations import Conversations
from assay.capture.tree import Run, Trace
from assay.records import Sample, Turn
from assay.records.messages import role_of, text_of

#: Whether the application may have forgotten earlier turns of a conversation: asked with the sample and those turns.
MayForget = Callable[[Sample], bool]


def complete_history(
    conversations: Conversations, sample: Sample, trace: Trace, forgets: MayForget | None = None
) -> Sample:
    """Complete the history of a sample with the earlier turns of its conversation that the application still knew.

    Live capture and readers of stored traces both use it.

    Args:
        conversations: Earlier turns, which the sample is added to.
        sample: The sample.
        trace: The trace that it was made of. Without an input, it runs a turn again.
        forgets: Whether the application may have forgotten turns without a word. None: it may where the root holds the
            conversation, and no summary of it.

    Returns:
        The sample with its history.
    """
    joined = conversations.complete(sample, again=trace.root.inputs is None)
    if sample.history:
        return joined
    may = forgets or (lambda joined: has_history(trace.root) and not has_summary(trace.root, joined.history))
    return trim_history(joined, trace) if may(joined) else joined


def trim_history(sample: Sample, trace: Trace) -> Sample:
    """The sample with those turns that a model was shown. All of them where no model's prompt is known.

    A memory may have been reset, or cut at its limit, without a word; what it gave to the model tells what it holds.
    """
    prompts = [[spaced(text) for text in run.prompt] for run in calls_of(trace) if run.prompt]
    if not prompts or not sample.history:
        return sample
    told: dict[str, int] = {}
    kept: list[Turn] = []
    for turn in reversed(sample.history):  # what is forgotten first is the oldest
        answer = spaced(turn.answer)
        if answer not in told:
            told[answer] = max(_times(answer, prompt) for prompt in prompts)
        if told[answer] > 0:
            told[answer] -= 1
            kept.append(turn)
    return replace(sample, history=tuple(reversed(kept)))


def has_summary(root: Run, turns: Sequence[Turn]) -> bool:
    """Check whether a summary replaces earlier turns in the messages of a root run.

    A summary is a user message without an answer before the last user message. Its text is not the question of an
    earlier turn.

    Args:
        root: The root run.
        turns: Earlier turns of the conversation.

    Returns:
        True if there is a summary. False if the output of the run has no messages.
    """
    messages = root.outputs.get("messages") if isinstance(root.outputs, Mapping) else None
    if not isinstance(messages, (list, tuple)):
        return False
    asked = {turn.question for turn in turns}
    said = [(role, message) for message in messages if (role := role_of(message)) in ("user", "assistant")]
    return any(
        role == after == "user" and text_of(message) not in asked for (role, message), (after, _) in pairwise(said)
    )


def _times(answer: str, prompt: Sequence[str]) -> int:
    """How often the answer is a message of a prompt, or stands in one as what the assistant said."""
    return sum(1 if text == answer else text.count(f"assistant: {answer}") for text in prompt)
