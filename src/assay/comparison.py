"""Two runs compared on the rows they share: what became better or worse, how sure that is, and which rows moved.

    comparison = compare(Result.load("monday"), Result.load("tuesday"))
    print(comparison)
    comparison.metrics["faithfulness"].moved[0].flips

Rows are the same where they have the same id; without ids, where they ask the same: question, earlier turns, reference.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from assay.errors import InputError
from assay.groups import value_in
from assay.records import Direction, Sample, Score
from assay.result import Result
from assay.stats import Difference, difference, holm
from assay.terminal import printable

Verdict = Literal["better", "worse", "cannot tell"]
CONFIDENCE = 0.95
#: Rows of a metric that are named as moved, unless more or less are wanted.
MOVED = 5


@dataclass(frozen=True, slots=True)
class Flip:
    """A claim (or passage, or criterion) whose verdict is another in the second run; None where it has none there."""

    claim: str
    first: str | None
    second: str | None

    def __str__(self) -> str:
        return printable(f"{self.claim}: {self.first or 'not there'} -> {self.second or 'not there'}")


@dataclass(frozen=True, slots=True)
class Moved:
    """A row whose score is another in the second run. Rows count from 1 in each run."""

    name: str
    first_row: int
    second_row: int
    first: float
    second: float
    flips: tuple[Flip, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """One metric in both runs.

    difference  None where no row has a value in both
    p           of the difference, corrected for all metrics of which a row moved (Holm)
    pairs       rows with a value in both runs; `unmeasured` rows are in both runs and lack one
    bounds      the mean difference over all rows of both runs, were each missing value as bad for the second run, or as
                good for it, as can be
    moved       the rows that moved most, those for the worse first
    """

    metric: str
    direction: Direction
    pairs: int
    unmeasured: int
    difference: Difference | None = None
    p: float | None = None
    verdict: Verdict = "cannot tell"
    bounds: tuple[float, float] | None = None
    moved: tuple[Moved, ...] = ()

    def __str__(self) -> str:
        if self.difference is None:
            return printable(f"{self.metric}: no row has a value in both runs")
        found, by = self.difference, self.difference.estimate
        rows = f"{self.pairs} of {self.pairs + self.unmeasured} rows" if self.unmeasured else f"{self.pairs} rows"
        lines = [
            f"{self.metric}: {self.verdict}",
            f"  {found.first:.3f} -> {found.second:.3f}, by {by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f}), "
            f"p = {self.p:.2g}, on {rows}",
        ]
        if self.verdict == "cannot tell" and found.detectable is None:
            lines.append("  so few rows show no difference, however large")
        elif self.verdict == "cannot tell":
            lines.append(f"  a difference of {found.detectable:.2f} would show on so many rows")
        if self.bounds is not None and self.unmeasured:
            least, most = self.bounds
            lines.append(f"  were the missing values known: by {least:+.3f} to {most:+.3f}")
        return printable("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the rows they share. `notes` say what a reader should know, one sentence each."""

    first: str
    second: str
    pairs: int
    only_first: int
    only_second: int
    metrics: Mapping[str, Compared] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.headline, *(str(one) for one in self.metrics.values()), *self.notes]
        return printable("\n".join(lines))

    @property
    def headline(self) -> str:
        """The verdict in one sentence."""
        found = {
            verdict: [name for name, one in self.metrics.items() if one.verdict == verdict]
            for verdict in ("worse", "better", "cannot tell")
        }
        said = [f"{verdict} on {', '.join(names)}" for verdict, names in found.items() if names and names != ["-"]]
        rows = f"{self.pairs} row{'' if self.pairs == 1 else 's'} in both"
        return printable(f"{self.second} against {self.first}: {'; '.join(said)} ({rows})")

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found


