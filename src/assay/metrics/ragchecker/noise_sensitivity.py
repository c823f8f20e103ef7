"""RAGChecker's noise sensitivity: wrong claims of the response that came from the retrieval / claims of the response.

    in relevant     claims that the reference does not entail and some relevant passage does / claims
    in irrelevant   claims that the reference does not entail, some irrelevant passage does and no relevant one / claims

A passage is relevant where it entails some claim of the reference. Range 0 to 1, lower is better. RAGChecker 0.1.9
(Ru et al., 2024). The original gives 0, the best there is, without a passage and without a claim of either text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics._noise_sensitivity import Mode, noise_parts, relevant_passages, share_noise
from assay.metrics.ragchecker.tables import TableMetric, Tables
from assay.metrics.systems.base import Entry, Steps
from assay.records import Direction


@dataclass(frozen=True)
class NoiseSensitivity(TableMetric):
    """Wrong claims of the response that passages of one kind entail / claims of the response."""

    mode: ClassVar[Mode]
    needs: ClassVar = ("answer", "contexts", "reference")
    direction: ClassVar[Direction] = "lower"
    tables: ClassVar = ("retrieved2response", "answer2response", "retrieved2answer")
    claimed: ClassVar = ("answer2response", "retrieved2answer")

    def compute(self, tables: Tables) -> float:
        relevant = relevant_passages(tables["retrieved2answer"])
        return share_noise(tables["answer2response"], tables["retrieved2response"], relevant, self.mode)

    def parts(self, tables: Tables) -> dict[str, float]:
        relevant = relevant_passages(tables["retrieved2answer"])
        return noise_parts(tables["answer2response"], tables["retrieved2response"], relevant, self.mode)


@dataclass(frozen=True)
class InRelevant(NoiseSensitivity):
    """Wrong claims of the response that some relevant passage entails / claims of the response."""

    name: ClassVar[str] = "ragchecker:noise_sensitivity_in_relevant"
    mode: ClassVar[Mode] = "relevant"


@dataclass(frozen=True)
class InIrrelevant(NoiseSensitivity):
    """Wrong claims of the response that only irrelevant passages entail / claims of the response."""

    name: ClassVar[str] = "ragchecker:noise_sensitivity_in_irrelevant"
    mode: ClassVar[Mode] = "irrelevant"


ENTRIES = (
    Entry(
        make=InRelevant,
        source="ragchecker.computation.evaluate_noise_sensitivity_in_relevant",
        compared="ragchecker 0.1.9",
        family="noise sensitivity",
        steps=Steps("claims of the answer", "each passage alone, the reference", "wrong, from a relevant one", "share"),
        empty="0",
    ),
    Entry(
        make=InIrrelevant,
        source="ragchecker.computation.evaluate_noise_sensitivity_in_irrelevant",
        compared="ragchecker 0.1.9",
        family="noise sensitivity",
        steps=Steps(
            "claims of the answer", "each passage alone, the reference", "wrong, only from irrelevant ones", "share"
        ),
        empty="0",
    ),
)
