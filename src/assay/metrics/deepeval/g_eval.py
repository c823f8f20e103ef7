"""DeepEval's G-Eval: a level from 0 to 10 for criteria in one's own words, by steps that the judge writes first.

    (level - lowest) / (highest - lowest)

Range 0 to 1, higher is better. After Liu et al., "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment"
(2023); DeepEval 4.3.1, `GEval`. Where the judge gives probabilities, the level is the mean of the levels weighted by
them (`parts["level"]`), as it is there; `@original` leaves out levels of a probability below 0.01, as DeepEval does. A
rubric gives bands of levels a meaning, and its ends are the lowest and the highest level. The steps are asked for
once for all rows: the question about them holds the criteria alone. In strict mode the level is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import SHOWN, DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Extraction, JudgePrompt, Rating, RatingResult
from assay.records import Sample, Score

#: Lowest and highest level of a band, and what it means.
Band = tuple[int, int, str]

#: What is less probable does not count in DeepEval.
LEAST = 0.01

WRITE = (
    "Somebody will judge texts by the CRITERIA. List the steps, three or four, that they should take, one after the "
    "other, each one instruction. They will be shown: {shown}."
)
RATE = "How well do the other texts meet the CRITERIA, judged by the EVALUATION STEPS in their order?"
STRICT = ((0, "the criteria are not met in full"), (1, "the criteria are met in full"))


def normalised(level: float, lowest: int, highest: int) -> float:
    """A level as a share of the way from the lowest to the highest."""
    return (level - lowest) / (highest - lowest)


def weighted_level(odds: Sequence[tuple[int, float]], chosen: int) -> float:
    """The mean of the levels that have a probability of 0.01 or more, weighted by it; without any the chosen one."""
    counted = [(level, odd) for level, odd in odds if odd >= LEAST]
    mass = sum(odd for _, odd in counted)
    return sum(level * odd for level, odd in counted) / mass if mass > 0 else float(chosen)


def level_of(rated: RatingResult, *, original: bool) -> float:
    """The level under the judge's probabilities, where it gives them; `original`: as DeepEval takes it from them."""
    if original and rated.odds is not None:
        return weighted_level(rated.odds, rated.level)
    return float(rated.level) if rated.expected is None else rated.expected


def levels_of(rubric: Sequence[Band]) -> tuple[tuple[int, str], ...]:
    """Every level from the lowest to the highest, with what its band means; 0 to 10 without a rubric."""
    if not rubric:
        ends = {0: "the criteria are not met at all", 10: "the criteria are met in full"}
        return tuple((level, ends.get(level, "between the two")) for level in range(11))
    bands = sorted(rubric)
    meaning = {level: text for low, high, text in bands for level in range(low, high + 1)}
    return tuple((level, meaning.get(level, "between two bands")) for level in range(bands[0][0], bands[-1][1] + 1))


async def steps_for(criteria: str, shown: Sequence[str], judge: Judge, language: str) -> tuple[str, ...]:
    """The steps that the judge writes for criteria on texts of these titles: the same for every row, so found once."""
    task = WRITE.format(shown=", ".join(shown))
    return await judge.find(Extraction("evaluation steps", task, (("CRITERIA", criteria),), language=language))


def titles(params: Sequence[str], fields: Mapping[str, str] = SHOWN) -> tuple[str, ...]:
    """The titles of these of `fields`, in its order, each once."""
    return tuple(dict.fromkeys(title for name, title in fields.items() if name in params))


