"""DeepEval's hallucination: ideal contexts that the answer does not contradict / ideal contexts.

    hallucination      agreeing contexts / contexts: 1 is clean (since 4.0)
    hallucination_v3   contradicted contexts / contexts: 0 is clean, lower is better (up to 3.x)

Range 0 to 1. Leaving something out is forgiven. DeepEval 4.3.1, `HallucinationMetric`. It reads the column `context`,
the facts that the answer should keep to: here the reference contexts, and the contexts where a row has no others. A
context agrees where it contradicts no claim of the answer. Without contexts DeepEval gives 1 (0 up to 3.x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.shared_prompts import claims_of, support, texts_not_judged, with_cells
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Support
from assay.records import Direction, Sample, Score, Verdict


def contexts_read(verdicts: Sequence[Verdict], passages: int) -> tuple[Verdict, ...]:
    """What the claims make of each context: "contradicted" where it contradicts one of them, else "agrees"."""
    against: list[Verdict | None] = [None] * passages
    for verdict in verdicts:
        for number, cell in enumerate(verdict.cells):
            if cell.label == "contradicted" and against[number] is None:
                against[number] = verdict
    return tuple(
        Verdict(label="contradicted", passage=number, claim=found.claim, reason=found.reason)
        if found is not None
        else Verdict(label="agrees", passage=number)
        for number, found in enumerate(against)
    )


@dataclass(frozen=True)
class Hallucination(DeepEvalMetric):
    """Contexts that the answer agrees with / contexts."""

    name: ClassVar[str] = "deepeval:hallucination"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Claims, Support)
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0, Cause.NO_CONTEXT: 1.0}
    counted_label: ClassVar[str] = "agrees"

    @property
    def needs_contradiction(self) -> bool:
        return True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        ideal = sample.reference_contexts if sample.reference_contexts is not None else sample.contexts
        if ideal is None:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs `context`, which is missing")
        passages = tuple(context.text for context in ideal)
        if not any(map(str.strip, passages)):
            return self.skip(Cause.NO_CONTEXT, "there is no context to agree with")
        claims = await judge.find(claims_of(sample, "answer"))
        left = texts_not_judged(sample, claims)
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=left)
        read = replace(sample, contexts=ideal)
        found = await with_cells(await support(claims, passages, read, judge), passages, read, judge)
        verdicts = contexts_read(found, len(passages))
        value = share_counted([verdict.label for verdict in verdicts], (self.counted_label,))
        return self.make_graded_score(
            value, verdicts={"context/answer": verdicts, "answer/context": found}, texts={"context": passages, **left}
        )


@dataclass(frozen=True)
class HallucinationV3(Hallucination):
    """Contexts that the answer contradicts / contexts: the direction of DeepEval up to 3.x."""

    name: ClassVar[str] = "deepeval:hallucination_v3"
    direction: ClassVar[Direction] = "lower"
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0, Cause.NO_CONTEXT: 0.0}
    counted_label: ClassVar[str] = "contradicted"


ENTRIES = (
    Entry(
        make=Hallucination,
        source="deepeval.metrics.HallucinationMetric",
        compared="deepeval 4.3.1",
        family="hallucination",
        steps=Steps("passages", "the whole answer", "not contradicted", "share"),
        empty="1",
    ),
    Entry(
        make=HallucinationV3,
        source="deepeval.metrics.HallucinationMetric up to 3.x",
        compared="published formula: 1 - the value of deepeval 4.3.1",
        family="hallucination",
        steps=Steps("passages", "the whole answer", "contradicted", "share"),
        empty="0",
    ),
)
