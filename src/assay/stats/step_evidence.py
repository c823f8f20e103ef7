"""Evidence that a mean has changed, valid at any time: an e-detector of Shiryaev-Roberts kind.

A bettor is paid a fixed rate of money, and at each hour bets what came in that hour on "the mean changed by d at this
hour", for several d. The wealth of one bet is the ratio of two likelihoods of the hourly means z, given all before:

    log wealth(s, d) = sum over hours t >= s of   tilt · shortfall - log of its largest expectation without a change
    tilt             = d · r / (v · variance of a row)

with v the variance of the mean of an hour about what the baseline expects, in rows, and r the part of a change at s
that the baseline has not taken in since. These are the recursive residuals of a regression (Brown, Durbin and Evans,
J. R. Stat. Soc. B 37, 1975): that the baseline is an estimate is in v and in r. The expectation is bounded by
Bennett's inequality (J. Am. Stat. Assoc. 57, 1962), not by that of a normal variable: of scores near the best one,
shortfalls are rare and large.

Where nothing changes, the wealth grows by no more than what is paid in on average. So the sum of all wealth reaches c
with probability (money paid in) / c at most (Doob), and takes at least c / (money a day) days on average to do so
(Shin, Ramdas and Rinaldo, New Engl. J. Stat. Data Sci. 2, 2023), however often one looks.

Where the mean changed is known in the same way: hours s for which the sum of all wealth is more than 1/alpha times the
largest likelihood ratio at s are refuted (universal inference: Wasserman, Ramdas and Balakrishnan, PNAS 117, 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from assay.stats.arrays import Floats
from assay.stats.json_arrays import from_text, to_text
from assay.stats.weekly_baseline import EFFECTS, Places, effects_of

#: Changes that are bet on, in shares of the range, and how the money is split between them.
SIZES: Floats = np.array([0.012, 0.03, 0.06, 0.15, 0.4])
SPLIT: Floats = np.array([0.06, 0.7, 0.16, 0.05, 0.03])
#: Starts of bets are hours for this many hours; older ones are days.
FINE = 48
#: The oldest start, in hours.
OLDEST = 28 * 24
#: Starts for which there is room before old ones are put together.
_ROOM = FINE + OLDEST // 24 + 24
#: No bet is lost to less than this, as a logarithm.
_LOST = -60.0


@dataclass(slots=True)
class Block:
    """Rows of one hour, as the baseline saw them.

    Attributes:
        hour: The hour in which they came.
        own: The hour to which they belong.
        n: How many rows that count alike.
        surprise: Their mean minus what was expected.
        spread: The variance of what was expected, in units of one row's.
        covariance: That of it with all effects.
        variance: That of one row.
        jump: How far one row can fall below what was expected, times how many rows come together.
        rise: How far one can rise above.
    """

    hour: int
    own: int
    n: float
    surprise: float
    spread: float
    covariance: Floats
    variance: float
    jump: float
    rise: float


class StepEvidence:
    """Wealth of bets on a fall and on a rise of the mean, by hour of the change.

    Args:
        hourly: Money paid in an hour, for falls and for rises each.
        drop: Falls that are smaller than this share of the range are none.
    """

    def __init__(self, hourly: float, drop: float = 0.0) -> None:
        self.hourly, self.drop = hourly, drop
        self.falls, self.rises = 0.0, 0.0  # the sums of all wealth
        self._count = 0  # starts in use, of those below
        self._starts = np.zeros(_ROOM, dtype=np.int64)
        self._wealth = np.zeros((_ROOM, 2, SIZES.size))  # logarithms, by start: falls, rises
        self._seen = np.zeros((_ROOM, EFFECTS))  # rows since the start, by effect
        #: By start: sums of r · surprise / (v · variance), of r² / (v · variance), rows, and the sum of their scores.
        self._sums = np.zeros((4, _ROOM))

    @property
    def starts(self) -> Places:
        """The hours of the changes that are bet on."""
        return self._starts[: self._count]

    def start(self, hour: int, money: float) -> None:
        """Bet `money` on a change at this hour, from now on."""
        if money <= 0.0:
            return
        if self._count == _ROOM:
            self._thin(hour)
        place = self._count
        self._starts[place], self._seen[place], self._sums[:, place] = hour, 0.0, 0.0
        self._wealth[place] = np.log(money * SPLIT)
        self._count += 1

    def add(self, block: Block, mean: float) -> None:
        """Settle all bets with one more block, whose mean score is `mean`."""
        count = self._count
        if not count:
            return
        seen, wealth, sums = self._seen[:count], self._wealth[:count], self._sums[:, :count]
        remaining = np.maximum(1.0 - seen @ block.covariance, 0.0)  # of the change
        weight = remaining / ((1.0 / block.n + block.spread) * block.variance)
        tilt = weight[:, None] * SIZES
        falls = (-block.surprise - self.drop * remaining)[:, None]
        for side, reach, shortfall in ((0, block.jump, falls), (1, block.rise, block.surprise)):
            bounded = bennett(tilt * (reach / block.n))
            bounded *= block.variance / block.n
            bounded += block.spread * block.variance / 2.0
            wealth[:, side] += tilt * (shortfall - tilt * bounded)
        np.maximum(wealth, _LOST, out=wealth)
        self.falls, self.rises = np.exp(wealth).sum(axis=(0, 2)).tolist()
        seen[:, effects_of(block.own)] += block.n
        sums[0] += weight * block.surprise
        sums[1] += weight * remaining
        sums[2] += block.n
        sums[3] += block.n * mean

    def best(self, rise: bool = False) -> int:
        """The place of the start that won most."""
        return int(np.exp(self._wealth[: self._count, int(rise)]).sum(axis=1).argmax())

    def change(self, place: int) -> float:
        """The change at a start (least squares), in shares of the range."""
        score, information = self._sums[:2, place].tolist()
        return float(score / information) if information else 0.0

    def error(self, place: int) -> float | None:
        """The standard error of `change`."""
        information = float(self._sums[1, place])
        return 1.0 / math.sqrt(information) if information else None

    def since(self, place: int) -> tuple[float, float]:
        """How many rows came since a start, and the sum of their scores."""
        rows, total = self._sums[2:, place].tolist()
        return rows, total

    def region(self, alpha: float, rise: bool = False) -> tuple[int, int]:
        """The first and last hour of the change that are not refuted, together with error `alpha` at most.

        A start that stands for a day reaches to the next one.
        """
        score, information = self._sums[:2, : self._count]
        likelihood = np.where((score > 0.0) == rise, score**2 / (2.0 * np.maximum(information, 1e-12)), 0.0)
        least = math.log(max(self.rises if rise else self.falls, 1e-12)) + math.log(alpha)
        kept = np.flatnonzero(likelihood >= min(least, float(likelihood.max())))
        last = min(int(kept[-1]) + 1, self._count - 1)
        return int(self.starts[kept[0]]), int(self.starts[last])

    def _thin(self, hour: int) -> None:
        """Keep one start a day beyond the last `FINE` hours; the wealth of the others is bet on its change from now on.

        Of a day the start that won most is kept, of those that are too old the youngest.
        """
        groups: dict[int, list[int]] = {}
        for place, age in enumerate((hour - self.starts).tolist()):
            groups.setdefault(-1 - age if age < FINE else min(age, OLDEST) // 24, []).append(place)
        most = self._wealth.max(axis=(1, 2))
        kept = [
            places[-1] if day == OLDEST // 24 else max(places, key=lambda place: float(most[place]))
            for day, places in groups.items()
        ]
        wealth = np.stack([np.logaddexp.reduce(self._wealth[places], axis=0) for places in groups.values()])
        order = np.argsort(self._starts[kept], kind="stable")
        index, self._count = np.array(kept)[order], len(kept)
        self._wealth[: self._count] = wealth[order]
        for whole in (self._starts, self._seen):
            whole[: self._count] = whole[index]
        self._sums[:, : self._count] = self._sums[:, index]

    def state(self) -> dict[str, Any]:
        """The evidence as JSON values, but for what the hours since the oldest start say by themselves."""
        return {
            "hourly": self.hourly,
            "drop": self.drop,
            "falls": self.falls,
            "rises": self.rises,
            "starts": self.starts.tolist(),
            "wealth": to_text(self._wealth[: self._count]),
            "sums": to_text(self._sums[:, : self._count]),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], came: Places, of: Places, n: Floats) -> Self:
        """The evidence of a `state`.

        Args:
            state: What `state` returned.
            came: Hours in which rows came, since the oldest start.
            of: Hours to which they belong.
            n: How many.
        """
        made = cls(float(state["hourly"]), float(state["drop"]))
        made.falls, made.rises = float(state["falls"]), float(state["rises"])
        count = made._count = len(state["starts"])
        made._starts[:count] = state["starts"]
        made._wealth[:count] = from_text(state["wealth"]).reshape(count, 2, SIZES.size)
        made._sums[:, :count] = from_text(state["sums"]).reshape(4, count)
        for hour, own, rows in zip(came.tolist(), of.tolist(), n.tolist(), strict=True):
            made._seen[np.ix_(np.flatnonzero(made.starts <= hour), effects_of(own))] += rows
        return made


def bennett(x: Floats) -> Floats:
    """(exp(x) - 1 - x) / x², 1/2 at 0."""
    x = np.clip(x, 1e-4, 30.0)
    found: Floats = (np.expm1(x) - x) / (x * x)
    return found
