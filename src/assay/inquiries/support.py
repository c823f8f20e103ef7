"""Support: the claim x passage matrix. Which passages support, contradict or do not mention which claims?"""

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
from assay.records import Cell, Claim, Evidence, SupportLabel, Verdict
from assay.text import locate_parts

LABELS: dict[str, str] = {
    "supported": "the claim follows from the text, without outside knowledge",
    "contradicted": "the text says something that cannot be true together with the claim",
    "not_mentioned": "neither of the two",
}

TASK = """\
Compare each CLAIM with the PASSAGES. Use only what the passages say, even where you know better: a passage that is
wrong about the world still supports what follows from it.

For each claim give, in this order:
- "reason": one short sentence;
- "label": "supported" when the claim follows from the passages (several passages may be combined), "contradicted" when
  the passages say something that cannot be true together with it, "not_mentioned" otherwise. A claim is supported only
  when all of it is, with its numbers, names, dates and negations;
- "passages": one entry for each passage that alone supports or alone contradicts the claim, with a "quote" copied
  from that passage word for word, as short as decides the matter. Leave out passages that do neither."""


@dataclass(frozen=True)
class Support(Inquiry[tuple[Verdict, ...]]):
    """Which of these claims do these passages support?

    Finding: one verdict per claim, in order. `label` speaks of all passages together, `cells[k]` of passage k alone;
    evidence holds the quotes that really stand in the passages.
    """

    name: ClassVar[str] = "support"
    finding: ClassVar[Any] = tuple[Verdict, ...]

    claims: tuple[Claim, ...]
    passages: tuple[str, ...]
    question: str | None = None
    language: str = "en"

    def merge_key(self) -> Hashable | None:
        return (self.passages, self.question, self.language)

    @classmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        claims = [claim for inquiry in group for claim in inquiry.claims]
        listed = "\n".join(f"C{n}: {claim.text}" for n, claim in enumerate(claims, 1))
        cell = record(passage=TEXT, label=one_of("supported", "contradicted"), quote=TEXT)
        verdict = record(claim=TEXT, reason=TEXT, label=one_of(*LABELS), passages=array(cell))
        first = group[0]
        return Prompt(
            material=passage_sections(first.passages) + question_section(first.question) + (Section("CLAIMS", listed),),
            task=TASK,
            schema=record(verdicts=array(verdict)),
            output_tokens=80 + len(claims) * (70 + 60 * min(len(first.passages), 3)),
        )

    @classmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[tuple[Verdict, ...]]:
        total = sum(len(inquiry.claims) for inquiry in group)
        items = items_by_id(reply.get("verdicts"), "claim", [f"C{n}" for n in range(1, total + 1)], "verdict")
        verdicts: list[tuple[Verdict, ...]] = []
        number = 0
        for inquiry in group:
            row = []
            for claim in inquiry.claims:
                number += 1
                row.append(_verdict(claim, inquiry.passages, items[f"C{number}"]))
            verdicts.append(tuple(row))
        return verdicts

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        room = chars - len(self.question or "") - sum(len(claim.text) + 8 for claim in self.claims)
        if sum(map(len, self.passages)) <= room:
            return whole(self)
        if room < 200:
            return self.halve()
        groups = pack(self.passages, room, self.language)
        parts = tuple(replace(self, passages=tuple(piece.text for piece in group)) for group in groups)
        return Division(parts, lambda findings: join_passages(self.passages, groups, findings))

    def halve(self) -> Division[tuple[Verdict, ...]] | None:
        if len(self.claims) < 2:
            return None
        middle = len(self.claims) // 2
        parts = (replace(self, claims=self.claims[:middle]), replace(self, claims=self.claims[middle:]))
        return Division(parts, lambda findings: tuple(findings[0]) + tuple(findings[1]))

    def answered_by(self, finding: tuple[Verdict, ...]) -> bool:
        return len(finding) == len(self.claims) and all(len(row.cells) == len(self.passages) for row in finding)

    def questions(self) -> tuple[Question, ...]:
        return tuple(
            Question(f"c{c}" + (f"p{p}" if p else ""), _instructions(claim, p), LABELS)
            for c, claim in enumerate(self.claims, 1)
            for p in range(len(self.passages) + 1)
        )

    def sections(self) -> tuple[Section, ...]:
        return passage_sections(self.passages) + question_section(self.question)  # each question holds its claim

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        def cell(name: str) -> Cell:
            label = max(LABELS, key=lambda known: answers[name].get(known, 0.0))
            return Cell(label=label, probability=answers[name].get("supported", 0.0))  # type: ignore[arg-type]

        verdicts = []
        for c, claim in enumerate(self.claims, 1):
            cells = tuple(cell(f"c{c}p{p}") for p in range(1, len(self.passages) + 1))
            overall = cell(f"c{c}")
            if overall.label == "not_mentioned" and cells:
                # one passage that supports a claim is enough for all of them together
                best = max(cells, key=lambda known: known.probability or 0.0)
                overall = best if best.label == "supported" else overall
            verdicts.append(Verdict(label=overall.label, probability=overall.probability, claim=claim, cells=cells))
        return tuple(verdicts)


