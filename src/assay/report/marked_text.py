"""Parts of the texts of a row that its verdicts are on: the claims of the answer, the quotes in the passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.records import Score

_WORST_FIRST = ("contradicted", "not_mentioned")
#: What is read against passages; the first of these that a score has says how its claims are coloured.
_AGAINST = ("contexts", "conversation", "tools", "reference")


@dataclass(frozen=True, slots=True)
class ViewPart:
    """Characters of a text and how they are shown; of pieces that overlap the shortest wins, then the lowest `rank`."""

    start: int
    end: int
    style: str
    rank: int = 0


def segments(text: str, pieces: Iterable[ViewPart]) -> Iterator[tuple[str, str]]:
    """The text in order, cut where pieces begin and end: each with the style of its piece, or "".

    Pieces reach no farther than the text.
    """
    found = [piece for piece in pieces if 0 <= piece.start < piece.end <= len(text)]
    begins: dict[int, list[ViewPart]] = {}
    ends: dict[int, list[ViewPart]] = {}
    for piece in found:
        begins.setdefault(piece.start, []).append(piece)
        ends.setdefault(piece.end, []).append(piece)
    start, inside = 0, list[ViewPart]()
    for edge in sorted({*begins, *ends, len(text)}):
        style = min(inside, key=lambda piece: (piece.end - piece.start, piece.rank)).style if inside else ""
        if edge > start:
            yield text[start:edge], style
        start = edge
        inside = [piece for piece in inside if piece.end != edge] + begins.get(edge, [])


def telling(scores: Mapping[str, Score]) -> tuple[Score | None, str]:
    """The score whose reading of the answer's claims is shown in colour, and which reading it is."""
    for against in _AGAINST:
        for score in scores.values():
            if score.verdicts.get(f"answer/{against}"):
                return score, f"answer/{against}"
    return None, ""


def claim_parts(score: Score, reading: str, style: Callable[[str], str]) -> list[ViewPart]:
    """The claims of the answer in the style of their labels."""
    return [
        ViewPart(verdict.claim.span.start, verdict.claim.span.end, style(verdict.label),
                 _WORST_FIRST.index(verdict.label) if verdict.label in _WORST_FIRST else len(_WORST_FIRST))
        for verdict in score.verdicts[reading] if verdict.claim is not None
    ]  # fmt: skip


def quote_parts(score: Score, reading: str, style: Callable[[str], str]) -> dict[int, list[ViewPart]]:
    """By passage the quotes that the verdicts name, in the style of their labels."""
    found: dict[int, list[ViewPart]] = {}
    if reading.endswith(("/reference", "/tools")):
        return found
    for verdict in score.verdicts[reading]:
        for quote in verdict.evidence:
            part = ViewPart(quote.span.start, quote.span.end, style(verdict.label))
            found.setdefault(quote.passage, []).append(part)
    return found
