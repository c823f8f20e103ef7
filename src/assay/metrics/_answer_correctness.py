"""Answer correctness: does the answer state what the reference states, no more and no less?

A weighted mean of a factual part and a similarity part, by default 0.75 and 0.25:

    TP   claims of the answer that the reference supports
    FP   claims of the answer that it does not support
    FN   claims of the reference that the answer does not support
    factual     F-beta = (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP);  F1 = TP / (TP + 0.5 (FP + FN))
    similarity  cosine of answer and reference, negative ones counted as 0

Range 0 to 1, higher is better. Source: ragas 0.0.22, where one prompt sorts the statements of both texts; here both
are read against each other, claim by claim, and the verdicts are shared with the metrics that ask the same.
beta > 1 weighs what is missing more than what is added.

A reference of a few words ("1967", "Wales | Cymru" for one answer in several spellings; see `text.short_answers`) says
nothing of the other claims of an answer, so they are not held against it: the factual part is 1 where the answer gives
one of the spellings, else 0. It does where its words stand there; where they do not, the judge is asked whether the
answer supports the question with each spelling. A probability has to be at least `OTHERWISE` then: on people's verdicts
of answers to short questions (EVOUNA) the words alone decided nearly all, and a lower bar made it worse. "Yes" and "no"
are no words to look for: the answer's first word decides, or else whether it supports the question as a statement.

Texts that are equal but for white space at the ends score 1.0 without asking. When one of the two makes claims and
the other none, the factual part is 0. When neither does, it has no value and the score is skipped (ragas
0.4 gives the part 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.claim_rules import as_answer, refuses
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import (
    ask,
    both_not_judged,
    claims_of,
    cosines,
    gather,
    not_mentioned,
    probabilities,
    same_text,
    support,
)
from assay.prompts import Claims, JudgePrompt, Similarity, Support
from assay.records import Claim, Evidence, Sample, Score, Span, Verdict
from assay.text.short_answers import aliases, polarity, stated

OTHERWISE = 0.85  # probability from which on an answer gives in other words what its words do not give


def f_beta(tp: float, fp: float, fn: float, beta: float = 1.0) -> float:
    """The F-beta score of these counts, of which at least one is not 0; beta > 0."""
    weight = beta * beta
    return (1 + weight) * tp / ((1 + weight) * tp + weight * fn + fp)


def counts(answer: Sequence[Verdict], reference: Sequence[Verdict]) -> tuple[int, int, int]:
    """TP, FP, FN from the answer's claims read against the reference, and the reference's against the answer."""
    tp = sum(verdict.label == "supported" for verdict in answer)
    return tp, len(answer) - tp, sum(verdict.label != "supported" for verdict in reference)


def expected_counts(answer: Sequence[Verdict], reference: Sequence[Verdict]) -> tuple[float, float, float] | None:
    """TP, FP and FN as the probabilities lead one to expect them; None where one has none, or the answer no claim."""
    said, known = probabilities(answer), probabilities(reference)
    if not said or known is None:
        return None
    return math.fsum(said), math.fsum(1 - p for p in said), math.fsum(1 - p for p in known)


def blend(factual: float, similarity: float, weights: tuple[float, float]) -> float:
    """The weighted mean of the two parts."""
    return (weights[0] * factual + weights[1] * similarity) / (weights[0] + weights[1])


async def given_in(spellings: Sequence[str], sample: Sample, judge: Judge) -> Verdict:
    """Whether the answer gives one of the spellings of a reference of a few words, and where it does."""
    sides = {polarity(spelling) if len(spelling.split()) == 1 else None for spelling in spellings}
    if len(sides) == 1 and (yes := sides.pop()) is not None:
        return await _says(yes, spellings[0], sample, judge)
    return await _names(spellings, sample, judge)


async def _says(yes: bool, spelling: str, sample: Sample, judge: Judge) -> Verdict:
    """Yes or no: by the answer's first word, or else by whether it supports what that says of the question."""
    claim = _claim(as_answer(spelling, sample.question or "", yes=yes), spelling, sample.reference or "")
    said = polarity(sample.answer or "")
    if said is None:
        (verdict,) = await support((claim,), (sample.answer or "",), sample, judge)
        return verdict
    return Verdict(label="supported" if said is yes else "contradicted", claim=claim, reason="by its first word")


async def _names(spellings: Sequence[str], sample: Sample, judge: Judge) -> Verdict:
    """A name, a number or the like: by its words, or else by whether the answer supports the question with it."""
    answer, reference = sample.answer or "", sample.reference or ""
    places = {spelling: span for spelling in spellings if (span := stated(answer, spelling)) is not None}
    for spelling, span in places.items():
        evidence = Evidence(passage=0, span=span, text=span.of(answer))
        claim = _claim(spelling, spelling, reference)
        return Verdict(label="supported", claim=claim, evidence=(evidence,), reason="its words stand in the answer")
    claims = tuple(_claim(f"{sample.question or ''} {spelling}".strip(), spelling, reference) for spelling in spellings)
    found = await support(claims, (answer,), sample, judge)
    best = max(found, key=lambda verdict: (_gives(verdict), verdict.probability or 0.0))
    return best if _gives(best) or best.label != "supported" else replace(best, label="not_mentioned")


