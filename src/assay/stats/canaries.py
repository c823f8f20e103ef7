"""Whether the judge changed, from canary rows: a small fixed set of rows that the judge scores again each day.

The texts of the rows stay as they are, so a shift of their scores is the judge's. Each row is compared with itself.
With d the mean difference of the rows and 1/I its variance from the judge's noise (by how much the scores of one row
vary between scorings), the e-value of "the judge is the same" is

    (1 + k² I)^(-1/2) · exp( k² I² d² / (2 (1 + k² I)) )

that of a normal mixture over shifts of the size k (Robbins, Ann. Math. Stat. 41, 1970). As days are added, I grows,
and d moves as a martingale does where the judge is the same: the e-value reaches 1/alpha with probability alpha at
most over all days, for means that are near enough normal (asymptotic confidence sequences: Waudby-Smith et al., Ann.
Stat. 52, 2024). The shifts that are not refuted are the interval. With one scoring on each side, the noise is taken
from the differences of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, Self

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.drop_monitor import DropState

#: Shifts of this size, in shares of the range, are found first.
SHIFT = 0.1
#: The latest scorings that are looked at as the first one after a change.
SPLITS = 30
#: With fewer rows than this nothing is said.
LEAST_ROWS = 10
#: A difference of the whole range counts as seen in so much of a row.
_UNSEEN = 0.25
#: Standard errors by which the part of a drop that the judge does not explain has to differ from none.
_REST = 3.0

Scoring = Mapping[str, float]
#: Whose change a drop is.
Verdict = Literal["judge", "application", "both", "inconclusive"]


@dataclass(frozen=True, slots=True)
class JudgeDrift(Tabular):
    """Whether a judge scores the same rows as before.

    Attributes:
        verdict: "drift", "stable" (the shift is smaller than `margin`), or "inconclusive".
        difference: The mean score after minus before, by row; None where no row was scored both times.
        low, high: Where the shift of these rows lies, valid however often one looks.
        error: The standard error of `difference`, were other rows chosen; larger than what the interval goes by where
            the judge changed for some kinds of rows.
        evidence: The e-value of a drift; 1 / `alpha` or more is one.
        rows: Rows that were scored both before and after.
        before, after: How often the set was scored.
    """

    verdict: Literal["drift", "stable", "inconclusive"]
    difference: float | None
    low: float
    high: float
    error: float | None
    evidence: float
    rows: int
    before: int
    after: int


def judge_drift(
    before: Sequence[Scoring],
    after: Sequence[Scoring],
    *,
    low: float = 0.0,
    high: float = 1.0,
    margin: float = 0.03,
    alpha: float = 0.05,
) -> JudgeDrift:
    """Compare the scores of canary rows before and after a point in time, or two judges.

    Args:
        before: The scorings before, each as row -> score. Stored verdicts are one scoring.
        after: The scorings after. Call again as days are added: the verdict stays valid.
        low, high: The range of the scores.
        margin: A smaller shift counts as none.
        alpha: Probability of "drift" where the judge is the same, over all calls.

    Returns:
        The verdict. "inconclusive" with fewer than 10 rows that both sides have.

    Raises:
        InputError: A score is out of range, or an argument is.
    """
    return _compared(before, after, low, high, margin, alpha)[0]


def _compared(
    before: Sequence[Scoring], after: Sequence[Scoring], low: float, high: float, margin: float, alpha: float
) -> tuple[JudgeDrift, float]:
    """See `judge_drift`; with the logarithm of the e-value, which may be too large for a float."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"low, high: expected numbers, low below high, got {low} and {high}")
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha: expected a number between 0 and 1, got {alpha}")
    if not 0.0 <= margin <= high - low:
        raise InputError(f"margin: expected a number from 0 to {high - low:g}, got {margin}")
    first, second = _scores(before, low, high, "before"), _scores(after, low, high, "after")
    width = high - low
    both = [(first[row], second[row]) for row in first if row in second]
    shifts = [(fmean(later) - fmean(earlier)) / width for earlier, later in both]
    n = len(both)
    if n < LEAST_ROWS:
        mean = width * math.fsum(shifts) / n if n else None
        return JudgeDrift("inconclusive", mean, -width, width, None, 1.0, n, len(before), len(after)), 0.0
    mean = math.fsum(shifts) / n
    between = (math.fsum((one - mean) ** 2 for one in shifts) + _UNSEEN) / (n - 1) / n
    information = 1.0 / _noise(both, width, between)
    mixed = 1.0 + SHIFT**2 * information
    exponent = (SHIFT * information * mean) ** 2 / (2.0 * mixed)
    evidence = math.exp(min(700.0, exponent)) / math.sqrt(mixed)
    half = math.sqrt(mixed * math.log(mixed / alpha**2)) / (SHIFT * information)
    bottom, top = max(-1.0, mean - half), min(1.0, mean + half)
    verdict: Literal["drift", "stable", "inconclusive"] = "inconclusive"
    if evidence >= 1.0 / alpha:
        verdict = "drift"
    elif max(-bottom, top) * width <= margin:
        verdict = "stable"
    found = JudgeDrift(
        verdict, width * mean, width * bottom, width * top, width * math.sqrt(between), evidence, n, len(before),
        len(after),
    )  # fmt: skip
    return found, exponent - math.log(mixed) / 2.0


