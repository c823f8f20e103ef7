"""How much memory waiting samples hold, roughly, found out at the price of a microsecond."""

from __future__ import annotations

from collections.abc import Mapping

from assay.live.protocol import Submission
from assay.records import Context, Message, Sample

OVERHEAD = 1024  # bytes of a record besides its texts
PASSAGE = 256  # bytes of a context besides its text
UNKNOWN = 4096  # bytes that a function is taken to hold where it does not say


def size_of(submission: Submission) -> int:
    """An estimate in bytes. A function may say what it holds in an attribute `size`."""
    said = getattr(submission, "size", None)
    if type(said) is int and said >= 0:
        return said
    if not isinstance(submission, Sample):
        return UNKNOWN
    size = OVERHEAD + len(submission.question or "") + len(submission.answer or "") + len(submission.reference or "")
    size += _passages(submission.contexts) + _passages(submission.reference_contexts)
    for turn in submission.history:
        size += len(turn.question) + len(turn.answer) + _passages(turn.contexts)
    return size + sum(map(_message, submission.messages))


def _passages(contexts: tuple[Context, ...] | None) -> int:
    return sum(len(context.text) + PASSAGE for context in contexts or ())


def _message(message: Message) -> int:
    size = PASSAGE + len(message.content)
    for call in message.tool_calls:
        size += PASSAGE + len(call.output or "") + _text_size(call.arguments)
    return size


def _text_size(value: object) -> int:
    """The characters of the texts in a JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(name) + _text_size(one) for name, one in value.items())
    return sum(map(_text_size, value)) if isinstance(value, (list, tuple)) else 8
