"""How many rows a comparison needs to see a drop, and what drop so many rows show: from plain numbers or a past run.

print(plan(Assumptions(mean=0.9), drop=0.05))
print(plan(world_of(Result.load("monday"), "faithfulness"), rows=100))
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular
from assay.errors import InputError, printable
from assay.evaluation.groups import cluster_of, value_in
from assay.stats.components import components
from assay.stats.noise import Noise
from assay.stats.power import CONFIDENCE, CORRELATION, POWER, Assumptions, detectable_drop, rows_needed

if TYPE_CHECKING:
    from assay.evaluation.result import Result


@dataclass(frozen=True, slots=True)
class PowerAnalysis(Tabular):
    """What so many rows show.

    Attributes:
        rows: Of each run; None where no number of rows shows the drop.
        drop: On the scale of the scores (range `width`); None where these rows show none.
        power: The probability that the drop is seen, where it is there.
        clusters: Of rows, in these rows, where rows hang together.
        confidence: Of the comparison; shared by `tests` metrics or slices (Holm's correction at its worst).
    """

    _columns = "metric rows clusters drop power confidence tests width mean=world.mean sd=world.sd"

    world: Assumptions
    rows: int | None
    drop: float | None
    power: float
    confidence: float = CONFIDENCE
    tests: int = 1
    width: float = 1.0
    metric: str | None = None

    @property
    def clusters(self) -> int | None:
        if self.rows is None or self.world.size <= 1.0:
            return None
        return math.ceil(self.rows / self.world.size)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {**asdict(self), "clusters": self.clusters}

    def __str__(self) -> str:
        share = f"{100 * self.power:.0f} %"
        what = "a drop" if self.drop is None else f"a drop of {self.drop:.3g}"
        if self.rows is None:
            first = f"no number of rows shows {what} in {share} of comparisons"
        elif self.drop is None:
            first = f"{self.rows} rows show no drop in {share} of comparisons, however large"
        else:
            clusters = f" ({self.clusters} clusters)" if self.clusters is not None else ""
            first = f"{self.rows} rows{clusters} show {what} in {share} of comparisons"
        return printable(f"{first}\n{in_lines(self._assumed())}")

    def _assumed(self) -> str:
        world, width = self.world, self.width
        kind = f"scores of 0 or 1, mean {world.mean:.3g}" if world.binary else f"graded scores, standard deviation " \
            f"{(world.sd or 0.0) * width:.3g}"  # fmt: skip
        rows = f"the same rows in both runs, correlated at {world.correlation:.2g}" if world.paired else "other rows"
        parts = [kind, rows]
        if world.noise:
            parts.append(f"judge's noise {world.noise * (1.0 if world.binary else width):.3g}")
        if world.design > 1.0:
            parts.append(f"clusters of {world.size:.3g} that need {world.design:.2g} times the rows")
        parts.append(f"confidence {self.confidence:.4g}" + (f" shared by {self.tests} tests" if self.tests > 1 else ""))
        return "with " + ", ".join(parts)


def in_lines(text: str) -> str:
    """A sentence as it stands under what it is about, in lines that a terminal has room for."""
    return fill(text, 80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def plan(
    world: Assumptions,
    *,
    drop: float | None = None,
    rows: int | None = None,
    power: float = POWER,
    confidence: float = CONFIDENCE,
    tests: int = 1,
    width: float = 1.0,
    metric: str | None = None,
) -> PowerAnalysis:
    """The rows that show a drop; the drop that these rows show; or, given both, with what probability they do.

    `drop` is on the scale of the scores, whose range is `width`; `tests` metrics or slices are compared together.
    Raises InputError where neither is given, and for numbers that cannot be.
    """
    if drop is None and rows is None:
        raise InputError("plan: say which drop is to be seen (drop, --drop), or how many rows there are (rows, --rows)")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
    if tests < 1:
        raise InputError(f"tests: expected at least 1, got {tests}")
    if drop is not None and not 0.0 < drop <= world.most * width:
        raise InputError(
            f"drop: expected a number above 0 and up to {world.most * width:.3g}, where scores are as bad as can be; "
            f"got {drop}"
        )
    alpha = (1.0 - confidence) / tests
    if rows is None:
        assert drop is not None
        rows = rows_needed(world, drop / width, power=power, alpha=alpha)
    elif drop is None:
        shown = detectable_drop(world, rows, power=power, alpha=alpha)
        drop = None if shown is None else shown * width
    elif rows < 1:
        raise InputError(f"rows: expected at least 1, got {rows}")
    else:
        power = world.power(rows, drop / width, alpha)
    return PowerAnalysis(world, rows, drop, power, confidence, tests, width, metric)


@dataclass(frozen=True, slots=True)
class PastScores(Tabular):
    """What a past run, or readings of the same data, tell of a metric's scores.

    Attributes:
        rows: With a value.
        assumed: Whether the correlation of the scores of a row in two runs is a guess.
    """

    _columns = "rows width assumed mean=world.mean sd=world.sd"

    world: Assumptions
    rows: int
    width: float
    assumed: bool


def world_of(
    result: Result,
    metric: str,
    again: Result | None = None,
    *,
    cluster: str | None = None,
    correlation: float | None = None,
    paired: bool = True,
    noise: float = 0.0,
) -> PastScores:
    """What a run's scores are like, on the scale where 0 is worst and 1 is best.

    Raises InputError for a metric that the run has not, a range without an end, a column that no row has, and fewer
    than two values, or values that are all the same.

    Args:
        again: A second run on the same rows: how much the scores of a row correlate is a guess without it.
        cluster: The column of what hangs together.
        correlation: In place of what was found or guessed.
        noise: Of the judge, besides that in the run's scores; on the scale of the metric where scores are graded.
    """
    if metric not in result.metrics:
        raise InputError(f"metric: {metric!r} is not in this run; it has {', '.join(result.metrics)}")
    summary = result.metrics[metric]
    width = summary.high - summary.low
    if not math.isfinite(width):
        raise InputError(f"metric: {metric!r} has a range without an end; give its mean or sd in place of the run")
    values: dict[str, list[float]] = {}
    there = cluster is None
    for number, row in enumerate(result):
        score = row.scores.get(metric)
        if score is None or not score.measured or score.value is None:
            continue
        there = there or value_in(row.sample, cluster or "")[0]
        name = f"\0{number}" if cluster is None else cluster_of(row.sample, cluster, number)
        values.setdefault(name, []).append(_share(score.value, summary.low, summary.high, summary.direction))
    if not there:
        raise InputError(f"cluster: no row has the column {cluster!r}")
    shares = [share for group in values.values() for share in group]
    if len(shares) < 2:
        raise InputError(f"run {result.run!r}: {metric} has {len(shares)} values; a plan needs at least 2")
    mean = math.fsum(shares) / len(shares)
    variance = math.fsum((share - mean) ** 2 for share in shares) / (len(shares) - 1)
    if not variance:
        raise InputError(f"run {result.run!r}: all values of {metric} are the same, which says nothing of their spread")
    found = components(values.values()) if cluster is not None else None
    binary = all(share in (0.0, 1.0) for share in shares)
    if correlation is None and again is not None:
        correlation = _correlation(result, again, metric)
    world = Assumptions(
        mean=mean,
        sd=None if binary else min(0.5, math.sqrt(variance)),
        correlation=CORRELATION if correlation is None else correlation,
        paired=paired,
        noise=noise if binary else noise / width,
        design=1.0 if found is None else found.design_effect,
        size=1.0 if found is None else found.size,
    )
    return PastScores(world, len(shares), width, paired and correlation is None)


def world_of_noise(noise: Noise, *, correlation: float | None = None, paired: bool = True) -> PastScores:
    """What `assay judge noise` tells of a metric's scores: their spread, the judge's part of it, and, where questions
    have several answers, how far the scores of a row agree in two runs that both answer and read anew.

    Raises InputError for a range without an end, and where all scores are the same.
    """
    width = noise.high - noise.low
    if not math.isfinite(width):
        raise InputError(f"metric: {noise.metric!r} has a range without an end; give its mean or sd in place of a file")
    variance = (noise.item + (noise.generation or 0.0) + noise.judge) / width**2
    if not variance:
        raise InputError(f"noise: all values of {noise.metric} are the same, which says nothing of their spread")
    mean = _share(math.fsum(noise.means) / len(noise.means), noise.low, noise.high, noise.direction)
    known = noise.correlation if correlation is None else correlation
    world = Assumptions(
        mean=min(1.0, max(0.0, mean)),
        sd=None if noise.binary else min(0.5, math.sqrt(variance)),
        correlation=CORRELATION if known is None else known,
        paired=paired,
    )
    return PastScores(world, noise.rows, width, paired and known is None)


def _share(value: float, low: float, high: float, direction: str) -> float:
    share = (value - low) / (high - low)
    return share if direction == "higher" else 1.0 - share


def _correlation(first: Result, second: Result, metric: str) -> float:
    """That for which two runs alike would differ as these do, row by row."""
    from assay.analysis.comparison.pairing import pairs_of

    scores = [(pair.first[metric], pair.second[metric]) for pair in pairs_of(first, second, metric)[0]]
    pairs = [(a.value or 0.0, b.value or 0.0) for a, b in scores if a.measured and b.measured]
    if len(pairs) < 2:
        raise InputError(f"{second.run!r}: {len(pairs)} rows have a value of {metric} in both runs; 2 are needed")

    def variance(values: list[float]) -> float:
        mean = math.fsum(values) / len(values)
        return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)

    spread = variance([a for a, _ in pairs]) + variance([b for _, b in pairs])
    return max(-1.0, 1.0 - variance([b - a for a, b in pairs]) / spread) if spread else 1.0