def by_steps(criteria: str, steps: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The sections that say what is judged by."""
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return (*((("CRITERIA", criteria),) if criteria else ()), ("EVALUATION STEPS", listed))


def check_rubric(name: str, rubric: Sequence[Band]) -> None:
    """Raises InputError for bands of levels that make no scale."""
    bands = sorted(rubric)
    if any(not 0 <= low <= high <= 10 for low, high, _ in bands):
        raise InputError(f"{name}: rubric: bands must lie from 0 to 10, lowest level first")
    if any(one[1] >= next_[0] for one, next_ in pairwise(bands)):
        raise InputError(f"{name}: rubric: bands overlap")
    if bands and bands[0][0] == bands[-1][1]:
        raise InputError(f"{name}: rubric: expected more than one level")


def check_criteria(
    name: str, criteria: str | None, steps: Sequence[str] | None, params: Sequence[str], known: Collection[str] = SHOWN
) -> None:
    """Raises InputError for criteria, steps or fields that G-Eval cannot use."""
    if criteria is not None and not criteria.strip():
        raise InputError(f"{name}: criteria is empty")
    if steps is not None and not steps:
        raise InputError(f"{name}: evaluation_steps is empty")
    unknown = [param for param in params if param not in known]
    if unknown or not params:
        raise InputError(f"{name}: evaluation_params: expected some of {', '.join(known)}; got {list(params)!r}")


@dataclass(frozen=True)
class ByCriteria(DeepEvalMetric):
    """What is judged by `criteria` or `evaluation_steps`, or by the columns of these names.

    Attributes:
        evaluation_params: What the judge is shown, by DeepEval's names.
        rubric: Bands of levels from 0 to 10: (lowest, highest, what it means).
        title: Makes the label unique where several are measured: "deepeval:g_eval:tone".
    """

    #: What `evaluation_params` may name, with the titles of what is shown.
    fields: ClassVar[Mapping[str, str]] = SHOWN

    criteria: str | None = None
    evaluation_steps: tuple[str, ...] | None = None
    evaluation_params: tuple[str, ...] = ("input", "actual_output")
    rubric: tuple[Band, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_criteria(self.name, self.criteria, self.evaluation_steps, self.evaluation_params, self.fields)
        check_rubric(self.name, self.rubric)

    @property
    def label(self) -> str:
        name = f"{self.name}:{self.title}" if self.title else self.name
        return f"{name}@original" if self.original else name

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # steps that are given are not written
        return (Rating,) if self.evaluation_steps is not None else (Extraction, Rating)

    async def steps(self, sample: Sample, judge: Judge) -> tuple[tuple[str, ...], str]:
        """The steps, and the criteria where there are any."""
        own = self.evaluation_steps
        if own is None and self.criteria is None and "evaluation_steps" in sample.metadata:
            own = tuple(map(str, self.setting(sample, "evaluation_steps", list)))
        if own is not None:
            return own, self.criteria or ""
        criteria = self.setting(sample, "criteria", str)
        shown = titles(self.evaluation_params, self.fields)
        return await steps_for(criteria, shown, judge, sample.spoken), criteria


@dataclass(frozen=True)
class GEval(ByCriteria):
    """The level of the answer, as a share of the way from the lowest to the highest of the rubric."""

    name: ClassVar[str] = "deepeval:g_eval"
    columns: ClassVar[tuple[str, ...]] = ("criteria",)
    may_read: ClassVar[tuple[str, ...]] = ("evaluation_steps",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self.shown(sample, self.evaluation_params)
        lacking = [name for name in self.evaluation_params if not self.shown(sample, (name,))]
        if lacking:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs {lacking[0]!r}, which is missing")
        steps, criteria = await self.steps(sample, judge)
        if not steps:
            return self.skip(Cause.PARSE, "the judge wrote no steps for these criteria")
        strict = self.original and self.strict_mode
        levels = STRICT if strict else levels_of(self.rubric)
        shown = (*material, *by_steps(criteria, steps))
        rated = await judge.find(Rating(RATE, levels, shown, language=sample.spoken))
        level = float(rated.level) if strict else level_of(rated, original=self.original)
        value = normalised(level, levels[0][0], levels[-1][0])
        texts = {"evaluation_steps": steps, **({"reason": (rated.reason,)} if rated.reason else {})}
        return self.make_graded_score(value, parts={"level": level, "chosen": float(rated.level)}, texts=texts)


ENTRIES = (
    Entry(
        make=GEval,
        source="deepeval.metrics.GEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("the whole answer", "the criteria", "rating 0 to 10", "the rating / 10"),
        empty="refused",
    ),
)
