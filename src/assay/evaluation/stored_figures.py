"""The figures of a stored run, from the columns of its scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.evaluation.groups import clusters_of
from assay.evaluation.overview import Overview, OverviewFacts, overview_facts
from assay.evaluation.quote_counts import QuoteCounts
from assay.evaluation.summary import Summary
from assay.stats.arrays import effective
from assay.store.columns import RunColumns

#: The key of a run's description under which its figures stand.
FIGURES = "figures"
_UNKNOWN = OverviewFacts("unknown", "unknown", False)


@dataclass(slots=True)
class StoredFigures:
    """Summaries, overview and quotes of the rows of a run."""

    rows: int
    metrics: dict[str, Summary]
    overview: Overview
    quotes: QuoteCounts
    effective_n: float | None = None

    @classmethod
    def of(cls, columns: RunColumns, cluster: str | None = None) -> StoredFigures:
        """Compute them from the columns.

        Args:
            columns: The rows.
            cluster: A slice key: rows with one value in it are one cluster. None: rows are independent.
        """
        clusters = None if cluster is None else clusters_of(columns, cluster)
        weights = columns.weights
        weighted = len(weights) > 0 and float(weights.min()) != float(weights.max())
        metrics = {
            name: Summary.of_columns(name, ends, columns.scores(name), clusters, weights if weighted else None)
            for name, ends in columns.metrics.items()
        }
        overview = Overview.of_columns(columns, facts_of(columns), clusters)
        quotes = QuoteCounts(*columns.quotes())
        return cls(len(columns), metrics, overview, quotes, effective(weights) if weighted else None)

    def state(self, digest: int | None) -> dict[str, Any]:
        """As plain JSON values, with the digest of the rows that they are of; `from_info` reads them."""
        return {
            "digest": digest,
            "rows": self.rows,
            "metrics": {name: summary.state() for name, summary in self.metrics.items()},
            "overview": self.overview.state(),
            "quotes": [self.quotes.verdicts, self.quotes.unlocated],
        }

    @classmethod
    def from_info(cls, info: Mapping[str, Any], rows: int, digest: int | None) -> StoredFigures | None:
        """Those that a run's description has; None where it has none, or where the rows are not those any more."""
        state = info.get(FIGURES)
        if state is None or digest is None or (state["rows"], state["digest"]) != (rows, digest):
            return None
        metrics = {name: Summary.from_state(name, found) for name, found in state["metrics"].items()}
        return cls(rows, metrics, Overview.from_state(state["overview"]), QuoteCounts(*state["quotes"]))


def facts_of(columns: RunColumns) -> list[OverviewFacts]:
    """What the overview counts of each row. Rows of which the store does not know it are unpacked, once."""
    known: dict[str | None, OverviewFacts | None] = {}
    found: list[OverviewFacts | None] = []
    for text in columns.facts():
        if text not in known:
            known[text] = OverviewFacts.from_text(text)
        found.append(known[text])
    places = [place for place, facts in enumerate(found) if facts is None]
    numbers = columns.numbers[places].tolist()
    unpacked: dict[int, str] = {}
    for row in columns.store.rows_of(columns.run, numbers):
        unpacked[row.number] = overview_facts(row.scored).to_text()
    for place, number in zip(places, numbers, strict=True):
        found[place] = OverviewFacts.from_text(unpacked.get(number))
    columns.keep_facts(unpacked)
    return [facts or _UNKNOWN for facts in found]
