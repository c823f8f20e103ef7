"""The HTML report within a notebook: in a frame of its own, so that neither page styles or scripts the other."""

from __future__ import annotations

import html
from dataclasses import dataclass

from assay._util.terminal import pluralize
from assay.errors import InputError, printable
from assay.evaluation.result import Result
from assay.report.build import ReportOptions, report_of
from assay.report.html.page import page

ROWS = 500
HEIGHT = 720
#: A page of more characters lists fewer rows: a notebook keeps it in its file.
MOST = 8_000_000
#: What the frame may do: run the report's own script, whose hash the page names, and save the labels as a file.
_SANDBOX = "allow-scripts allow-downloads"


@dataclass(frozen=True, slots=True, repr=False)
class InlineReport:
    """A report that a notebook shows.

    Attributes:
        run: Name of the run.
        rows: Number of rows of the run; `listed` of them are in the table of samples.
        listed: Number of rows that are in the table of samples.
        page: The HTML page.
        height: Height of the frame in pixels.
    """

    run: str
    rows: int
    listed: int
    page: str
    height: int = HEIGHT

    def __repr__(self) -> str:
        rows = f"{self.listed:,} of {pluralize(self.rows, 'row')} listed"
        return printable(f"<InlineReport of {self.run[:80]}: {rows}, {len(self.page) / 1e6:.1f} MB>")

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:1px solid rgba(128,128,128,.4)"
        rest = f'style="{style}" srcdoc="{html.escape(self.page)}"'
        return f'<iframe title="assay report" sandbox="{_SANDBOX}" {rest}></iframe>'


def show_report(
    result: Result,
    baseline: Result | None = None,
    *,
    options: ReportOptions | None = None,
    rows: int = ROWS,
    height: int = HEIGHT,
) -> InlineReport:
    """Show the HTML report of a run in a notebook.

    Args:
        result: The run.
        baseline: The run to compare with.
        options: Metrics, slices and clusters: see `assay.report.build.ReportOptions`.
        rows: Number of rows that the table of samples lists, from the first. All rows count in the figures.
        height: Height of the frame in pixels.

    Returns:
        The report. It is shown as the last expression of a cell, or with `display`. A report that would be larger than
        8 MB lists a tenth of the rows, or none.

    Raises:
        InputError: `rows` or `height` is negative, or the runs cannot be compared.
        MissingExtra: Jinja2 is not installed (extra `report`).
    """
    if rows < 0 or height < 0:
        raise InputError(f"show_report: expected rows and height of at least 0, got {rows} and {height}")
    report = report_of(result, baseline, options)
    for most in (rows, rows // 10, 0):
        report.most_listed = most
        text = "".join(page(report))
        if len(text) <= MOST:
            break
    return InlineReport(result.run, result.rows, report.listed, text.encode("utf-8", "replace").decode(), height)
