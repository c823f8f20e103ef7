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
from assay.metrics.faithfulness import Faithfulness as _Faithfulness
from assay.metrics.ragas.common import RagasMetric
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample, Score


@dataclass(frozen=True)
class Faithfulness(RagasMetric, _Faithfulness):
    """Supported claims of the answer / claims of the answer."""

    name: ClassVar[str] = "ragas:faithfulness"
    reads_history: ClassVar = False
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}  # contexts of nothing but blanks; an empty list is refused there

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await super().measure(replace(sample, history=()), judge)


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
