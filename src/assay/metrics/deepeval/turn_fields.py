"""What DeepEval shows of a conversation: fields of its turns, and of the case that they belong to.

A turn is a message of the user or of the assistant; what tools gave back belongs to the turn before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import Cause, JudgeFailure
from assay.metrics.base import Metric
from assay.metrics.systems.conversation import conversation, exchanges_of, transcript_section
from assay.records import Message, Sample

#: DeepEval's names for the fields of a turn; who says what is shown with each.
TURN_FIELDS = ("role", "content", "tools_called", "retrieval_context")
#: Those of the case: the sections that show them. `expected_outcome` is the reference, the others are columns.
CASE_FIELDS = {
    "expected_outcome": "EXPECTED OUTCOME",
    "scenario": "SCENARIO",
    "chatbot_role": "ROLE OF THE ASSISTANT",
}

Sections = tuple[tuple[str, str], ...]


def case_sections(sample: Sample, metric: Metric, names: Sequence[str]) -> Sections:
    """The sections of those of `CASE_FIELDS`. Raises JudgeFailure(missing_input) where the sample lacks one."""
    found = []
    for name in CASE_FIELDS:
        if name in names:
            text = sample.reference if name == "expected_outcome" else sample.metadata.get(name)
            if not isinstance(text, str) or not text.strip():
                raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs {name!r}, which is missing")
            found.append((CASE_FIELDS[name], text))
    return tuple(found)


def turn_sections(
    sample: Sample, metric: Metric, names: Sequence[str], between: tuple[int, int] | None = None
) -> Sections:
    """The sections of these of `TURN_FIELDS`: passages first, then who said what, with the tools where they are named.

    Args:
        between: The first turn that is shown and the last one, from 0. Raises JudgeFailure(missing_input) where the
            sample has no conversation, and where these turns are not there.
    """
    messages = _within(conversation(sample, metric), metric, between)
    passages: list[str] = []
    if "retrieval_context" in names:
        shown = set(map(id, messages))
        for exchange in exchanges_of(sample):
            answers = [one for one in exchange.messages if one.role == "assistant"]
            passages += exchange.contexts if any(id(one) in shown for one in answers) else ()
    numbered = tuple((f"PASSAGE P{number}", text) for number, text in enumerate(passages, 1))
    return (*numbered, transcript_section(messages, tools="tools_called" in names))


def _within(messages: Sequence[Message], metric: Metric, between: tuple[int, int] | None) -> Sequence[Message]:
    """The messages from the first of these turns to the last one, with what tools gave back."""
    if between is None:
        return messages
    places = [place for place, message in enumerate(messages) if message.role in ("user", "assistant")]
    first, last = between
    if not 0 <= first < last < len(places):
        said = f"{metric.label}: turn_window: there are {len(places)} turns, numbered from 0; got {first} to {last}"
        raise JudgeFailure(Cause.MISSING_INPUT, said)
    return messages[places[first] : places[last + 1] if last + 1 < len(places) else len(messages)]
