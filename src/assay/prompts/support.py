"""Support: the claim x passage matrix. Which passages support, contradict or do not mention which claims?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import InconsistentReply, InputError, InvalidReply
from assay.prompts.base import (
    Division,
    LabelQuestion,
    PromptContent,
    PromptSection,
    Rule,
    whole,
)
from assay.prompts.consistency import TOGETHER, PassageLabel, consistent_support, count_unlocated
from assay.prompts.item_verdicts import ItemVerdicts
from assay.prompts.pieces import Piece, pack
from assay.prompts.schemas import (
    READINGS,
    items_by_id,
    label_of,
    passage_index,
    passage_sections,
    pictured,
    probability_of,
    question_section,
    text_of,
)
from assay.records import Cell, Claim, Evidence, SupportLabel, Verdict
from assay.records.phrases import shortened
from assay.text import locate

LABELS: dict[str, str] = {
    "supported": "the claim follows from the text, without outside knowledge",
    "contradicted": "the text says something that cannot be true together with the claim",
    "not_mentioned": "neither of the two",
}

TASK = """\
Compare each CLAIM (C1, C2, ...) with the PASSAGES. Use only what these say, even where you know better.

Give one of "items" for each claim, in this order:
- "id": the claim, as "C1";
- "reason": one short sentence;
- "label": "supported" when all of the claim follows from the passages, alone or combined, with its numbers, names,
  dates and negations; "contradicted" when they say something that cannot be true together with it; else
  "not_mentioned";
- "quotes": for each passage that alone supports or contradicts the claim, the words that decide, copied exactly, as few
  as do; none for the others. Where no passage alone supports it and several do together, the words of each of these,
  with the label "together".
