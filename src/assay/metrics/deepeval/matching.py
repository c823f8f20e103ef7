"""DeepEval's exact_match and pattern_match: is the answer the expected output, does a pattern fit all of it?

1 where it does, else 0; white space at the ends does not count. DeepEval 4.3.1, `ExactMatchMetric` and
`PatternMatchMetric`, whose pattern (Python's `re`) is a parameter here as there, or the column `pattern`. No judge is
asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.patterns import check_pattern, matches
from assay.records import Sample, Score


def exact_match(answer: str, reference: str) -> float:
    """1.0 where the two are one text but for white space at the ends."""
    return float(answer.strip() == reference.strip())


@dataclass(frozen=True)
class ExactMatch(DeepEvalMetric):
    """Whether answer and reference are equal."""

    name: ClassVar[str] = "deepeval:exact_match"
    needs: ClassVar = ("question", "answer", "reference")

    threshold: float = field(default=1.0, kw_only=True)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_graded_score(exact_match(sample.answer or "", sample.reference or ""))


@dataclass(frozen=True)
class PatternMatch(DeepEvalMetric):
    """Whether `pattern` fits the whole answer."""

    name: ClassVar[str] = "deepeval:pattern_match"
    needs: ClassVar = ("question", "answer")
    columns: ClassVar[tuple[str, ...]] = ("pattern",)

    pattern: str | None = None
    ignore_case: bool = False
    threshold: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pattern is not None:
            check_pattern(self.pattern.strip(), self._flags, self._what(self.pattern))

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        try:
            pattern = self.setting(sample, "pattern", str)
            answer, what = (sample.answer or "").strip(), self._what(pattern)
            fits = await matches(pattern.strip(), answer, "fullmatch", flags=self._flags, what=what)
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, str(error))
        return self.make_graded_score(float(fits))

    @property
    def _flags(self) -> int:
        return re.IGNORECASE if self.ignore_case else 0

    def _what(self, pattern: str) -> str:
        return f"{self.name}: pattern {pattern!r:.80}"


ENTRIES = (
    Entry(
        make=ExactMatch,
        source="deepeval.metrics.ExactMatchMetric",
        compared="deepeval 4.3.1",
        family="string match",
        steps=Steps("the whole answer", "the reference", "equal", "yes or no"),
        empty="refused",
    ),
    Entry(
        make=PatternMatch,
        source="deepeval.metrics.PatternMatchMetric",
        compared="deepeval 4.3.1",
        family="string match",
        steps=Steps("the whole answer", "the pattern", "fits", "yes or no"),
        empty="refused",
    ),
)
