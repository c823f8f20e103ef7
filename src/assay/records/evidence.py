"""Evidence of a score: claims, verdicts, spans in texts and boxes in images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.records.base import Record, _short

SupportLabel = Literal["supported", "contradicted", "not_mentioned"]


#: Left, top, right and bottom, each as a share of the picture's width or height, from 0.0 to 1.0.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Span(Record):
    """A piece of a text: characters `start` up to, not including, `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters of `text` that this span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        """The same piece where the text stands `by` characters further on."""
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """One checkable statement. `span` is the part of the source text that makes it (at least its sentence)."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """A verbatim quote, found by string search: `passages[passage][span.start:span.end] == text`.

    Attributes:
        passage: Index of the passage, from 0.
        span: Where the quote stands in it, in characters.
        text: The quote.
        box: Where it stands on a picture whose text was read: left, top, right, bottom, as shares of its size.
    """

    passage: int
    span: Span
    text: str
    box: Box | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Record):
    """What one passage alone says of one claim. `probability` is that of `supported`, in [0, 1]."""

    label: SupportLabel
    probability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """The judgement on one claim, one passage, one answer or one criterion.

    Attributes:
        label: From the closed set of its judge prompt: supported / contradicted / not_mentioned; useful / not_useful;
            direct / indirect; yes / no.
        probability: Probability of the affirmative label (supported, useful, direct, yes), in [0, 1]; None where the
            judge gives none.
        reason: The judge's reason, where it gives one.
        claim: The claim judged, for support verdicts.
        passage: Index of the passage judged, from 0, for usefulness verdicts.
        cells: One per passage, in order: the row of the claim x passage matrix.
        evidence: Located quotes.
        unlocated: Number of quotes that are not in the passages, and so are no evidence.
        unsupported: Parts of `claim.text` that make an unsupported claim unsupported, where the judge names them.
    """

    label: str
    probability: float | None = None
    reason: str | None = None
    claim: Claim | None = None
    passage: int | None = None
    cells: tuple[Cell, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    unlocated: int = 0
    unsupported: tuple[Span, ...] = ()

    def __repr__(self) -> str:
        p = "" if self.probability is None else f" (p={self.probability:.2f})"
        what = f": {_short(self.claim.text)!r}" if self.claim is not None else ""
        what += f" on passage {self.passage + 1}" if self.passage is not None else ""
        return f"<Verdict {self.label}{p}{what}>"
