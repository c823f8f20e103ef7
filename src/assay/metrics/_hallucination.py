"""Hallucination: what share of the answer's claims go beyond, or against, the retrieved contexts?

Range 0 to 1, lower is better. By default a claim counts when the contexts do not support it, whether they contradict
it or do not mention it: 1 - faithfulness, from the same verdicts. With `kind="contradicted"` only claims that the
contexts contradict count. DeepEval counts that way too, but over the contexts, where leaving something out has been
punished; we count the claims of the answer. RAGChecker's hallucination also asks whether a claim is wrong by the
reference; this one does not. An answer without claims is skipped. Contexts of earlier turns count as evidence;
where no contexts are known, what tools gave back to an agent does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import answer_against_conversation, expected_share
from assay.prompts import Claims, Support
from assay.records import Direction, Sample, Score, Verdict

Kind = Literal["unsupported", "contradicted"]

#: Which labels count as hallucinated.
COUNTED: dict[Kind, tuple[str, ...]] = {
    "unsupported": ("contradicted", "not_mentioned"),
    "contradicted": ("contradicted",),
}


def share_hallucinated(verdicts: Sequence[Verdict], kind: Kind = "unsupported") -> float:
    """Verdicts whose label counts under `kind` / verdicts. Expects at least one."""
    return sum(verdict.label in COUNTED[kind] for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class Hallucination(Metric):
    """Claims of the answer that the contexts do not support (or that they contradict) / claims of the answer."""

    name: ClassVar[str] = "hallucination"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    reads_history: ClassVar = True
    direction: ClassVar[Direction] = "lower"

    kind: Kind = "unsupported"

    @property
    def label(self) -> str:
        return self.name if self.kind == "unsupported" else f"{self.name}_{self.kind}"

    @property
    def needs_contradiction(self) -> bool:
        return self.kind == "contradicted"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        expected = expected_share(reading.verdicts) if self.kind == "unsupported" else {}
        evidence = reading.with_parts(**{name: 1 - share for name, share in expected.items()})
        return self.make_score(share_hallucinated(reading.verdicts, self.kind), **evidence)
