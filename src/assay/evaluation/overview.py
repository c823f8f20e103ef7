"""The overview of a run: grounded answers, answered questions, and retrieval that found it, each as a share of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from assay._util.tabular import Tabular
from assay.errors import printable
from assay.evaluation.answerability import KINDS, REPLIES, Answerability, Kind, Reply, kind_of, reply_of
from assay.evaluation.default_thresholds import bare_name, default_threshold
from assay.evaluation.stored_facts import stored_facts
from assay.evaluation.summary import CONFIDENCE
from assay.records import Direction, ScoredSample
from assay.stats.moments import Moments

if TYPE_CHECKING:
    import numpy as np

    from assay.stats.intervals import Estimate
    from assay.store.columns import RunColumns

#: What is counted beside groundedness.
_COUNTS = ("answered", "refused", "retrieved")
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

    @classmethod
    def of_array(cls, counts: np.ndarray, clusters: Sequence[str] | None) -> RowCount:
        """Rows at once: whether each counts [n], and its cluster."""
        return cls(Moments.of_array(counts.astype(float), 0.0, 1.0, clusters), int(counts.sum()))

    def state(self) -> list[Any]:
        """As plain JSON values, without clusters; `from_state` reads them."""
        return [self.count, self.moments.state()]

    @classmethod
    def from_state(cls, state: Sequence[Any]) -> RowCount:
        """What `state` returned."""
        return cls(Moments.from_state(state[1]), state[0])

    def share(self, name: str, good: str, metric: str | None = None, threshold: float | None = None) -> RowShare | None:
        """The share with its interval; None where there is no row."""
        from assay.stats.intervals import estimate_of

        found = estimate_of(self.moments, 0.0, 1.0, CONFIDENCE)
        return None if found is None else RowShare(name, good, self.count, found.n, found, metric, threshold)


class OverviewFacts(NamedTuple):
    """What the overview counts of a row. `to_text` and `from_text`: as a store keeps it."""

    kind: Kind
    reply: Reply
    reads_reference: bool

    def to_text(self) -> str:
        """Three characters."""
        return f"{KINDS.index(self.kind)}{REPLIES.index(self.reply)}{int(self.reads_reference)}"

    @classmethod
    def from_text(cls, text: str | None) -> OverviewFacts | None:
        """Read what `to_text` wrote; None for anything else."""
        if text is None or len(text) != 3 or not text.isascii() or not text.isdigit():
            return None
        kind, reply, reads = (int(one) for one in text)
        return cls(KINDS[kind], REPLIES[reply], bool(reads)) if kind < len(KINDS) and reply < len(REPLIES) else None


def overview_facts(scored: ScoredSample) -> OverviewFacts:
    """What the overview counts of a row, from its texts and stored scores."""
    facts = stored_facts(scored)
    return OverviewFacts(kind_of(facts), reply_of(facts), facts.reference is not None or _reads_reference(scored))


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

    def add(
        self, number: int, scored: ScoredSample, cluster: str | None = None, facts: OverviewFacts | None = None
    ) -> None:
        """Take in one row.

        Args:
            number: Number of the row, from 1.
            scored: The row.
            cluster: Cluster of correlated rows that it belongs to.
            facts: Its facts, where they are known already.
        """
        facts = overview_facts(scored) if facts is None else facts
        self.add_facts(number, facts, cluster)
        if facts.reply != "refused":
            for name, score in scored.scores.items():
                if score.measured and score.value is not None:
                    ends = score.low, score.high, score.direction
                    self.add_grounded(name, ends, score.value, cluster)

    def add_facts(self, number: int, facts: OverviewFacts, cluster: str | None = None) -> None:
        """Take in the facts of one row."""
        self.answerability.add_cell(number, (facts.kind, facts.reply))
        if facts.reply != "unknown":
            self._answered.add(facts.reply == "answered", cluster)
            self._refused.add(facts.reply == "refused", cluster)
        if facts.reads_reference and facts.kind in ("answerable", "answerable, not retrieved"):
            self._retrieved.add(facts.kind == "answerable", cluster)

    def add_grounded(
        self, metric: str, ends: tuple[float, float, Direction], value: float, cluster: str | None = None
    ) -> None:
        """Take in one value of a row that is no refusal, where its metric says whether answers are grounded."""
        if bare_name(metric) not in _GROUNDED:
            return
        limit = default_threshold(metric, *ends)
        if limit is not None:
            self._grounded.setdefault(metric, (limit, RowCount()))[1].add(value >= limit, cluster)

    @classmethod
    def of_columns(cls, columns: RunColumns, facts: Sequence[OverviewFacts], clusters: Sequence[str] | None) -> Self:
        """The overview of stored rows: as if each had been added, but for rounding."""
        import numpy as np

        found = cls()
        kinds = {one: n for n, one in enumerate(dict.fromkeys(facts))}
        codes = np.array([kinds[one] for one in facts], dtype=np.int64)

        def these(*wanted: bool) -> np.ndarray:
            return np.array(wanted, dtype=bool)[codes] if len(codes) else np.zeros(0, dtype=bool)

        for one, code in kinds.items():
            found.answerability.add_cells(columns.numbers[codes == code].tolist(), (one.kind, one.reply))
        answered, refused = (these(*(one.reply == reply for one in kinds)) for reply in ("answered", "refused"))
        known = answered | refused
        found._answered = RowCount.of_array(answered[known], _where(clusters, known))
        found._refused = RowCount.of_array(refused[known], _where(clusters, known))
        hit, miss = (
            these(*(one.reads_reference and one.kind == kind for one in kinds))
            for kind in ("answerable", "answerable, not retrieved")
        )
        found._retrieved = RowCount.of_array(hit[hit | miss], _where(clusters, hit | miss))
        for metric, ends in columns.metrics.items():
            limit = default_threshold(metric, *ends) if bare_name(metric) in _GROUNDED else None
            if limit is not None:
                values = columns.values(metric)
                counted = ~np.isnan(values) & ~refused
                if counted.any():
                    rows = RowCount.of_array(values[counted] >= limit, _where(clusters, counted))
                    found._grounded[metric] = limit, rows
        return found

    def state(self) -> dict[str, Any]:
        """As plain JSON values, without clusters; `from_state` reads them."""
        return {
            "answerability": [[*cell, count, self.answerability.rows[cell]]
                              for cell, count in self.answerability.counts.items()],
            "grounded": {name: [limit, rows.state()] for name, (limit, rows) in self._grounded.items()},
            **{name: getattr(self, f"_{name}").state() for name in _COUNTS},
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """What `state` returned, digit by digit."""
        found = cls()
        for kind, reply, count, rows in state["answerability"]:
            found.answerability.counts[kind, reply], found.answerability.rows[kind, reply] = count, list(rows)
        found._grounded = {
            name: (limit, RowCount.from_state(rows)) for name, (limit, rows) in state["grounded"].items()
        }
        for name in _COUNTS:
            setattr(found, f"_{name}", RowCount.from_state(state[name]))
        return found

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


def _where(names: Sequence[str] | None, mask: np.ndarray) -> list[str] | None:
    return None if names is None else [name for name, there in zip(names, mask.tolist(), strict=True) if there]
