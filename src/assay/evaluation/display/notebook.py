"""A run as notebooks show it: the overview and the report's table of means, as HTML without a script."""

from __future__ import annotations

from itertools import islice

from assay._util.table_view import HTML_ROWS, escaped, html_table
from assay.evaluation.display.lines import Line, line_of
from assay.evaluation.display.marks import scale
from assay.evaluation.display.overview_table import overview_html
from assay.evaluation.display.table import RunTotals, footer
from assay.metrics.meanings import meaning_of

_HEAD = ("metric", "mean", "95% interval", "", "scored", "bounds", "skipped (by cause)")


def as_html(result: RunTotals) -> str:
    """The table as an HTML fragment; every text is escaped."""
    shown = islice(result.metrics.values(), HTML_ROWS)
    table = html_table(_HEAD, (_cells(line_of(summary)) for summary in shown))
    left = len(result.metrics) - HTML_ROWS
    foot = [*([f"… {left} more metrics"] if left > 0 else []), *footer(result).split("\n")]
    lead = overview_html(result.overview) if result.default_metrics else ""
    return f"{lead}{table}<p>{'<br>'.join(map(escaped, foot[:HTML_ROWS]))}</p>"


def _cells(line: Line) -> list[str]:
    return [
        f'<span title="{escaped(meaning_of(line.name) or "")}">{escaped(f"{line.name} {line.arrow}")}</span>',
        f"<strong>{line.mean}</strong>",
        line.interval,
        scale(line),
        f"{line.scored}/{line.total}",
        line.bounds,
        escaped(line.causes),
    ]
