"""LangChain's scored string: how good is the answer on a scale of 1 to 10?

Value: the rating, or the rating / `normalize_by`. Range 1 to 10 (or that / `normalize_by`), higher is better, except
for criteria that name a fault, of which there is the more the higher it is. By default the rating is by helpfulness,
relevance, correctness and depth together. Source: langchain-classic 1.0.8, score_string and labeled_score_string, after
Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.langchain.criteria import FAULTS, chosen_criteria, listed
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Rating
from assay.records import Direction, Sample, Score

#: By what is rated and compared where nothing is named.
DEFAULTS = ("helpfulness", "relevance", "correctness", "depth")

LEVELS = (
    (1, "not at all"),
    (2, "hardly"),
    (3, "poorly"),
    (4, "rather poorly"),
    (5, "half"),
    (6, "rather more than half"),
    (7, "fairly well"),
    (8, "well"),
    (9, "very well"),
    (10, "in full"),
)


def normalised(rating: int, by: float | None) -> float:
    """The rating, divided where it is asked for."""
    return rating if by is None else rating / by


@dataclass(frozen=True)
class ScoreString(SystemMetric):
    """A rating of 1 to 10.

    Attributes:
        criteria: A name, or a mapping of names to questions about the ANSWER; see `criteria.QUESTIONS`.
        normalize_by: What the rating is divided by.
    """

    needs: ClassVar[tuple[str, ...]] = ("question", "answer")
    asks: ClassVar = (Rating,)
    name: ClassVar[str] = "langchain:score_string"
    shown: ClassVar[tuple[Field, ...]] = ("question", "answer")

    criteria: str | Mapping[str, str] | None = None
    normalize_by: float | None = None

    def __post_init__(self) -> None:
        chosen_criteria(self.criteria, DEFAULTS, type(self).__name__)
        by = self.normalize_by
        if by is not None and not (math.isfinite(by) and by > 0):
            raise InputError(f"{type(self).__name__}: normalize_by must be a positive number, not {by!r}")

    @property
    def label(self) -> str:
        named = "" if self.criteria is None else "_" + "-".join(self.questions)
        return super().label.replace(self.name, self.name + named)

    @property
    def questions(self) -> dict[str, str]:
        """What is rated, by the name of the criterion."""
        return chosen_criteria(self.criteria, DEFAULTS, type(self).__name__)

    @property
    def low(self) -> float:  # type: ignore[override]  # it depends on normalize_by
        return normalised(LEVELS[0][0], self.normalize_by)

    @property
    def high(self) -> float:  # type: ignore[override]  # it depends on normalize_by
        return normalised(LEVELS[-1][0], self.normalize_by)

    @property
    def direction(self) -> Direction:  # type: ignore[override]  # much of a fault is bad
        return "lower" if FAULTS.issuperset(self.questions) else "higher"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        asked = f"How far is the answer to these questions yes, taken together?\n{listed(self.questions)}"
        rating = Rating(asked, LEVELS, material_of(sample, self.shown), 0, sample.spoken)
        (rated,) = await ask(judge, rating)
        parts = {"rating": float(rated.level)}
        if rated.expected is not None:
            parts["expected_rating"] = rated.expected
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.make_score(normalised(rated.level, self.normalize_by), parts=parts, texts=texts)


@dataclass(frozen=True)
class LabeledScoreString(ScoreString):
    """The same, by the reference."""

    name: ClassVar[str] = "langchain:labeled_score_string"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer", "reference")
    shown: ClassVar[tuple[Field, ...]] = ("question", "answer", "reference")


ENTRIES = tuple(
    Entry(
        make=kind,
        source=f"langchain_classic.evaluation.scoring.{kind.__name__}EvalChain",
        compared="langchain-classic 1.0.8",
        family="quality rating",
        steps=Steps("the whole answer", against, "rating 1 to 10", "the rating"),
        empty="an error for a reply without a rating",
    )
    for kind, against in ((ScoreString, "the question"), (LabeledScoreString, "the reference"))
)
