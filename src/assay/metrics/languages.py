"""In which languages the texts are that a metric reads of a sample, where the sample does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.records import Context, Sample
from assay.text.languages import language_of_all

#: The order in which texts decide in what language the sample is read.
_ORDER = ("answer", "question", "contexts", "reference", "reference_contexts")


def languages_in(sample: Sample, fields: Sequence[str]) -> Mapping[str, str]:
    """The language of each of these fields that leaves no doubt: field -> ISO 639 code; the answer's first.

    Passages are looked at together. Where all of these fields are doubtful, as short texts are, they count as the rest
    of the row, if that is of one language; and where every text of the row is doubtful, all are looked at together, and
    the key is "all texts together". Empty where doubt remains.
    """
    own = _certain(sample, [field for field in _ORDER if field in fields])
    if own:
        return own
    rest = _certain(sample, [field for field in _ORDER if field not in fields])
    if rest:
        return rest if len(set(rest.values())) == 1 else {}
    together = language_of_all([text for field in _ORDER for text in _texts(sample, field)])
    return {"all texts together": together} if together else {}


def _certain(sample: Sample, fields: Sequence[str]) -> dict[str, str]:
    found = {field: language_of_all(_texts(sample, field)) for field in fields}
    return {field: code for field, code in found.items() if code is not None}


def _texts(sample: Sample, field: str) -> tuple[str, ...]:
    value: str | tuple[Context, ...] | None = getattr(sample, field)
    if isinstance(value, str):
        return (value,)
    return tuple(context.text for context in value or ())
