"""The values that another tool hands over (texts, dicts of accepted names, columns) as a row. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from assay.capture.assemble import answer_of, history_of, question_of
from assay.capture.contexts import contexts_under
from assay.data.rows import passages
from assay.errors import InputError
from assay.evaluation.adapters.host_row import HostRow, message_of
from assay.records import Context, Sample
from assay.records.field_names import (
    ACCEPTED,
    ANSWER_NAMES,
    CONTEXT_NAMES,
    QUESTION_NAMES,
    REFERENCE_NAMES,
    field_of,
    find_columns,
    missing,
    well_formed,
)
from assay.records.messages import is_message

DEPTH = 3  # how deep a text may be in dicts
_IDEAL_NAMES = ACCEPTED["reference_contexts"]

T = TypeVar("T")


def row_of_values(
    inputs: Any = None,
    outputs: Any = None,
    expected: Any = None,
    *,
    contexts: Any = None,
    reference_contexts: Any = None,
    strict: bool = False,
    known: Sample | None = None,
    texts: bool = False,
    names: Mapping[str, str] | None = None,
) -> HostRow:
    """The row in the question, the answer and the reference of one case.

    None, NaN and the other marks of a missing value are missing. A value that is no text, where a text is expected, is
    an error of its field: it is never turned into a text.

    Args:
        inputs: The question as a text, or a dict with accepted names, or messages.
        outputs: The answer in the same forms.
        expected: The reference as a text, or a dict that has one under an accepted name.
        contexts: Passages; if missing, those in the outputs, the inputs or what was expected.
        reference_contexts: Passages; if missing, those in what was expected.
        strict: Take the reference under an accepted name only. Otherwise a dict may call it an answer, or have
            nothing but it.
        known: What the trace of the case holds. It fills in what the values leave open, and gives id and ids.
        texts: Each of the first three arguments should be a text. A dict without any accepted name is then an error;
            otherwise it has just no value for the field.
        names: What the tool calls a field, for messages: a dict field -> argument.

    Returns:
        The row, with an error for each value that cannot be read.
    """
    known = known or Sample()
    fields = _Fields(known, names or {}, texts)
    question = fields.text("question", inputs, QUESTION_NAMES, question_of)
    answer = fields.text("answer", outputs, ANSWER_NAMES, answer_of)
    reference = fields.text("reference", expected, REFERENCE_NAMES, lambda value: _reference(value, strict))
    sides = (outputs, inputs, expected)
    return fields.row(
        question=question,
        answer=answer,
        reference=reference,
        contexts=fields.passages("contexts", contexts, sides, CONTEXT_NAMES),
        reference_contexts=fields.passages("reference_contexts", reference_contexts, (expected,), _IDEAL_NAMES),
        history=history_of(inputs, outputs) or known.history,
    )


def row_of_columns(columns: Mapping[str, Any]) -> HostRow:
    """Make a row of the columns of a table, or of the named arguments of an evaluator, whose values may be dicts.

    Columns are found by accepted names, as in `assay.data`.

    Args:
        columns: Name of a column -> value. Missing values (None, NaN) are left out.

    Returns:
        The row.

    Raises:
        InputError: Two columns can be the same field.
    """
    cells = {name: value for name, value in columns.items() if isinstance(name, str) and not missing(value)}
    column_of = find_columns(cells)
    inputs, outputs, expected, contexts, ideal = (
        cells.get(column_of.get(field, ""))
        for field in ("question", "answer", "reference", "contexts", "reference_contexts")
    )
    row = row_of_values(
        inputs, outputs, expected, contexts=contexts, reference_contexts=ideal, texts=True, names=column_of
    )
    identity = cells.get(column_of.get("id", ""))
    return row if identity is None else replace(row, sample=replace(row.sample, id=str(identity)))


def text_argument(value: Any, argument: str) -> str | None:
    """Read the text of one argument.

    Args:
        value: A text, a message, a list of messages, or a dict with an accepted name for an answer.
        argument: Name of the argument, for the error message.

    Returns:
        The text, which may be blank. None where the value is missing (None, NaN), an empty dict, a dict of other fields
        alone, or messages without an answer.

    Raises:
        InputError: The value is not a text in any of these forms.
    """
    found, problem = _read_text(value, ANSWER_NAMES, answer_of, texts=True)
    if problem is not None:
        raise InputError(f"{argument}: {problem}")
    return found


class _Fields:
    """Reads the fields of one row, and keeps why one of them cannot be read."""

    def __init__(self, known: Sample, names: Mapping[str, str], texts: bool) -> None:
        self._sample, self._names, self._texts = known, names, texts
        self._errors: dict[str, str] = {}

    def row(self, **fields: Any) -> HostRow:
        """The row with these fields, and the errors so far."""
        return HostRow(replace(self._sample, **fields), self._errors)

    def text(self, field: str, value: Any, names: Sequence[str], read: Callable[[Any], str | None]) -> str | None:
        """The text that `read` finds in a value, else the known one. A blank text is one, if there is no other."""
        known: str | None = getattr(self._sample, field)
        found, problem = _read_text(value, names, read, self._texts)
        if known is not None:
            return found if found is not None and found.strip() else known
        if problem is not None:
            self._add(field, problem)
        return found

    def passages(
        self, field: str, value: Any, sides: Sequence[Any], names: Sequence[str]
    ) -> tuple[Context, ...] | None:
        """The passages in a value, else those under an accepted name in the first dict that has them."""
        known: tuple[Context, ...] | None = getattr(self._sample, field)
        try:
            if not missing(value):
                return _first(passages(value), known)
            found = contexts_under(*sides) if names is CONTEXT_NAMES else contexts_under(*sides, names=names)
            if found is not None or known is not None:
                return _first(found, known)
            under = map(passages, _under(sides, names))
            return next((one for one in under if one is not None), None)
        except Exception as error:
            self._add(field, message_of(error))
            return known

    def _add(self, field: str, problem: str) -> None:
        argument, title = self._names.get(field, field), field.replace("_", " ")
        self._errors[field] = f"{argument}: {problem}" if argument == title else f"{argument} (the {title}): {problem}"


def _first(value: T | None, other: T | None) -> T | None:
    return other if value is None else value


def _under(sides: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
    """The values under these names in several values, of which some are dicts."""
    return (side[name] for side in sides if isinstance(side, Mapping) for name in names if not missing(side.get(name)))


def _read_text(
    value: Any, names: Sequence[str], read: Callable[[Any], str | None], texts: bool
) -> tuple[str | None, str | None]:
    """The text that `read` finds in a value, else a blank one in its place; and why there is none to read."""
    try:
        found = read(value)
        if found is not None:
            return found, None
        value = _in_place_of_text(value, names, texts)
        if value is None or isinstance(value, str):
            return (None if value is None else well_formed(value)), None
    except Exception as error:  # an object of another package that cannot be read
        return None, message_of(error)
    return None, f"expected a text, found {type(value).__name__}"


def _in_place_of_text(value: Any, names: Sequence[str], texts: bool) -> Any:
    """The value that stands where a text is expected; None where there is none.

    Looks into dicts under accepted names. A dict that holds other fields, and messages of which none fits, hold no
    value for this one.
    """
    for depth in range(DEPTH + 1):
        if missing(value) or isinstance(value, str):
            return None if missing(value) else value
        if not isinstance(value, Mapping):
            break
        if not value:  # an experiment's example without outputs
            return None
        below = next(_under([value], names), None)
        if below is None:
            holds_others = any(isinstance(name, str) and field_of(name) is not None for name in value)
            return None if holds_others or not (texts or depth) else value
        value = below
    conversation = isinstance(value, (list, tuple)) and value and all(map(is_message, value))
    return None if conversation or is_message(value) else value


def _reference(value: Any, strict: bool) -> str | None:
    found = _text(value)
    if found is not None or not isinstance(value, Mapping):
        return found
    for name in REFERENCE_NAMES:
        found = _text(value.get(name))
        if found is not None:
            return found
    return None if strict else answer_of(value)


def _text(value: Any) -> str | None:
    """A text that is not blank, or a list of texts as one; None for anything else."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and value:
        value = "\n".join(value) if all(isinstance(item, str) for item in value) else None
    return well_formed(value) if isinstance(value, str) and value.strip() else None
