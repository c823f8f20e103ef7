"""ragas' context recall: sentences of the reference that the contexts account for / sentences of the reference.

Range 0 to 1, higher is better. Source: ragas 0.4.3, and 0.0.11 as "context_recall_attributed". The unit is the
sentence, also where it states several things: a sentence of which half is in the contexts counts as a whole or not at
all, where assay's `context_recall` counts claims. In 0.0.11 the judge ends a line for each sentence with
"[Attributed]" or not, and every line of its reply counts, blank ones too: without blank lines it is the same share. A
reference without sentences gives 0 there (a reply of one line, without the mark), and NaN in 0.4.3. Nothing retrieved
is a recall of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._faithfulness import share_supported
from assay.metrics.ragas.common import REFUSES_NO_CONTEXTS
from assay.metrics.shared_prompts import expected_share, support
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import InputRules
from assay.prompts import Support
from assay.records import Claim, Sample, Score
from assay.text import split_sentences


@dataclass(frozen=True)
class ContextRecall(SystemMetric):
    """Sentences of the reference that all contexts together support / sentences of the reference."""

    name: ClassVar[str] = "ragas:context_recall"
    needs: ClassVar = ("contexts", "reference")
    asks: ClassVar = (Support,)
    needs_passages: ClassVar[bool] = False
    input_rules: ClassVar = REFUSES_NO_CONTEXTS

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reference = sample.reference or ""
        spans = split_sentences(reference, sample.spoken)
        sentences = tuple(Claim(text=span.of(reference), span=span) for span in spans)
        verdicts = await support(sentences, sample.passages, sample, judge)
        return self.make_score(
            share_supported(verdicts),
            verdicts={"reference_sentences/contexts": verdicts},
            parts=expected_share(verdicts),
        )


@dataclass(frozen=True)
class AttributedContextRecall(ContextRecall):
    """Lines with the mark / lines, one for each sentence of the reference."""

    name: ClassVar[str] = "ragas:context_recall_attributed"
    input_rules: ClassVar = InputRules(blank_reference=Cause.NO_CLAIMS)
    conventions: ClassVar = {Cause.NO_CLAIMS: 0.0}


_STEPS = Steps("sentences of the reference", "all contexts together", "supported", "share")
ENTRIES = (
    Entry(
        make=ContextRecall,
        source="ragas.metrics.collections.ContextRecall",
        compared="ragas 0.4.3",
        family="context recall",
        steps=_STEPS,
        empty="NaN",
        also=("LLMContextRecall",),
    ),
    Entry(
        make=AttributedContextRecall,
        source="ragas.metrics.ContextRecall, of 0.0.11",
        compared="ragas 0.0.11",
        family="context recall",
        steps=_STEPS,
        empty="0",
    ),
)
