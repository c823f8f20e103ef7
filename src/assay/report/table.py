"""The table of means, for terminals and notebooks."""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING

from assay.summary import Summary
from assay.terminal import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.result import Result

_GOOD = {"higher": "↑", "lower": "↓"}
LISTED = 5  # scores that did not arrive that are named under the table; all are in `Result.deliveries`
_HEAD = ("metric", "mean", "scored", "if gaps were known", "not scored because")


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
    lines = [
        f"run {result.run}: {rows} in {result.seconds:.1f} s by {result.judge}; {cost}, "
        f"{result.reused} findings reused{stopped}"
    ]
    lines += [f"note: {note}" for note in result.notes]
    for sink, deliveries in result.deliveries.items():
        lines.append(f"{sink}: {deliveries}")
        lines += [f"  not delivered: {which}" for which in deliveries.listed[:LISTED]]
    return "\n".join(lines)


def as_rich(result: Result) -> RenderableType:
    """The table as a rich renderable."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table

    from assay.report.seen import SeenText as Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for n, title in enumerate(_HEAD):
        table.add_column(title, justify="right" if n in (1, 2) else "left", no_wrap=n < 3)
    for summary in result.metrics.values():
        table.add_row(*(Text(cell) for cell in cells(summary)))
    return Group(table, Text(footer(result), style="dim"))


def as_text(result: Result, width: int = 110) -> str:
    """The table as plain text."""
    from rich.console import Console

    buffer = io.StringIO()
    Console(file=buffer, width=width, color_system=None, legacy_windows=False).print(as_rich(result))
    return "\n".join(line.rstrip() for line in buffer.getvalue().strip("\n").splitlines())


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