def strongest(labels: Sequence[str]) -> SupportLabel:
    """The label of several texts read apart: support wins, then contradiction."""
    for label in ("supported", "contradicted"):
        if label in labels:
            return label
    return "not_mentioned"


def join_passages(
    passages: Sequence[str], groups: Sequence[Sequence[Piece]], findings: Sequence[tuple[Verdict, ...]]
) -> tuple[Verdict, ...]:
    """One verdict per claim from the verdicts on groups of passage pieces.

    A claim is supported when some group supports it; what only two groups together would support is not found.
    """
    return tuple(_join_rows(passages, groups, rows) for rows in zip(*findings, strict=True))


def _join_rows(passages: Sequence[str], groups: Sequence[Sequence[Piece]], rows: Sequence[Verdict]) -> Verdict:
    label = strongest([row.label for row in rows])
    cells: list[list[Cell]] = [[] for _ in passages]
    evidence: list[Evidence] = []
    for group, row in zip(groups, rows, strict=True):
        for piece, cell in zip(group, row.cells, strict=True):
            cells[piece.passage].append(cell)
        for quote in row.evidence:
            piece = group[quote.passage]
            evidence.append(replace(quote, passage=piece.passage, span=quote.span.shift(piece.start)))
    return Verdict(
        label=label,
        probability=_highest([row.probability for row in rows]),
        reason=next((row.reason for row in rows if row.label == label), None),
        claim=rows[0].claim,
        cells=tuple(
            Cell(label=strongest([cell.label for cell in parts]), probability=_highest([c.probability for c in parts]))
            for parts in cells
        ),
        evidence=tuple(evidence),
        unlocated=sum(row.unlocated for row in rows),
    )


def _highest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known, default=None)


def _instructions(claim: Claim, passage: int) -> str:
    where = f"passage P{passage} alone" if passage else "the passages together"
    return f"Using only what {where} says, is this claim supported, contradicted or not mentioned? Claim: {claim.text}"


def _verdict(claim: Claim, passages: Sequence[str], item: Mapping[str, Any]) -> Verdict:
    label = label_of(item, tuple(LABELS))
    cells = [Cell(label="not_mentioned") for _ in passages]
    evidence: list[Evidence] = []
    unlocated = 0
    entries = item.get("passages")
    if not isinstance(entries, list):
        raise BadReply("Every verdict needs a list of passages, which may be empty.")
    for entry in entries:
        index = passage_index(entry, len(passages))
        cell_label = label_of(entry, tuple(LABELS))
        probability = probability_of(entry, "supported")
        cells[index] = Cell(label=cell_label, probability=probability)  # type: ignore[arg-type]
        quote = text_of(entry, "quote")
        spans = locate_parts(quote, passages[index]) if quote else ()
        unlocated += bool(quote) and not spans
        evidence += [Evidence(passage=index, span=span, text=span.of(passages[index])) for span in spans]
    if label == "not_mentioned" and any(cell.label == "supported" for cell in cells):
        label = "supported"  # one passage that supports a claim is enough for all of them together
    return Verdict(
        label=label,
        probability=probability_of(item, "supported"),
        reason=text_of(item, "reason"),
        claim=claim,
        cells=tuple(cells),
        evidence=tuple(evidence),
        unlocated=unlocated,
    )


def passage_index(entry: Any, count: int) -> int:
    """The index, from 0, of the passage that an entry names as P1, P2, ..."""
    name = entry.get("passage") if isinstance(entry, dict) else None
    digits = str(name).strip().strip("[]").removeprefix("P") if name is not None else ""
    if not digits.isdecimal() or not 1 <= int(digits) <= count:
        raise BadReply(f"There is no passage {name!r}; the ids are P1 to P{count}.")
    return int(digits) - 1
