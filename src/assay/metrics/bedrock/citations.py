"""What the answer of a sample cites: parts of it, each with the passages that are put to it.

From `metadata["citations"]`, in the form of Bedrock's data sets, where it is there: a part is `generatedResponsePart`,
and its passages are `retrievedReferences`. Where a part has no text but a span, this counts from 0 and its `end` is the
last character: AWS's documentation does not say so, but answers of Bedrock have it (a text of 320 characters from 0 to
319). Else from the marks in the answer ("[2]"): a part is a sentence with a mark. A passage that a mark names
and that is not there has no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.records import Sample
from assay.text import split_sentences
from assay.text.citations import cited_in


@dataclass(frozen=True, slots=True)
class CitedPart:
    """A part of an answer and what it cites: pairs of title and text, None for a passage that is not there."""

    part: str
    passages: tuple[tuple[str, str | None], ...]


def cited_parts(sample: Sample) -> tuple[CitedPart, ...]:
    """The parts of the answer that cite something, in order. Raises JudgeFailure(missing_input) for what is none."""
    stored = sample.metadata.get("citations")
    found = _marked(sample) if stored is None else _stored(sample, stored)
    return tuple(one for one in found if one.passages)


def _marked(sample: Sample) -> Iterator[CitedPart]:
    said = sample.answer or ""
    spans = split_sentences(said, sample.spoken)
    passages = dict(enumerate(sample.passages, 1))
    for span, numbers in zip(spans, cited_in(said, spans), strict=True):
        yield CitedPart(span.of(said), tuple((f"PASSAGE P{number}", passages.get(number)) for number in numbers))


def _stored(sample: Sample, citations: Any) -> Iterator[CitedPart]:
    places = {text: number for number, text in reversed(list(enumerate(sample.passages, 1)))}
    others = len(sample.passages)
    for citation in citations if isinstance(citations, list) else [citations]:
        try:
            part = citation["generatedResponsePart"]["textResponsePart"]
            texts = [reference["content"]["text"] for reference in citation.get("retrievedReferences") or ()]
            said = part.get("text") or _spanned(part["span"], sample.answer or "")
        except (KeyError, TypeError, AttributeError):
            message = "metadata['citations'] is not of the form of Bedrock's data sets"
            raise JudgeFailure(Cause.MISSING_INPUT, message) from None
        for other in texts:
            if other not in places:
                others += 1
                places[other] = others
        yield CitedPart(said, tuple((f"PASSAGE P{places[one]}", one) for one in dict.fromkeys(texts)))


def _spanned(span: Mapping[str, int], said: str) -> str:
    return said[span["start"] : span["end"] + 1]
