"""A run as reports tell it, in one record that the HTML page, Markdown, JUnit and the terminal are made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular
from assay.analysis.comparison.sentences import detectable_difference, sentence_of, word_of
from assay.evaluation.summary import Summary
from assay.report.figures import ReportFigures

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.evaluation.overview import Overview
    from assay.evaluation.result import Result


@dataclass(slots=True)
class Report(Tabular):
    """A run, with a baseline or without one.

    Attributes:
        pairs: Row of the run -> row of the baseline, where both are the same.
        most_listed: Number of rows that the page lists, from the first. None: all.
        causes: What `assay.analysis.diagnosis` found; None where nothing was read.
    """

    result: Result
    metrics: list[str]
    figures: ReportFigures
    baseline: Result | None = None
    before: ReportFigures | None = None
    comparison: Comparison | None = None
    causes: Any = None
    pairs: Mapping[int, int] = field(default_factory=dict)
    most_listed: int | None = None

    @property
    def listed(self) -> int:
        """Number of rows that the page lists."""
        return self.result.rows if self.most_listed is None else min(self.result.rows, self.most_listed)

    _item_type = Summary

    def _items(self) -> Collection[Any]:
        if self.comparison is not None:
            return self.comparison._items()
        return [self.figures.of[name].summary for name in self.metrics]

    def _title(self) -> str:
        return f"{self.word}: {self.sentence}"

    @property
    def overview(self) -> Overview:
        """Shares of the rows of this run."""
        return self.result.overview if self.figures.cluster is None else self.figures.overview

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return word_of(self.comparison)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        return sentence_of(self.result, self.comparison)

    @property
    def detectable_difference(self) -> str | None:
        """What difference would have been seen."""
        return detectable_difference(self.comparison)

    def cause_of(self, row: int) -> tuple[str, str] | None:
        """The root cause of a failed row and why; None where there is none."""
        cause = None if self.causes is None else self.causes.per_row.get(row)
        return None if cause is None else (str(cause.label), str(cause.because))