def compare(
    first: Result,
    second: Result,
    metrics: str | Sequence[str] | None = None,
    *,
    cluster: str | None = None,
    confidence: float = CONFIDENCE,
    moved: int = MOVED,
    any_judge: bool = False,
) -> Comparison:
    """The second run against the first.

    metrics     names, or None for all that both runs have
    cluster     a column of the data: rows with one value in it hang together (chunks of a document, turns of a
                conversation), and are no independent witnesses
    any_judge   compare runs of different judges, too; their numbers measure with different measures

    Better or worse is said where the p-value, corrected for the number of metrics, is below 1 - `confidence`. Raises
    InputError for runs without a row in common, of different judges, unknown metrics, and a column that no row has.
    """
    if first.judge != second.judge and not any_judge:
        raise InputError(
            f"runs of different judges do not compare: {first.run!r} is by {first.judge}, {second.run!r} by "
            f"{second.judge}; score one of them anew with the other's judge, or say any_judge (--any-judge)"
        )
    names = _names(first, second, metrics)
    rows, other = _rows(first, names, cluster), _rows(second, names, None)
    shared = [key for key in rows if key in other]
    if not shared:
        raise InputError(
            f"no row of {first.run!r} is in {second.run!r}: rows are the same by id, or without ids by what they ask"
        )
    if cluster is not None and not any(rows[key].cluster for key in shared):
        raise InputError(f"cluster: no row has the column {cluster!r}")
    found = [_Pairs(name, [(rows[key], other[key]) for key in shared]) for name in names]
    compared = [pairs.compared(cluster is not None, confidence) for pairs in found]
    final = {
        one.metric: pairs.judged(one, p, confidence, pairs.moved(first, second, moved))
        for pairs, one, p in zip(found, compared, _corrected(compared), strict=True)
    }
    return Comparison(
        first.run,
        second.run,
        len(shared),
        len(rows) - len(shared),
        len(other) - len(shared),
        final,
        confidence,
        tuple(_notes(first, second, names)),
    )


def _corrected(compared: Sequence[Compared]) -> list[float | None]:
    """The p-values, corrected for those metrics that could have shown anything: of the others no row moved, and a test
    that cannot reject needs no correction (Tarone, Biometrics 46, 1990).
    """
    raw = [None if one.difference is None else one.difference.p for one in compared]
    corrected = iter(holm([p for p in raw if p is not None and p < 1.0]))
    return [next(corrected) if p is not None and p < 1.0 else p for p in raw]


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    name: str
    scores: Mapping[str, Score]
    cluster: str | None


class _Pairs:
    """The rows of both runs, for one metric."""

    def __init__(self, metric: str, rows: Sequence[tuple[_Row, _Row]]) -> None:
        self.metric = metric
        both = [(one, other, one.scores.get(metric), other.scores.get(metric)) for one, other in rows]
        self._rows = [(one, other, a, b) for one, other, a, b in both if a is not None and b is not None]
        self._valued = [
            (one, other, a.value, b.value)
            for one, other, a, b in self._rows
            if a.measured and b.measured and a.value is not None and b.value is not None
        ]

    def compared(self, by_cluster: bool, confidence: float) -> Compared:
        """The difference, before any correction."""
        direction: Direction = self._rows[0][2].direction if self._rows else "higher"
        unmeasured = len(self._rows) - len(self._valued)
        if not self._valued:
            return Compared(self.metric, direction, 0, unmeasured)
        low, high = self._rows[0][2].low, self._rows[0][2].high
        found = difference(
            [a for _, _, a, _ in self._valued],
            [b for _, _, _, b in self._valued],
            low,
            high,
            clusters=[one.cluster or f"\0{one.number}" for one, *_ in self._valued] if by_cluster else None,
            confidence=confidence,
        )
        return Compared(self.metric, direction, len(self._valued), unmeasured, found, bounds=self._bounds(low, high))

    def _bounds(self, low: float, high: float) -> tuple[float, float]:
        """The mean difference with missing values at the ends of the range."""
        least = most = 0.0
        for _, _, a, b in self._rows:
            first = (a.value,) * 2 if a.measured else (low, high)
            second = (b.value,) * 2 if b.measured else (low, high)
            least += (second[0] or 0.0) - (first[1] or 0.0)
            most += (second[1] or 0.0) - (first[0] or 0.0)
        return least / len(self._rows), most / len(self._rows)

    @staticmethod
    def judged(one: Compared, p: float | None, confidence: float, moved: tuple[Moved, ...]) -> Compared:
        """With the corrected p, the verdict, and the rows that moved."""
        verdict: Verdict = "cannot tell"
        if one.difference is not None and p is not None and p < 1.0 - confidence:
            rose = one.difference.estimate.mean > 0
            verdict = "better" if rose == (one.direction == "higher") else "worse"
        return Compared(
            one.metric, one.direction, one.pairs, one.unmeasured, one.difference, p, verdict, one.bounds, moved
        )

    def moved(self, first: Result, second: Result, most: int) -> tuple[Moved, ...]:
        """The rows that moved most, first those for the worse, with the claims that flipped."""
        sign = 1.0 if not self._rows or self._rows[0][2].direction == "higher" else -1.0
        changed = [(sign * (b - a), one, other, a, b) for one, other, a, b in self._valued if a != b]
        changed.sort(key=lambda item: (item[0] > 0, -abs(item[0]), item[1].number))
        worse = [item for item in changed if item[0] < 0][:most]
        better = [item for item in changed if item[0] > 0][: max(0, most - len(worse))]
        return tuple(
            Moved(one.name, one.number, other.number, a, b, self._flips(first, second, one, other))
            for _, one, other, a, b in (*worse, *better)
        )

    def _flips(self, first: Result, second: Result, one: _Row, other: _Row) -> tuple[Flip, ...]:
        labels = [
            _labels(result.store.get_row(result.run, row.number).scored.scores[self.metric])
            for result, row in ((first, one), (second, other))
        ]
        names = dict.fromkeys((*labels[1], *labels[0]))
        return tuple(
            Flip(name, labels[0].get(name), labels[1].get(name))
            for name in names
            if labels[0].get(name) != labels[1].get(name)
        )


