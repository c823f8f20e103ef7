"""Passages cut into pieces that fit a judge's window, and packed together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.text import windows


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` is what stands at character `start` of passage number `passage` (from 0)."""

    passage: int
    start: int
    text: str


def pack(passages: Sequence[str], room: int, language: str) -> list[list[Piece]]:
    """All of the passages, in order, in groups of pieces of at most `room` characters together."""
    groups: list[list[Piece]] = [[]]
    used = 0
    for piece in _pieces(passages, room, language):
        if groups[-1] and used + len(piece.text) > room:
            groups.append([])
            used = 0
        groups[-1].append(piece)
        used += len(piece.text)
    return groups


def _pieces(passages: Sequence[str], room: int, language: str) -> list[Piece]:
    pieces = []
    for index, passage in enumerate(passages):
        if len(passage) <= room:
            pieces.append(Piece(index, 0, passage))
        else:
            pieces += [Piece(index, span.start, span.of(passage)) for span in windows(passage, room, language)]
    return pieces
