"""A run as notebooks show it: the overview and the report's table of means, as HTML without a script."""

from __future__ import annotations

import html

from assay.errors import printable
from assay.evaluation.display.lines import Line, line_of
from assay.evaluation.display.marks import scale
from assay.evaluation.display.overview_table import overview_html
from assay.evaluation.display.table import RunTotals, footer
from assay.metrics.meanings import meaning_of

_HEAD = ("metric", "mean", "95% interval", "", "scored", "bounds", "skipped (by cause)")


def as_html(result: RunTotals) -> str:
    """The table as an HTML fragment; every text is escaped."""
    head = "".join(f"<th>{title}</th>" for title in _HEAD)
    body = "".join(_row(line_of(summary)) for summary in result.metrics.values())
    foot = _escaped(footer(result)).replace("\n", "<br>")
    lead = overview_html(result.overview) if result.default_metrics else ""
    return f"{lead}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{foot}</p>"


def _row(line: Line) -> str:
    cells = [
        f'<span title="{_escaped(meaning_of(line.name) or "")}">{_escaped(f"{line.name} {line.arrow}")}</span>',
        f"<strong>{line.mean}</strong>",
        line.interval,
        scale(line),
        f"{line.scored}/{line.total}",
        line.bounds,
        _escaped(line.causes),
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))
