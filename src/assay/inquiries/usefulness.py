"""Usefulness: which passages help to answer the question, given the answer or the reference where there is one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from assay.inquiries.base import (
    TEXT,
    Division,
    Inquiry,
    Prompt,
    Question,
    Section,
    array,
    items_by_id,
    label_of,
    one_of,
    passage_sections,
    probability_of,
    question_section,
    record,
    text_of,
    whole,
)
from assay.inquiries.pieces import Piece, pack
from assay.records import Evidence, Verdict
from assay.text import locate_parts

LABELS: dict[str, str] = {
    "useful": "the passage contains information that helps to give the answer",
    "not_useful": "it does not",
}

TASK = """\
Decide for each PASSAGE by itself whether it helps to answer the QUESTION{given}.
A passage is "useful" when it states something that the answer needs; being about the same topic is not enough.
For each passage give a "reason" of a few words, the "label", and a "quote": the words of the passage that decide,
copied exactly, or an empty text when it is not useful."""


@dataclass(frozen=True)
class Usefulness(Inquiry[tuple[Verdict, ...]]):
    """Which of these passages are useful for the question?

    `given` is the answer that the passages should lead to (the reference, or what the system said); without it the
    question alone decides. Finding: one verdict per passage, in order.
    """

    name: ClassVar[str] = "usefulness"
    finding: ClassVar[Any] = tuple[Verdict, ...]

    question: str
    passages: tuple[str, ...]
    given: str | None = None
    language: str = "en"

    @classmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        (inquiry,) = group
        given = (Section("EXPECTED ANSWER", inquiry.given),) if inquiry.given else ()
        verdict = record(passage=TEXT, reason=TEXT, label=one_of(*LABELS), quote=TEXT)
        return Prompt(
            material=passage_sections(inquiry.passages) + question_section(inquiry.question) + given,
            task=TASK.format(given=" as the EXPECTED ANSWER does" if given else ""),
            schema=record(passages=array(verdict)),
            output_tokens=60 + 80 * len(inquiry.passages),
        )

    @classmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[tuple[Verdict, ...]]:
        (inquiry,) = group
        ids = [f"P{n}" for n in range(1, len(inquiry.passages) + 1)]
        items = items_by_id(reply.get("passages"), "passage", ids, "verdict")
        return [tuple(_verdict(n, passage, items[ids[n]]) for n, passage in enumerate(inquiry.passages))]

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        room = chars - len(self.question) - len(self.given or "")
        if sum(map(len, self.passages)) <= room:
            return whole(self)
        if room < 200:
            return None
        groups = pack(self.passages, room, self.language)
        parts = tuple(replace(self, passages=tuple(piece.text for piece in group)) for group in groups)
        return Division(parts, lambda findings: _join(len(self.passages), groups, findings))

    def halve(self) -> Division[tuple[Verdict, ...]] | None:
        if len(self.passages) < 2:
            return None
        pieces = [Piece(n, 0, text) for n, text in enumerate(self.passages)]
        groups = [pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]]
        parts = tuple(replace(self, passages=tuple(piece.text for piece in group)) for group in groups)
        return Division(parts, lambda findings: _join(len(self.passages), groups, findings))

    def answered_by(self, finding: tuple[Verdict, ...]) -> bool:
        return len(finding) == len(self.passages)

    def questions(self) -> tuple[Question, ...]:
        given = f" as this expected answer does: {self.given}" if self.given else ""
        return tuple(
            Question(f"p{n}", f"Does passage P{n} help to answer the question{given}?", LABELS)
            for n in range(1, len(self.passages) + 1)
        )

    def sections(self) -> tuple[Section, ...]:
        return passage_sections(self.passages) + question_section(self.question)  # the questions hold what was given

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        verdicts = []
        for n in range(len(self.passages)):
            useful = answers[f"p{n + 1}"].get("useful", 0.0)
            verdicts.append(Verdict(label="useful" if useful >= 0.5 else "not_useful", probability=useful, passage=n))
        return tuple(verdicts)


def _verdict(index: int, passage: str, item: Mapping[str, Any]) -> Verdict:
    label = label_of(item, tuple(LABELS))
    quote = text_of(item, "quote") if label == "useful" else None
    spans = locate_parts(quote, passage) if quote else ()
    return Verdict(
        label=label,
        probability=probability_of(item, "useful"),
        reason=text_of(item, "reason"),
        passage=index,
        evidence=tuple(Evidence(passage=index, span=span, text=span.of(passage)) for span in spans),
        unlocated=int(bool(quote) and not spans),
    )


def _join(
    count: int, groups: Sequence[Sequence[Piece]], findings: Sequence[tuple[Verdict, ...]]
) -> tuple[Verdict, ...]:
    """A passage read in pieces is useful when one of them is."""
    best: list[Verdict | None] = [None] * count
    for group, verdicts in zip(groups, findings, strict=True):
        for piece, verdict in zip(group, verdicts, strict=True):
            moved = replace(
                verdict,
                passage=piece.passage,
                evidence=tuple(
                    replace(quote, passage=piece.passage, span=quote.span.shift(piece.start))
                    for quote in verdict.evidence
                ),
            )
            known = best[piece.passage]
            if known is None or (known.label != "useful" and moved.label == "useful"):
                best[piece.passage] = moved
    return tuple(verdict for verdict in best if verdict is not None)
