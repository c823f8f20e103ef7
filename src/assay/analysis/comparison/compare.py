"""Two runs compared on the rows they share: what became better or worse, how sure that is, and which rows moved.

    comparison = compare(Result.load("monday"), Result.load("tuesday"))
    print(comparison)
    comparison.metrics["faithfulness"].moved[0].flips

Rows are the same where they have the same id; without ids, where they ask the same: question, earlier turns, reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular, record_of
from assay.analysis.comparison.family import Family
from assay.analysis.comparison.headline import headline_of, refusals_in_words, title_lines
from assay.analysis.comparison.independent import (
    IndependentRows,
    are_independent,
    check_independent,
    cluster_key,
    samples_of,
    slices_of,
)
from assay.analysis.comparison.metric_diff import MetricDiff, Pairs
from assay.analysis.comparison.pairing import MatchedRows, match_rows, read_rows, shared_metrics
from assay.errors import InputError, printable
from assay.evaluation.groups import NONE
from assay.evaluation.result import Result
from assay.judges.no_judge import same_judge
from assay.records.range_ends import plain_values
from assay.stats import Estimate
from assay.stats.arrays import places_by_value

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
        metrics: The metrics asked for in their order, else the strongest change first.
        notes: What a reader should know, one sentence each.
        slices: Column -> its value -> metric: the rows with that value alone. A family of tests of their own.
        new_refusals: Rows that were scored in the first run and whose answer is a refusal in the second.
        new_answers: Rows whose answer was a refusal in the first run and that are scored in the second.
        second_rows: Where the runs are compared as independent samples (unpaired), the rows of the second; `pairs` are
            those of the first. None: rows are compared in pairs.
    """

    _item_type = MetricDiff

    def _title(self) -> str:
        return "; ".join(self.title_lines())

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
    new_refusals: int = 0
    new_answers: int = 0
    second_rows: int | None = None

    def __str__(self) -> str:
        lines = [*self.title_lines(), *(str(one) for one in self.metrics.values()), *self.slice_lines(), *self.notes]
        return printable("\n".join(lines))

    def slice_lines(self) -> list[str]:
        """A line for each slice and metric that is better or worse, and how many of the others are what."""
        found = [
            (f"{column} {value}", one)
            for column, values in self.slices.items()
            for value, metrics in values.items()
            for one in metrics.values()
        ]
        lines = [f"{name}: {one}" for name, one in found if one.verdict in ("better", "worse")]
        others = Counter(one.verdict for _, one in found if one.verdict not in ("better", "worse"))
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(others.items()))
        return [*lines, f"slices and metrics {'besides' if lines else 'in all'}: {said}"] if said else lines

    def title_lines(self) -> list[str]:
        """The headline, the names of the runs, and how many answers became refusals."""
        lines = title_lines(f"{self.second} against {self.first}", self.headline)
        return lines if self.refusals is None else [*lines, self.refusals]

    @property
    def headline(self) -> str:
        """The verdict in one line of at most `HEADLINE` characters."""
        return headline_of(list(self.metrics.values()), self.pairs, self.second_rows)

    @property
    def refusals(self) -> str | None:
        """How many answers became refusals, and refusals answers, in words; None where none did."""
        return refusals_in_words(self.new_refusals, self.new_answers)

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

    Windows of live runs are compared as independent samples: rows are clustered by conversation or user where these are
    known.

    A metric is better or worse where its p-value, corrected for all compared metrics, is below 1 - `confidence`. Slices
    are corrected among themselves, and change nothing of the whole.

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
    if are_independent(first, second):
        if link is not None or method != "sign-flip":
            raise InputError("link, method: go with runs that share rows; windows are compared as independent samples")
        check_judges(first, second, any_judge)
        return _unpaired(first, second, metrics, cluster, [by] if isinstance(by, str) else list(by), confidence)
    if link is None:
        check_judges(first, second, any_judge)
    elif method != "sign-flip":
        raise InputError(f"method: {method} knows nothing of linked judges")
    offsets = {} if link is None else link.between(first.judge, second.judge).offsets
    names = _linked(shared_metrics(first, second, metrics), None if link is None else offsets, metrics is not None)
    columns = [by] if isinstance(by, str) else list(by)
    rows = match_rows(
        first, second, read_rows(first, names, cluster, columns), read_rows(second, names), cluster, columns
    )
    whole = [Pairs(name, rows, offsets.get(name)) for name in names]
    groups = _sliced(rows, columns)
    sliced = [Pairs(name, group, offsets.get(name)) for group in groups.values() for name in names]
    family = Family(confidence, method, cluster is not None)
    judged = [replace(one, moved=of.moved(first, second, moved))
              for of, one in zip(whole, family.judge(whole), strict=True)]  # fmt: skip
    found = comparison_of(first, second, rows, judged, confidence, notes_of(first, second, names, link))
    found = found if metrics is not None else strongest_first(found)
    return replace(found, slices=_by_slice(groups, family.judge(sliced), columns, list(found.metrics)))


