"""How surely two judges agree, and the narrowest band of doubt with which they agree often enough.

A verdict outside the band keeps what the first judge said; one inside gets what the second says, and so agrees with
it. The rows are split: one part orders the candidate bands from the widest to the narrowest, the other tests them in
that order and stops at the first that fails. Whatever the data, a band below the target then passes with a chance of
at most 1 - confidence (fixed-sequence testing), which choosing the best of many bands on the same rows would not give.

Verdicts on one sample resemble each other. They count for fewer: their number is divided by the design effect.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from assay.judges.cascade.items import EVERYTHING, NOTHING, Band, in_doubt

#: Share of the samples that orders the bands; the others test them.
ORDERING = 0.4
#: Steps from the widest band to the empty one, at most.
STEPS = 60
#: How many steps ahead on each side are looked at, so that one odd verdict does not block a side.
AHEAD = 5


@dataclass(frozen=True, slots=True)
class Point:
    """One verdict of both judges: the sample it is on, the first judge's probability, whether they agree."""

    sample: str
    probability: float | None
    agrees: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """A band and what is known of it. `tested` verdicts gave `agreement`, `effective` of them independent ones.

    at_least  the agreement that is shown at the confidence asked for; 1.0 where everything is asked again
    reached   False: no band could be shown to reach the target, and the band is everything
    alone     agreement of the first judge alone on the same verdicts
    """

    band: Band
    reached: bool
    agreement: float
    at_least: float
    alone: float
    tested: int
    effective: int


def choose_band(points: Sequence[Point], target: float, confidence: float = 0.95, seed: int = 0) -> Chosen:
    """The narrowest band that is shown to reach the target agreement. The seed decides the split, and nothing else."""
    ordering, testing = _split(points, seed)
    effective = int(len(testing) / design_effect(points))
    best = Chosen(EVERYTHING, False, 1.0, 1.0, _share(p.agrees for p in testing), len(testing), effective)
    last = best
    for band in _path(ordering):
        wrong = sum(not p.agrees and not in_doubt(p.probability, band) for p in testing)
        share = wrong / len(testing) if testing else 1.0
        shown = at_least(math.ceil(share * effective - 1e-9), effective, confidence)
        if shown < target:
            break
        last = Chosen(band, True, 1.0 - share, target, best.alone, len(testing), effective)
        if band == NOTHING:  # every test was passed: the bound itself may be tested now
            return Chosen(band, True, 1.0 - share, shown, best.alone, len(testing), effective)
    return last


def at_least(wrong: int, count: int, confidence: float = 0.95) -> float:
    """One-sided exact (Clopper-Pearson) lower bound of an agreement, of which `wrong` of `count` trials were none."""
    if count <= 0 or wrong >= count:
        return 0.0
    low, high = wrong / count, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(wrong, count, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return 1.0 - high


def needed(target: float, confidence: float = 0.95) -> int:
    """Verdicts that must be there, all in agreement, before the target can be shown at all."""
    return math.ceil(math.log(1 - confidence) / math.log(target) / (1 - ORDERING))


def design_effect(points: Sequence[Point]) -> float:
    """How many verdicts count as one, by the intra-class correlation of agreement on one sample; at least 1."""
    samples: dict[str, list[int]] = {}
    for point in points:
        samples.setdefault(point.sample, []).append(int(point.agrees))
    count, groups = len(points), list(samples.values())
    squares = sum(len(group) ** 2 for group in groups)
    if count < 2 or len(groups) == count:
        return 1.0
    if len(groups) == 1:
        return float(count)
    mean = sum(map(sum, groups)) / count
    between = sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups) / (len(groups) - 1)
    within = sum(sum((y - sum(g) / len(g)) ** 2 for y in g) for g in groups) / (count - len(groups))
    size = (count - squares / count) / (len(groups) - 1)
    spread = between + (size - 1) * within
    alike = max(0.0, (between - within) / spread) if spread > 0 else 0.0
    return max(1.0, 1.0 + (squares / count - 1) * alike)


def _split(points: Sequence[Point], seed: int) -> tuple[list[Point], list[Point]]:
    """The points that order the bands, and those that test them, by sample."""
    samples = sorted({point.sample for point in points}, key=lambda s: sha256(f"{seed}/{s}".encode()).digest())
    chosen = frozenset(samples[: math.floor(ORDERING * len(samples))])
    return [p for p in points if p.sample in chosen], [p for p in points if p.sample not in chosen]


def _path(points: Sequence[Point]) -> Iterable[Band]:
    """Nested bands, each narrower than the one before, down to the empty one.

    Each step gives up a few verdicts at that end of the band where the first judge was wrong less often.
    """
    known = sorted((p.probability, p.agrees) for p in points if p.probability is not None)
    chunks = _chunks(known, max(1, math.ceil(len(known) / STEPS)))
    edges = [(a[-1][0] + b[0][0]) / 2 for a, b in pairwise(chunks)]
    low, high = 0, len(chunks)  # what is still inside
    while high - low > 1:
        if _rate(chunks[low:high]) < _rate(chunks[low:high][::-1]):
            low += 1
        else:
            high -= 1
        yield (edges[low - 1] if low else 0.0, edges[high - 1] if high < len(chunks) else 1.0)
    yield NOTHING


def _chunks(known: Sequence[tuple[float, bool]], size: int) -> list[list[tuple[float, bool]]]:
    """Runs of at least `size`; equal probabilities stay together."""
    chunks: list[list[tuple[float, bool]]] = []
    at = 0
    while at < len(known):
        end = bisect_right(known, known[min(at + size, len(known)) - 1][0], key=lambda pair: pair[0])
        chunks.append(list(known[at:end]))
        at = end
    return chunks


def _rate(chunks: Sequence[Sequence[tuple[float, bool]]]) -> float:
    """The lowest rate of disagreement in the next one, two, ... chunks, each with half a disagreement more."""
    wrong, seen, best = 0.5, 1.0, 1.0
    for chunk in chunks[:AHEAD]:
        wrong += sum(not agrees for _, agrees in chunk)
        seen += len(chunk)
        best = min(best, wrong / seen)
    return best


def _at_most(wrong: int, count: int, share: float) -> float:
    """The chance of at most `wrong` of `count`, where each has the chance `share`."""
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    fixed = math.lgamma(count + 1)
    return math.fsum(
        math.exp(
            fixed - math.lgamma(k + 1) - math.lgamma(count - k + 1)
            + k * math.log(share) + (count - k) * math.log1p(-share)
        )
        for k in range(wrong + 1)
    )  # fmt: skip


def _share(values: Iterable[bool]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
