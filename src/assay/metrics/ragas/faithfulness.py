"""ragas' faithfulness: supported statements of the response / its statements.

Range 0 to 1, higher is better. Es et al., "RAGAS: Automated Evaluation of Retrieval Augmented Generation" (2023). The
verdict on a statement is that of all contexts together, which ragas joins to one text. Without statements the original
gives NaN, which is no number here either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._faithfulness import share_supported
from assay.metrics.ragas.common import REFUSES_NO_CONTEXTS
from assay.metrics.shared_prompts import answer_against_conversation, expected_share
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Claims, Support
from assay.records import Sample, Score


@dataclass(frozen=True)
class Faithfulness(SystemMetric):
    """Supported claims of the answer / claims of the answer."""

    name: ClassVar[str] = "ragas:faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}  # contexts of nothing but blanks; an empty list is refused there

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(replace(sample, history=()), judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        evidence = reading.with_parts(**expected_share(reading.verdicts))
        return self.make_score(share_supported(reading.verdicts), **evidence)


ENTRIES = (
    Entry(
        make=Faithfulness,
        source="ragas.metrics.collections.Faithfulness",
        compared="ragas 0.4.3",
        family="faithfulness",
        steps=Steps("claims of the answer", "all contexts together", "supported", "share"),
        empty="NaN",
        also=("Factuality",),
    ),
)