def _labels(score: Score) -> dict[str, str]:
    """What each verdict is about, and its label; one about neither a claim nor a passage is named by its kind."""
    found: dict[str, str] = {}
    for kind, verdicts in score.verdicts.items():
        for number, verdict in enumerate(verdicts, 1):
            name = kind if len(verdicts) == 1 else f"{kind} {number}"
            if verdict.claim is not None:
                name = verdict.claim.text
            elif verdict.passage is not None:
                name = f"passage {verdict.passage + 1}"
            found.setdefault(name, verdict.label)
    return found


def _names(first: Result, second: Result, metrics: str | Sequence[str] | None) -> list[str]:
    both = [name for name in first.metrics if name in second.metrics]
    wanted = both if metrics is None else [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    for name in wanted:
        if name not in both:
            raise InputError(f"metrics: {name!r} is not in both runs; they share {', '.join(both) or 'none'}")
    if not wanted:
        raise InputError(f"the runs {first.run!r} and {second.run!r} have no metric in common")
    return wanted


def _rows(result: Result, names: Iterable[str], cluster: str | None) -> dict[tuple[str, int], _Row]:
    """The rows by what tells them apart; of several with one name the second is another one, and so on."""
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], _Row] = {}
    wanted = set(names)
    for row in result.numbered():
        sample = row.scored.sample
        key = _key(sample)
        seen[key] += 1
        scores = {
            name: Score(metric=name, value=score.value, unscored=score.unscored, low=score.low, high=score.high,
                        direction=score.direction, convention=score.convention)
            for name, score in row.scored.scores.items()
            if name in wanted
        }  # fmt: skip
        there, value = (False, "") if cluster is None else value_in(sample, cluster)
        name = sample.id if sample.id is not None else f"row {row.number}"
        found[key, seen[key]] = _Row(row.number, name, scores, value if there else None)
    return found


def _key(sample: Sample) -> str:
    if sample.id is not None:
        return f"id {sample.id}"
    return "asked " + json.dumps(
        [sample.question, [[turn.question, turn.answer] for turn in sample.history], sample.reference]
    )


def _notes(first: Result, second: Result, names: Iterable[str]) -> list[str]:
    notes = []
    if first.judge != second.judge:
        notes.append(f"The runs are by different judges, {first.judge} and {second.judge}: part of this is theirs.")
    for name in names:
        one, other = first.parameters.get(name), second.parameters.get(name)
        if one != other:
            notes.append(f"{name} was computed in two ways: {one or 'unknown'}, and {other or 'unknown'}.")
    for result in (first, second):
        if not result.complete:
            notes.append(f"{result.run} was stopped before its data ended ({result.stopped}).")
    return notes
