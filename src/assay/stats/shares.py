"""The share of what is true from the share that is said to be: by how often each of both kinds is told for what it is.

    said = share · found + (1 - share) · (1 - left),   so   share = (said - (1 - left)) / (found + left - 1)

(Rogan and Gladen, Am. J. Epidemiol. 107, 1978.) `found` of the true are said to be true, `left` of the false are not;
both were counted on labelled things, and it is taken that they are what they were there. The interval has all shares
that what is said does not speak against, with the noise of all three (Fieller, J. R. Stat. Soc. B 16, 1954):

    |said - expected(share)| <= t · sqrt(expected (1 - expected) / n + share² var(found) + (1 - share)² var(left))

`found` and `left` count one more of each kind (Lang and Reiczigel, Prev. Vet. Med. 113, 2014), and t has as many
degrees of freedom as the rarer kind has labels, less one: set by simulation,
tests/analysis/gates/test_labelled_simulated.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.errors import InputError
from assay.stats.distributions import t_quantile


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """How things of both kinds were told apart, where it is known which they are.

    Attributes:
        true, false: How many were looked at; not always whole (of unequal weights as many as say as much).
        found: The share of the true that was said to be true.
        left: The share of the false that was not.
    """

    true: float
    false: float
    found: float
    left: float

    @property
    def turned(self) -> ConfusionCounts:
        """The same, of the other kind."""
        return ConfusionCounts(self.false, self.true, self.left, self.found)

    @property
    def tells(self) -> float:
        """`found` + `left` - 1 with one more of each: 1 where all is told, 0 or below where nothing is."""
        return _more(self.found, self.true) + _more(self.left, self.false) - 1.0


def true_share(said: float, n: float, told: ConfusionCounts, confidence: float = 0.95) -> tuple[float, float, float]:
    """The share that is true and the ends of its interval, in [0, 1], where `said` of n were said to be.

    Raises InputError for a share outside [0, 1], n not above 0, a confidence outside (0, 1), and where nothing is told.
    """
    if not 0.0 <= said <= 1.0:
        raise InputError(f"said: expected a share from 0 to 1, got {said}")
    if not n > 0.0:
        raise InputError(f"n: expected a number above 0, got {n}")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    slope = told.tells
    if not (slope > 0.0 and min(told.true, told.false) > 0.0):
        raise InputError("told: expected both kinds, and more of the true than of the false said to be true")
    found, left = _more(told.found, told.true), _more(told.left, told.false)
    of_true, of_false = found * (1.0 - found) / (told.true + 3.0), left * (1.0 - left) / (told.false + 3.0)
    start, above = 1.0 - left, said - (1.0 - left)
    t2 = t_quantile(0.5 + confidence / 2.0, max(min(told.true, told.false) - 1.0, 0.5)) ** 2
    # (above - slope·x)² - t² variance(x), which is at most 0 where x is not spoken against
    bend = slope**2 - t2 * (of_true + of_false - slope**2 / n)
    line = -2.0 * above * slope - t2 * (slope * (1.0 - 2.0 * start) / n - 2.0 * of_false)
    base = above**2 - t2 * (start * (1.0 - start) / n + of_false)
    share = min(1.0, max(0.0, above / slope))
    ends = [x for x in _roots(bend, line, base) if 0.0 <= x <= 1.0]
    ends += [x for x in (0.0, 1.0) if (bend * x + line) * x + base <= 0.0]
    return share, min([share, *ends]), max([share, *ends])


def _more(share: float, n: float) -> float:
    return (share * n + 1.0) / (n + 2.0)


def _roots(a: float, b: float, c: float) -> list[float]:
    """Where a x² + b x + c is 0, computed so that nothing cancels."""
    under = b * b - 4.0 * a * c
    if under < 0.0:
        return []
    half = -(b + math.copysign(math.sqrt(under), b)) / 2.0
    return [over / below for over, below in ((half, a), (c, half)) if below]
