"""RAGChecker's hallucination and self-knowledge: claims of the response that no passage entails, true or not.

    hallucination    claims that no passage entails and the reference does not either / claims of the response
    self-knowledge   claims that no passage entails, and the reference does / claims of the response

Range 0 to 1. Of hallucination lower is better; self-knowledge is what the model knew without the retrieval, lower is
better where an answer should come from the passages. RAGChecker 0.1.9 (Ru et al., 2024). Without a passage or a claim
the original gives 0 for both, so that an empty retrieval looks free of hallucination.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragchecker.tables import TableMetric, Tables, cells, chances, entailed, found, share
from assay.metrics.shared_prompts import probabilities
from assay.metrics.systems.base import Entry, Steps
from assay.records import Direction


def unfaithful(retrieved: Sequence[bool], correct: Sequence[bool], *, knows: bool) -> float:
    """Claims that were not retrieved and are correct (`knows`) or are not / claims. Expects at least one."""
    return share([not got and right is knows for got, right in zip(retrieved, correct, strict=True)])


def expected_unfaithful(
    retrieved: Sequence[float] | None, correct: Sequence[float] | None, *, knows: bool
) -> dict[str, float]:
    """The same, as probabilities lead one to expect; empty where some are not known."""
    if not retrieved or not correct:
        return {}
    each = [(1 - got) * (right if knows else 1 - right) for got, right in zip(retrieved, correct, strict=True)]
    return {"mean_probability": math.fsum(each) / len(each)}


@dataclass(frozen=True)
class Unfaithfulness(TableMetric):
    """Claims of the response that no passage entails, and that are correct or not / claims of the response."""

    knows: ClassVar[bool]
    needs: ClassVar = ("answer", "contexts", "reference")
    direction: ClassVar[Direction] = "lower"
    tables: ClassVar = ("retrieved2response", "answer2response")
    claimed: ClassVar = ("answer2response",)

    def compute(self, tables: Tables) -> float:
        retrieved = found(cells(tables["retrieved2response"]))
        return unfaithful(retrieved, entailed(tables["answer2response"]), knows=self.knows)

    def parts(self, tables: Tables) -> Mapping[str, float]:
        retrieved, correct = chances(tables["retrieved2response"]), probabilities(tables["answer2response"])
        return expected_unfaithful(retrieved, correct, knows=self.knows)


@dataclass(frozen=True)
class Hallucination(Unfaithfulness):
    """Claims of the response that neither a passage nor the reference entails / claims of the response."""

    name: ClassVar[str] = "ragchecker:hallucination"
    knows: ClassVar[bool] = False


@dataclass(frozen=True)
class SelfKnowledge(Unfaithfulness):
    """Claims of the response that the reference entails and no passage does / claims of the response."""

    name: ClassVar[str] = "ragchecker:self_knowledge"
    knows: ClassVar[bool] = True


ENTRIES = (
    Entry(
        make=Hallucination,
        source="ragchecker.computation.evaluate_hallucination",
        compared="ragchecker 0.1.9",
        family="hallucination",
        steps=Steps("claims of the answer", "each passage alone, the reference", "wrong, and from none", "share"),
        empty="0",
    ),
    Entry(
        make=SelfKnowledge,
        source="ragchecker.computation.evaluate_self_knowledge",
        compared="ragchecker 0.1.9",
        family="self-knowledge",
        steps=Steps("claims of the answer", "each passage alone, the reference", "right, and from none", "share"),
        empty="0",
    ),
)
