"""ragas' factual correctness: claims of the response against the reference, and claims of the reference against it.

    TP   claims of the response that the reference supports        FP   the others of the response
    FN   claims of the reference that the response does not support

    precision   TP / (TP + FP)
    recall      TP / (TP + FN)
    f1          (1 + b^2) P R / (b^2 P + R) with P and R as above and b = `beta`; 0 where both are 0

Range 0 to 1, higher is better. Source: ragas 0.2 to 0.4.3. Recall adds up counts of two texts: TP counts claims of the
response, FN those of the reference. The original adds 1e-8 to the denominators of precision and recall and rounds to
two decimals. A response that states nothing gets 0 there; by assay's profile only where that leaves something to
measure (claims of the reference which it misses).

`atomicity` and `coverage` say how finely and how fully a text is broken into claims ("low" or "high"); the original
picks the examples in its prompt by them. None, the default, takes the claims that all metrics share, which are fine
and complete; any other choice asks for claims of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics._answer_correctness import counts, expected_counts
from assay.metrics.shared_prompts import Field, ask, claims_of, gather, support
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Claims, Extraction, JudgePrompt, Support
from assay.records import Claim, Sample, Score, Span

Mode = Literal["precision", "recall", "f1"]
Level = Literal["low", "high"]
GUARD = 1e-8

TASK = "List the factual claims that the TEXT makes. {atomicity} {coverage}"
ATOMICITY = {
    "low": "Keep together what one sentence says: a claim may hold several facts.",
    "high": "Split sentences that state several facts: one fact is one claim.",
}
COVERAGE = {
    "low": "The main claims are enough: leave out details and side remarks.",
    "high": "Leave nothing out: all that the text states must be in some claim.",
}


def share(right: float, wrong: float, guard: float = 0.0) -> float | None:
    """right / (right + wrong + guard); None where that has no value."""
    total = right + wrong + guard
    return right / total if total else None


def f_score(tp: float, fp: float, fn: float, beta: float) -> float | None:
    """F-beta of precision and recall, each of which is 0 where it has no value; None where nothing was counted."""
    if not tp + fp + fn:
        return None
    precision, recall = share(tp, fp) or 0.0, share(tp, fn) or 0.0
    if not precision and not recall:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def hundredths(value: float) -> float:
    """The value rounded to two decimals as numpy does it: halves to the even one."""
    return round(value * 100) / 100


@dataclass(frozen=True)
class FactualCorrectness(SystemMetric):
    """Precision, recall or F-beta of the claims."""

    needs: ClassVar = ("answer", "reference")
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0}

    mode: Mode = "f1"
    beta: float = 1.0
    atomicity: Level | None = None
    coverage: Level | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"FactualCorrectness: beta must be a positive number, not {self.beta!r}")

    @property
    def name(self) -> str:  # type: ignore[override]  # the mode is part of it
        return "ragas:factual_correctness" + ("" if self.mode == "f1" else f"_{self.mode}")

    @property
    def shares_claims(self) -> bool:
        """Whether the claims that all metrics share are as fine and as complete as is wanted."""
        return {self.atomicity, self.coverage} <= {None, "high"}

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the levels
        return (Claims if self.shares_claims else Extraction, Support)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        answer, reference = (sample.answer or "",), (sample.reference or "",)
        said, known = await gather(self._claims(sample, "answer", judge), self._claims(sample, "reference", judge))
        verdicts = await gather(support(said, reference, sample, judge), support(known, answer, sample, judge))
        tp, fp, fn = counts(*verdicts)
        readings = {"answer/reference": verdicts[0], "reference/answer": verdicts[1]}
        value = self._value(tp, fp, fn)
        if value is None:
            message = f"{self.mode} has no value: no claim that it counts"
            return self.skip(Cause.NO_CLAIMS, message, verdicts=readings)
        parts: dict[str, float] = {"tp": tp, "fp": fp, "fn": fn, "exact": value}
        counted = expected_counts(*verdicts)
        expected = None if counted is None else self._value(*counted)
        if expected is not None:
            parts["expected"] = expected
        return self.make_score(hundredths(value) if self.original else value, verdicts=readings, parts=parts)

    def _value(self, tp: float, fp: float, fn: float) -> float | None:
        if self.mode == "f1":
            return f_score(tp, fp, fn, self.beta)
        return share(tp, fp if self.mode == "precision" else fn, GUARD if self.original else 0.0)

    async def _claims(self, sample: Sample, field: Field, judge: Judge) -> tuple[Claim, ...]:
        if field == "reference" and self.mode == "precision":
            return ()
        if self.shares_claims:
            return (await ask(judge, claims_of(sample, field)))[0]
        text = getattr(sample, field)
        task = TASK.format(atomicity=ATOMICITY[self.atomicity or "high"], coverage=COVERAGE[self.coverage or "high"])
        listed = await judge.find(Extraction("claims", task, (("TEXT", text),), language=sample.spoken))
        return tuple(Claim(text=claim, span=Span(0, len(text))) for claim in listed)


def _entry(mode: Mode, counted: str, aggregate: str) -> Entry:
    return Entry(
        make=partial(FactualCorrectness, mode),
        source=f"ragas.metrics.collections.FactualCorrectness(mode={mode!r})",
        compared="ragas 0.4.3",
        family="correctness",
        steps=Steps(counted, "the other text", "supported", aggregate),
        empty="0",
    )


ENTRIES = (
    _entry("f1", "claims of the answer and of the reference", "F-beta"),
    _entry("precision", "claims of the answer", "share"),
    _entry("recall", "claims of the answer and of the reference", "TP of the answer / (TP + FN of the reference)"),
)
