"""One rating of the texts of a sample, as most of TruLens' functions give it.

    (level - min_score_val) / (max_score_val - min_score_val)

Range 0 to 1. What is asked, what the ends of the scale mean, and which end is good, each function says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.base import Metric
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.scale import ScaleMetric
from assay.prompts import Rating
from assay.records import Direction, Sample, Score

Material = tuple[tuple[str, str], ...]


@runtime_checkable
class JudgeView(Protocol):
    """What the judge sees of a sample that has more than texts: its conversation, an agent's trace."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the row that it needs."""

    @property
    def may_read(self) -> tuple[str, ...]:
        """Columns of the row that it reads where they are there."""

    def material(self, sample: Sample, metric: Metric) -> Material:
        """Give the texts with their titles; raise JudgeFailure where one is missing."""


@dataclass(frozen=True, kw_only=True)
class JudgeRating(ScaleMetric):
    """The level that the judge gives these texts, brought to 0 to 1.

    Attributes:
        question: What is asked of them.
        lowest, highest: What the ends of the scale mean.
        reads: The sample's texts that the judge sees, all of which are needed.
        shows: What the judge sees in the place of these.
    """

    asks = (Rating,)

    name: str  # type: ignore[misc]  # one class for many functions
    question: str
    lowest: str
    highest: str
    reads: tuple[Field, ...] = ()
    shows: JudgeView | None = None
    direction: Direction = field(default="higher")  # type: ignore[misc]

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # what it reads
        return self.reads

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]  # what it shows needs them
        return self.shows.columns if self.shows else ()

    @property
    def may_read(self) -> tuple[str, ...]:  # type: ignore[override]  # what it shows may need them
        return self.shows.may_read if self.shows else ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self.shows.material(sample, self) if self.shows else material_of(sample, self.reads)
        scale = self.levels(self.lowest, self.highest)
        return self.score_rating(await judge.find(Rating(self.question, scale, material, 0, sample.spoken)))


def entry(made: JudgeRating, *, family: str, unit: str, against: str, source: str = "", cot: bool = True) -> Entry:
    """The entry of one of these. `cot`: whether there is a function with `_with_cot_reasons` besides it."""
    name = source or made.name.partition(":")[2]
    counts = f"rating {made.min_score_val} to {made.max_score_val}"
    aggregate = "rating" if made.max_score_val == 1 else f"rating / {made.max_score_val}"
    return Entry(
        make=lambda: made,
        source=f"trulens.feedback.LLMProvider.{name}",
        compared="trulens 2.16.0",
        family=family,
        steps=Steps(unit, against, counts, aggregate),
        empty="what the judge says of it; -1 where its reply has no number",
        also=(f"{name}_with_cot_reasons",) if cot else (),
    )
