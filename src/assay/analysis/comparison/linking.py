"""Judges linked: the same answers scored by an old judge and by a new one, so that runs of both can be compared.

offsets = link(Result.load("anchors by the old"), Result.load("anchors by the new"))
compare(Result.load("monday"), Result.load("tuesday"), link=offsets)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.tabular import Tabular, keyed
from assay.errors import InputError, printable
from assay.evaluation.result import Result
from assay.records import Sample
from assay.stats import Estimate
from assay.stats.paired import difference

#: Fewer anchors than this say hardly anything of how far judges differ.
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Link(Tabular):
    """How much higher one judge scores than another on the same answers.

    Attributes:
        old, new: The judges.
        anchors: Answers that both have scored.
        offsets: By metric: the new judge's mean less the old one's, with its interval.
    """

    _item_type = Estimate

    def _items(self) -> list[dict[str, Any]]:
        return keyed(self.offsets, "metric")

    old: str
    new: str
    anchors: int
    offsets: Mapping[str, Estimate] = field(default_factory=dict)

    def turned(self) -> Link:
        """The same, from the new judge to the old one."""
        offsets = {
            name: Estimate(-one.mean, -one.high, -one.low, one.n, one.clusters, one.error, one.confidence)
            for name, one in self.offsets.items()
        }
        return Link(self.new, self.old, self.anchors, offsets)

    def between(self, first: str, second: str) -> Link:
        """From the first of these judges to the second. Raises InputError where it links others."""
        if (first, second) == (self.old, self.new):
            return self
        if (first, second) == (self.new, self.old):
            return self.turned()
        raise InputError(f"link: it is of {self.old} and {self.new}, and the runs are by {first} and {second}")

    def __str__(self) -> str:
        lines = [f"{self.new} against {self.old}, on {self.anchors} answers that both have scored"]
        lines += [
            f"  {name}: {one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}), {one.n} anchors"
            for name, one in self.offsets.items()
        ]
        return printable("\n".join(lines))


def link(old: Result, new: Result, *, confidence: float = 0.95) -> Link:
    """What the judges of two runs differ by, on the answers that are in both: the same question, passages, reference.

    Raises InputError for runs of one judge, and for runs without `FEWEST` answers that both judges gave some score.
    Metrics with fewer are left out.
    """
    if old.judge == new.judge:
        raise InputError(f"link: {old.run!r} and {new.run!r} are both by {old.judge}; anchors are scored by two judges")
    shared = [name for name in old.metrics if name in new.metrics]
    first_scores, second_scores = _scores(old), _scores(new)
    anchors = [(row, second_scores[key]) for key, row in first_scores.items() if key in second_scores]
    offsets: dict[str, Estimate] = {}
    for name in shared:
        pairs = [
            (one, other)
            for first, second in anchors
            if (one := first.get(name)) is not None and (other := second.get(name)) is not None
        ]
        if len(pairs) < FEWEST:
            continue
        summary = new.metrics[name]
        found = difference(
            [a for a, _ in pairs],
            [b for _, b in pairs],
            summary.low,
            summary.high,
            confidence=confidence,
            corrects=True,
        )
        assert found is not None
        offsets[name] = found.estimate
    if not offsets:
        raise InputError(
            f"link: {old.run!r} and {new.run!r} have {len(anchors)} answers in common; at least {FEWEST} with a score "
            "by both judges are needed. Score the same answers with both"
        )
    return Link(old.judge, new.judge, len(anchors), offsets)


def _scores(result: Result) -> dict[str, dict[str, float]]:
    """The measured values of each row, by what was read; of rows that are all alike the first."""
    found: dict[str, dict[str, float]] = {}
    for row in result:
        values = {name: score.value for name, score in row.scores.items() if score.measured and score.value is not None}
        found.setdefault(_read(row.sample), values)
    return found


def _read(sample: Sample) -> str:
    earlier = [[turn.question, turn.answer] for turn in sample.history]
    passages = None if sample.contexts is None else list(sample.passages)
    return json.dumps([sample.question, earlier, passages, sample.answer, sample.reference])
