"""How surely two judges agree, and the narrowest band of doubt with which they agree often enough.

A verdict outside the band keeps what the first judge said; one inside gets what the second says, and so agrees with
it. The rows are split: one part orders the candidate bands from the widest to the narrowest, the other tests them in
that order and stops at the first that fails. Whatever the data, a band below the target then passes with a chance of
at most 1 - confidence (fixed-sequence testing), which choosing the best of many bands on the same rows would not give.

Verdicts on one row resemble each other. They count for fewer: their number is divided by the design effect, which is
measured, and measured with caution, because where few disagreements are seen little is seen of how alike they are.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from assay.judges.cascade.items import EVERYTHING, NOTHING, Band, in_doubt
from assay.judges.cascade.plan import BandPlan

#: Share of the rows that orders the bands; the others test them.
ORDERING = 0.4
#: Steps from the widest band to the empty one, at most.
STEPS = 60
#: How many steps ahead on each side are looked at, so that one odd verdict does not block a side.
AHEAD = 5


@dataclass(frozen=True, slots=True)
class Point:
    """One verdict of both judges: the row it is on, the first judge's probability, whether they agree."""

    row: str
    probability: float | None
    agrees: bool


def choose_band(points: Sequence[Point], target: float, confidence: float = 0.95, seed: int = 0) -> BandPlan:
    """The narrowest band that is shown to reach the target agreement. The seed decides the split, and nothing else.

    Where no band can be shown to, the widest one, and the reason.
    """
    ordering, testing = _split(points, seed)
    sizes, against = Counter(p.row for p in testing), [p for p in testing if not p.agrees]
    cautious = design_effect(points)
    passed: _Trial | None = None
    for band in _path(ordering):
        wrong = Counter(p.row for p in against if not in_doubt(p.probability, band))
        # the verdicts that this band leaves to the first judge may be more alike than all are
        trial = _trial(band, sizes, wrong, max(cautious, _effect(sizes, wrong)))
        if not trial.shows(target, confidence):
            break
        passed = trial
    effective = passed.effective if passed else int(len(testing) / cautious)
    low, high = passed.band if passed else EVERYTHING
    return BandPlan(
        low=low,
        high=high,
        reached=passed is not None,
        reason=None if passed else _reason(len(points), len(testing), effective, target, confidence),
        agreement=1.0 - passed.share if passed else 1.0,
        at_least=passed.at_least(target, confidence) if passed else 1.0,
        alone=1.0 - len(against) / len(testing) if testing else 0.0,
        escalated=sum(in_doubt(p.probability, (low, high)) for p in points) / len(points) if points else 1.0,
        verdicts=len(points),
        tested=len(testing),
        effective=effective,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """One band on the testing rows: the share of wrong verdicts, and as how many of how many independent ones."""

    band: Band
    share: float
    wrong: int
    effective: int

    def shows(self, target: float, confidence: float) -> bool:
        """Whether so few disagreements would come up with a chance of 1 - confidence at most, were they as many as
        the target allows or more."""
        return self.wrong < self.effective and _at_most(self.wrong, self.effective, 1.0 - target) <= 1.0 - confidence

    def at_least(self, target: float, confidence: float) -> float:
        """What is shown: where every test was passed, the bound itself may be tested now."""
        return max(target, at_least(self.wrong, self.effective, confidence)) if self.band == NOTHING else target


def _trial(band: Band, sizes: Counter[str], wrong: Counter[str], effect: float) -> _Trial:
    count = sizes.total()
    share = wrong.total() / count if count else 1.0
    effective = int(count / effect)
    return _Trial(band, share, math.ceil(share * effective - 1e-9), effective)


def _reason(verdicts: int, tested: int, effective: int, target: float, confidence: float) -> str:
    if at_least(0, effective, confidence) >= target:
        return f"even where the first judge is surest, agreement on {target:.0%} could not be shown"
    return (
        f"{tested} of {verdicts} verdicts could test a band, as much as {effective} independent ones; "
        f"{needed(target, confidence)} independent verdicts or more are needed to show {target:.0%}"
    )


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
    """How many verdicts count as one, by the intra-class correlation of agreement on one row; at least 1.

    One row more, of the usual size, on which the judges disagree throughout, is counted in: that no such row was seen
    among a few does not say that there is none.
    """
    sizes = Counter(point.row for point in points)
    if not sizes:
        return 1.0
    wrong = Counter(point.row for point in points if not point.agrees)
    return _effect(sizes, wrong, unseen=max(1, round(sizes.total() / len(sizes))))


def clusters(shared: Iterable[Iterable[str]]) -> dict[str, str]:
    """The cluster of each row. `shared` tells, for each prompt, the rows that asked it: they are one cluster.

    What is found once for two rows is no more than one witness, and what else is found on them resembles it. A cluster
    has the name of its first row, in the order of names.
    """
    above: dict[str, str] = {}

    def first(row: str) -> str:
        while above.setdefault(row, row) != row:
            above[row] = above[above[row]]  # halves the way, so that long chains cost little
            row = above[row]
        return row

    for rows in shared:
        roots = sorted({first(row) for row in rows})
        above.update(dict.fromkeys(roots, roots[0]) if roots else {})
    return {row: first(row) for row in list(above)}


def _effect(sizes: Mapping[str, int], wrong: Mapping[str, int], unseen: int = 0) -> float:
    """The design effect of rows with these numbers of verdicts, and of wrong ones. `unseen`: one row more, all wrong.

    The correlation is the estimate of the analysis of variance. A single row counts as one verdict.
    """
    count = sum(sizes.values())
    weight = sum(n * n for n in sizes.values()) / count if count else 1.0  # verdicts in the row of a verdict
    if len(sizes) <= 1 or len(sizes) == count:
        return weight
    rows = [(n, wrong.get(row, 0)) for row, n in sizes.items()] + ([(unseen, unseen)] if unseen else [])
    total, bad = sum(n for n, _ in rows), sum(w for _, w in rows)
    explained = math.fsum(w * w / n for n, w in rows)  # the same in any order
    between = (explained - bad * bad / total) / (len(rows) - 1)
    within = (bad - explained) / (total - len(rows))
    size = (total - sum(n * n for n, _ in rows) / total) / (len(rows) - 1)
    spread = between + (size - 1) * within
    alike = max(0.0, (between - within) / spread) if spread > 0 else 0.0
    return max(1.0, 1.0 + (weight - 1) * alike)


def _split(points: Sequence[Point], seed: int) -> tuple[list[Point], list[Point]]:
    """The points that order the bands, and those that test them, by row."""
    rows = sorted({point.row for point in points}, key=lambda row: sha256(f"{seed}/{row}".encode()).digest())
    chosen = frozenset(rows[: math.floor(ORDERING * len(rows))])
    return [p for p in points if p.row in chosen], [p for p in points if p.row not in chosen]


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
