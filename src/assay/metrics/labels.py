"""Two variants of one metric, told apart: each under a label of its own.

Scores are told apart by their label alone: in a result, a table, a stored run, a trace store. A run in which two
metrics have one label does not begin; `LabelledMetric` gives one of them another.

    evaluate(rows, [HitRate(k=3), LabelledMetric(HitRate(k=10), "hits_of_ten")])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from assay.errors import InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.records import Sample, Score, ScoreError

#: Characters of an option that an error shows; of a longer one it says the name alone.
_SHOWN = 40


def check_unique_labels(metrics: Sequence[Metric], where: str) -> None:
    """Raise InputError, naming the label and the options that differ, where two metrics have one label."""
    known: dict[str, Metric] = {}
    for metric in metrics:
        if metric.label in known:
            said = f"{where}: {metric.label!r} is given twice; scores are told apart by this label"
            raise InputError(said + _difference(known[metric.label], metric))
        known[metric.label] = metric


def _difference(one: Metric, other: Metric) -> str:
    """In what two metrics of one label differ, and what to do; nothing where they are alike."""
    if type(one) is not type(other):
        found = [f"class ({type(one).__name__} and {type(other).__name__})"]
    else:
        pairs = [(field.name, getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
        found = [_difference_text(name, a, b) for name, a, b in pairs if a != b]
    if not found:
        return ""
    return f'. They differ in {", ".join(found)}: give one another label, assay.metrics.LabelledMetric(metric, "LABEL")'


def _difference_text(name: str, one: object, other: object) -> str:
    texts = repr(one), repr(other)
    return name if max(map(len, texts)) > _SHOWN else f"{name} ({texts[0]} and {texts[1]})"


class _Its:
    """What the metric inside has under the same name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, called: LabelledMetric | None, owner: type) -> Any:
        return self if called is None else getattr(called.metric, self.name)


@dataclass(frozen=True)
class LabelledMetric(Metric):
    """A metric under another label; all else is the metric's, also what its messages call it.

    Raises InputError for a blank label.
    """

    name: ClassVar[Any] = _Its()
    needs: ClassVar[Any] = _Its()
    columns: ClassVar[Any] = _Its()
    may_read: ClassVar[Any] = _Its()
    asks: ClassVar[Any] = _Its()
    low: ClassVar[Any] = _Its()
    high: ClassVar[Any] = _Its()
    direction: ClassVar[Any] = _Its()
    version: ClassVar[Any] = _Its()
    needs_passages: ClassVar[Any] = _Its()
    reads_images: ClassVar[Any] = _Its()
    reads_history: ClassVar[Any] = _Its()
    needs_contradiction: ClassVar[Any] = _Its()
    needed_columns: ClassVar[Any] = _Its()
    consults: ClassVar[Any] = _Its()
    may_ask: ClassVar[Any] = _Its()
    reads_texts: ClassVar[Any] = _Its()

    metric: Metric
    title: str

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric):
            raise InputError(f"LabelledMetric: metric: expected a metric, got {self.metric!r:.80}")
        if not self.title.strip():
            raise InputError("LabelledMetric: title: it is blank")

    @property
    def label(self) -> str:
        return self.title

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        return self.metric.cannot(judge, language)

    def missing(self, sample: Sample) -> ScoreError | None:
        return self.metric.missing(sample)

    async def measure(self, sample: Sample, judge: Judge) -> Any:
        return await self.metric.measure(sample, judge)

    async def score(self, sample: Sample, judge: Judge) -> Score:
        return replace(await self.metric.score(sample, judge), metric=self.label)
