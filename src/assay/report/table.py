"""The table of means, for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.summary import Summary
from assay.terminal import printable, width

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.result import Result

_GOOD = {"higher": "↑", "lower": "↓"}
LISTED = 5  # scores that did not arrive that are named under the table; all are in `Result.deliveries`
_HEAD = ("metric", "mean", "scored", "if gaps were known", "not scored because")
_NAME = 34  # characters of a metric's name that are never broken: a table of 80 columns has room for them
#: The widest that the last two columns are beside long names: these, or the causes, would be broken otherwise.
_BESIDE_LONG_NAMES = {3: len("0.000 to"), 4: len("not_applicable")}
_LONG = 28
_COLUMN_STYLES = ("", "bold", "", "dim", "yellow")


def cells(summary: Summary) -> tuple[str, str, str, str, str]:
    """One line of the table: name with direction, mean, coverage, bounds, causes."""
    mean = "–" if summary.mean is None else f"{summary.mean:.3f}"
    bounds = summary.bounds
    span = "" if bounds is None or summary.scored == summary.total else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
    causes = ", ".join(f"{cause} {count}" for cause, count in summary.causes.most_common())
    return f"{summary.metric} {_GOOD[summary.direction]}", mean, f"{summary.scored}/{summary.total}", span, causes


def footer(result: Result) -> str:
    """What was run, by whom, at what cost."""
    usage = result.usage
    tokens = (
        "unknown tokens"
        if usage.prompt_tokens is None or usage.completion_tokens is None
        else f"{usage.prompt_tokens + usage.completion_tokens} tokens"
    )
    cost = f"{usage.calls} calls, {tokens}" if usage.calls else "no LLM calls"
    stopped = f"; STOPPED: {result.stopped}" if result.stopped else ""
    rows = "1 row" if result.rows == 1 else f"{result.rows} rows"
    said = f" ({result.note})" if result.note else ""
    lines = [
        f"run {result.run}{said}: {rows} in {result.seconds:.1f} s by {result.judge}; {cost}, "
        f"{result.reused} findings reused{stopped}"
    ]
    lines += [f"note: {note}" for note in result.notes]
    for sink, deliveries in result.deliveries.items():
        lines.append(f"{sink}: {deliveries}")
        lines += [f"  not delivered: {which}" for which in deliveries.listed[:LISTED]]
    return "\n".join(lines)


def as_rich(result: Result) -> RenderableType:
    """The table as a rich renderable."""
    from rich.console import Group

    from assay.report.seen import SeenText as Text

    alarm = result.stopped or any(found.undelivered for found in result.deliveries.values())
    return Group(table_of(result.metrics), Text(footer(result), style="red" if alarm else "dim"))


def table_of(metrics: Mapping[str, Summary]) -> RenderableType:
    """The lines of the table alone."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from assay.report.seen import SeenText as Text

    longest_name = max(map(len, metrics), default=0)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for n, title in enumerate(_HEAD):
        # a header may wrap between its words, never within one
        longest = max(map(len, title.split()))
        table.add_column(
            title,
            justify="right" if n in (1, 2) else "left",
            no_wrap=n in (1, 2) or (n == 0 and longest_name <= _NAME),
            overflow="fold",
            min_width=longest,
            max_width=_BESIDE_LONG_NAMES.get(n) if longest_name > _LONG else None,
            style=_COLUMN_STYLES[n],
        )
    for summary in metrics.values():
        table.add_row(*(Text(cell) for cell in cells(summary)))
    return table


def groups_table(groups: Mapping[str, Mapping[str, Summary]], column: str) -> RenderableType:
    """The means of groups of rows, a line for each metric in each."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from assay.report.seen import SeenText as Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(column), overflow="fold", min_width=min(12, len(column)))
    for title, style in (("metric", ""), ("mean", "bold"), ("scored", "")):
        right = title != "metric"
        table.add_column(title, justify="right" if right else "left", style=style, no_wrap=right, overflow="fold")
    for value, summaries in groups.items():
        for n, summary in enumerate(summaries.values()):
            name, mean, scored, _, _ = cells(summary)
            table.add_row(Text(value if n == 0 else ""), Text(name), mean, scored)
    return table


def as_text(result: Result, columns: int | None = None) -> str:
    """The table as plain text, as wide as the terminal where nothing is said."""
    from assay.report.drawn import drawn

    return drawn(as_rich(result), width() if columns is None else columns)


def as_html(result: Result) -> str:
    """The table as an HTML fragment; every text is escaped."""
    head = "".join(f"<th>{_escaped(title)}</th>" for title in _HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in cells(summary)) + "</tr>"
        for summary in result.metrics.values()
    )
    foot = _escaped(footer(result)).replace("\n", "<br>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{foot}</p>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))
