"""Context entity recall: what share of the entities that the reference names do the retrieved contexts name too?

    |entities of the contexts that the reference names| / |entities of the reference|

Range 0 to 1, higher is better. Source: ragas 0.1, which compares the judge's strings exactly; here two mentions are
the same entity whatever their case, spacing and leading "the", and a name counts only where it stands in the text. An
empty retrieval scores 0.0. A reference that names no entity leaves nothing to recall and is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import ask
from assay.prompts import Entities
from assay.prompts.entities import same_entity
from assay.records import Evidence, Sample, Score


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, without further mentions of the same entity."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(same_entity(name), name)
    return tuple(first.values())


def entity_recall(reference: Iterable[str], contexts: Iterable[str]) -> float:
    """Entities of the reference that the contexts name / entities of the reference. Expects at least one."""
    wanted = {same_entity(name) for name in reference}
    return len(wanted & {same_entity(name) for name in contexts}) / len(wanted)


async def read_entities(sample: Sample, judge: Judge) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ask for the entities of the reference and of the contexts.

    Args:
        sample: A sample with reference and contexts.
        judge: The judge.

    Returns:
        Those of the reference and those of the contexts, each entity once; none of blank contexts.

    Raises:
        JudgeFailure: If the judge does not answer.
    """
    prompts = [Entities((sample.reference or "",), sample.spoken)]
    if any(passage.strip() for passage in sample.passages):
        prompts.append(Entities(sample.passages, sample.spoken))
    found: list[tuple[Evidence, ...]] = [*await ask(judge, *prompts), ()]
    reference, contexts = (distinct(entity.text for entity in entities) for entities in found[:2])
    return reference, contexts


@dataclass(frozen=True)
class ContextEntityRecall(Metric):
    """Entities of the reference that the contexts name / entities of the reference."""

    name: ClassVar[str] = "context_entity_recall"
    needs: ClassVar = ("contexts", "reference")
    asks: ClassVar = (Entities,)
    needs_passages: ClassVar[bool] = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reference, contexts = await read_entities(sample, judge)
        if not reference:
            return self.skip(Cause.NOT_APPLICABLE, "the reference names no entity")
        there = {same_entity(name) for name in contexts}
        shared = tuple(name for name in reference if same_entity(name) in there)
        texts = {"reference": reference, "contexts": contexts, "shared": shared}
        return self.make_score(entity_recall(reference, contexts), texts=texts)