def _claim(text: str, spelling: str, reference: str) -> Claim:
    start = reference.index(spelling)
    return Claim(text=text, span=Span(start, start + len(spelling)))


def _gives(verdict: Verdict) -> bool:
    return verdict.label == "supported" and (verdict.probability is None or verdict.probability >= OTHERWISE)


Readings = tuple[tuple[Verdict, ...], tuple[Verdict, ...]]


@dataclass(frozen=True)
class AnswerCorrectness(Metric):
    """F-beta of the claims, blended with the cosine; `weights` need not sum to 1, and a weight of 0 drops its part."""

    name: ClassVar[str] = "answer_correctness"
    needs: ClassVar = ("answer", "reference")

    weights: tuple[float, float] = (0.75, 0.25)
    beta: float = 1.0

    def __post_init__(self) -> None:
        good = len(self.weights) == 2 and all(math.isfinite(weight) and weight >= 0 for weight in self.weights)
        if not good or sum(self.weights) <= 0:
            raise InputError(
                f"AnswerCorrectness: weights must be two numbers, neither negative and not both 0, not {self.weights!r}"
            )
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"AnswerCorrectness: beta must be a positive number, not {self.beta!r}")

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the weights
        factual: tuple[type[JudgePrompt[Any]], ...] = (Claims, Support) if self.weights[0] else ()
        return (*factual, Similarity) if self.weights[1] else factual

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        reason = super().cannot(judge, language)
        if reason is None or not self.weights[0] or any(judge.cannot(asked, language) for asked in (Claims, Support)):
            return reason
        hint = "to score the claims alone, use AnswerCorrectness(weights=(1, 0))"
        return JudgeFailure(reason.cause, f"{reason.message}; {hint}", raw=reason.raw, detail=reason.detail)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if same_text(sample):
            return self.make_score(1.0, parts={"identical": 1.0})
        reference = sample.reference or ""
        spellings = aliases(reference) if self.weights[0] and not refuses(reference) else ()
        if spellings:
            return await self._by_words(spellings, sample, judge)
        readings, similarity = await gather(self._readings(sample, judge), self._similarity(sample, judge))
        if readings is None:
            assert similarity is not None  # one of the weights is positive
            return self.make_score(similarity, parts={"similarity": similarity})
        left = both_not_judged(sample, *(tuple(v.claim for v in one if v.claim) for one in readings))
        if not any(readings):
            return self.skip(Cause.NO_CLAIMS, "neither answer nor reference makes a checkable claim", texts=left)
        tp, fp, fn = counts(*readings)
        factual = f_beta(tp, fp, fn, self.beta)
        parts: dict[str, float] = {"tp": tp, "fp": fp, "fn": fn, "factual": factual}
        if (expected := expected_counts(*readings)) is not None:
            parts["expected_factual"] = f_beta(*expected, self.beta)
        if similarity is not None:
            parts["similarity"] = similarity
        return self.make_score(
            factual if similarity is None else blend(factual, similarity, self.weights),
            verdicts={"answer/reference": readings[0], "reference/answer": readings[1]},
            parts=parts,
            texts=left,
        )

    async def _by_words(self, spellings: Sequence[str], sample: Sample, judge: Judge) -> Score:
        """The score by a reference of a few words."""
        verdict, similarity = await gather(given_in(spellings, sample, judge), self._similarity(sample, judge))
        factual = float(verdict.label == "supported")
        parts = {"tp": factual, "fp": 0.0, "fn": 1 - factual, "factual": factual}
        if similarity is not None:
            parts["similarity"] = similarity
        value = factual if similarity is None else blend(factual, similarity, self.weights)
        return self.make_score(value, verdicts={"reference/answer": (verdict,)}, parts=parts)

    async def _readings(self, sample: Sample, judge: Judge) -> Readings | None:
        if not self.weights[0]:
            return None
        answer, reference = (sample.answer or "",), (sample.reference or "",)
        said, right = await ask(judge, claims_of(sample, "answer"), claims_of(sample, "reference"))
        if not said or not right:  # F is 0 or has no value: reading one against the other would not change that
            return not_mentioned(said, reference), not_mentioned(right, answer)
        return await gather(support(said, reference, sample, judge), support(right, answer, sample, judge))

    async def _similarity(self, sample: Sample, judge: Judge) -> float | None:
        if not self.weights[1]:
            return None
        (cosine,) = await cosines(sample.answer or "", (sample.reference or "",), judge)
        return max(0.0, cosine)
