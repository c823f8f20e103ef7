"""A run as notebooks show it: the report's table of means, as HTML without a script."""

from __future__ import annotations

from itertools import islice

from assay._util.table_view import HTML_ROWS, escaped, html_table
from assay.evaluation.display.lines import Line, line_of
from assay.evaluation.display.marks import scale
from assay.evaluation.display.table import RunTotals, footer

_HEAD = ("metric", "mean", "95% interval", "", "scored", "bounds", "skipped (by cause)")


def as_html(result: RunTotals) -> str:
    """The table as an HTML fragment; every text is escaped."""
    shown = islice(result.metrics.values(), HTML_ROWS)
    table = html_table(_HEAD, (_cells(line_of(summary)) for summary in shown))
    left = len(result.metrics) - HTML_ROWS
    foot = [*([f"… {left} more metrics"] if left > 0 else []), *footer(result).split("\n")]
    return f"{table}<p>{'<br>'.join(map(escaped, foot[:HTML_ROWS]))}</p>"


def _cells(line: Line) -> list[str]:
    return [
        escaped(f"{line.name} {line.arrow}"),
        f"<strong>{line.mean}</strong>",
        line.interval,
        scale(line),
        f"{line.scored}/{line.total}",
        line.bounds,
        escaped(line.causes),
    ]
