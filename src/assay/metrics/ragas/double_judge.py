"""ragas' metrics by two judges (from NVIDIA): the mean of two ratings, each divided by the highest level.

    answer_accuracy         0, 2 or 4: does the response agree with the reference, and the reference with the response?
    context_relevance       0, 1 or 2: do the contexts together hold what answers the question? asked in two ways
    response_groundedness   0, 1 or 2: do the contexts together support the response? asked in two ways

Range 0 to 1, higher is better. Source: ragas 0.2.15 to 0.4.3. Where one of the two ratings fails, the original gives
the other alone; by assay's profile the score has no value then. Rules that need no judge: contexts that stand in the
question as a whole have relevance 0; a response that stands in the contexts word for word is grounded, 1, in the older
class (nv_response_groundedness) alone. Older versions ask the first of the two questions on relevance twice, and cut
the contexts at 7,000 characters; here nothing is cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.ragas.common import REFUSES_NO_CONTEXTS
from assay.metrics.shared_prompts import gather
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import InputRules
from assay.prompts import Rating
from assay.records import Sample, Score, ScoreError

Levels = tuple[tuple[int, str], ...]


def mean_rating(levels: Sequence[int], highest: int) -> float:
    """The mean of the levels / the highest level there is. Expects at least one."""
    return math.fsum(level / highest for level in levels) / len(levels)


@dataclass(frozen=True)
class DoubleJudge(SystemMetric):
    """Two ratings of the same texts; `questions` are what is asked, `shown` the texts."""

    asks: ClassVar = (Rating,)
    questions: ClassVar[tuple[str, str]]
    levels: ClassVar[Levels]
    shown: ClassVar[tuple[Field, ...]]

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        certain = self.without_judge(sample)
        if certain is not None:
            return self.make_score(certain, parts={"by_words": 1.0})
        ratings = await gather(*(self._rating(question, sample, judge) for question in self.questions))
        failures = [one for one in ratings if isinstance(one, ScoreError)]
        levels = [one for one in ratings if isinstance(one, int)]
        if failures and not (self.original and levels):
            return self.skip(failures[0].cause, failures[0].message, raw=failures[0].raw)
        parts = {f"rating_{number}": float(level) for number, level in enumerate(levels, 1)}
        return self.make_score(mean_rating(levels, self.levels[-1][0]), parts=parts)

    def without_judge(self, sample: Sample) -> float | None:
        """The value that follows from the words alone; None where a judge is needed."""
        return None

    async def _rating(self, question: str, sample: Sample, judge: Judge) -> int | ScoreError:
        try:
            prompt = Rating(question, self.levels, material_of(sample, self.shown), language=sample.spoken)
            return (await judge.find(prompt)).level
        except JudgeFailure as failure:
            return ScoreError(cause=failure.cause, message=failure.message, raw=failure.raw)


@dataclass(frozen=True)
class AnswerAccuracy(DoubleJudge):
    """How far answer and reference agree."""

    name: ClassVar[str] = "ragas:answer_accuracy"
    needs: ClassVar = ("question", "answer", "reference")
    shown: ClassVar = ("question", "answer", "reference")
    questions: ClassVar = (
        "The REFERENCE is a complete answer to the QUESTION. How far does the ANSWER say the same?",
        "Take the ANSWER for the truth about the QUESTION. How far does the REFERENCE say the same?",
    )
    levels: ClassVar = (
        (0, "it does not, leaves the question open, or contradicts the other text"),
        (2, "in part, or nearly: some facts, numbers, units or dates differ or are missing"),
        (4, "in all that matters: facts, numbers, units and dates"),
    )


@dataclass(frozen=True)
class ContextRelevance(DoubleJudge):
    """How far the contexts hold what answers the question."""

    name: ClassVar[str] = "ragas:context_relevance"
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    needs: ClassVar = ("question", "contexts")
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}
    shown: ClassVar = ("contexts", "question")
    questions: ClassVar = (
        "Using only what the PASSAGES say: do they hold what is needed to answer the QUESTION?",
        "Somebody has nothing to go by but the PASSAGES. How much of an answer to the QUESTION would they find?",
    )
    levels: ClassVar = ((0, "nothing of it"), (1, "a part of it"), (2, "all of it"))

    def without_judge(self, sample: Sample) -> float | None:
        return 0.0 if "\n".join(sample.passages).strip() in (sample.question or "").strip() else None


@dataclass(frozen=True)
class ResponseGroundedness(DoubleJudge):
    """How far the contexts support the answer."""

    name: ClassVar[str] = "ragas:response_groundedness"
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    needs: ClassVar = ("answer", "contexts")
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}
    shown: ClassVar = ("contexts", "answer")
    questions: ClassVar = (
        "Using only what the PASSAGES say: do they support what the ANSWER states?",
        "How much of the ANSWER could be taken from the PASSAGES by somebody who knows nothing else?",
    )
    levels: ClassVar = ((0, "nothing of it"), (1, "a part of it"), (2, "all of it"))


@dataclass(frozen=True)
class NvResponseGroundedness(ResponseGroundedness):
    """The same; an answer that stands in the contexts word for word is grounded without asking."""

    name: ClassVar[str] = "ragas:nv_response_groundedness"
    input_rules: ClassVar = InputRules()

    def without_judge(self, sample: Sample) -> float | None:
        return 1.0 if (sample.answer or "").strip() in "\n".join(sample.passages).strip() else None


def _entry(
    make: type[DoubleJudge], compared: str, family: str, steps: Steps, empty: str, also: tuple[str, ...] = ()
) -> Entry:
    where = "ragas.metrics" if compared.endswith("0.2.15") else "ragas.metrics.collections"
    source = f"{where}.{make.__name__.removeprefix('Nv')}"
    return Entry(make=make, source=source, compared=compared, family=family, steps=steps, empty=empty, also=also)


_GROUNDED = Steps("the whole answer", "all contexts together", "rating 0 to 2, twice", "the mean rating / 2")
ENTRIES = (
    _entry(
        AnswerAccuracy,
        "ragas 0.4.3",
        "correctness",
        Steps("the whole answer", "the reference", "rating 0, 2 or 4, twice", "the mean rating / 4"),
        "an error",
        ("nv_accuracy",),
    ),
    _entry(
        ContextRelevance,
        "ragas 0.4.3",
        "context relevance",
        Steps("all contexts together", "the question", "rating 0 to 2, twice", "the mean rating / 2"),
        "an error for an empty list, 0 for blank contexts",
        ("nv_context_relevance",),
    ),
    _entry(
        ResponseGroundedness,
        "ragas 0.4.3",
        "faithfulness",
        _GROUNDED,
        "an error for an empty list, 0 for blank contexts",
    ),
    _entry(NvResponseGroundedness, "ragas 0.2.15", "faithfulness", _GROUNDED, "0"),
)
