"""One rating of the texts of a sample, as most of TruLens' functions give it.

    (level - min_score_val) / (max_score_val - min_score_val)

Range 0 to 1. What is asked, what the ends of the scale mean, and which end is good, each function says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.inquiries import Rating
from assay.judges.protocol import Judge
from assay.metrics.aspect_critique import Field, material_of
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.scale import Scaled
from assay.records import Direction, Sample, Score

Material = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Judged(Scaled):
    """The level that the judge gives these texts, brought to 0 to 1.

    question         what is asked of them
    lowest, highest  what the ends of the scale mean
    reads            the sample's texts that the judge sees, all of which are needed
    """

    asks = (Rating,)

    name: str  # type: ignore[misc]  # one class for many functions
    question: str
    lowest: str
    highest: str
    reads: tuple[Field, ...] = ()
    direction: Direction = field(default="higher")  # type: ignore[misc]

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # what it reads
        return self.reads

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self.material(sample)
        scale = self.levels(self.lowest, self.highest)
        return self.rated(await judge.find(Rating(self.question, scale, material, 0, sample.spoken)))

    def material(self, sample: Sample) -> Material:
        """The texts that the judge sees, with their titles. May raise JudgeFailure."""
        return material_of(sample, self.reads)


def entry(made: Judged, *, family: str, unit: str, against: str, source: str = "", cot: bool = True) -> Entry:
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
