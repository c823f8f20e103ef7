"""ragas' rubrics: the level of a rubric that the response reaches.

    domain_specific_rubrics, rubrics_score_without_reference    one rubric for all samples, 1 to 5, without a reference
    rubrics_score_with_reference                                the same with levels that speak of the reference
    instance_specific_rubrics                                   a rubric for each sample, in `metadata["rubrics"]`

The value is the number of the level; higher is better. Source: ragas 0.1.22 to 0.4.3, after Prometheus (Kim et al.,
2023). A rubric is an object of level and description; a key's digits are its level ("score3_description" is 3). All
texts of the sample are shown. The original takes any whole number that the judge gives; here it is one of the levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, get_args

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.prompts import Rating
from assay.records import Sample, Score, ScoreError

Levels = tuple[tuple[int, str], ...]

QUESTION = "Which level does the ANSWER reach? Judge it with all the other texts that there are."
WITHOUT_REFERENCE: Levels = (
    (1, "wrong throughout, or beside the QUESTION"),
    (2, "right in parts, with serious mistakes or gaps"),
    (3, "mostly right, but unclear, incomplete or with smaller mistakes"),
    (4, "right and clear, with small gaps at most"),
    (5, "right, complete and clear in all it says"),
)
WITH_REFERENCE: Levels = (
    (1, "has nothing of the REFERENCE, or contradicts it"),
    (2, "has little of the REFERENCE, or much that is wrong by it"),
    (3, "agrees with the REFERENCE in the main, with gaps or mistakes"),
    (4, "agrees with the REFERENCE but for small matters"),
    (5, "says all that the REFERENCE says, and nothing against it"),
)


def levels_of(rubrics: Mapping[Any, Any]) -> Levels:
    """The levels of a rubric, lowest first. Raises InputError where it has fewer than two, or a key has no number."""
    found = {}
    for key, description in rubrics.items():
        digits = "".join(mark for mark in str(key) if mark in "0123456789")
        if not digits or len(digits) > 9 or not isinstance(description, str):
            raise InputError(f"rubrics: expected a level, such as 'score3_description', with a text; got {key!r}")
        found[int(digits)] = description
    if len(found) < 2 or len(found) < len(rubrics):
        raise InputError(f"rubrics: expected two or more levels that differ, got {list(rubrics)}")
    return tuple(sorted(found.items()))


@dataclass(frozen=True)
class _Rubrics(SystemMetric):
    """A level of a rubric."""

    needs: ClassVar[tuple[str, ...]] = ("answer",)
    asks: ClassVar = (Rating,)
    low: ClassVar[float] = 1.0
    high: ClassVar[float] = 5.0

    async def _rated(self, levels: Levels, sample: Sample, judge: Judge, *, fenced: bool = False) -> Score:
        material = material_of(sample, get_args(Field))
        rated = await judge.find(Rating(QUESTION, levels, material, language=sample.spoken, fenced=fenced))
        score = Score(
            metric=self.label,
            value=float(rated.level),
            low=levels[0][0],
            high=levels[-1][0],
            direction=self.direction,
            version=self.version,
        )
        return replace(score, texts={"reason": (rated.reason,)}) if rated.reason else score


@dataclass(frozen=True)
class DomainSpecificRubrics(_Rubrics):
    """The level of one rubric for all samples; `rubrics` are its levels, or an object of them."""

    name: str = "ragas:domain_specific_rubrics"  # type: ignore[misc]
    rubrics: Levels | Mapping[Any, Any] = WITHOUT_REFERENCE

    def __post_init__(self) -> None:
        given_levels = self.rubrics if isinstance(self.rubrics, Mapping) else dict(self.rubrics)
        object.__setattr__(self, "rubrics", levels_of(given_levels))

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await self._rated(levels_of(dict(self.rubrics)), sample, judge)


@dataclass(frozen=True)
class RubricsScoreWithReference(DomainSpecificRubrics):
    """The same with levels that speak of the reference."""

    name: str = "ragas:rubrics_score_with_reference"  # type: ignore[misc]
    rubrics: Levels | Mapping[Any, Any] = WITH_REFERENCE

    def missing(self, sample: Sample) -> ScoreError | None:
        if not self.original and not (sample.reference or "").strip():  # the original asks all the same
            return ScoreError(cause=Cause.MISSING_INPUT, message=f"{self.label} needs 'reference', which is missing")
        return super().missing(sample)


@dataclass(frozen=True)
class InstanceSpecificRubrics(_Rubrics):
    """The level of the sample's own rubric."""

    name: ClassVar[str] = "ragas:instance_specific_rubrics"
    columns: ClassVar[tuple[str, ...]] = ("rubrics",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        rubrics = given(sample, self, "rubrics", dict)
        try:
            levels = levels_of(rubrics)
        except InputError as error:
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label}: {error}") from None
        return await self._rated(levels, sample, judge, fenced=True)


def _entry(make: Any, source: str, against: str, also: tuple[str, ...] = ()) -> Entry:
    return Entry(
        make=make,
        source=f"ragas.metrics.collections.{source}",
        compared="ragas 0.4.3",
        family="criteria",
        steps=Steps("the whole answer", against, "level of the rubric", "the level"),
        also=also,
    )


ENTRIES = (
    _entry(DomainSpecificRubrics, "DomainSpecificRubrics", "a rubric for all", ("RubricsScore",)),
    _entry(
        partial(DomainSpecificRubrics, "ragas:rubrics_score_without_reference"),
        "RubricsScoreWithoutReference",
        "a rubric for all",
        ("reference_free_rubrics_score",),
    ),
    _entry(
        RubricsScoreWithReference,
        "RubricsScoreWithReference",
        "a rubric for all, and the reference",
        ("labelled_rubrics_score",),
    ),
    _entry(InstanceSpecificRubrics, "InstanceSpecificRubrics", "the sample's own rubric", ("InstanceRubrics",)),
)
