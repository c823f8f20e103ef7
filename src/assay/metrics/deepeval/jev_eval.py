"""DeepEval's JevEval, G-Eval for judges that decide: a weighted mean over questions with closed answers.

    statement   probability that it is true
    scale       mean level under the probabilities / highest level
    choice      sum(probability * credit) / sum(probability), over the options that have a credit; where the options
                that mean "does not apply" have half of the probability or more, the question is taken out
    score       sum(weight * value) / sum(weight), over the questions that apply

Range 0 to 1, higher is better. DeepEval 4.3.1, `JevEval` and, over turns of a conversation, `ConversationalJevEval`.
From a judge that gives no probability a statement is 1 or 0, a scale has the level that it chose and a choice the
credit of the option. Where no question applies DeepEval gives 1. In strict mode it gives 1 where every question that
applies is answered in the best way, else 0. The questions are a parameter or the column `questions`:
{"statement": ...}, {"question": ..., "levels": [worst, ..., best]} or {"question": ..., "options": {option: credit or
null}}, each with a "weight" if it is not 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import SHOWN, DeepEvalMetric
from assay.metrics.deepeval.turn_fields import CASE_FIELDS, TURN_FIELDS, Sections, case_sections, turn_sections
from assay.metrics.shared_prompts import gather
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Criterion, MultipleChoice, Rating
from assay.records import Sample, Score, Verdict

#: The probability at which the options of a choice that mean so take the question out.
DOES_NOT_APPLY = 0.5


def weighted_mean(outcomes: Sequence[tuple[float, float]]) -> float | None:
    """The mean of values by weights, from pairs (weight, value); None where there is none."""
    if not outcomes:
        return None
    return sum(weight * value for weight, value in outcomes) / sum(weight for weight, _ in outcomes)


def mean_credit(odds: Sequence[tuple[str, float]], credits: Mapping[str, float | None]) -> float | None:
    """The mean credit under these probabilities; None where the question does not apply."""
    if sum(odd for option, odd in odds if credits[option] is None) >= DOES_NOT_APPLY:
        return None
    counted = [(odd, credit) for option, odd in odds if (credit := credits[option]) is not None]
    mass = sum(odd for odd, _ in counted)
    return sum(odd * credit for odd, credit in counted) / mass if mass > 0 else None


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


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """The value of one answer, None where the question does not apply; the answer; whether it is the best one."""

    value: float | None
    verdict: Verdict
    best: bool


@dataclass(frozen=True)
class JevEval(DeepEvalMetric):
    """The weighted mean over `questions`, asked of `evaluation_params`."""

    name: ClassVar[str] = "deepeval:jev_eval"
    asks: ClassVar = (Criterion, Rating, MultipleChoice)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}
    fields: ClassVar[tuple[str, ...]] = tuple(SHOWN)
    columns: ClassVar[tuple[str, ...]] = ("questions",)

    questions: tuple[Question, ...] | None = None
    evaluation_params: tuple[str, ...] = ("input", "actual_output")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.questions is not None and not self.questions:
            raise InputError(f"{self.name}: questions is empty")
        for question in self.questions or ():
            checked(question)
        if not self.evaluation_params or not set(self.evaluation_params) <= set(self.fields):
            raise InputError(f"{self.name}: evaluation_params: expected some of {', '.join(self.fields)}")

    def sections(self, sample: Sample) -> Sections:
        """What the judge is shown. Raises JudgeFailure(missing_input) where a field is missing."""
        for name in self.evaluation_params:
            if not self.shown(sample, (name,)):
                raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label} needs {name!r}, which is missing")
        return self.shown(sample, self.evaluation_params)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = self.sections(sample)
        try:
            questions = self.questions or tuple(map(question_of, self.setting(sample, "questions", list)))
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, str(error))
        fenced = not self.questions
        found = await gather(*(answered(one, material, sample.spoken, judge, fenced=fenced) for one in questions))
        applies = [(question, one) for question, one in zip(questions, found, strict=True) if one.value is not None]
        value = weighted_mean([(question.weight, one.value or 0.0) for question, one in applies])
        verdicts = {"questions/answer": tuple(one.verdict for one in found)}
        if value is None:
            return self.skip(Cause.NOT_APPLICABLE, "no question applies to this row", verdicts=verdicts)
        if self.original and self.strict_mode:
            value = float(all(one.best for _, one in applies))
        parts = {f"question_{n}": one.value for n, one in enumerate(found, 1) if one.value is not None}
        return self.make_graded_score(value, verdicts=verdicts, parts=parts)


async def answered(
    question: Question, material: Sections, language: str, judge: Judge, *, fenced: bool = False
) -> AnswerValue:
    """The judge's answer to one question, and its value. `fenced`: the question comes with the row."""
    if isinstance(question, Statement):
        asked = f"Is this true of the other texts: {question.statement}"
        verdict = await judge.find(Criterion(asked, material, language=language))
        value = verdict.probability if verdict.probability is not None else float(verdict.label == "yes")
        return AnswerValue(value, verdict, value >= 0.5)
    if isinstance(question, Scale):
        top = len(question.levels) - 1
        levels = tuple(enumerate(question.levels))
        rated = await judge.find(Rating(question.question, levels, material, language=language, fenced=fenced))
        level = rated.level if rated.expected is None else rated.expected
        verdict = Verdict(label=question.levels[rated.level], reason=rated.reason)
        return AnswerValue(level / top, verdict, rated.level == top)
    credits = dict(question.options)
    options = tuple((option, "") for option in credits)
    chosen = await judge.find(MultipleChoice(question.question, options, material, language=language, fenced=fenced))
    odds = chosen.odds or ((chosen.option, 1.0),)
    likeliest = max((pair for pair in odds if credits[pair[0]] is not None), key=lambda pair: pair[1], default=None)
    best = likeliest is not None and credits[likeliest[0]] == 1.0
    return AnswerValue(mean_credit(odds, credits), Verdict(label=chosen.option, reason=chosen.reason), best)


@dataclass(frozen=True)
class ConversationalJevEval(JevEval):
    """The same over a conversation: its turns, and what else `evaluation_params` names of turns and case."""

    name: ClassVar[str] = "deepeval:conversational_jev_eval"
    fields: ClassVar[tuple[str, ...]] = (*TURN_FIELDS, *CASE_FIELDS)
    columns: ClassVar[tuple[str, ...]] = ("questions",)

    evaluation_params: tuple[str, ...] = ("role", "content")

    def sections(self, sample: Sample) -> Sections:
        params = self.evaluation_params
        return (*turn_sections(sample, self, params), *case_sections(sample, self, params))


ENTRIES = (
    Entry(
        make=JevEval,
        source="deepeval.metrics.JevEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("questions", "the whole answer", "value of the answer", "weighted mean"),
        empty="1",
    ),
    Entry(
        make=ConversationalJevEval,
        source="deepeval.metrics.ConversationalJevEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("questions", "the whole conversation", "value of the answer", "weighted mean"),
        empty="1",
    ),
)
