"""The overview of a run: grounded answers, answered questions, and retrieval that found it, each as a share of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular
from assay.errors import printable
from assay.evaluation.answerability import Answerability, kind_of, reply_of
from assay.evaluation.default_thresholds import bare_name, default_threshold
from assay.evaluation.stored_facts import stored_facts
from assay.evaluation.summary import CONFIDENCE
from assay.records import ScoredSample
from assay.stats.moments import Moments

if TYPE_CHECKING:
    from assay.stats.intervals import Estimate

#: Metrics that say whether an answer is grounded, the one that is taken first.
_GROUNDED = ("grounded", "faithfulness")


@dataclass(frozen=True, slots=True)
class RowShare(Tabular):
    """A share of rows; more is better.

    Attributes:
        name: What the rows are: "grounded answers".
        good: What makes a row good, in a few words.
        count, total: Rows that count, of the rows of which it is known.
        interval: The share with its 95% interval.
        metric: Label of the metric that decides, where it is one.
        threshold: The least value of that metric with which a row counts.
    """

    _columns, _noun = "name count total share low=interval.low high=interval.high metric threshold", "share"

    name: str
    good: str
    count: int
    total: int
    interval: Estimate
    metric: str | None = None
    threshold: float | None = None

    @property
    def share(self) -> float:
        """`count` of `total`, from 0 to 1."""
        return self.count / self.total

    def __str__(self) -> str:
        interval = f"95% CI {self.interval.low:.0%} to {self.interval.high:.0%}"
        return printable(f"{self.name} {self.count:,} of {self.total:,} ({self.share:.0%}, {interval})")

    def to_dict(self) -> dict[str, Any]:
        """Convert the share to JSON values."""
        found: dict[str, Any] = {"count": self.count, "total": self.total, "share": self.share}
        found["interval"] = [self.interval.low, self.interval.high]
        return found if self.metric is None else {**found, "metric": self.metric, "threshold": self.threshold}


@dataclass(slots=True)
class RowCount:
    """How many of some rows count. With clusters, memory grows by their number."""

    moments: Moments = field(default_factory=Moments)
    count: int = 0

    def add(self, counts: bool, cluster: str | None) -> None:
        """Take in one row."""
        self.count += counts
        self.moments.add(float(counts), 0.0, 1.0, cluster)

    def share(self, name: str, good: str, metric: str | None = None, threshold: float | None = None) -> RowShare | None:
        """The share with its interval; None where there is no row."""
        from assay.stats.intervals import estimate_of

        found = estimate_of(self.moments, 0.0, 1.0, CONFIDENCE)
        return None if found is None else RowShare(name, good, self.count, found.n, found, metric, threshold)


@dataclass(slots=True)
class Overview(Tabular):
    """Shares of rows that anyone can read, from stored scores. Constant memory, whatever the number of rows.

    A share of which no row is known is None. `grounded` is by the metric `grounded` where the run has it, else by
    faithfulness, each with its default threshold.

    Attributes:
        answerability: Rows by whether the question can be answered and whether it was.
    """

    _item_type = RowShare

    def _items(self) -> list[RowShare]:
        return list(self.shares())

    answerability: Answerability = field(default_factory=Answerability)
    _grounded: dict[str, tuple[float, RowCount]] = field(default_factory=dict)
    _answered: RowCount = field(default_factory=RowCount)
    _refused: RowCount = field(default_factory=RowCount)
    _retrieved: RowCount = field(default_factory=RowCount)

    def add(self, number: int, scored: ScoredSample, cluster: str | None = None) -> None:
        """Take in one row.

        Args:
            number: Number of the row, from 1.
            scored: The row.
            cluster: Cluster of correlated rows that it belongs to.
        """
        facts = stored_facts(scored)
        self.answerability.add(number, facts)
        if (reply := reply_of(facts)) != "unknown":
            self._answered.add(reply == "answered", cluster)
            self._refused.add(reply == "refused", cluster)
        if reply != "refused":
            self._add_grounded(scored, cluster)
        if facts.reference is not None or _reads_reference(scored):
            kind = kind_of(facts)
            if kind in ("answerable", "answerable, not retrieved"):
                self._retrieved.add(kind == "answerable", cluster)

    def _add_grounded(self, scored: ScoredSample, cluster: str | None) -> None:
        for name, score in scored.scores.items():
            if bare_name(name) not in _GROUNDED or not score.measured or score.value is None:
                continue
            limit = default_threshold(name, score.low, score.high, score.direction)
            if limit is not None:
                self._grounded.setdefault(name, (limit, RowCount()))[1].add(score.value >= limit, cluster)

    @property
    def grounded(self) -> RowShare | None:
        """Answers whose claims the passages support; refusals do not count."""
        if not self._grounded:
            return None
        name = min(self._grounded, key=lambda one: (_GROUNDED.index(bare_name(one)), one != bare_name(one)))
        limit, rows = self._grounded[name]
        return rows.share("grounded answers", "claims supported", name, limit)

    @property
    def answered(self) -> RowShare | None:
        """Answers that are no refusal."""
        return self._answered.share("answered questions", "not refused")

    @property
    def refused(self) -> RowShare | None:
        """Answers that are a refusal: the other rows of `answered`. Few are better only where they can be answered."""
        return self._refused.share("refusals", "refused")

    @property
    def retrieval_hits(self) -> RowShare | None:
        """Rows whose passages support at least half of the reference's claims, of those where this was read."""
        return self._retrieved.share("retrieval found it", "reference supported")

    def shares(self) -> Iterator[RowShare]:
        """Iterate over the shares that are known, in the order in which they are shown."""
        yield from (one for one in (self.grounded, self.answered, self.retrieval_hits) if one is not None)

    def to_dict(self) -> dict[str, Any]:
        """Convert the overview to JSON values.

        Returns:
            Keys `grounded`, `answered`, `refused`, `retrieval_hits` and `answerability`, those that are known.
        """
        shares = {
            "grounded": self.grounded,
            "answered": self.answered,
            "refused": self.refused,
            "retrieval_hits": self.retrieval_hits,
        }
        found = {name: share.to_dict() for name, share in shares.items() if share is not None}
        return found | ({"answerability": self.answerability.to_dict()} if self.answerability.known else {})

    def __str__(self) -> str:
        return "\n".join(map(str, self.shares())) or "nothing is known"

    def __bool__(self) -> bool:
        return bool(self._grounded) or any(rows.moments.n for rows in (self._answered, self._retrieved))


def _reads_reference(scored: ScoredSample) -> bool:
    """Whether the run reads references against the passages, so that a row without passages is one not retrieved."""
    return any(bare_name(name) == "context_recall" for name in scored.scores)
