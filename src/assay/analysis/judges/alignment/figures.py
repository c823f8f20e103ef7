"""The figures of an alignment: a run against people's labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from assay._util.tabular import Tabular
from assay.analysis.judges.alignment.groups import Group
from assay.stats.ppi import CorrectedMean

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class AlignmentFigures(Tabular):
    """A run against people's labels.

    Attributes:
        labels: Of people; `matched` are about something in the run, `unsure` said that they cannot tell.
        parameters: Each metric with its parameters, in words.
        people: Labels on which people agree with each other, of those that several gave: (agreeing, all).
        groups: By reading or metric.
        means: Of each metric or reading: what the judge says, and what people would say, from these labels.
    """

    _item_type = Group

    def _items(self) -> Collection[Group]:
        return self.groups.values()

    run: str
    judge: str
    labels: int
    matched: int
    unsure: int
    by: str | None = None
    groups: Mapping[str, Group] = field(default_factory=dict)
    means: Mapping[str, CorrectedMean] = field(default_factory=dict)
    people: tuple[int, int] | None = None
    confidence: float = CONFIDENCE
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
