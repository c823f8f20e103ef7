"""Lines of keys and values, each with where it stands; the lowest and highest of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from assay_embedded.records.spoken import is_day

TOGETHER = 18  # words of one line, about
WHOLE = 45  # words of an item of a list that is one line, about
LISTED = 3  # items from which on the lowest and highest are told
COLUMNS = 12  # of which they are told at most
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

Said = tuple[int, int, str, str]  # where key and value stand, and how they are read


@dataclass(frozen=True, slots=True)
class RecordPart:
    """What is read at once: `text`, for what stands at [start, end) of the passage."""

    start: int
    end: int
    text: str

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


def with_days_joined(said: Sequence[Said]) -> list[Said]:
    """Neighbouring days with one value become "monday to thursday"."""
    out: list[Said] = []
    for (day, value), run in groupby(said, key=lambda one: (is_day(one[2]), one[3])):
        same = list(run)
        if day and len(same) > 1:
            out.append((same[0][0], same[-1][1], f"{same[0][2]} to {same[-1][2].split()[-1]}", value))
        else:
            out += same
    return out


def grouped(said: Sequence[Said], path: tuple[str, ...], most: int = TOGETHER) -> Iterator[RecordPart]:
    """Keys and values in lines of about `most` words."""
    group: list[Said] = []
    size = 0
    for one in said:
        if group and size + words_in(one) > most:
            yield _piece(group, path)
            group, size = [], 0
        group.append(one)
        size += words_in(one)
    if group:
        yield _piece(group, path)


def _piece(group: Sequence[Said], path: tuple[str, ...]) -> RecordPart:
    return RecordPart(group[0][0], group[-1][1], as_line(path, [(key, value) for _, _, key, value in group]))


def as_line(path: Sequence[str], pairs: Sequence[tuple[str, str]]) -> str:
    before = ", ".join(path[-2:])
    return (f"{before}: " if before else "") + "; ".join(f"{key}: {value}" if key else value for key, value in pairs)


def words_in(one: Said) -> int:
    return len(one[2].split()) + len(one[3].split())


def extremes(values: Sequence[tuple[float, str, str]]) -> str:
    low, high = min(values, key=lambda one: one[0]), max(values, key=lambda one: one[0])
    told = (("lowest", low), ("highest", high))
    return ", ".join(f"{name} {value}" + f" ({label})" * bool(label) for name, (_, value, label) in told)
