"""The table of means, for terminals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from assay._util.terminal import pluralize, width
from assay.evaluation.completeness import rows_in_words
from assay.evaluation.display.cost import cost_in_words, costs_by_metric
from assay.evaluation.display.overview_table import EXPLAINED, overview_table
from assay.evaluation.overview import Overview
from assay.evaluation.quote_counts import QuoteCounts
from assay.evaluation.summary import Summary

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from assay._util.rich_text import SafeText
    from assay.judges.budget.budget import Prices
    from assay.records import Usage
    from assay.sinks.writing import Deliveries
    from assay.stats import Estimate

_GOOD = {"higher": "↑", "lower": "↓"}


class RunTotals(Protocol):
    """What the table shows of a run: a `Result` has it."""

    run: str
    judge: str
    metrics: dict[str, Summary]
    rows: int
    usage: Usage
    metric_usage: dict[str, Usage]
    prices: Prices | None
    cache_hits: int
    seconds: float
    deliveries: dict[str, Deliveries]
    notes: list[str]
    note: str | None
    cluster: str | None
    quotes: QuoteCounts
    overview: Overview
    default_metrics: bool

    @property
    def lost(self) -> int: ...

    @property
    def incomplete(self) -> tuple[str, ...]: ...


LISTED = 5  # scores that did not arrive that are named under the table; all are in `Result.deliveries`
INTERVAL = "95 % interval"
_HEAD = ("metric", "mean", INTERVAL, "scored", "bounds", "skipped (by cause)")
_NAME = 34  # characters of a metric's name that are never broken: a table of 80 columns has room for them
#: The widest that the last two columns are beside long names: these, or the causes, would be broken otherwise.
_BESIDE_LONG_NAMES = {4: len("0.000 to"), 5: len("not_applicable")}
_LONG = 28
_BETWEEN = 3  # columns between those of a table
_COLUMN_STYLES = ("", "bold", "", "", "dim", "yellow")


def cells(summary: Summary) -> tuple[str, str, str, str, str, str]:
    """One line of the table: name with direction, mean, its interval, coverage, bounds, causes."""
    mean = "–" if summary.mean is None else f"{summary.mean:.3f}"
    bounds = summary.bounds
    span = "" if bounds is None or summary.scored == summary.total else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
    causes = ", ".join(f"{cause} {count}" for cause, count in summary.causes.most_common())
    name, scored = f"{summary.metric} {_GOOD[summary.direction]}", f"{summary.scored}/{summary.total}"
    return name, mean, interval_in_words(summary.interval), scored, span, causes


def interval_in_words(found: Estimate | None) -> str:
    """Its ends, with two digits behind the point, or three where it is narrower than 0.1."""
    if found is None:
        return ""
    digits = 2 if found.high - found.low >= 0.1 else 3
    return f"{found.low:.{digits}f} to {found.high:.{digits}f}"


def judge_in_words(fingerprint: str) -> str:
    """The judge of a run, for people: "judge: embedded 3fc564a959f019f2"."""
    return f"judge: {fingerprint.replace('/', ' ', 1)}"


def footer(result: RunTotals) -> str:
    """What was run, by whom, at what cost."""
    usage = result.usage
    tokens = (
        "unknown tokens"
        if usage.prompt_tokens is None or usage.completion_tokens is None
        else f"{usage.prompt_tokens + usage.completion_tokens} tokens"
    )
    price = cost_in_words(usage, result.rows, result.prices)
    cost = f"{pluralize(usage.calls, 'call')}, {tokens}, {price}" if usage.calls else "no LLM calls"
    rows = rows_in_words(result.rows, result.lost)
    said = f" ({result.note})" if result.note else ""
    lines = [
        f"run {result.run}{said}: {rows} in {result.seconds:.1f} s; {judge_in_words(result.judge)}; {cost}, "
        f"{pluralize(result.cache_hits, 'cache hit')}"
    ]
    lines += [by_metric] if (by_metric := costs_by_metric(result.metric_usage, result.prices)) else []
    lines += [f"INCOMPLETE: {reason}" for reason in result.incomplete]
    if result.cluster is not None:
        lines.append(f"intervals take rows with one {result.cluster} together: {_clusters(result.metrics)}")
    lines += [str(result.quotes)] if result.quotes.unlocated else []
    lines += [f"note: {note}" for note in result.notes]
    for sink, deliveries in result.deliveries.items():
        lines.append(f"{sink}: {deliveries}")
        lines += [f"  not delivered: {which}" for which in deliveries.listed[:LISTED]]
    return "\n".join(lines)


def as_rich(result: RunTotals, *, overview: bool | None = None) -> RenderableType:
    """The table as a rich renderable.

    Args:
        overview: Whether the overview leads it. None: if no metrics were named.
    """
    from rich.console import Group

    from assay._util.rich_text import SafeText as Text

    alarm = bool(result.incomplete) or any(found.undelivered for found in result.deliveries.values())
    leads = result.default_metrics if overview is None else overview
    lead = overview_table(result.overview) if leads else None
    foot = Text(footer(result), style="red" if alarm else "dim")
    if lead is None:
        return Group(table_of(result.metrics), foot)
    return Group(lead, table_of(result.metrics), foot, Text(EXPLAINED, style="dim"))


def _clusters(metrics: Mapping[str, Summary]) -> str:
    """Of how many each metric has values."""
    counts = [found.clusters for summary in metrics.values() if (found := summary.interval) is not None]
    if not counts:
        return "none has a value"
    said = str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{said} of them"


def table_of(metrics: Mapping[str, Summary]) -> RenderableType:
    """The lines of the table alone. Columns about gaps are there where a row has none of some score."""
    return _ByWidth(lambda columns: _means_table(metrics, columns))


def groups_table(groups: Mapping[str, Mapping[str, Summary]], column: str) -> RenderableType:
    """The means of groups of rows, a line for each metric in each."""
    return _ByWidth(lambda columns: _groups_table(groups, column, columns))


@dataclass(frozen=True, slots=True)
class _ByWidth:
    """A table that depends on the number of columns of the terminal."""

    table: Callable[[int], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield self.table(options.max_width)


def _means_table(metrics: Mapping[str, Summary], columns: int) -> RenderableType:
    from assay._util.tables import Column, make_table

    lines = [cells(summary) for summary in metrics.values()]
    gaps = any(summary.scored < summary.total for summary in metrics.values())
    words = [max((len(word) for line in lines for word in line[n].split()), default=0) for n in range(len(_HEAD))]
    # a title may wrap between its words, and a cell too, never within one
    least = [max(words[n], *map(len, _HEAD[n].split())) for n in range(len(_HEAD))]
    least[0] += 2  # the arrow
    least[4] = max(least[4], len("0.000 to"))
    # with what is said of gaps there is no room for a column of intervals: they go below the names
    shown: tuple[int, ...] = (0, 1, 3, 4, 5) if gaps else (0, 1, 2, 3)
    if gaps and not _fits([least[n] for n in shown], columns):
        shown = (0, 1, 3)  # all goes there
    longest_name = max(map(len, metrics), default=0)
    made = [
        Column(
            title=_HEAD[n],
            number=n in (1, 3),
            wraps=n not in (1, 2, 3) and (n != 0 or longest_name > _NAME),
            least=min(least[n], columns // 2 + 4) if n == 0 else least[n],
            most=max(least[n], _BESIDE_LONG_NAMES.get(n, 0)) if n in (4, 5) and longest_name > _LONG else None,
            style=_COLUMN_STYLES[n],
        )
        for n in shown
    ]
    return make_table(made, [[_drawn(line, shown, gaps)[n] for n in shown] for line in lines])


def _fits(least: Sequence[int], columns: int) -> bool:
    """Whether columns that have at least so much have room, with what stands between them."""
    return sum(least) + _BETWEEN * (len(least) - 1) + 2 <= columns


def _drawn(line: Sequence[str], shown: Sequence[int], gaps: bool) -> list[SafeText]:
    """The cells of a line; what has no column of its own stands below the name."""
    from assay._util.rich_text import SafeText as Text

    drawn = [Text(cell) for cell in line]
    below = [f"95 %: {line[2]}" if gaps and line[2] else ""]
    if gaps and 4 not in shown:
        below += [line[4] and f"bounds: {line[4]}", line[5]]
    for text in filter(None, below):
        drawn[0].append(f"\n {text}", style="dim")
    return drawn


def _groups_table(groups: Mapping[str, Mapping[str, Summary]], column: str, columns: int) -> RenderableType:
    from assay._util.rich_text import SafeText as Text
    from assay._util.tables import Column, make_table, number

    lines = [
        (value if n == 0 else "", *cells(summary)[:4])
        for value, summaries in groups.items()
        for n, summary in enumerate(summaries.values())
    ]
    longest = [max((len(line[n]) for line in lines), default=0) for n in range(5)]
    of_group = min(12, len(column))
    beside = _fits([of_group, longest[1], 5, len(INTERVAL), max(longest[4], 6)], columns)
    of_name = min(longest[1], columns // 2 + 4)
    left = (
        columns - 2 - 3 * _BETWEEN - of_name - longest[2] - max(longest[4], len("scored"))
    )  # rich crops what has no room
    made: list[Column | str] = [
        Column(title=column, least=min(of_group, left), most=None if beside else max(left, 4)),
        Column(title="metric", least=of_name),
        *(number("mean", "bold"), *([Column(title=INTERVAL, wraps=False)] if beside else ()), number("scored")),
    ]
    if beside:
        return make_table(made, lines)
    rows: list[list[str | SafeText]] = []
    for value, name, mean, interval, scored in lines:
        rows.append([value, Text(name).append(f"\n 95 %: {interval}" if interval else "", style="dim"), mean, scored])
    return make_table(made, rows)


def as_text(result: RunTotals, columns: int | None = None) -> str:
    """The table as plain text, as wide as the terminal where nothing is said."""
    from assay._util.rich_text import render_text

    return render_text(as_rich(result), width() if columns is None else columns)
