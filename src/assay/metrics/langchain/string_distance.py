"""LangChain's string distances: how far is the answer from the reference, or from a second answer, by characters?

Range 0 to 1, lower is better: 0 for equal texts. The distance is one of six, normalised as rapidfuzz does; default
Jaro-Winkler. `pairwise_string_distance` compares with `metadata["prediction_b"]`. Source: langchain-classic 1.0.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, get_args

from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.metrics.systems.lexical import Measure, normalized_distance
from assay.metrics.systems.lexical import distance as counted
from assay.records import Direction, Sample, Score

DEFAULT: Measure = "jaro_winkler"


@dataclass(frozen=True)
class StringDistance(SystemMetric):
    """The distance of answer and reference.

    Attributes:
        distance: One of levenshtein, damerau_levenshtein, jaro, jaro_winkler (default), hamming, indel.
        normalize_score: False: edits are counted, not divided.
    """

    needs: ClassVar[tuple[str, ...]] = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS
    direction: ClassVar[Direction] = "lower"
    kind: ClassVar[str] = "{}distance"

    distance: Measure | None = None
    normalize_score: bool = True

    @property
    def name(self) -> str:  # type: ignore[override]  # it carries the distance
        return "langchain:" + self.kind.format("string_" if self.distance is None else f"{self.distance}_")

    @property
    def high(self) -> float:  # type: ignore[override]  # counted edits have no end
        return 1.0 if self.normalize_score else math.inf

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        count = normalized_distance if self.normalize_score else counted
        return self.make_score(count(self._other(sample), sample.answer or "", self.distance or DEFAULT))

    def _other(self, sample: Sample) -> str:
        return sample.reference or ""


@dataclass(frozen=True)
class PairwiseStringDistance(StringDistance):
    """The distance of the answer and a second one."""

    needs: ClassVar[tuple[str, ...]] = ("answer",)
    kind: ClassVar[str] = "pairwise_{}distance"
    columns: ClassVar[tuple[str, ...]] = ("prediction_b",)

    def _other(self, sample: Sample) -> str:
        return given(sample, self, "prediction_b", str)


def _entry(kind: type[StringDistance], measure: Measure | None) -> Entry:
    arguments: dict[str, Any] = {} if measure is None else {"distance": measure}
    pairwise = kind is PairwiseStringDistance
    return Entry(
        make=partial(kind, **arguments),
        source=f"langchain_classic.evaluation.string_distance.{kind.__name__}EvalChain",
        compared="langchain-classic 1.0.8",
        family="string distance",
        steps=Steps(
            "characters of the answer",
            "a second answer" if pairwise else "the reference",
            measure or DEFAULT,
            "distance",
        ),
        empty="the distance of an empty text: 1, of two 0",
    )


ENTRIES = tuple(
    _entry(kind, measure) for kind in (StringDistance, PairwiseStringDistance) for measure in (None, *get_args(Measure))
)