"sentences" stays empty."""


@dataclass(frozen=True)
class Support(ItemVerdicts):
    """Which of these claims do these passages support?

    Judgement: one verdict per claim, in order. `label` speaks of all passages together, `cells[k]` of passage k alone;
    a judge for which each cell is a reading of its own may leave them out: `SupportCells` asks for them. Evidence holds
    the quotes that really stand in the passages. Label, cells and quotes agree: see `assay.prompts.consistency`.
    """

    name: ClassVar[str] = "support"
    item_field: ClassVar[str] = "claims"
    version: ClassVar[str] = "3"

    claims: tuple[Claim, ...]
    passages: tuple[str, ...]
    question: str | None = None
    language: str = "en"

    rule_default: ClassVar[Any] = "not_mentioned"

    def content(self) -> PromptContent:
        texts = passage_sections(self.passages) + question_section(self.question)
        claims = tuple(PromptSection(f"CLAIM C{n}", claim.text) for n, claim in enumerate(self.claims, 1))
        return PromptContent(
            material=texts + claims,
            task=TASK,
            schema=READINGS,
            output_tokens=80 + len(self.claims) * (70 + 60 * min(len(self.passages), 3)),
            shared=len(texts),
            needed=("items",),
            labels=tuple(LABELS),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Verdict, ...]:
        ids = [f"C{n}" for n in range(1, len(self.claims) + 1)]
        items = items_by_id(reply.get("items"), "id", ids, "claim")
        seen = pictured(self.images)
        return tuple(
            _verdict(claim, self.passages, items[name], seen) for name, claim in zip(ids, self.claims, strict=True)
        )

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        room = chars - len(self.question or "") - sum(len(claim.text) + 8 for claim in self.claims)
        if sum(map(len, self.passages)) <= room:
            return whole(self)
        if room < 200 or self.images:  # a picture cannot be divided, and its passage must keep its number
            return self.halve()
        groups = pack(self.passages, room, self.language)
        parts = tuple(replace(self, passages=tuple(piece.text for piece in group)) for group in groups)
        return Division(parts, lambda judgements: join_passages(self.passages, groups, judgements))

    def check(self, judgement: tuple[Verdict, ...]) -> str | None:
        if len(judgement) != len(self.claims) or any(len(row.cells) not in self._sizes for row in judgement):
            return f"expected {len(self.claims)} verdicts of {len(self.passages)} cells each"
        return super().check(judgement) or next(
            filter(None, (misquoted(row, self.passages) for row in judgement)), None
        )

    @property
    def _sizes(self) -> tuple[int, ...]:
        """How many cells a verdict may have."""
        return 0, len(self.passages)

    def apply_rule(self, rule: Rule) -> tuple[Verdict, ...]:
        return tuple(_by_rule(claim, self.passages, rule) for claim in self.claims)

    def questions(self) -> tuple[LabelQuestion, ...]:
        return tuple(
            LabelQuestion(f"c{c}" + (f"p{p}" if p else ""), _instructions(c, p), LABELS)
            for c in range(1, len(self.claims) + 1)
            for p in range(len(self.passages) + 1)
        )

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        def cell(name: str) -> Cell:
            label = max(LABELS, key=lambda known: answers[name].get(known, 0.0))
            return Cell(label=label, probability=answers[name].get("supported", 0.0))  # type: ignore[arg-type]

        verdicts = []
        for c, claim in enumerate(self.claims, 1):
            cells = tuple(cell(f"c{c}p{p}") for p in range(1, len(self.passages) + 1))
            overall = cell(f"c{c}")
            stated = {known.label for known in cells} - {"not_mentioned"}
            if overall.label == "not_mentioned" and stated:
                # one passage that supports or contradicts a claim is enough for all of them together
                label = strongest([*stated])
                best = max(cells, key=lambda known: (known.label == label, known.probability or 0.0))
                overall = best if label == "supported" else Cell(label=label, probability=overall.probability)
            elif overall.label != "not_mentioned" and stated and overall.label not in stated:
                raise InconsistentReply(
                    f"the claim {shortened(claim.text, 80)!r} is {overall.label} by all passages together, and the "
                    "passages that say something of it have another label"
                )
            verdicts.append(Verdict(label=overall.label, probability=overall.probability, claim=claim, cells=cells))
        return tuple(verdicts)


@dataclass(frozen=True)
class SupportCells(Support):
    """What does each of these passages alone say of these claims? Asked where the verdicts of `Support` have no cells.

    Judgement: as of Support, and always with the cells, which are what is wanted of it.
    """

    name: ClassVar[str] = "support_cells"

    @property
    def _sizes(self) -> tuple[int, ...]:
        return (len(self.passages),)


def strongest(labels: Sequence[str]) -> SupportLabel:
    """The label of several texts read apart: support wins, then contradiction."""
    for label in ("supported", "contradicted"):
        if label in labels:
            return label
    return "not_mentioned"


def join_passages(
    passages: Sequence[str], groups: Sequence[Sequence[Piece]], judgements: Sequence[tuple[Verdict, ...]]
) -> tuple[Verdict, ...]:
    """One verdict per claim from the verdicts on groups of passage pieces.

    A claim is supported when some group supports it; what only two groups together would support is not found.
    """
    return tuple(_join_rows(passages, groups, rows) for rows in zip(*judgements, strict=True))


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


def _instructions(claim: int, passage: int) -> str:
    where = f"passage P{passage} alone" if passage else "the passages together"
    return f"Using only what {where} says, is claim C{claim} supported, contradicted or not mentioned?"


def _verdict(claim: Claim, passages: Sequence[str], item: Mapping[str, Any], seen: Set[int]) -> Verdict:
    entries = item.get("quotes")
    if not isinstance(entries, list):
        raise InvalidReply("Every claim needs a list of quotes, which may be empty.")
    said = [_passage_label(entry, passages, seen) for entry in entries]
    overall = label_of(item, tuple(LABELS))
    label = consistent_support(overall, f"The claim {shortened(claim.text, 80)!r}", said)
    cells = _cells(len(passages), _of_one_passage(said, overall))
    probability = probability_of(item, "supported")
    if label != overall:
        probability = _highest([cell.probability for cell in cells if cell.label == label] + [probability])
    return Verdict(
        label=label,
        probability=probability,
        reason=text_of(item, "reason"),
        claim=claim,
        cells=cells,
        evidence=tuple(quote for one in said for quote in one.evidence(passages[one.passage])),
        unlocated=count_unlocated(said),
    )


def _of_one_passage(said: Sequence[PassageLabel], overall: str) -> list[PassageLabel]:
    """What counts of what a reply says of passages alone."""
    alone = (one for one in said if one.label != TOGETHER)
    return [one for one in alone if one.spans or (one.counts and overall != "not_mentioned")]


def _passage_label(entry: Any, passages: Sequence[str], seen: Set[int]) -> PassageLabel:
    index = passage_index(entry, len(passages))
    label, probability = label_of(entry, (*LABELS, TOGETHER)), probability_of(entry, "supported")
    return PassageLabel.of(entry, index, passages[index], label, probability=probability, pictured=index in seen)


def _cells(count: int, said: Sequence[PassageLabel]) -> tuple[Cell, ...]:
    """What each passage says alone: the strongest label that the reply has for it."""
    of_passage: list[list[PassageLabel]] = [[] for _ in range(count)]
    for one in said:
        of_passage[one.passage].append(one)
    return tuple(
        Cell(label=strongest([one.label for one in some]), probability=_highest([one.probability for one in some]))
        for some in of_passage
    )


def misquoted(verdict: Verdict, passages: Sequence[str]) -> str | None:
    """Why a verdict's evidence is none: a quote that does not stand where it says. None where all do."""
    for quote in verdict.evidence:
        if not 0 <= quote.passage < len(passages) or quote.span.of(passages[quote.passage]) != quote.text:
            return f"the quote {quote.text[:60]!r} does not stand in passage {quote.passage + 1}"
    return None


def _by_rule(claim: Claim, passages: Sequence[str], rule: Rule) -> Verdict:
    """What a script says of a claim and each passage: a label, or a quote of the passage that supports it."""
    cells, evidence = [], []
    for index, passage in enumerate(passages):
        says = rule(claim.text, passage)
        if says not in LABELS:
            span = locate(says, passage) if isinstance(says, str) else None
            if span is None:
                raise InputError(f"support rule: {says!r} is neither a label nor a quote of {passage!r}")
            evidence.append(Evidence(passage=index, span=span, text=span.of(passage)))
            says = "supported"
        cells.append(Cell(label=says))
    label = strongest([cell.label for cell in cells])
    return Verdict(label=label, claim=claim, cells=tuple(cells), evidence=tuple(evidence))
