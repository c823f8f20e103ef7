"""Bedrock's scales: how many levels a rating has depends on the model that judges.

A rating of level n on a scale of levels 0 to N gives n / N, so numbers by judges with other scales are not comparable.
The built-in metrics have one scale for nearly all judges; the exceptions are listed here. Source: the evaluator prompts
that the user guide of Amazon Bedrock publishes (September 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Rating
from assay.records import Sample, Score

STANDARD = "standard"
#: The judges by the scales that they are given; those of one scale for every metric are "standard" by another name.
SCALES = (STANDARD, "nova", "nova-2-lite", "claude", "gpt", "llama-3.1-70b", "mistral-large")

Levels = tuple[str, ...]


def normalised(level: float, levels: int) -> float:
    """A level, from 0, of a scale with so many levels, on 0 to 1."""
    return level / (levels - 1)


@dataclass(frozen=True)
class RatedMetric(SystemMetric):
    """One rating of a whole text, on 0 to 1.

    Attributes:
        asked: What the judge is asked.
        shown: The texts that it sees, where they are there.
        levels: What each level means, the lowest first, by scale; scales without their own have the standard one.
    """

    asked: ClassVar[str]
    shown: ClassVar[tuple[Field, ...]]
    levels: ClassVar[Mapping[str, Levels]]
    asks: ClassVar = (Rating,)

    scale: str = STANDARD

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InputError(f"{type(self).__name__}: scale must be one of {', '.join(SCALES)}, not {self.scale!r}")

    @property
    def label(self) -> str:
        return super().label if self.scale == STANDARD else f"{super().label}_{self.scale}"

    @property
    def steps_of_scale(self) -> Levels:
        """The levels of this metric's scale."""
        return self.levels.get(self.scale, self.levels[STANDARD])

    def material(self, sample: Sample) -> tuple[tuple[str, str], ...]:
        """What the judge sees."""
        return material_of(sample, self.shown)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        levels = self.steps_of_scale
        rated = await judge.find(
            Rating(self.asked, tuple(enumerate(levels)), self.material(sample), language=sample.spoken)
        )
        return self.of_level(rated.level, rated.reason)

    def of_level(self, level: int, reason: str | None) -> Score:
        """The score of a level of this metric's scale."""
        levels = len(self.steps_of_scale)
        return self.make_score(
            normalised(level, levels),
            parts={"level": float(level), "levels": float(levels)},
            texts={"reason": (reason,)} if reason else {},
        )


def entry(
    make: type[RatedMetric], builtin: str, family: str, unit: str, against: str, also: tuple[str, ...] = ()
) -> Entry:
    """The entry of a rated metric."""
    top = len(make.levels[STANDARD]) - 1
    return Entry(
        make=make,
        source=f"Amazon Bedrock evaluations, Builtin.{builtin}",
        compared="published formula: the level by the highest level",
        family=family,
        steps=Steps(unit, against, f"rating 0 to {top}", f"the rating / {top}"),
        also=(f"Builtin.{builtin}", *also),
    )
