"""What an engine still knows of a conversation: earlier turns that it was reset to forget are no history any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.capture import Trace
from assay.capture.answering import calls_of, spaced
from assay.records import Sample, Turn


def still_known(sample: Sample, trace: Trace) -> Sample:
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


def _times(answer: str, prompt: Sequence[str]) -> int:
    """How often the answer is a message of a prompt, or stands in one as what the assistant said."""
    return sum(1 if text == answer else text.count(f"assistant: {answer}") for text in prompt)
