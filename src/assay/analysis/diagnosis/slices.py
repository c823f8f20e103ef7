"""The causes by the values of a column: which slice fails most, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.tabular import Tabular, record_of
from assay.analysis.diagnosis.labels import in_order
from assay.stats.distributions import normal_quantile
from assay.stats.intervals import wilson


@dataclass(slots=True)
class CauseSlice(Tabular):
    """The rows with one value in a column.

    Attributes:
        value: The value; "–" for rows without the column.
        rows: How many there are.
        counts: Failed rows by label.
    """

    _columns, _noun = "value rows failed share low=interval.0 high=interval.1 counts", "slice"

    value: str
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        """Failed rows."""
        return self.counts.total()

    @property
    def share(self) -> float:
        """The share of the rows that failed, in [0, 1]."""
        return self.failed / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """95% confidence interval of the share (Wilson, J. Am. Stat. Assoc. 22, 1927)."""
        return wilson(self.share, self.rows, normal_quantile(0.975))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "value": self.value,
            "rows": self.rows,
            "failed": self.failed,
            "share": self.share,
            "interval": list(self.interval),
            "counts": in_order(self.counts),
        }


@dataclass(slots=True)
class CauseSlices(Tabular):
    """The slices of each column, filled row by row."""

    _item_type = CauseSlice

    def _items(self) -> list[dict[str, Any]]:
        return [{"column": column, **record_of(one)} for column in self.columns for one in self.of(column)]

    columns: tuple[str, ...] = ()
    found: dict[str, dict[str, CauseSlice]] = field(default_factory=dict)

    def add(self, values: Mapping[str, str], label: str | None) -> None:
        """Count a row with its value in each column; `label`: of its cause, None where it did not fail."""
        for column, value in values.items():
            one = self.found.setdefault(column, {}).setdefault(value, CauseSlice(value))
            one.rows += 1
            if label is not None:
                one.counts[label] += 1

    def of(self, column: str) -> list[CauseSlice]:
        """The slices of a column, the one with the highest share of failed rows first, of equal ones the largest."""
        return sorted(self.found.get(column, {}).values(), key=lambda one: (-one.share, -one.rows, one.value))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values: column -> slices, worst first."""
        return {column: [one.to_dict() for one in self.of(column)] for column in self.columns}
