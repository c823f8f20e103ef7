"""DeepEval's contextual recall: statements of the expected output that the contexts bear out / its statements.

Range 0 to 1, higher is better. DeepEval 4.3.1, `ContextualRecallMetric`, which judges sentences; here they are claims,
as in assay's context recall. Nothing retrieved is a recall of 0. Without statements DeepEval gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.shared_prompts import expected_share, reference_against_contexts
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Support
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextualRecall(DeepEvalMetric):
    """Claims of the reference that the contexts support / claims of the reference."""

    name: ClassVar[str] = "deepeval:contextual_recall"
    needs: ClassVar = ("question", "contexts", "reference")
    asks: ClassVar = (Claims, Support)
    needs_passages: ClassVar[bool] = False
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await reference_against_contexts(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the reference makes no checkable claim", texts=reading.not_judged)
        value = share_counted([one.label for one in reading.verdicts], ("supported",))
        return self.make_graded_score(value, **reading.with_parts(**expected_share(reading.verdicts)))


ENTRIES = (
    Entry(
        make=ContextualRecall,
        source="deepeval.metrics.ContextualRecallMetric",
        compared="deepeval 4.3.1",
        family="context recall",
        steps=Steps("claims of the reference", "all contexts together", "supported", "share"),
        empty="0",
    ),
)
