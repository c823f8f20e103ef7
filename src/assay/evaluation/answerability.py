"""Answerable or not, answered or not: the table in which a right refusal and a wrong one are told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from assay._util.tabular import Tabular
from assay.records import Context

Kind = Literal["answerable", "answerable, not retrieved", "answerable, retrieval not read", "unanswerable", "unknown"]
Reply = Literal["answered", "refused", "unknown"]
KINDS: tuple[Kind, ...] = (
    "answerable", "answerable, not retrieved", "answerable, retrieval not read", "unanswerable", "unknown",
)  # fmt: skip
REPLIES: tuple[Reply, ...] = ("answered", "refused", "unknown")
SHOWN = 20  # numbers of rows kept for each cell


class ClaimReading(Protocol):
    """What all passages together say of one claim of the reference; None: not read."""

    @property
    def passages(self) -> str | None: ...


class RowFacts(Protocol):
    """What the table counts of a row: whether it can be answered, was answered, and what of the reference was found."""

    @property
    def answerable(self) -> bool | None: ...

    @property
    def abstained(self) -> bool | None: ...

    @property
    def contexts(self) -> Sequence[Context] | None: ...

    @property
    def reference(self) -> Sequence[ClaimReading] | None: ...


def kind_of(facts: RowFacts) -> Kind:
    """What kind of question a row asks: whether it has an answer, and whether the passages hold it.

    They do where they support at least half of the claims of the reference.
    """
    if facts.answerable is False:
        return "unanswerable"
    if facts.answerable is None:
        return "unknown"
    if facts.contexts is not None and not any(one.text.strip() or one.image for one in facts.contexts):
        return "answerable, not retrieved"
    read = [one.passages for one in facts.reference or () if one.passages is not None]
    if not read:
        return "answerable, retrieval not read"
    return "answerable" if 2 * read.count("supported") >= len(read) else "answerable, not retrieved"


def reply_of(facts: RowFacts) -> Reply:
    """Whether it was answered."""
    return "unknown" if facts.abstained is None else "refused" if facts.abstained else "answered"


@dataclass(slots=True)
class Answerability(Tabular):
    """How many rows are of each kind, with each kind of reply; and the first rows of each cell."""

    def _items(self) -> list[dict[str, Any]]:
        return [{"question": kind, **counts} for kind, counts in self.to_dict().items()]

    counts: dict[tuple[Kind, Reply], int] = field(default_factory=dict)
    rows: dict[tuple[Kind, Reply], list[int]] = field(default_factory=dict)

    def add(self, number: int, facts: RowFacts) -> None:
        """Count one row."""
        self.add_cell(number, (kind_of(facts), reply_of(facts)))

    def add_cell(self, number: int, cell: tuple[Kind, Reply]) -> None:
        """Count one row of a cell."""
        self.counts[cell] = self.counts.get(cell, 0) + 1
        kept = self.rows.setdefault(cell, [])
        if len(kept) < SHOWN:
            kept.append(number)

    def add_cells(self, numbers: Sequence[int], cell: tuple[Kind, Reply]) -> None:
        """Count rows of one cell, of which none was counted before."""
        self.counts[cell] = len(numbers)
        self.rows[cell] = list(numbers[:SHOWN])

    def sort(self) -> None:
        """Bring the rows into the order of the data, where they came in another."""
        for numbers in self.rows.values():
            numbers.sort()

    def row(self, kind: Kind) -> Mapping[Reply, int]:
        """The counts of one kind, by reply."""
        return {reply: self.counts.get((kind, reply), 0) for reply in REPLIES}

    @property
    def known(self) -> bool:
        """Whether of any row it is known if its question can be answered."""
        return any(kind != "unknown" for kind, _ in self.counts)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values: kind -> reply -> count, for the kinds that there are."""
        return {kind: dict(self.row(kind)) for kind in KINDS if any(self.row(kind).values())}
