"""A run as reports tell it, in one record that the HTML page, Markdown, JUnit and the terminal are made from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular
from assay.analysis.comparison.sentences import detectable_difference, sentence_of, word_of
from assay.evaluation.summary import Summary
from assay.report.figures import ReportFigures

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.evaluation.overview import Overview
    from assay.evaluation.result import Result
    from assay.store.rows import Row


LONG = 20_000  # rows, above which a page does not list all
MATTERING = 2_000  # rows that it lists then
_WITHOUT_SCORE = 200  # of these, rows that lack a score


@dataclass(slots=True)
class Report(Tabular):
    """A run, with a baseline or without one.

    Attributes:
        pairs: Row of the run -> row of the baseline, where both are the same.
        most_listed: Number of rows that the page lists, from the first. None: all; of more than `LONG` rows the
            `MATTERING` that matter: the worst by each metric, those that moved, some without a score.
        notes: Sentences that a reader of the page should know.
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
    notes: list[str] = field(default_factory=list)
    numbers: list[int] | None = None

    @property
    def listed(self) -> int:
        """Number of rows that the page lists."""
        if self.most_listed is None:
            return self.result.rows if self.result.rows <= LONG else len(self.listed_numbers())
        return min(self.result.rows, self.most_listed)

    def listed_numbers(self) -> list[int]:
        """The numbers of the rows that matter, of a run that is too long to list, in the order of the data."""
        if self.numbers is None:
            self.numbers = rows_that_matter(self, MATTERING)
        return self.numbers

    def listed_rows(self) -> Iterator[Row]:
        """Iterate over the rows that the page lists."""
        if self.most_listed is None and self.result.rows > LONG:
            return self.result.store.rows_of(self.result.stored_run, self.listed_numbers())
        return islice(self.result.numbered_rows(), self.most_listed)

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


def rows_that_matter(report: Report, most: int) -> list[int]:
    """The numbers of the rows that a reader looks for, in the order of the data.

    Rows that moved most, some without a score, and the worst by each metric, as many of each.
    """
    found: dict[int, None] = {}
    if report.comparison is not None:
        moved = [row.second_row for one in report.comparison.metrics.values() for row in one.moved]
        found.update(dict.fromkeys(moved))
    found.update(dict.fromkeys(report.result.score_columns().without_value()[:_WITHOUT_SCORE]))
    worst = [[row for row, _ in report.figures.of[name].worst(most)] for name in report.metrics]
    for row in chain.from_iterable(zip_longest(*worst)):
        if len(found) >= most:
            break
        if row is not None:
            found.setdefault(row)
    return sorted(found)
