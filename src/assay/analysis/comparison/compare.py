"""Two runs compared on the rows they share: what became better or worse, how sure that is, and which rows moved.

    comparison = compare(Result.load("monday"), Result.load("tuesday"))
    print(comparison)
    comparison.metrics["faithfulness"].moved[0].flips

Rows are the same where they have the same id; without ids, where they ask the same: question, earlier turns, reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular, record_of
from assay._util.terminal import pluralize
from assay.analysis.comparison.metric_diff import MetricDiff, Pairs
from assay.analysis.comparison.pairing import PairedRow, shared_metrics, shared_rows
from assay.errors import InputError, printable
from assay.evaluation.result import Result
from assay.records.range_ends import plain_values
from assay.stats import Estimate, holm

if TYPE_CHECKING:
    from assay.analysis.comparison.linking import Link
    from assay.stats.classic import Method

CONFIDENCE = 0.95
#: Rows of a metric that are named as moved, unless more or less are wanted.
MOVED = 5


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """Two runs on the rows they share.

    Attributes:
        notes: What a reader should know, one sentence each.
        slices: Column -> its value -> metric: the rows with that value alone.
    """

    _item_type = MetricDiff

    def _items(self) -> list[dict[str, Any]]:
        whole = [{"column": None, "slice": None, **record_of(one)} for one in self.metrics.values()]
        return whole + [
            {"column": column, "slice": value, **record_of(one)}
            for column, values in self.slices.items()
            for value, metrics in values.items()
            for one in metrics.values()
        ]

    first: str
    second: str
    pairs: int
    only_first: int
    only_second: int
    metrics: Mapping[str, MetricDiff] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    notes: tuple[str, ...] = ()
    slices: Mapping[str, Mapping[str, Mapping[str, MetricDiff]]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self.headline, *(str(one) for one in self.metrics.values()), *self.slice_lines(), *self.notes]
        return printable("\n".join(lines))

    def slice_lines(self) -> list[str]:
        """A line for each slice and metric that is better or worse, and how many cannot be told."""
        lines, open_ = [], 0
        for column, values in self.slices.items():
            for value, metrics in values.items():
                for one in metrics.values():
                    if one.difference is None or one.verdict == "inconclusive":
                        open_ += 1
                        continue
                    by = one.difference.estimate
                    ends = f"{by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f})"
                    lines.append(
                        f"{column} {value}: {one.metric} {one.verdict}, by {ends}, on {pluralize(one.pairs, 'row')}"
                    )
        return [*lines, f"inconclusive slices and metrics: {open_}"] if self.slices else []

    @property
    def headline(self) -> str:
        """The verdict in one sentence."""
        found = {
            verdict: [name for name, one in self.metrics.items() if one.verdict == verdict]
            for verdict in ("worse", "better", "inconclusive")
        }
        said = [f"{verdict} on {', '.join(names)}" for verdict, names in found.items() if names and names != ["-"]]
        rows = f"{self.pairs} row{'' if self.pairs == 1 else 's'} in both"
        return printable(f"{self.second} against {self.first}: {'; '.join(said)} ({rows})")

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return plain_values(self)


def compare(
    first: Result,
    second: Result,
    metrics: str | Sequence[str] | None = None,
    *,
    cluster: str | None = None,
    by: str | Sequence[str] = (),
    confidence: float = CONFIDENCE,
    moved: int = MOVED,
    any_judge: bool = False,
    link: Link | None = None,
    method: Method = "sign-flip",
) -> Comparison:
    """Compare two runs row by row: differences, confidence intervals and corrected p-values.

    A metric is better or worse where its p-value, corrected for all metrics and slices, is below 1 - `confidence`.

    Args:
        first: The run to compare with, for example the one before a change.
        second: The run that is compared.
        metrics: Names of metrics. None: all that both runs have.
        cluster: A column of the data. Rows with the same value are correlated and count as one cluster, for example
            chunks of a document or turns of a conversation.
        by: Columns of the data. Each of their values is also compared as a slice.
        confidence: Confidence of intervals and verdicts.
        moved: How many of the rows with the largest differences are listed.
        any_judge: Also compare runs of different judges, whose scales may differ.
        link: The difference between the two judges (`assay.analysis.comparison.linking`). It is subtracted, and its
            uncertainty widens the intervals.
        method: The test behind the p-values: see `assay.stats.classic`.

    Returns:
        The comparison: a row for each metric and slice, and the rows that moved most.

    Raises:
        InputError: For runs without a common row or of different judges, unknown metrics, and unknown columns.
    """
    if link is None:
        _check_judges(first, second, any_judge)
    offsets = None if link is None else link.between(first.judge, second.judge).offsets
    names = _linked(shared_metrics(first, second, metrics), offsets, metrics is not None)
    columns = [by] if isinstance(by, str) else list(by)
    rows, other, shared = shared_rows(first, second, names, cluster, columns)
    whole = [(rows[key], other[key]) for key in shared]
    groups = {("", ""): whole, **_sliced(whole, columns)}
    if link is not None and method != "sign-flip":
        raise InputError(f"method: {method} knows nothing of linked judges")
    found = [Pairs(name, group) for group in groups.values() for name in names]
    compared = [
        pairs.compared(cluster is not None, confidence, method, (offsets or {}).get(pairs.metric)) for pairs in found
    ]
    tests = max(1, sum(_could_show(one) for one in compared))
    judged = iter(
        pairs.judged(one, p, tests, confidence, pairs.moved(first, second, moved if number < len(names) else 0), method)
        for number, (pairs, one, p) in enumerate(zip(found, compared, _corrected(compared), strict=True))
    )
    final = {group: {name: next(judged) for name in names} for group in groups}
    slices: dict[str, dict[str, dict[str, MetricDiff]]] = {column: {} for column in columns}
    for column, value in list(groups)[1:]:
        slices[column][value] = final[column, value]
    return Comparison(
        first.run,
        second.run,
        len(shared),
        len(rows) - len(shared),
        len(other) - len(shared),
        final["", ""],
        confidence,
        tuple(_notes(first, second, names, link)),
        slices,
    )


def _sliced(
    pairs: Sequence[tuple[PairedRow, PairedRow]], columns: Sequence[str]
) -> dict[tuple[str, str], list[tuple[PairedRow, PairedRow]]]:
    """The rows by column and the first run's value in it, in the order of the values' first rows."""
    found: dict[tuple[str, str], list[tuple[PairedRow, PairedRow]]] = {}
    for place, column in enumerate(columns):
        for one, other in pairs:
            found.setdefault((column, one.values[place]), []).append((one, other))
    return found


def _check_judges(first: Result, second: Result, any_judge: bool) -> None:
    if first.judge != second.judge and not any_judge:
        raise InputError(
            f"runs of different judges do not compare: {first.run!r} is by {first.judge}, {second.run!r} by "
            f"{second.judge}; score one of them anew with the other's judge, link the judges by answers that both have "
            "scored (--anchors), or say any_judge (--any-judge)"
        )


def _could_show(one: MetricDiff) -> bool:
    """Whether some row moved: a test that cannot reject needs no correction (Tarone, Biometrics 46, 1990)."""
    return one.difference is not None and one.difference.p < 1.0


def _corrected(compared: Sequence[MetricDiff]) -> list[float | None]:
    """The p-values, corrected for those metrics that could have shown anything."""
    corrected = iter(holm([one.difference.p for one in compared if one.difference is not None and _could_show(one)]))
    return [
        None if one.difference is None else next(corrected) if _could_show(one) else one.difference.p
        for one in compared
    ]


def _linked(names: list[str], offsets: Mapping[str, Estimate] | None, asked: bool) -> list[str]:
    """Those that are linked; all of them, where nothing is to be."""
    if offsets is None:
        return names
    left = [name for name in names if name not in offsets]
    if left and (asked or len(left) == len(names)):
        raise InputError(f"link: {', '.join(left)} is not linked; the anchors have {', '.join(offsets)}")
    return [name for name in names if name in offsets]


def _notes(first: Result, second: Result, names: Sequence[str], link: Link | None) -> list[str]:
    notes = []
    if first.judge != second.judge and link is not None:
        notes.append(
            f"The runs are by different judges, {first.judge} and {second.judge}: linked by {link.anchors} answers."
        )
        left = [name for name in first.metrics if name in second.metrics and name not in link.offsets]
        if left:
            notes.append(f"Not linked, and not compared: {', '.join(left)}.")
    elif first.judge != second.judge:
        notes.append(f"The runs are by different judges, {first.judge} and {second.judge}: part of this is theirs.")
    for name in names:
        one, other = first.parameters.get(name), second.parameters.get(name)
        if one != other:
            notes.append(f"{name} was computed in two ways: {one or 'unknown'}, and {other or 'unknown'}.")
    for result in (first, second):
        notes += [f"{result.run} is incomplete: {reason}." for reason in result.incomplete]
    return list(dict.fromkeys([*notes, *first.notes, *second.notes]))
