"""The order in which people read lines of text on a page: down a column, then down the next.

Readers of pictures give lines from the top down, across columns. Here a page is cut where no text stands for its whole
height but for headings over both columns; cells of a table are short, and stay row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Protocol, TypeVar

from assay.records import Box


class LocatedLine(Protocol):
    """A line of text and its place: (left, top, right, bottom)."""

    @property
    def text(self) -> str: ...
    @property
    def box(self) -> Box: ...


L = TypeVar("L", bound=LocatedLine)

#: Places across a page where a cut is tried.
_PLACES = 200
#: Lines that a column of prose has at least, characters of its middling line, and share of its width that this fills.
_LINES, _CHARACTERS, _FILLED = 3, 15, 0.4
#: Lines over a cut (headings), as a share of all, at most.
_OVER = 0.25
#: Cuts one within the other: pages have four columns at most.
_DEPTH = 2


def in_reading_order(lines: Sequence[L], depth: int = _DEPTH) -> list[L]:
    """The same lines, column by column where they stand in columns; else as they are."""
    cut = _cut(lines) if depth else None
    if cut is None:
        return list(lines)
    found: list[L] = []
    band: list[L] = []
    for line in [*sorted(lines, key=lambda line: line.box[1]), None]:
        if line is not None and not _is_over(line, cut):
            band.append(line)
            continue
        sides = [[one for one in band if (_middle(one) < cut) is left] for left in (True, False)]
        found += [one for side in sides for one in in_reading_order(side, depth - 1)]
        found += [] if line is None else [line]
        band = []
    return found


def _cut(lines: Sequence[LocatedLine]) -> float | None:
    """Where a page falls into two columns of prose: the middle of the widest gap between them, or None."""
    if len(lines) < 2 * _LINES:
        return None
    over = [0] * (_PLACES + 2)  # lines over a place, as differences from the place before
    for line in lines:
        over[_place(line.box[0])] += 1
        over[_place(line.box[2]) + 1] -= 1
    gaps: list[tuple[int, int]] = []
    standing = 0
    for place in range(_PLACES + 1):
        standing += over[place]
        if standing > _OVER * len(lines):
            continue
        if gaps and gaps[-1][1] == place:
            gaps[-1] = gaps[-1][0], place + 1
        else:
            gaps.append((place, place + 1))
    fits = [(end - begin, (begin + end - 1) / 2 / _PLACES) for begin, end in gaps]
    fits = [(wide, cut) for wide, cut in fits if all(_is_prose(side) for side in _sides(lines, cut))]
    return max(fits)[1] if fits else None


def _place(x: float) -> int:
    return min(_PLACES, max(0, round(x * _PLACES)))


def _sides(lines: Sequence[LocatedLine], cut: float) -> tuple[list[LocatedLine], list[LocatedLine]]:
    apart = [line for line in lines if not _is_over(line, cut)]
    return [one for one in apart if _middle(one) < cut], [one for one in apart if _middle(one) >= cut]


def _is_prose(lines: Sequence[LocatedLine]) -> bool:
    """Whether these are lines of running text: several, long ones, that fill their column."""
    if len(lines) < _LINES:
        return False
    wide = max(line.box[2] for line in lines) - min(line.box[0] for line in lines)
    filled = median(line.box[2] - line.box[0] for line in lines)
    return median(len(line.text) for line in lines) >= _CHARACTERS and filled >= _FILLED * wide


def _is_over(line: LocatedLine, cut: float) -> bool:
    return line.box[0] < cut < line.box[2]


def _middle(line: LocatedLine) -> float:
    return (line.box[0] + line.box[2]) / 2