def _noise(both: Sequence[tuple[list[float], list[float]]], width: float, otherwise: float) -> float:
    """The variance of the mean difference from the judge's noise, pooled over rows and sides.

    `otherwise`: that of differences between rows, for too few repeated scorings.
    """
    sides = [scores for pair in both for scores in pair]
    freedom = sum(len(scores) - 1 for scores in sides)
    if freedom < len(both):
        return otherwise
    squares = math.fsum(_squares(scores) for scores in sides) / width**2
    variance = (squares + _UNSEEN) / freedom
    return variance * math.fsum(1.0 / len(scores) for scores in sides) / len(both) ** 2


def _squares(scores: Sequence[float]) -> float:
    mean = fmean(scores)
    return math.fsum((one - mean) ** 2 for one in scores)


def _scores(scorings: Sequence[Scoring], low: float, high: float, name: str) -> dict[str, list[float]]:
    """The scores of each row. Rows without a value in a scoring are left out of it. Raises InputError."""
    found: dict[str, list[float]] = {}
    for number, scoring in enumerate(scorings, 1):
        for row, value in scoring.items():
            if not low - 1e-9 <= value <= high + 1e-9:  # nor is NaN
                raise InputError(
                    f"{name}: expected scores from {low} to {high}; scoring {number} has {value} for row {row!r:.60}"
                )
            found.setdefault(row, []).append(value)
    return found


