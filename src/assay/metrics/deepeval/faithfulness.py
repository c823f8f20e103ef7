"""DeepEval's faithfulness: claims of the answer that no context contradicts / claims of the answer.

Range 0 to 1, higher is better. A claim of which the contexts say nothing counts as faithful, unless
`penalize_ambiguous_claims`: then only supported ones do. DeepEval 4.3.1, `FaithfulnessMetric`. It judges claims by the
"truths" that the judge lists of the contexts, here they are judged by the contexts themselves: what shortens that list
there (`truths_extraction_limit`) has nothing to shorten here. Without claims DeepEval gives 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.shared_prompts import claims_of, support, texts_not_judged
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Support
from assay.records import Sample, Score


@dataclass(frozen=True)
class Faithfulness(DeepEvalMetric):
    """Claims of the answer that the contexts do not contradict / claims of the answer."""

    name: ClassVar[str] = "deepeval:faithfulness"
    needs: ClassVar = ("question", "answer", "contexts")
    asks: ClassVar = (Claims, Support)

    penalize_ambiguous_claims: bool = False

    @property
    def counted_labels(self) -> tuple[str, ...]:
        """The labels that count as faithful."""
        return ("supported",) if self.penalize_ambiguous_claims else ("supported", "not_mentioned")

    @property
    def conventions(self) -> Mapping[Cause, float]:  # type: ignore[override]
        # no text mentions any claim where nothing was retrieved
        return {Cause.NO_CLAIMS: 1.0, Cause.NO_CONTEXT: float("not_mentioned" in self.counted_labels)}

    @property
    def needs_contradiction(self) -> bool:
        return not self.penalize_ambiguous_claims

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        claims = await judge.find(claims_of(sample, "answer"))
        left = texts_not_judged(sample, claims)
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=left)
        verdicts = await support(claims, sample.passages, sample, judge)
        value = share_counted([verdict.label for verdict in verdicts], self.counted_labels)
        return self.make_graded_score(value, verdicts={"answer/contexts": verdicts}, texts=left)


ENTRIES = (
    Entry(
        make=Faithfulness,
        source="deepeval.metrics.FaithfulnessMetric",
        compared="deepeval 4.3.1",
        family="faithfulness",
        steps=Steps("claims of the answer", "all contexts together", "not contradicted", "share"),
        empty="1",
    ),
)
