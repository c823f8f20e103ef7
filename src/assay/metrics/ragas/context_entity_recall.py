"""ragas' context entity recall: entities of the reference that the contexts name too / entities of the reference.

    |R and C| / (|R| + 1e-8), where R and C are the sets of the strings that the judge lists for reference and contexts

Range 0 to 1, higher is better. Source: ragas 0.4.3. The strings are compared exactly: "The Hague" and "the Hague" are
two entities; assay's own metric takes them for one. The small number keeps the original from dividing by 0, where the
reference names none, and from a value of 1; by assay's profile the quotient is exact. An empty retrieval is a recall
of 0. Until 0.3 the denominator counted a string as often as the judge listed it; here no list has one twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_entity_recall import read_entities
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import InputRules
from assay.prompts import Entities
from assay.records import Sample, Score

GUARD = 1e-8


def exact_recall(reference: Iterable[str], contexts: Iterable[str], guard: float = 0.0) -> float:
    """Strings of the reference that are among those of the contexts / strings of the reference, plus `guard`."""
    wanted = set(reference)
    return len(wanted & set(contexts)) / (len(wanted) + guard)


@dataclass(frozen=True)
class ContextEntityRecall(SystemMetric):
    """Entities of the reference that the contexts name in the same letters / entities of the reference."""

    name: ClassVar[str] = "ragas:context_entity_recall"
    needs: ClassVar = ("contexts", "reference")
    asks: ClassVar = (Entities,)
    needs_passages: ClassVar[bool] = False
    input_rules: ClassVar = InputRules(blank_reference=Cause.NOT_APPLICABLE)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reference, contexts = await read_entities(sample, judge)
        if not reference:
            return self.skip(Cause.NOT_APPLICABLE, "the reference names no entity")
        there = set(contexts)
        shared = tuple(entity for entity in reference if entity in there)
        value = exact_recall(reference, contexts, GUARD if self.original else 0.0)
        return self.make_score(value, texts={"reference": reference, "contexts": contexts, "shared": shared})


ENTRIES = (
    Entry(
        make=ContextEntityRecall,
        source="ragas.metrics.collections.ContextEntityRecall",
        compared="ragas 0.4.3",
        family="entity recall",
        steps=Steps("entities of the reference", "all contexts together", "named in the same letters", "share"),
        empty="0 where the reference names no entity",
    ),
)
