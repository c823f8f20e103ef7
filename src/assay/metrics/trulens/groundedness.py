"""TruLens' groundedness: how far do the contexts bear out each sentence of the answer? The mean over the sentences.

    sum of (grade of a sentence) / sentences that say something        grade = level / 3

Range 0 to 1, higher is better. trulens 2.16.0, `groundedness_measure_with_cot_reasons`. Pleasantries and sentences that
say nothing ("trivial") are left out, and so is a bare number of a list. A sentence that says that something is not
known (an abstention) has the highest grade. With `consider_answerability` an abstention has 0 where the contexts hold
the answer to the question, and 1 where they do not. An answer of nothing but trivial sentences is 0 there by
convention.

There each sentence costs a request, and two more for what is trivial or an abstention; here one question sorts all
sentences of an answer, and both metrics ask it. There NLTK finds the sentences, here assay does, in the language of the
sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.context_relevance import mean
from assay.metrics.trulens.scale import ScaleMetric, normalized
from assay.prompts import Classification, Criterion, JudgePrompt
from assay.records import Claim, Sample, Score, Verdict
from assay.text import split_sentences

ABSTENTION = "abstention"
TRIVIAL = "trivial"
QUESTION = "How far do the passages, taken together, bear out this sentence of an answer?"
LOWEST = "nothing in the passages supports it"
HIGHEST = "the passages state or clearly imply all of it"
MEANINGS = {
    ABSTENTION: "it says that something is not known, cannot be answered, or is doubtful",
    TRIVIAL: "a pleasantry or a phrase that states nothing about the matter",
}
ANSWERABLE = "Do the passages contain the answer to the QUESTION?"


def groundedness(labels: Sequence[str], grades: Mapping[str, float]) -> float | None:
    """The mean grade of the labels that have one; None where none has."""
    graded = [grades[label] for label in labels if label in grades]
    return mean(graded) if graded else None


def grades(low: int, high: int, abstention: float = 1.0) -> dict[str, float]:
    """What each label counts: a level its place on the scale, an abstention as told; "trivial" is not there."""
    return {str(level): normalized(level, low, high) for level in range(low, high + 1)} | {ABSTENTION: abstention}


@dataclass(frozen=True)
class Groundedness(ScaleMetric):
    """The mean grade of the answer's sentences that say something."""

    name: ClassVar[str] = "trulens:groundedness"
    needs: ClassVar[tuple[str, ...]] = ("answer", "contexts")
    asks: ClassVar[tuple[type[JudgePrompt[Any]], ...]] = (Classification,)

    filter_trivial_statements: bool = True

    @property
    def conventions(self) -> Mapping[Cause, float]:  # type: ignore[override]  # unfiltered there is -1, a failure
        return {Cause.NO_CLAIMS: 0.0} if self.filter_trivial_statements else {}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        sentences = sentences_of(sample.answer or "", sample.spoken)
        if not sentences:
            return self.skip(Cause.NO_CLAIMS, "the answer has no sentence that says something")
        found = await judge.find(self._sorting(sentences, sample))
        verdicts = tuple(replace(one, claim=claim) for one, claim in zip(found, sentences, strict=True))
        labels = [verdict.label for verdict in verdicts]
        answerable = await self.answerability(sample, judge) if ABSTENTION in labels else None
        abstention = 0.0 if answerable is not None and answerable.label == "yes" else 1.0
        value = groundedness(labels, grades(self.min_score_val, self.max_score_val, abstention))
        evidence = {"answer_sentences/contexts": verdicts}
        if value is None:
            return self.skip(Cause.NO_CLAIMS, "no sentence of the answer says something", verdicts=evidence)
        if answerable is not None:
            evidence["question/contexts"] = (answerable,)
        counted = {label: float(labels.count(label)) for label in (ABSTENTION, TRIVIAL)}
        return self.make_score(value, verdicts=evidence, parts={"sentences": float(len(labels)), **counted})

    async def answerability(self, sample: Sample, judge: Judge) -> Verdict | None:
        """Whether the contexts hold the answer; None where an abstention is good in any case."""
        return None

    def _sorting(self, sentences: Sequence[Claim], sample: Sample) -> Classification:
        others = (ABSTENTION, TRIVIAL) if self.filter_trivial_statements else (ABSTENTION,)
        return Classification(
            "groundedness",
            QUESTION,
            tuple(sentence.text for sentence in sentences),
            (*self.choices(LOWEST, HIGHEST), *((label, MEANINGS[label]) for label in others)),
            material_of(sample, ("contexts",)),
            0,
            sample.spoken,
        )


@dataclass(frozen=True)
class GroundednessConsiderAnswerability(Groundedness):
    """The same, where an abstention is 0 if the contexts hold the answer to the question, and 1 if not."""

    name: ClassVar[str] = "trulens:groundedness_consider_answerability"
    needs: ClassVar = ("question", "answer", "contexts")
    asks: ClassVar = (Classification, Criterion)

    async def answerability(self, sample: Sample, judge: Judge) -> Verdict | None:
        return await judge.find(Criterion(ANSWERABLE, material_of(sample, ("contexts", "question")), 0, sample.spoken))


def sentences_of(text: str, language: str) -> tuple[Claim, ...]:
    """The sentences with their places, without the bare numbers of lists ("1.", "2)")."""
    found = (Claim(text=span.of(text), span=span) for span in split_sentences(text, language))
    return tuple(claim for claim in found if not _number(claim.text))


def _number(sentence: str) -> bool:
    bare = sentence.strip()
    return (bare[:-1] if bare.endswith((".", ")")) else bare).isdecimal()


def _entry(make: type[Groundedness], function: str, counts: str) -> Entry:
    return Entry(
        make=make,
        source=f"trulens.feedback.LLMProvider.{function}",
        compared="trulens 2.16.0",
        family="faithfulness",
        steps=Steps("sentences of the answer", "all contexts together", counts, "mean of rating / 3"),
        empty="0",
        also=(function,),
    )


ENTRIES = (
    _entry(Groundedness, "groundedness_measure_with_cot_reasons", "rating 0 to 3, abstentions 3"),
    _entry(
        GroundednessConsiderAnswerability,
        "groundedness_measure_with_cot_reasons_consider_answerability",
        "rating 0 to 3, abstentions 3 where unanswerable and else 0",
    ),
)
