"""Support by judges that read a claim against a text with a model: what they read, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from assay.inquiries import Support, SupportCells
from assay.records import Cell, Claim, Evidence, Span, SupportLabel, Verdict

BETWEEN = "\n"  # between passages that are read together

Pair = tuple[str, str]  # a text, and a claim


class Reading(Protocol):
    """What a text says of a claim."""

    @property
    def probability(self) -> float:
        """That the text supports the claim, in [0, 1]; 0.5 is the threshold."""

    @property
    def contradiction(self) -> float:
        """That it says otherwise, in [0, 1 - probability]; what is left is that it does not say."""

    @property
    def sentence(self) -> tuple[int, int]:
        """Offsets in the text of what says most about the claim; two that are equal for nothing."""


R = TypeVar("R", bound=Reading)
T = TypeVar("T")


def support_findings(
    inquiries: Mapping[int, Support], read: Callable[[list[Pair]], Sequence[R]], reason: Callable[[R], str | None]
) -> dict[int, tuple[Verdict, ...]]:
    """The findings of these inquiries; `read` gets every pair of text and claim once, `reason` says why in words."""
    pairs = distinct((text, claim.text) for i in inquiries.values() for claim in i.claims for text in _texts(i))
    readings = dict(zip(pairs, read(pairs), strict=True)) if pairs else {}
    return {
        n: tuple(_verdict(claim, i, [readings[text, claim.text] for text in _texts(i)], reason) for claim in i.claims)
        for n, i in inquiries.items()
    }


def distinct(items: Iterable[T]) -> list[T]:
    """Each once, in order."""
    return list(dict.fromkeys(items))


def _texts(inquiry: Support) -> tuple[str, ...]:
    """What a claim is read against: all passages together, as some claims need two of them; for cells each alone."""
    alone = inquiry.passages
    return alone if isinstance(inquiry, SupportCells) or not alone else (BETWEEN.join(alone),)


def _label(reading: Reading) -> SupportLabel:
    if reading.probability >= 0.5:
        return "supported"
    silent = 1 - reading.probability - reading.contradiction
    return "contradicted" if reading.contradiction > silent else "not_mentioned"


def _verdict(claim: Claim, inquiry: Support, readings: Sequence[R], reason: Callable[[R], str | None]) -> Verdict:
    """The verdict of the reading that supports the claim best, where there are several, and where its evidence is."""
    if not readings:
        return Verdict(label="not_mentioned", probability=0.0, claim=claim, reason="there are no passages")
    best = max(range(len(readings)), key=lambda k: readings[k].probability)
    top = readings[best]
    alone = len(readings) == len(inquiry.passages)  # the readings are those of the passages
    evidence = evidence_of(top.sentence, inquiry.passages, best if alone else None)
    return Verdict(
        label=_label(top),
        probability=top.probability,
        claim=claim,
        reason=reason(top),
        cells=tuple(Cell(label=_label(one), probability=one.probability) for one in readings) if alone else (),
        evidence=() if evidence is None else (evidence,),
    )


def evidence_of(sentence: tuple[int, int], passages: Sequence[str], passage: int | None) -> Evidence | None:
    """The sentence of the passage that was read, or None where there is none; no `passage`: of all of them joined."""
    start, end = sentence
    if start == end:
        return None
    if passage is None:
        passage = 0
        while start >= len(passages[passage]) + len(BETWEEN):
            start, end = (at - len(passages[passage]) - len(BETWEEN) for at in (start, end))
            passage += 1
        end = min(end, len(passages[passage]))  # a table may go on in the next
    span = Span(start, end)
    return Evidence(passage=passage, span=span, text=span.of(passages[passage]))