class CanaryMonitor:
    """The scorings of a set of canary rows over time.

        canaries = CanaryMonitor()
        canaries.add(time.time(), {"row-1": 1.0, "row-2": 0.5})         # each day, and after a change of judge
        print(canaries.drift(since))

    Args:
        low, high: The range of the scores.
        kept: How many scorings are kept; older ones are dropped, but for the first, the stored verdicts.

    Raises:
        InputError: An argument is out of range.
    """

    def __init__(self, *, low: float = 0.0, high: float = 1.0, kept: int = 100) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(f"low, high: expected numbers, low below high, got {low} and {high}")
        if kept < 2:
            raise InputError(f"kept: expected 2 or more, got {kept}")
        self.low, self.high, self.kept = low, high, kept
        self._scorings: list[tuple[float, dict[str, float]]] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._scorings)} scorings>"

    def add(self, time: float, scores: Mapping[str, float | None]) -> None:
        """Take in one scoring of the set.

        Args:
            time: When, in seconds since 1970.
            scores: By row its score; None where the judge gave none.

        Raises:
            InputError: The time is no number, or a score is out of range.
        """
        if not math.isfinite(time):
            raise InputError(f"time: expected seconds since 1970, got {time}")
        scoring = {row: float(value) for row, value in scores.items() if value is not None and not math.isnan(value)}
        _scores([scoring], self.low, self.high, "scores")
        self._scorings.append((float(time), scoring))
        self._scorings.sort(key=lambda one: one[0])
        if len(self._scorings) > self.kept:
            del self._scorings[1]

    def drift(self, since: float, until: float | None = None, **options: Any) -> JudgeDrift:
        """Whether the judge changed.

        Args:
            since: The last time at which it surely was as before, in seconds since 1970.
            until: The first time at which it surely had changed. None: `since`. Scorings between do not count.
            options: `margin` and `alpha`, as of `judge_drift`.

        Returns:
            The verdict on all scorings before and after.
        """
        after = since if until is None else until
        before = [scoring for time, scoring in self._scorings if time < since]
        later = [scoring for time, scoring in self._scorings if time >= after]
        return judge_drift(before, later, low=self.low, high=self.high, **options)

    def locate_drift(self, *, margin: float = 0.03, alpha: float = 0.05) -> tuple[float | None, JudgeDrift]:
        """Find since when the judge scores otherwise, where nobody says when it may have changed.

        Each of the latest scorings may be the first one after a change. Their e-values are added with the weights
        1 / (k (k + 1)), k the place of the scoring: the sum is an e-value, for the weights add up to 1 at most.

        Args:
            margin: A smaller shift counts as none.
            alpha: Probability of "drift" where the judge is the same, over all calls.

        Returns:
            The time of the first scoring that differs, and the drift there; its e-value is the sum. Without a drift
            None, and what the later half of the scorings says against the earlier one.
        """
        times = [time for time, _ in self._scorings]
        places = range(max(1, len(times) - SPLITS), len(times))
        found = {place: self._split(place, margin, alpha) for place in places}
        evidence = math.fsum(one.evidence / (place * (place + 1)) for place, (one, _) in found.items())
        if evidence >= 1.0 / alpha:
            best = max(found, key=lambda place: found[place][1] - math.log(place * (place + 1)))
            return times[best], replace(found[best][0], verdict="drift", evidence=evidence)
        middle = max(1, len(times) // 2)
        halves = (found.get(middle) or self._split(middle, margin, alpha))[0]
        verdict = "inconclusive" if halves.verdict == "drift" else halves.verdict
        return None, replace(halves, verdict=verdict, evidence=evidence)

    def _split(self, place: int, margin: float, alpha: float) -> tuple[JudgeDrift, float]:
        before, after = ([scoring for _, scoring in some] for some in (self._scorings[:place], self._scorings[place:]))
        return _compared(before, after, self.low, self.high, margin, alpha)

    def state(self) -> dict[str, Any]:
        """The scorings as JSON values."""
        scorings = [list(one) for one in self._scorings]
        return {"low": self.low, "high": self.high, "kept": self.kept, "scorings": scorings}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The monitor of a `state`.

        Raises:
            InputError: `state` is not what `state()` returned.
        """
        try:
            made = cls(low=state["low"], high=state["high"], kept=state["kept"])
            for time, scoring in state["scorings"]:
                made.add(time, scoring)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"state: expected the state of a canary monitor: {error}") from None
        return made


@dataclass(frozen=True, slots=True)
class Attribution(Tabular):
    """Whether a drop is the judge's or the application's.

    Attributes:
        verdict: "judge", "application", "both" or "inconclusive".
        difference: The drop of the monitored mean.
        judge: What the canary rows say.
        rest: The part of the drop that the judge does not explain; None without canary rows.
    """

    verdict: Verdict
    difference: float | None
    judge: JudgeDrift
    rest: float | None


def attribute_change(state: DropState, canaries: CanaryMonitor) -> Attribution:
    """Say whether a drop that a monitor found is the judge's or the application's.

    The shift of the canary rows is compared with the drop. The judge explains it where the shift is sure and what is
    left is not. The application explains it where the shift is surely less than half of the drop.

    Args:
        state: An open state of a `DropMonitor`.
        canaries: Canary rows scored by the same judge and the same metric.

    Returns:
        The verdict; "inconclusive" where nothing is open, or too few canary rows were scored since. Call again as days
        are added.
    """
    if not state.open or state.since is None or state.difference is None:
        return Attribution("inconclusive", None, canaries.drift(math.inf), None)
    drop = state.difference
    judge = _drift_about(state, canaries)
    if judge.difference is None or judge.error is None:
        return Attribution("inconclusive", drop, judge, None)
    rest = drop - judge.difference
    known = rest * drop > 0.0 and abs(rest) > _REST * math.hypot(judge.error, state.error or 0.0)
    same = judge.difference * drop > 0.0
    verdict: Verdict = "inconclusive"
    if judge.verdict == "drift" and same:
        verdict = "both" if known else "judge"
    elif max(judge.low / drop, judge.high / drop, (judge.difference / drop) + 2.0 * judge.error / abs(drop)) < 0.5:
        verdict = "application"
    return Attribution(verdict, drop, judge, rest)


def _drift_about(state: DropState, canaries: CanaryMonitor) -> JudgeDrift:
    """The drift between the scorings before the drop and those after; about the most likely hour where none is left."""
    assert state.since is not None
    if state.region is not None:
        found = canaries.drift(state.region[0], state.since)
        if found.before and found.after:
            return found
    return canaries.drift(state.since)
