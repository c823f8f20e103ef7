"""What evaluators are handed (texts, dicts of any accepted names, rows of a table) as a sample. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.capture.assemble import answer_of, history_of, question_of
from assay.capture.contexts import contexts_under
from assay.data.rows import passages
from assay.errors import InputError
from assay.records import Context, Sample
from assay.records.field_names import ACCEPTED, find_columns, missing, well_formed

_FIELDS = ("question", "answer", "reference", "contexts", "reference_contexts")
_REFERENCES = ACCEPTED["reference_contexts"]


def sample_of_values(
    inputs: Any = None,
    outputs: Any = None,
    expected: Any = None,
    *,
    contexts: Any = None,
    strict: bool = False,
    known: Sample | None = None,
) -> Sample:
    """The sample in what one case was asked, gave, and should have given.

    inputs, outputs  texts, or dicts with accepted names, or messages
    expected         a reference as a text, or a dict that has one under an accepted name; `strict`: under nothing else.
                     Otherwise a dict of references may call it an answer, or have nothing but it
    contexts         passages; else those in the outputs, the inputs or what was expected
    known            what the trace of the case tells: it fills in what the values leave open, and gives id and ids

    None is what nobody tells; nothing is guessed. Raises InputError for contexts that hold something else.
    """
    known = known or Sample()
    found = _passages(contexts) if contexts is not None else contexts_under(outputs, inputs, expected)
    return replace(
        known,
        question=_first(question_of(inputs), known.question),
        answer=_first(answer_of(outputs), known.answer),
        contexts=_first(found, known.contexts),
        reference=_first(_reference(expected, strict), known.reference),
        reference_contexts=_first(
            contexts_under(expected, names=ACCEPTED["reference_contexts"]), known.reference_contexts
        ),
        history=history_of(inputs, outputs) or known.history,
    )


def sample_of_columns(row: Mapping[str, Any]) -> Sample:
    """The sample in one row of a table, or in the named arguments of an evaluator, whose values may be dicts.

    Columns are found by accepted names, as in `assay.data`. Raises InputError where two of them can be the same field.
    """
    row = {name: value for name, value in row.items() if isinstance(name, str) and not missing(value)}
    columns = find_columns(row)
    inputs, outputs, expected, contexts, more = (
        row.get(columns.get(field, ""))
        for field in ("question", "answer", "reference", "contexts", "reference_contexts")
    )
    sample = sample_of_values(inputs, outputs, expected, contexts=contexts)
    if more is not None:
        sample = replace(sample, reference_contexts=_passages(more))
    identity = row.get(columns.get("id", ""))
    return sample if identity is None else replace(sample, id=str(identity))


def _first(value: Any, other: Any) -> Any:
    return other if value is None else value


def _passages(value: Any) -> tuple[Context, ...] | None:
    try:
        return passages(value)
    except InputError as error:
        raise InputError(f"the contexts: {error}") from None


def _reference(value: Any, strict: bool) -> str | None:
    found = _text(value)
    if found is not None or not isinstance(value, Mapping):
        return found
    for name in ACCEPTED["reference"]:
        found = _text(value.get(name))
        if found is not None:
            return found
    return None if strict else answer_of(value)


def _text(value: Any) -> str | None:
    """A text that is not blank, or a list of texts as one; None for anything else."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and value:
        value = "\n".join(value) if all(isinstance(item, str) for item in value) else None
    return well_formed(value) if isinstance(value, str) and value.strip() else None
