"""What there is to label in a run: the values of its metrics, and every verdict on a claim, a passage, an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.analysis.judges.alignment.labels import Label, Level
from assay.evaluation.groups import value_in
from assay.evaluation.result import Result
from assay.records import Direction, Sample, Score, Verdict
from assay.store.store import Row

#: The kind of prompt by the label of a verdict, and which labels affirm.
KINDS = {
    "supported": "support", "contradicted": "support", "not_mentioned": "support", "useful": "usefulness",
    "not_useful": "usefulness", "direct": "directness", "indirect": "directness", "yes": "criterion", "no": "criterion",
}  # fmt: skip
AFFIRMS = frozenset({"supported", "useful", "direct", "yes"})
SENTENCES = "question/sentences"  # the reading whose verdicts are on sentences


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a person can label, and what the judge says of it.

    Attributes:
        group: The reading of a verdict ("answer/contexts"), the name of a metric for a sample.
        metrics: Those whose scores rest on it.
        kind: Of prompt ("support"); None for samples and for verdicts of other makes.
        yes: Whether the judge affirms; None for values.
        value: Of a metric; None for verdicts, and where there is none.
    """

    row: int
    id: str | None
    level: Level
    group: str
    index: int = 0
    text: str = ""
    metrics: tuple[str, ...] = ()
    kind: str | None = None
    yes: bool | None = None
    probability: float | None = None
    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"

    @property
    def key(self) -> tuple[int, str, str, int]:
        return self.row, self.level, self.group, self.index


@dataclass(slots=True)
class RunItems:
    """The items of a run, by row; `slices` is the value of the column asked for, by row."""

    items: list[Item] = field(default_factory=list)
    slices: dict[int, str] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    shares: dict[str, str] = field(default_factory=dict)
    _rows: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _asked: dict[tuple[str | None, str | None], list[int]] = field(default_factory=lambda: defaultdict(list))
    _of_row: dict[int, list[Item]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, result: Result, by: str | None = None) -> RunItems:
        """All items of a run. `by` is a column to slice by; a row without it is the slice "–"."""
        made = cls(metrics=list(result.metrics))
        shares: dict[str, set[str]] = {name: set() for name in result.metrics}
        spoilt: set[str] = set()
        for row in result.numbered_rows():
            sample = row.scored.sample
            if sample.id is not None:
                made._rows[sample.id].append(row.number)
            made._asked[sample.question, sample.answer].append(row.number)
            if by is not None:
                made.slices[row.number] = value_in(sample, by)[1]
            found = list(_items(row))
            made.items += found
            made._of_row[row.number] = found
            for name, score in row.scored.scores.items():
                reading = _share_of(score)
                if score.measured:
                    (shares[name].add(reading) if reading is not None else spoilt.add(name))
        made.shares = {name: next(iter(of)) for name, of in shares.items() if len(of) == 1 and name not in spoilt}
        return made

    def row_of(self, label: Label) -> int | None:
        """The number of the row that a label is about; None where there is none, or more than one."""
        if label.row is not None and (label.id is None or label.row in self._rows.get(label.id, ())):
            return label.row if label.row in self._of_row else None
        rows: Sequence[int] = ()
        if label.id is not None:
            rows = self._rows.get(label.id, ())
        if not rows and label.sample is not None:
            asked = self._asked.get((label.sample.question, label.sample.answer), ())
            rows = self._rows.get(label.sample.key()) or asked
        return rows[0] if len(rows) == 1 else None

    def item_of(self, label: Label) -> Item | None:
        """What a label is about; None where the run has no such thing."""
        row = self.row_of(label)
        if row is None:
            return None
        fitting = [item for item in self._of_row[row] if item.level == label.level and _is_about(item, label)]
        return min(fitting, key=_before, default=None)

    def of_group(self, group: str) -> list[Item]:
        return [item for item in self.items if item.group == group]


def _is_about(item: Item, label: Label) -> bool:
    if label.level == "sample":
        return item.group == label.metric
    if label.reading is not None and item.group != label.reading:
        return False
    if label.metric is not None and label.metric not in item.metrics:
        return False
    if label.index is not None and item.index != label.index:
        return False
    return label.text is None or _plain(item.text) == _plain(label.text)


def _before(item: Item) -> tuple[bool, bool, str]:
    """What is meant where nothing says which reading: against contexts, and of them the answer's."""
    return item.group == SENTENCES, "reference" in item.group, item.group


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")


def _items(row: Row) -> Iterator[Item]:
    sample = row.scored.sample
    readings: dict[str, tuple[tuple[Verdict, ...], list[str]]] = {}
    for name, score in row.scored.scores.items():
        yield Item(
            row.number, sample.id, "sample", name, metrics=(name,), value=score.value if score.measured else None,
            low=score.low, high=score.high, direction=score.direction,
        )  # fmt: skip
        for reading, verdicts in score.verdicts.items():
            readings.setdefault(reading, (verdicts, []))[1].append(name)
    for reading, (verdicts, metrics) in readings.items():
        for index, verdict in enumerate(verdicts):
            yield _of_verdict(row, sample, reading, index, verdict, tuple(metrics))


def _of_verdict(row: Row, sample: Sample, reading: str, index: int, verdict: Verdict, metrics: tuple[str, ...]) -> Item:
    level: Level = "claim"
    text = "" if verdict.claim is None else verdict.claim.text
    kind = KINDS.get(verdict.label)
    if verdict.passage is not None and reading != SENTENCES:
        level, index = "passage", verdict.passage
        text = sample.passages[index] if index < len(sample.passages) else ""
    elif reading == SENTENCES:
        kind = "useful_sentences"
        text = verdict.evidence[0].text if verdict.evidence else ""
    return Item(
        row.number, sample.id, level, reading, index, text, metrics, kind, verdict.label in AFFIRMS,
        verdict.probability,
    )  # fmt: skip


def _share_of(score: Score) -> str | None:
    """The reading of which the value is the share of affirmed verdicts; None where it is of none."""
    if score.value is None or len(score.verdicts) != 1:
        return None
    ((reading, verdicts),) = score.verdicts.items()
    if not verdicts:
        return None
    share = sum(verdict.label in AFFIRMS for verdict in verdicts) / len(verdicts)
    return reading if abs(share - score.value) < 1e-9 else None


def by_row(items: Sequence[Item]) -> Mapping[int, list[Item]]:
    """The items of each row."""
    found: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        found[item.row].append(item)
    return found
