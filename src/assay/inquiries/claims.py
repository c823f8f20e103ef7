"""Claims: the checkable statements of a text, each tied to the sentence that makes it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from assay.errors import BadReply
from assay.inquiries.base import (
    TEXT,
    Division,
    Inquiry,
    Prompt,
    Section,
    array,
    items_by_id,
    question_section,
    record,
    text_of,
    whole,
)
from assay.records import Claim, Span
from assay.text import split_sentences, windows

TASK = """\
Break each TEXT into claims. The sentences of a text are numbered in square brackets.

A claim is one statement about the world that a reader could check on its own:
- one fact per claim; split sentences that state several;
- complete in itself: replace pronouns and "it", "there", "then" by what they stand for, using the question and the
  other sentences; add nothing that the text does not say;
- in the language of the text, keeping its numbers, names, dates, negations and hedges exactly.

Questions, greetings, offers of help, statements about the answerer itself and statements that something is unknown
or not in the sources are no claims. What such a sentence states besides is one: "Did you know that members get 90
days?" and "The text names no limit, so members get 90 days." both state that members get 90 days. So is a bare "Yes."
to a question, written out. A text without claims gets an empty list.

Give for each claim the number of the sentence that states it."""


@dataclass(frozen=True)
class Claims(Inquiry[tuple[Claim, ...]]):
    """Which checkable statements does `text` make?

    Finding: claims in the order of the text; the span of each is the sentence that makes it. Empty for a text that
    states nothing (a refusal, small talk).
    """

    name: ClassVar[str] = "claims"
    finding: ClassVar[Any] = tuple[Claim, ...]

    text: str
    question: str | None = None
    language: str = "en"

    def merge_key(self) -> Hashable | None:
        # the texts of one sample (answer, reference) share its question; without one they could be strangers
        return (self.question, self.language) if self.question else None

    @classmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        texts = tuple(Section(f"TEXT T{n}", _numbered(inquiry)) for n, inquiry in enumerate(group, 1))
        claim = record(sentence={"type": "integer"}, claim=TEXT)
        return Prompt(
            material=question_section(group[0].question) + texts,
            task=TASK,
            schema=record(texts=array(record(text=TEXT, claims=array(claim)))),
            output_tokens=120 + sum(len(inquiry.text) for inquiry in group) // 2,
        )

    @classmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[tuple[Claim, ...]]:
        ids = [f"T{n}" for n in range(1, len(group) + 1)]
        texts = items_by_id(reply.get("texts"), "text", ids, "text")
        return [_claims(inquiry, texts[name].get("claims")) for inquiry, name in zip(group, ids, strict=True)]

    def fit(self, chars: int) -> Division[tuple[Claim, ...]] | None:
        if len(self.text) <= chars:
            return whole(self)
        return self._divide(windows(self.text, max(200, chars), self.language))

    def halve(self) -> Division[tuple[Claim, ...]] | None:
        sentences = split_sentences(self.text, self.language)
        if len(sentences) < 2:
            return None
        middle = sentences[len(sentences) // 2].start
        return self._divide((Span(0, middle), Span(middle, len(self.text))))

    def _divide(self, spans: Sequence[Span]) -> Division[tuple[Claim, ...]]:
        def join(findings: Sequence[tuple[Claim, ...]]) -> tuple[Claim, ...]:
            return tuple(
                replace(claim, span=claim.span.shift(span.start))
                for span, claims in zip(spans, findings, strict=True)
                for claim in claims
            )

        return Division(tuple(replace(self, text=span.of(self.text)) for span in spans), join)


def _numbered(inquiry: Claims) -> str:
    spans = split_sentences(inquiry.text, inquiry.language)
    return "\n".join(f"[{n}] {span.of(inquiry.text)}" for n, span in enumerate(spans, 1))


def _claims(inquiry: Claims, items: Any) -> tuple[Claim, ...]:
    if not isinstance(items, list):
        raise BadReply("Every text needs a list of claims, which may be empty.")
    spans = split_sentences(inquiry.text, inquiry.language)
    claims: list[Claim] = []
    for item in items:
        text = text_of(item, "claim") if isinstance(item, dict) else None
        if text is None:
            raise BadReply("Every claim must be an object with the fields 'sentence' and 'claim'.")
        number = item.get("sentence")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(spans):
            raise BadReply(f"The sentence of a claim must be a number from 1 to {len(spans)}, not {number!r}.")
        claims.append(Claim(text=text, span=spans[number - 1]))
    return tuple(sorted(dict.fromkeys(claims), key=lambda claim: claim.span.start))
