"""ragas' noise sensitivity: wrong statements of the response that a context entails / its statements.

    relevant    wrong statements that a relevant context entails / statements of the response
    irrelevant  wrong statements that an irrelevant context entails, and no relevant one / statements of the response

Range 0 to 1, lower is better. Source: ragas 0.1.22 to 0.4.3, after RAGChecker (Ru et al., 2024). A statement is wrong
where the reference does not entail it; a context is relevant where it entails a statement of the reference, and each is
read alone. Where response or reference has no statement the original fails or gives NaN: no number here either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._noise_sensitivity import Mode, read_noise, score_noise
from assay.metrics.ragas.common import REFUSES_NO_CONTEXTS
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Claims, Support
from assay.records import Direction, Sample, Score


@dataclass(frozen=True)
class NoiseSensitivity(SystemMetric):
    """Wrong claims that relevant (or only irrelevant) passages support / claims of the answer."""

    needs: ClassVar = ("answer", "contexts", "reference")
    asks: ClassVar = (Claims, Support)
    direction: ClassVar[Direction] = "lower"
    input_rules: ClassVar = REFUSES_NO_CONTEXTS
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}  # blank contexts entail nothing

    mode: Mode = "relevant"

    @property
    def name(self) -> str:  # type: ignore[override]  # the mode is part of it
        return "ragas:noise_sensitivity" + ("" if self.mode == "relevant" else f"_{self.mode}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return score_noise(self, await read_noise(replace(sample, history=()), judge), self.mode)


def _entry(make: partial[NoiseSensitivity], counts: str, also: tuple[str, ...]) -> Entry:
    return Entry(
        make=make,
        source="ragas.metrics.collections.NoiseSensitivity",
        compared="ragas 0.4.3",
        family="noise sensitivity",
        steps=Steps("claims of the answer", "each passage alone, and the reference", counts, "share"),
        empty="an error, or NaN",
        also=also,
    )


ENTRIES = (
    _entry(partial(NoiseSensitivity), "wrong and from a relevant passage", ("noise_sensitivity_relevant",)),
    _entry(partial(NoiseSensitivity, mode="irrelevant"), "wrong and from irrelevant passages alone", ()),
)
