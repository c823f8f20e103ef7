"""How many verdicts of a run quote the passages, and how many of them quote what is not there."""

from __future__ import annotations

from dataclasses import dataclass

from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.records import ScoredSample


@dataclass(slots=True)
class QuoteCounts(Tabular):
    """Counts of verdicts with quotes.

    A quote that is not in its passage is no evidence and changes no label. Where many are not, the judge does not copy
    as it was asked to: a small model, or one that translates or shortens what it quotes.

    Attributes:
        verdicts: Verdicts with quotes, found or not, over all metrics.
        unlocated: Those of them with a quote that is not in the passages.
    """

    verdicts: int = 0
    unlocated: int = 0

    def add(self, scored: ScoredSample) -> None:
        """Count the verdicts of a row.

        Args:
            scored: The row.
        """
        for score in scored.scores.values():
            for group in score.verdicts.values():
                for verdict in group:
                    self.verdicts += bool(verdict.evidence or verdict.unlocated)
                    self.unlocated += bool(verdict.unlocated)

    def to_dict(self) -> dict[str, int]:
        """Convert the counts to JSON values.

        Returns:
            Keys `verdicts` and `unlocated`.
        """
        return {"verdicts": self.verdicts, "unlocated": self.unlocated}

    def __str__(self) -> str:
        share = self.unlocated / self.verdicts if self.verdicts else 0.0
        of = f"{self.unlocated} of {pluralize(self.verdicts, 'verdict')} with quotes ({share:.0%})"
        return f"quotes not found: in {of}; they are no evidence"
