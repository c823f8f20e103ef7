"""The state of the retrieved passages: what is there twice, what contradicts itself, what no answer used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assay._util.tabular import Tabular
from assay.analysis.diagnosis.duplicates import near_duplicates
from assay.analysis.diagnosis.facts import ClaimFacts, Facts

SHOWN = 20  # examples kept of each kind


@dataclass(frozen=True, slots=True)
class PassagePair(Tabular):
    """Two passages of a row, by their numbers from 1, and the claim that one supports and the other contradicts."""

    row: int
    first: int
    second: int
    claim: str | None = None


@dataclass(slots=True)
class ContextHealth(Tabular):
    """Counts over the rows whose passages are known.

    Attributes:
        rows, passages: Rows with at least one passage, and all their passages.
        duplicates: Passages that say nearly what an earlier one of their row says, in so many `repeating` rows.
        contradicting: Rows in which two passages contradict each other on some claim, of `compared` rows in which what
            single passages say was read.
        unused, characters: Characters of passages that no claim of the answer rests on, and of all passages, in the
            `used_known` rows of which that is known.
    """

    rows: int = 0
    passages: int = 0
    duplicates: int = 0
    repeating: int = 0
    contradicting: int = 0
    compared: int = 0
    unused: int = 0
    characters: int = 0
    used_known: int = 0
    repeated: list[PassagePair] = field(default_factory=list)
    against: list[PassagePair] = field(default_factory=list)

    def add(self, number: int, facts: Facts) -> None:
        """Count one row."""
        texts = [one.text for one in facts.contexts or ()]
        if not any(text.strip() for text in texts):
            return
        self.rows += 1
        self.passages += len(texts)
        same = near_duplicates(texts)
        self.duplicates += len(same)
        self.repeating += bool(same)
        _keep(self.repeated, [PassagePair(number, m + 1, n + 1) for m, n in same])
        self._compare(number, facts, len(texts))
        self._use(facts, texts)

    def _compare(self, number: int, facts: Facts, count: int) -> None:
        if facts.elsewhere or facts.unsure:  # such a judge's "contradicted" is no evidence
            return  # cells of earlier turns' passages are no cells of this retrieval
        read = [one for side in (facts.answer, facts.reference) for one in side or () if one.cells is not None]
        if not read or count < 2:
            return
        self.compared += 1
        pairs = [pair for one in read if (pair := _contradiction(number, one)) is not None]
        self.contradicting += bool(pairs)
        _keep(self.against, pairs)

    def _use(self, facts: Facts, texts: list[str]) -> None:
        """Known where it is known of each supported claim which passage supports it."""
        if facts.elsewhere or not facts.answer or facts.abstained:
            return
        used: set[int] = set()
        for one in facts.answer:
            places = one.places("supported") or one.quoted
            if one.passages is None or (one.passages == "supported" and not places):
                return
            used.update(places)
        self.used_known += 1
        self.characters += sum(map(len, texts))
        self.unused += sum(len(text) for n, text in enumerate(texts, 1) if n not in used)

    def sort(self) -> None:
        """Bring the examples into the order of the data, where rows came in another."""
        for pairs in (self.repeated, self.against):
            pairs.sort(key=lambda one: (one.row, one.second, one.first))

    @property
    def share_unused(self) -> float | None:
        """Share of the text that no claim of the answer rests on, in [0, 1]; None where that is not known."""
        return self.unused / self.characters if self.characters else None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        counts = {name: getattr(self, name) for name in (
            "rows", "passages", "duplicates", "repeating", "contradicting", "compared", "unused", "characters",
            "used_known",
        )}  # fmt: skip
        shown = {
            "repeated": [{"row": one.row, "first": one.first, "second": one.second} for one in self.repeated],
            "against": [
                {"row": one.row, "first": one.first, "second": one.second, "claim": one.claim} for one in self.against
            ],
        }
        return {**counts, "share_unused": self.share_unused, **shown}


def _contradiction(number: int, one: ClaimFacts) -> PassagePair | None:
    """The first passage that supports a claim, and the first that contradicts it; None where not both are there."""
    supporting, contradicting = one.places("supported"), one.places("contradicted")
    return PassagePair(number, supporting[0], contradicting[0], one.text) if supporting and contradicting else None


def _keep(kept: list[PassagePair], pairs: list[PassagePair]) -> None:
    kept.extend(pairs[: max(0, SHOWN - len(kept))])
