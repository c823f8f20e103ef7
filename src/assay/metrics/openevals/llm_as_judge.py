"""openevals' judge: one question about a sample, answered by yes or no, by how far, or by one of several numbers.

    default      yes 1, no 0
    continuous   0 to 1 in tenths; the mean tenth where the judge gives probabilities
    choices      the number that the judge chooses of these

Range 0 to 1, or that of the choices. Which end is good is the rubric's `direction`. openevals lets the model write any
number for `continuous`; a closed scale of eleven levels is asked for here. Source: openevals 0.2.2,
create_llm_as_judge, and agentevals 0.0.9 with the same prompts for trajectories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, majority, material_of
from assay.metrics.openevals.rubrics import CONVERSATION, CRITERIA, PLAN, REFERENCE_WAY, RUBRICS, WAY, Rubric
from assay.metrics.openevals.trajectories import KEY, reference_trajectory, trajectory
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import conversation, transcript, transcript_section
from assay.prompts import Criterion, JudgePrompt, Question, Rating
from assay.prompts.rating import RatingResult
from assay.records import Direction, Sample, Score

#: What is shown -> the column that has it.
_COLUMNS = {PLAN: PLAN, CRITERIA: CRITERIA, REFERENCE_WAY: KEY}
LEVELS = (
    (0, "not at all"),
    *((tenth, f"{tenth} tenths") for tenth in range(1, 10)),
    (10, "fully"),
)


def in_tenths(rated: RatingResult) -> float:
    """A level of 0 to 10 as 0 to 1."""
    return (rated.level if rated.expected is None else rated.expected) / 10


@dataclass(frozen=True)
class LlmAsJudge(SystemMetric):
    """One question to the judge.

    Attributes:
        rubric: What is asked: one of `rubrics.RUBRICS`, or a `Rubric` of your own. The default asks whether the answer
            meets the criteria in `metadata["prompt"]`.
        continuous: How far, instead of yes or no.
        choices: The numbers to choose from, instead of yes or no.
    """

    rubric: Rubric = RUBRICS["llm_as_judge"]
    continuous: bool = False
    choices: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        choices = self.choices
        if self.continuous and choices:
            raise InputError("LlmAsJudge: choices: none go with continuous")
        if choices and (len(set(choices)) < 2 or not all(math.isfinite(one) for one in choices)):
            raise InputError(f"LlmAsJudge: choices: expected two numbers or more that differ, found {choices!r}")

    @property
    def name(self) -> str:  # type: ignore[override]  # it is the rubric's
        return f"openevals:{self.rubric.name}"

    @property
    def label(self) -> str:
        form = "_continuous" if self.continuous else "_choices" if self.choices else ""
        return super().label.replace(self.name, self.name + form)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # they are the rubric's
        return self.rubric.needs

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]  # they are the rubric's
        return tuple(column for shown, column in _COLUMNS.items() if shown in self.rubric.shows)

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # by the form of the answer
        return (Rating,) if self.continuous else (Question,) if self.choices else (Criterion,)

    @property
    def direction(self) -> Direction:  # type: ignore[override]  # it is the rubric's
        return self.rubric.direction

    @property
    def low(self) -> float:  # type: ignore[override]  # that of the choices
        return float(min(self.choices, default=0.0))

    @property
    def high(self) -> float:  # type: ignore[override]  # that of the choices
        return float(max(self.choices, default=1.0))

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self._material(sample)
        asked = self.rubric.question
        if self.continuous:
            how_far = f"How far is the answer to this yes? {asked}"
            rated = await judge.find(Rating(how_far, LEVELS, material, 0, sample.spoken))
            texts = {"reason": (rated.reason,)} if rated.reason else {}
            return self.make_score(in_tenths(rated), parts={"level": float(rated.level)}, texts=texts)
        if self.choices:
            labels = {repr(float(number)): "" for number in self.choices}
            which = f"Which number says best how far the answer to this is yes? {asked}"
            verdict = await judge.find(Question(which, material, labels=labels, language=sample.spoken))
            return self.make_score(float(verdict.label), verdicts={self.rubric.name: (verdict,)})
        verdict = await judge.find(Criterion(asked, material, 0, sample.spoken))
        return self.make_score(majority((verdict,)), verdicts={self.rubric.name: (verdict,)})

    def _material(self, sample: Sample) -> tuple[tuple[str, str], ...]:
        shows = self.rubric.shows
        fields: tuple[Field, ...] = get_args(Field)
        sections = list(material_of(sample, [field for field in fields if field in shows]))
        if PLAN in shows:
            sections.append(("PLAN", given(sample, self, PLAN, str)))
        if CRITERIA in shows:
            sections.append(("CRITERIA", given(sample, self, CRITERIA, str)))
        if CONVERSATION in shows:
            sections.append(transcript_section(conversation(sample, self)))
        if REFERENCE_WAY in shows:
            sections.append(("REFERENCE STEPS", transcript(reference_trajectory(sample, self))))
        if WAY in shows:
            sections.append(("STEPS", transcript(trajectory(sample, self))))
        return tuple(sections)


_UNITS = {CONVERSATION: "the whole conversation", WAY: "the agent's steps", "answer": "the whole answer"}
_AGAINST = {REFERENCE_WAY: "reference steps", "contexts": "all contexts together", "reference": "the reference"}


def _entry(rubric: Rubric) -> Entry:
    unit = next((words for shown, words in _UNITS.items() if shown in rubric.shows), "all contexts together")
    against = next((words for shown, words in _AGAINST.items() if shown in rubric.shows), "the question")
    return Entry(
        make=partial(LlmAsJudge, rubric),
        source=rubric.source,
        compared="agentevals 0.0.9" if WAY in rubric.shows else "openevals 0.2.2",
        family=rubric.family,
        steps=Steps(unit, "the question" if unit == against else against, rubric.name.replace("_", " "), "yes 1, no 0"),
        empty="whatever the judge says of nothing",
    )


ENTRIES = tuple(_entry(rubric) for rubric in RUBRICS.values())
