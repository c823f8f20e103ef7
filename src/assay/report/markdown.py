"""A report for the comment of a pull request: the verdict, a table, what got worse. Short, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay._util.markdown import escape, table
from assay._util.output_files import write_output
from assay._util.terminal import pluralize
from assay.analysis.comparison.sentences import regressions, regressions_there
from assay.errors import printable
from assay.evaluation.display.lines import NOTHING, Line
from assay.evaluation.display.overview_table import SHARE_HEAD, answer_lines, overview_note, share_cells
from assay.records.phrases import shortened
from assay.report.lines import lines_of

if TYPE_CHECKING:
    from assay.report.model import Report

SHOWN = 10  # regressions, and lowest rows
FLIPS = 2  # of each
_LONG = 160  # characters of a claim
_NUMBERS = ("mean", "scored", "baseline", "now", "p", "n")
_MARKS = {"worse": "🔴", "better": "🟢", "mixed": "🟠", "inconclusive": "⚪", "unchanged": "⚪",
          "no baseline": "⚪"}  # fmt: skip


def write_markdown(report: Report, path: str | Path) -> Path:
    """Write the report as Markdown. Returns the path."""
    return write_output(path, as_markdown(report), errors="replace")


def as_markdown(report: Report) -> str:
    """The report as Markdown; texts of the data are escaped, and are neither links nor mentions."""
    return "\n".join(_lines(report)) + "\n"


def escaped(text: str) -> str:
    """A text on one line in which nothing is Markdown, HTML or a mention."""
    return escape(shortened(printable(text), _LONG))


def _lines(report: Report) -> Iterator[str]:
    yield f"### {_MARKS[report.word]} {report.word}"
    yield f"\n{escape(report.sentence)}."
    if report.detectable_difference:
        yield f"\n{escape(report.detectable_difference)}"
    if report.comparison is not None and report.comparison.refusals:
        yield f"\n{escape(report.comparison.refusals)}."
    yield ""
    yield from _overview(report)
    yield from _table(report)
    if report.comparison is not None:
        yield from _regressions(report)
    else:
        yield from _lowest(report)
    if report.causes is not None and report.causes.failed:
        shares = sorted(report.causes.shares.items(), key=lambda item: -item[1])
        said = ", ".join(f"{escaped(label.replace('_', ' '))} {share:.0%}" for label, share in shares)
        yield f"\n**Root causes** of {pluralize(report.causes.failed, 'failed row')}: {said}"
    compared = () if report.comparison is None else report.comparison.notes
    for note in dict.fromkeys((*report.result.notes, *compared)):
        yield f"\n> {escape(note)}"
    for reason in report.result.incomplete:
        yield f"\n> Incomplete: {escape(reason)}"


def _overview(report: Report) -> Iterator[str]:
    """The shares of rows and the table of questions and replies; nothing where nothing is known."""
    shares = [share_cells(share) for share in report.overview.shares()]
    if not shares:
        return
    yield from table(SHARE_HEAD, shares, ("rows", "share"))
    yield f"\n{escape(overview_note(report.overview))}\n"
    head, lines = answer_lines(report.overview.answerability)
    if lines:
        yield from table(head, lines, head[1:])
        yield ""


def _table(report: Report) -> Iterator[str]:
    lines = lines_of(report)
    if report.comparison is None:
        rows = [
            (_name(one), one.mean, one.interval, f"{one.scored}/{one.total}", one.bounds or NOTHING) for one in lines
        ]
        return table(("metric", "mean", "95% interval", "scored", "bounds"), rows, _NUMBERS)
    titles = ("metric", "baseline", "now", "difference (95% interval)", "p", "n", "verdict", "scored")
    return table(titles, map(_compared, lines), _NUMBERS)


def _compared(one: Line) -> Sequence[str]:
    verdict = f"**{one.verdict}**" if one.verdict in ("worse", "better") else one.verdict or NOTHING
    gaps = "" if one.scored == one.total else f" ({escaped(one.causes)})"
    scored = f"{one.scored}/{one.total}{gaps}"
    return _name(one), one.before, one.now, one.difference, one.p, one.pairs, verdict, scored


def _name(line: Line) -> str:
    return f"{escaped(line.name)} {line.arrow}"


def _regressions(report: Report) -> Iterator[str]:
    found = regressions(report.comparison)
    if not found:
        yield "\nNo row got worse."
        return
    there = regressions_there(report.comparison)
    listed = min(len(found), SHOWN)
    yield f"\n**Regressions**{f' ({listed} of {there} rows that got worse shown)' if there > listed else ''}\n"
    for one, moved in found[:SHOWN]:
        flips = [escape(flip.line(_LONG)) for flip in moved.flips[:FLIPS]]
        more = len(moved.flips) - FLIPS
        said = "; ".join([*flips, *([f"and {more} more"] if more > 0 else [])])
        name = f"- {escaped(moved.name)}: {escaped(one.metric)} {moved.first:.2f} → {moved.second:.2f}"
        yield f"{name}: {said}" if said else name


def _lowest(report: Report) -> Iterator[str]:
    worst = {name: report.figures.of[name].worst(5) for name in report.metrics}
    if not any(worst.values()):
        return
    yield "\n**Lowest rows**\n"
    for name, rows in worst.items():
        if rows:
            yield f"- {escaped(name)}: " + ", ".join(f"row {row} ({value:.2f})" for row, value in rows)