def _unpaired(
    first: Result, second: Result, metrics: str | Sequence[str] | None, cluster: str | None, columns: Sequence[str],
    confidence: float,
) -> Comparison:  # fmt: skip
    """Compare the means of rows that are not the same ones: windows of live runs."""
    check_independent(first, second, cluster)
    names = shared_metrics(first, second, metrics)
    key = cluster if cluster is not None else cluster_key((first, second))
    one, other = samples_of(read_rows(first, names, key, columns), read_rows(second, names, key, columns))
    family = Family(confidence, by_cluster=key is not None)
    judged = family.judge([IndependentRows(name, one, other) for name in names])
    groups = slices_of(one, other, columns)
    sliced = family.judge([IndependentRows(name, *group) for group in groups.values() for name in names])
    notes = [*notes_of(first, second, names)]
    if key is not None:
        notes.insert(0, f"Rows with one {key} count as one cluster.")
    found = Comparison(
        first.run, second.run, len(one.places), 0, 0, {found.metric: found for found in judged}, confidence,
        tuple(dict.fromkeys(notes)), second_rows=len(other.places),
    )  # fmt: skip
    found = found if metrics is not None else strongest_first(found)
    return replace(found, slices=_by_slice(groups, sliced, columns, list(found.metrics)))


def comparison_of(
    first: Result, second: Result, rows: MatchedRows, judged: Sequence[MetricDiff], confidence: float,
    notes: Sequence[str],
) -> Comparison:  # fmt: skip
    """Put together what was found of two runs on these rows."""
    new_refusals, new_answers = rows.refusals
    return Comparison(
        first.run,
        second.run,
        len(rows),
        rows.only_first,
        rows.only_second,
        {one.metric: one for one in judged},
        confidence,
        tuple(notes),
        new_refusals=new_refusals,
        new_answers=new_answers,
    )


def strongest_first(found: Comparison) -> Comparison:
    """With its metrics in another order: better and worse by p, then inconclusive, then unchanged."""
    order = ("better", "worse"), ("inconclusive",), ("unchanged",)

    def strength(one: MetricDiff) -> tuple[int, float]:
        return next(n for n, verdicts in enumerate(order) if one.verdict in verdicts), 2.0 if one.p is None else one.p

    return replace(found, metrics={one.metric: one for one in sorted(found.metrics.values(), key=strength)})


def _by_slice(
    groups: Iterable[tuple[str, str]], judged: Sequence[MetricDiff], columns: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, dict[str, MetricDiff]]]:
    """What was found of slices, by column, value and metric, in this order of metrics."""
    slices: dict[str, dict[str, dict[str, MetricDiff]]] = {column: {} for column in columns}
    for number, (column, value) in enumerate(groups):
        of = {one.metric: one for one in judged[number * len(names) : (number + 1) * len(names)]}
        slices[column][value] = {name: of[name] for name in names}
    return slices


def _sliced(rows: MatchedRows, columns: Sequence[str]) -> dict[tuple[str, str], MatchedRows]:
    """The rows by column and the first run's value in it, in the order of the values' first rows."""
    found: dict[tuple[str, str], MatchedRows] = {}
    for column in columns:
        known = rows.first.values[column]
        values = [NONE if known[place] is None else str(known[place]) for place in rows.places.tolist()]
        for value, pairs in places_by_value(values).items():
            found[column, value] = rows.where(pairs)
    return found


def check_judges(first: Result, second: Result, any_judge: bool) -> None:
    """Raises InputError for runs of different judges, unless any are to be compared."""
    if not (same_judge(first.judge, second.judge) or any_judge):
        raise InputError(
            f"runs of different judges do not compare: {first.run!r} is by {first.judge}, {second.run!r} by "
            f"{second.judge}; score one of them anew with the other's judge, link the judges by answers that both have "
            "scored (--anchors), or say any_judge (--any-judge)"
        )


def _linked(names: list[str], offsets: Mapping[str, Estimate] | None, asked: bool) -> list[str]:
    """Those that are linked; all of them, where nothing is to be."""
    if offsets is None:
        return names
    left = [name for name in names if name not in offsets]
    if left and (asked or len(left) == len(names)):
        raise InputError(f"link: {', '.join(left)} is not linked; the anchors have {', '.join(offsets)}")
    return [name for name in names if name in offsets]


def notes_of(first: Result, second: Result, names: Sequence[str], link: Link | None = None) -> list[str]:
    """What a reader of a comparison should know, one sentence each."""
    notes = []
    differ = not same_judge(first.judge, second.judge)
    if differ and link is not None:
        notes.append(
            f"The runs are by different judges, {first.judge} and {second.judge}: linked by {link.anchors} answers."
        )
        left = [name for name in first.metrics if name in second.metrics and name not in link.offsets]
        if left:
            notes.append(f"Not linked, and not compared: {', '.join(left)}.")
    elif differ:
        notes.append(f"The runs are by different judges, {first.judge} and {second.judge}: part of this is theirs.")
    for name in names:
        one, other = first.parameters.get(name), second.parameters.get(name)
        if one is not None and other is not None and one != other:
            notes.append(f"{name} was computed in two ways: {one}, and {other}.")
    for result in (first, second):
        notes += [f"{result.run} is incomplete: {reason}." for reason in result.incomplete]
    return list(dict.fromkeys([*notes, *first.notes, *second.notes]))
