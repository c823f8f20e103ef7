"""In which languages the texts are that a metric reads of a sample, where the sample does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.records import Context, Sample
from assay.text.languages import language_of, language_of_all

#: The order in which texts decide in what language the sample is read.
_ORDER = ("answer", "question", "contexts", "reference", "reference_contexts")


def languages_in(sample: Sample, fields: Sequence[str]) -> Mapping[str, str]:
    """The language of each of these fields that leaves no doubt: field -> ISO 639 code; the answer's first.

    Passages are looked at together. Where every field is doubtful by itself, as short texts are, all are looked at
    together, and the key is "texts". Empty where doubt remains.
    """
    texts = {field: _texts(sample, field) for field in _ORDER if field in fields}
    found = {
        field: code
        for field, parts in texts.items()
        if (code := language_of(parts[0]) if len(parts) == 1 else language_of_all(parts))
    }
    if found or len(texts) < 2:
        return found
    together = language_of_all([part for parts in texts.values() for part in parts])
    return {"texts": together} if together else {}


def _texts(sample: Sample, field: str) -> tuple[str, ...]:
    value: str | tuple[Context, ...] | None = getattr(sample, field)
    if value is None:
        return ("",)
    return (value,) if isinstance(value, str) else tuple(context.text for context in value)
