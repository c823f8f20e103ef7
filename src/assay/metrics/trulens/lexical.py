"""TruLens' BLEU and ROUGE of the answer against the reference. They ask no judge.

    bleu    brevity penalty * geometric mean of the precisions of 1- to 4-grams, on tokens 13a, without smoothing
    rouge   ROUGE-1, the F-measure of single words, without stemming

Range 0 to 1, higher is better. trulens 2.16.0, `GroundTruthAgreement`, by Hugging Face's `evaluate`, which fetches both
formulas from its hub: BLEU is that of Papineni et al. (2002), and 0 where no 4-gram is shared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.lexical import rouge, tokens_13a
from assay.records import Sample, Score

ORDERS = 4


def bleu_of(said: Sequence[str], expected: Sequence[str]) -> float:
    """BLEU of these tokens against one reference, without smoothing. 0 where an order shares nothing."""
    precisions = [_precision(said, expected, order) for order in range(1, ORDERS + 1)]
    if not said or min(precisions) == 0:
        return 0.0
    brevity = min(1.0, math.exp(1 - len(expected) / len(said)))
    return brevity * math.exp(math.fsum(map(math.log, precisions)) / ORDERS)


def _precision(said: Sequence[str], expected: Sequence[str], order: int) -> float:
    """n-grams that stand in both, each as often as in both / n-grams of what was said."""
    ours, theirs = _grams(said, order), _grams(expected, order)
    return sum((ours & theirs).values()) / sum(ours.values()) if ours else 0.0


def _grams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[n : n + order]) for n in range(len(tokens) - order + 1))


@dataclass(frozen=True)
class Bleu(SystemMetric):
    """BLEU of the answer against the reference."""

    name: ClassVar[str] = "trulens:bleu"
    needs: ClassVar = ("answer", "reference")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_score(bleu_of(tokens_13a(sample.answer or ""), tokens_13a(sample.reference or "")))


@dataclass(frozen=True)
class Rouge(SystemMetric):
    """ROUGE-1 of the answer against the reference."""

    name: ClassVar[str] = "trulens:rouge"
    needs: ClassVar = ("answer", "reference")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_score(rouge(sample.answer or "", sample.reference or "", "rouge1", stemmer=False))


def _entry(make: type[SystemMetric], published: str, counts: str, aggregate: str) -> Entry:
    return Entry(
        make=make,
        source=f"trulens.feedback.GroundTruthAgreement.{make.name.partition(':')[2]}",
        compared=f"published formula: {published}; its package fetches it from a hub",
        family="similarity",
        steps=Steps("the whole answer", "the reference", counts, aggregate),
        empty="NaN without a reference",
    )


ENTRIES = (
    _entry(Bleu, "Papineni et al. (2002)", "shared 1- to 4-grams", "geometric mean, by brevity"),
    _entry(Rouge, "Lin (2004), ROUGE-1", "shared words", "F-measure"),
)
