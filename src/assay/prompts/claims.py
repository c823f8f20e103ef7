"""Claims: the checkable statements of a text, each tied to the sentence that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import InvalidReply
from assay.prompts.base import Division, JudgePrompt, PromptContent, PromptSection, Rule, whole
from assay.prompts.schemas import TEXT, array, one_line, question_section, record, text_of
from assay.records import Claim, Span
from assay.text import split_sentences, windows

TASK = """\
Break the TEXT into claims. Its sentences are numbered in square brackets.

A claim is one statement about the world that a reader could check on its own:
- one fact; split sentences that state several, also those that a refusal or a question hides;
- complete in itself: replace "it", "there" and the like by what they stand for; add nothing;
- in the language of the text, with its numbers, names, dates, negations and hedges.

Questions, greetings, offers of help, and statements about the answerer or that something is not known or not in the
sources are no claims. What such a sentence states besides is one: "Did you know that members get 90 days?" and "The
text names no limit, so members get 90 days." both state that members get 90 days. "Yes." claims what the QUESTION asks.

Give for each claim the number of its sentence; an empty list where there are none."""


@dataclass(frozen=True)
class Claims(JudgePrompt[tuple[Claim, ...]]):
    """Which checkable statements does `text` make?

    Judgement: claims in the order of the text; the span of each is the sentence that makes it. Empty for a text that
    states nothing (a refusal, small talk).
    """

    name: ClassVar[str] = "claims"
    judgement: ClassVar[Any] = tuple[Claim, ...]

    text: str
    question: str | None = None
    language: str = "en"

    def content(self) -> PromptContent:
        return PromptContent(
            material=(*question_section(self.question), PromptSection("TEXT", _numbered(self))),
            task=TASK,
            schema=record(claims=array(record(sentence={"type": "integer"}, claim=TEXT))),
            output_tokens=60 + len(self.text) // 2,
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Claim, ...]:
        return _claims(self, reply.get("claims"))

    def check(self, judgement: tuple[Claim, ...]) -> str | None:
        if any(not claim.text.strip() for claim in judgement):
            return "a claim is blank"
        outside = next((c for c in judgement if not 0 <= c.span.start <= c.span.end <= len(self.text)), None)
        return None if outside is None else f"the claim {outside.text[:60]!r} lies outside of the text"

    def apply_rule(self, rule: Rule) -> tuple[Claim, ...]:
        spans = self._sentences()
        return tuple(Claim(text=text, span=_place(text, self.text, spans)) for text in rule(self.text))

    def without_rule(self) -> tuple[Claim, ...]:
        spans = (span for span in self._sentences() if span.of(self.text).strip())
        return tuple(Claim(text=span.of(self.text), span=span) for span in spans)

    def _sentences(self) -> Sequence[Span]:
        return split_sentences(self.text, self.language) or (Span(0, len(self.text)),)

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
        def join(judgements: Sequence[tuple[Claim, ...]]) -> tuple[Claim, ...]:
            return tuple(
                replace(claim, span=claim.span.shift(span.start))
                for span, claims in zip(spans, judgements, strict=True)
                for claim in claims
            )

        return Division(tuple(replace(self, text=span.of(self.text)) for span in spans), join)


def _numbered(prompt: Claims) -> str:
    spans = split_sentences(prompt.text, prompt.language)
    return "\n".join(f"[{n}] {one_line(span.of(prompt.text))}" for n, span in enumerate(spans, 1))


def _place(claim: str, text: str, spans: Sequence[Span]) -> Span:
    """The sentence that holds a claim word for word, else the whole text."""
    return next((span for span in spans if claim in span.of(text)), Span(spans[0].start, spans[-1].end))


def _claims(prompt: Claims, items: Any) -> tuple[Claim, ...]:
    if not isinstance(items, list):
        raise InvalidReply("The field 'claims' must be a list, which may be empty.")
    spans = split_sentences(prompt.text, prompt.language)
    claims: list[Claim] = []
    for item in items:
        text = text_of(item, "claim") if isinstance(item, dict) else None
        if text is None:
            raise InvalidReply("Every claim must be an object with the fields 'sentence' and 'claim'.")
        number = item.get("sentence")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(spans):
            raise InvalidReply(f"The sentence of a claim must be a number from 1 to {len(spans)}, not {number!r}.")
        claims.append(Claim(text=text, span=spans[number - 1]))
    return tuple(sorted(dict.fromkeys(claims), key=lambda claim: claim.span.start))
