"""Where the answer stands in what a root put out, when no well-known name tells. Pure functions.

The text of the last model call decides: an answer is what a model wrote, under whatever key the application keeps it.
Where two keys fit, none is taken; so do those of calls that lay side by side, of which none is the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.capture.answering_call import calls_of, spaced
from assay.capture.interrupts import is_interrupted
from assay.capture.messages import last_answer
from assay.capture.tree import Run, Trace, side_by_side
from assay.records.field_names import ACCEPTED, STATE_ANSWER_NAMES, STATE_CONTEXT_NAMES, well_formed
from assay.records.messages import is_message, text_of

#: What a model wrote of at least so many characters stands in a text by intention; less must be half of the text.
LONG = 20
#: Texts of fewer words are what checks and routers say: "yes", "relevant".
FEW_WORDS = 3

_NO_ANSWERS = frozenset(
    name for field in ("question", "contexts", "history") for name in ACCEPTED[field]
) | frozenset(STATE_CONTEXT_NAMES)  # fmt: skip


class AnswerKey(NamedTuple):
    """The keys under which an answer may stand, and the answer where only one does (or all hold the same)."""

    keys: tuple[str, ...] = ()
    answer: str | None = None


def removed(run: Run) -> bool:
    """Whether a run was given messages and has removed them all: its answer with them. What is left is a summary."""
    values = [side.get("messages") for side in (run.inputs, run.outputs) if isinstance(side, Mapping)]
    return len(values) == 2 and bool(values[0]) and isinstance(values[1], (list, tuple)) and not values[1]


def find_answer_key(trace: Trace, run: Run) -> AnswerKey:
    """The key of a run's output that holds what a model wrote, else the only one of a name that answers have."""
    texts = _texts(run)
    if not texts or is_interrupted(trace) or removed(run):
        return AnswerKey()
    written = _written(trace, texts)
    fitting = _one_of(texts, written)
    if fitting.answer is not None:
        return fitting
    named = tuple(key for key in STATE_ANSWER_NAMES if key in (written or texts))
    return _one_of(texts, named) if named else fitting


def _written(trace: Trace, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that hold the text of a model call: of the last one that stands anywhere, and of those beside it."""
    told = {key: spaced(text) for key, text in texts.items()}
    calls = [run for run in calls_of(trace) if isinstance(run.outputs, str) and run.outputs.strip()]
    found = [(run, keys) for run in reversed(calls) if (keys := _holding(spaced(run.outputs), told))]
    if not found:
        return ()
    fitting = [keys for _, keys in found]
    latest, last = found[0]
    beside = [keys for run, keys in found[1:] if not set(keys) & set(last) and side_by_side(trace, run, latest)]
    if beside:  # which of them began last says nothing
        return tuple(dict.fromkeys(key for keys in (last, *beside) for key in keys))
    if max(len(told[key].split()) for key in last) < FEW_WORDS:  # a check's word, beside what it checked?
        last = tuple(dict.fromkeys(key for keys in fitting for key in keys))
    return last


def _holding(said: str, told: Mapping[str, str]) -> tuple[str, ...]:
    """The keys whose text is that text, else those whose text holds most of it or stands in it."""
    same = tuple(key for key, text in told.items() if text == said)
    return same or tuple(key for key, text in told.items() if _stands_in(said, text) or _most_of(text, said))


def _stands_in(said: str, text: str) -> bool:
    """Whether what a model wrote stands in a text, and not by chance."""
    return said in text and (len(said) >= LONG or 2 * len(said) >= len(text))


def _most_of(text: str, said: str) -> bool:
    """Whether a text is at least half of what a model wrote."""
    return text in said and 2 * len(text) >= len(said)


def _one_of(texts: Mapping[str, str], keys: tuple[str, ...]) -> AnswerKey:
    """The answer, where all these keys hold the same."""
    same = {spaced(texts[key]) for key in keys}
    return AnswerKey(keys, well_formed(texts[keys[0]]) if len(same) == 1 else None)


def _texts(run: Run) -> dict[str, str]:
    """The texts in a run's output by key, but for what it was given, and what stands under names of other fields."""
    if not isinstance(run.outputs, Mapping):
        return {}
    given = run.inputs if isinstance(run.inputs, Mapping) else {}
    found: dict[str, str] = {}
    for key, value in run.outputs.items():
        if not isinstance(key, str) or key in _NO_ANSWERS:
            continue
        text = _text(value)
        if text is not None and text.strip() and text != _text(given.get(key)):
            found[key] = text
    return found


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if is_message(value):
        return text_of(value)
    if not isinstance(value, (list, tuple)) or not value:
        return None
    # a worker's answer may stand there as a human message: a model wrote it, or it is none
    return last_answer(value) or (text_of(value[-1]) if is_message(value[-1]) else None)
