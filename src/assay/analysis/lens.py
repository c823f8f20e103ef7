"""One answer under every system's definition of a name: what each makes of it, and where their formulas part.

    print(look(sample, "faithfulness", judge))

Judgements are shared, so that all definitions together cost little more than the dearest of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from assay._util.sync import facade
from assay._util.tabular import Tabular
from assay.errors import InputError, printable
from assay.evaluation.score_sample import score_sample
from assay.judges.protocol import Judge
from assay.metrics import systems
from assay.metrics.base import Metric
from assay.metrics.names import resolve_metrics
from assay.metrics.systems.base import Steps
from assay.metrics.systems.own import OWN
from assay.records import Sample, Score


@dataclass(frozen=True, slots=True)
class Definition:
    """One system's formula for a name."""

    metric: str
    steps: Steps


@dataclass(frozen=True, slots=True)
class DefinitionResult(Tabular):
    """What one definition makes of the sample.

    Attributes:
        parts_at: The first step of the formula in which it differs from the definition that stands first; None where
            the formulas are the same.
    """

    _columns = "metric=definition.metric value=score.value parts_at difference cause=score.why_unmeasured"

    definition: Definition
    score: Score
    parts_at: str | None

    @property
    def difference(self) -> str:
        """The step where it parts, and what it does there; "" where it does not part."""
        return "" if self.parts_at is None else f"{self.parts_at}: {getattr(self.definition.steps, self.parts_at)}"


@dataclass(frozen=True, slots=True)
class Lens(Tabular):
    """A sample under all definitions of a family."""

    _item_type = DefinitionResult

    def _items(self) -> tuple[DefinitionResult, ...]:
        return self.seen

    family: str
    seen: tuple[DefinitionResult, ...]

    @property
    def span(self) -> tuple[float, float] | None:
        """The lowest and the highest value measured; None where there is none."""
        values = [one.score.value for one in self.seen if one.score.measured and one.score.value is not None]
        return (min(values), max(values)) if values else None

    def __str__(self) -> str:
        return printable("\n".join([headline(self), *(f"  {_line(one)}" for one in self.seen)]))


def families() -> tuple[str, ...]:
    """The names that more than one formula goes by."""
    found = [own.family for own in OWN.values()]
    found += [entry.family for system in systems.SYSTEMS for entry in systems.system_entries(system).values()]
    return tuple(dict.fromkeys(found))


def definitions(family: str) -> tuple[Definition, ...]:
    """List all formulas that go by a name: assay's own first, and of each system first the one of that name.

    Raises InputError for an unknown name.

    The name may also be that of a metric, own or another system's: "ragas:faithfulness" means what it is called there.
    """
    wanted = family_of(family)
    own = (Definition(name, one.steps) for name, one in OWN.items() if one.family == wanted)
    theirs = (
        Definition(entry.make().label, entry.steps)
        for system in systems.SYSTEMS
        for name, entry in sorted(systems.system_entries(system).items(), key=lambda one: family_name(one[0]) != wanted)
        if entry.family == wanted
    )
    found = (*own, *theirs)
    if not found:
        near = difflib.get_close_matches(wanted, families(), n=3, cutoff=0.75)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise InputError(f"family: there is no {family!r}; {hint}known are {', '.join(families())}")
    return found


def family_of(name: str) -> str:
    """The family of a metric, where `name` is that of one; else the name as families are written."""
    name = name.strip()
    if name in OWN:
        return OWN[name].family
    room, colon, rest = name.partition("@")[0].partition(":")
    entry = systems.entry_of(room, rest) if colon and room in systems.SYSTEMS else None
    return entry.family if entry is not None else family_name(name)


def family_name(name: str) -> str:
    """A name as families are written."""
    return name.lower().replace("_", " ")


async def alook(sample: Sample, family: str, judge: Judge) -> Lens:
    """The sample under all definitions of a name. Raises InputError for an unknown name."""
    known = definitions(family)
    metrics: Iterable[Metric] = resolve_metrics([one.metric for one in known])
    scored = await score_sample(sample, list(metrics), judge, score_partial=True)
    first = known[0].steps
    seen = tuple(DefinitionResult(one, scored.scores[one.metric], first.parts_from(one.steps)) for one in known)
    return Lens(family_of(family), seen)


look = facade("look", alook)


def headline(lens: Lens) -> str:
    """How far the definitions are apart."""
    measured = sum(one.score.measured for one in lens.seen)
    if lens.span is None:
        return f"{lens.family}: none of {len(lens.seen)} definitions has a value here"
    low, high = lens.span
    return f"{lens.family}: {low:.2f} to {high:.2f} under {measured} of {len(lens.seen)} definitions"


def _line(one: DefinitionResult) -> str:
    return f"{one.score}" + (f"  [{one.difference}]" if one.difference else "")
