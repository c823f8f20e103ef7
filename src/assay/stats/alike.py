"""Whether another way of reading differs from a judge by more than the judge differs from itself.

Of each verdict there are two readings in the usual way and one in the other. Two things are held against the margin,
both clustered by row:

    excess  how often the other way disagrees with a usual reading (the mean of both), less how often these disagree
    shift   the share that the other way affirms, less that of the usual readings

A judge that wavers hides a shift in the first, and flips that cancel out hide in the second. It agrees where both are
shown to lie within the margin (of the shift: two one-sided tests, Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987); it
differs where one of the three sides is shown to be off and not within it, corrected for their number (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from assay._util.tabular import Tabular
from assay.stats.intervals import Estimate
from assay.stats.paired import NonInferior, non_inferior

Likeness = Literal["agrees", "differs", "inconclusive"]
#: One-sided tests of one set of verdicts.
SIDES = 3


@dataclass(frozen=True, slots=True)
class Alike(Tabular):
    """What was found of one kind of verdict. All shares are in [0, 1], differences in [-1, 1].

    Attributes:
        own: How often two usual readings disagree.
        other: How often the other way disagrees with a usual reading.
        excess: Other - own, with its interval of confidence 1 - 2 alpha.
        shift: Affirmed in the other way less affirmed as usual, with its interval.
    """

    _columns = (
        "verdict n rows own other excess=excess.mean excess_low=excess.low excess_high=excess.high shift=shift.mean "
        "shift_low=shift.low shift_high=shift.high"
    )

    verdict: Likeness
    n: int
    rows: int
    own: float
    other: float
    excess: Estimate
    shift: Estimate


def alike(
    first: Sequence[str],
    again: Sequence[str],
    other: Sequence[str],
    affirmative: str,
    *,
    rows: Sequence[Hashable],
    margin: float = 0.02,
    alpha: float = 0.05,
    looks: int = 1,
) -> Alike | None:
    """Whether `other` agrees with `first` and `again`, labels of the same verdicts; None where there are none.

    Raises InputError for sequences of other lengths, a margin that is not above 0 and an alpha outside of (0, 0.5).

    Args:
        rows: The row that each verdict belongs to.
        margin: Above 0, on the scale of shares.
        alpha: Chance of "agrees" where the difference is the margin; of a wrong "differs" among `looks` such sets.
    """
    own = [float(a != b) for a, b in zip(first, again, strict=True)]
    off = [((c != a) + (c != b)) / 2 for a, b, c in zip(first, again, other, strict=True)]
    usual = [((a == affirmative) + (b == affirmative)) / 2 for a, b in zip(first, again, strict=True)]
    said = [float(label == affirmative) for label in other]

    def sides(level: float) -> list[NonInferior] | None:
        found = (
            non_inferior(own, off, margin, direction="lower", clusters=rows, alpha=level),
            non_inferior(usual, said, margin, direction="higher", clusters=rows, alpha=level),
            non_inferior(usual, said, margin, direction="lower", clusters=rows, alpha=level),
        )
        return [side for side in found if side is not None] or None

    plain = sides(alpha)
    if plain is None:
        return None
    verdict: Likeness = "inconclusive"
    if all(side.verdict == "pass" for side in plain):
        verdict = "agrees"
    elif any(side.verdict == "fail" for side in sides(alpha / (SIDES * looks)) or ()):
        verdict = "differs"
    worse, shift, _ = (side.estimate for side in plain)
    return Alike(verdict, len(own), len(set(rows)), _mean(own), _mean(off), _turned(worse), shift)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _turned(found: Estimate) -> Estimate:
    """The estimate of the difference with its other sign."""
    return Estimate(-found.mean, -found.high, -found.low, found.n, found.clusters, found.error, found.confidence)
