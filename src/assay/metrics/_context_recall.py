"""Context recall: what share of the reference's claims can be attributed to the retrieved contexts?

Range 0 to 1, higher is better. Source: ragas, which counts sentences of the reference; we count its claims (as its
own worked example does: "France is in Western Europe and its capital is Paris" is one sentence and two statements).
An empty retrieval scores 0.0: nothing can be attributed to it, and missing what was needed is what recall measures.
A reference without claims leaves nothing to recall and is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._faithfulness import share_supported
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import expected_share, reference_against_contexts
from assay.prompts import Claims, Support
from assay.records import Sample, Score


@dataclass(frozen=True)
class ContextRecall(Metric):
    """Claims of the reference that the contexts support / claims of the reference."""

    name: ClassVar[str] = "context_recall"
    needs: ClassVar = ("contexts", "reference")
    asks: ClassVar = (Claims, Support)
    needs_passages: ClassVar[bool] = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await reference_against_contexts(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the reference makes no checkable claim", texts=reading.not_judged)
        evidence = reading.with_parts(**expected_share(reading.verdicts))
        return self.make_score(share_supported(reading.verdicts), **evidence)
