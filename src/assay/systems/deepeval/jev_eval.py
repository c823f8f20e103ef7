"""DeepEval's JevEval, G-Eval for judges that decide: a weighted mean over questions with closed answers.

    statement   probability that it is true
    scale       mean level under the probabilities / highest level
    choice      credit of the option; one that means "does not apply" takes the question out
    score       sum(weight * value) / sum(weight), over the questions that apply

Range 0 to 1, higher is better. DeepEval 4.3.1, `JevEval`. From a judge that gives no probability a statement is 1 or 0
and a scale has the level that it chose. A choice counts by the option chosen; DeepEval weights the credits by their
probabilities. Where no question applies DeepEval gives 1. The questions are a parameter or the column `questions`:
{"statement": ...}, {"question": ..., "levels": [worst, ..., best]} or {"question": ..., "options": {option: credit or
null}}, each with a "weight" if it is not 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause, InputError
from assay.inquiries import Ask, Criterion, Rating
from assay.judges.base import Judge
from assay.metrics.readings import together
from assay.records import Sample, Score, Verdict
from assay.systems.base import Entry, Steps
from assay.systems.deepeval.graded import SHOWN, DeepEvalMetric


def weighted_mean(outcomes: Sequence[tuple[float, float]]) -> float | None:
    """The mean of values by weights, from pairs (weight, value); None where there is none."""
    if not outcomes:
        return None
    return sum(weight * value for weight, value in outcomes) / sum(weight for weight, _ in outcomes)


@dataclass(frozen=True)
class Statement:
    """What is true or not of the texts."""

    statement: str
    weight: float = 1.0


@dataclass(frozen=True)
class Scale:
    """A question with ordered levels, the worst first."""

    question: str
    levels: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Choice:
    """A question with options: pairs of option and credit from 0 to 1; None: the question does not apply."""

    question: str
    options: tuple[tuple[str, float | None], ...]
    weight: float = 1.0


Question = Statement | Scale | Choice


def question_of(given: object) -> Question:
    """A question as a column has it. Raises InputError."""
    if not isinstance(given, Mapping):
        raise InputError(f"questions: expected objects, got {type(given).__name__}")
    weight = given.get("weight", 1.0)
    try:
        if "statement" in given:
            return checked(Statement(str(given["statement"]), float(weight)))
        if "levels" in given:
            return checked(Scale(str(given["question"]), tuple(map(str, given["levels"])), float(weight)))
        return checked(Choice(str(given["question"]), tuple(dict(given["options"]).items()), float(weight)))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"questions: {json.dumps(dict(given), default=str)[:80]}: {error!r}") from None


def checked(question: Question) -> Question:
    """The question. Raises InputError where it cannot be asked."""
    text = question.statement if isinstance(question, Statement) else question.question
    if not text.strip():
        raise InputError("questions: a question is empty")
    if not question.weight > 0:
        raise InputError(f"questions: {text!r}: weight must be above 0, not {question.weight!r}")
    if isinstance(question, Scale) and not 2 <= len(set(question.levels)) == len(question.levels) <= 10:
        raise InputError(f"questions: {text!r}: expected 2 to 10 levels that differ")
    if isinstance(question, Choice):
        credits = [credit for _, credit in question.options if credit is not None]
        if len(dict(question.options)) < 2 or not credits or any(not 0 <= credit <= 1 for credit in credits):
            raise InputError(f"questions: {text!r}: expected two or more options with credits from 0 to 1 or None")
    return question


@dataclass(frozen=True)
class JevEval(DeepEvalMetric):
    """The weighted mean over `questions`, asked of `evaluation_params`."""

    name: ClassVar[str] = "deepeval:jev_eval"
    asks: ClassVar = (Criterion, Rating, Ask)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}

    questions: tuple[Question, ...] | None = None
    evaluation_params: tuple[str, ...] = ("input", "actual_output")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.questions is not None and not self.questions:
            raise InputError(f"{self.name}: questions is empty")
        for question in self.questions or ():
            checked(question)
        if not self.evaluation_params or not set(self.evaluation_params) <= set(SHOWN):
            raise InputError(f"{self.name}: evaluation_params: expected some of {', '.join(SHOWN)}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        lacking = [name for name in self.evaluation_params if not self.shown(sample, (name,))]
        if lacking:
            return self.unscored(Cause.MISSING_INPUT, f"{self.label} needs {lacking[0]!r}, which is missing")
        try:
            questions = self.questions or tuple(map(question_of, self.setting(sample, "questions", list)))
        except InputError as error:
            return self.unscored(Cause.MISSING_INPUT, str(error))
        found = await together(*(self._answer(question, sample, judge) for question in questions))
        pairs = zip(questions, found, strict=True)
        value = weighted_mean([(question.weight, one) for question, (one, _) in pairs if one is not None])
        verdicts = {"questions/answer": tuple(verdict for _, verdict in found)}
        if value is None:
            return self.unscored(Cause.NOT_APPLICABLE, "no question applies to this row", verdicts=verdicts)
        parts = {f"question_{n}": one for n, (one, _) in enumerate(found, 1) if one is not None}
        return self.graded(value, verdicts=verdicts, parts=parts)

    async def _answer(self, question: Question, sample: Sample, judge: Judge) -> tuple[float | None, Verdict]:
        """The value of one answer, None where the question does not apply, and the answer."""
        material: Any = self.shown(sample, self.evaluation_params)
        if isinstance(question, Statement):
            asked = f"Is this true of the other texts: {question.statement}"
            verdict = await judge.find(Criterion(asked, material, language=sample.spoken))
            known = verdict.probability
            return (known if known is not None else float(verdict.label == "yes")), verdict
        if isinstance(question, Scale):
            rated = await judge.find(
                Rating(question.question, tuple(enumerate(question.levels)), material, language=sample.spoken)
            )
            level = rated.level if rated.expected is None else rated.expected
            verdict = Verdict(label=question.levels[rated.level], reason=rated.reason)
            return level / (len(question.levels) - 1), verdict
        labels = {option: "" for option, _ in question.options}
        verdict = await judge.find(Ask(question.question, material, labels=labels, language=sample.spoken))
        return dict(question.options)[verdict.label], verdict


ENTRIES = (
    Entry(
        make=JevEval,
        source="deepeval.metrics.JevEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("questions", "the whole answer", "value of the answer", "weighted mean"),
        empty="1",
    ),
)
