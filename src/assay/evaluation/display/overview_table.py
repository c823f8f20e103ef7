"""The overview of a run as it is shown: shares of rows, and the table of answerable and answered questions."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.errors import printable
from assay.evaluation.answerability import KINDS, REPLIES, Answerability
from assay.evaluation.overview import Overview, RowShare

if TYPE_CHECKING:
    from rich.console import RenderableType

SHARE_HEAD = ("", "rows", "share", "95 % interval", "good rows")
EXPLAINED = "what a metric measures: assay metrics NAME"


def share_cells(share: RowShare) -> tuple[str, str, str, str, str]:
    """One line: name with direction, count, share, its interval, what makes a row good."""
    low, high = 100 * share.interval.low, 100 * share.interval.high
    interval = f"{low:.0f}% to {high:.0f}%"
    return f"{share.name} ↑", f"{share.count:,} of {share.total:,}", f"{share.share:.0%}", interval, share.good


def answer_lines(table: Answerability) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The head and the lines of the table of questions and replies; no lines where nothing is known of questions."""
    kinds = [kind for kind in KINDS if any(table.row(kind).values())] if table.known else []
    replies = [one for one in REPLIES if one != "unknown" or any(table.row(kind)[one] for kind in kinds)]
    lines: list[Sequence[str]] = [(kind, *(f"{table.row(kind)[reply]:,}" for reply in replies)) for kind in kinds]
    return ("question", *replies), lines


def overview_note(overview: Overview) -> str:
    """What else is to be said of the shares: the refusal rate, and the metric that decides what is grounded."""
    refused, grounded = overview.refused, overview.grounded
    rate = "" if refused is None else f"refused: {refused.count:,} of {refused.total:,} ({refused.share:.0%})"
    by = "" if grounded is None else f"grounded: {grounded.metric} of {grounded.threshold:g} or more"
    return "; ".join(filter(None, (rate, by)))


def overview_table(overview: Overview) -> RenderableType | None:
    """The overview for terminals; None where nothing is known."""
    from rich.console import Group
    from rich.padding import Padding

    from assay._util.rich_text import SafeText
    from assay._util.tables import Column, make_table, number

    shares = [share_cells(share) for share in overview.shares()]
    if not shares:
        return None
    columns = [
        Column(title=SHARE_HEAD[0], least=len("questions")),
        number(SHARE_HEAD[1], "bold"),
        number(SHARE_HEAD[2]),
        *(Column(title=SHARE_HEAD[3], wraps=False), Column(title=SHARE_HEAD[4], least=len("supported"))),
    ]
    tables = [make_table(columns, shares)]
    head, lines = answer_lines(overview.answerability)
    if lines:
        tables.append(make_table([head[0], *map(number, head[1:])], lines))
    blocks: list[RenderableType] = []
    for table in tables:
        table.show_edge = False  # else two blank lines stand between tables
        blocks += [Padding(table, (0, 0, 1, 1))]
    return Group(*blocks, SafeText(overview_note(overview), style="dim"))


def overview_html(overview: Overview) -> str:
    """The overview as an HTML fragment; empty where nothing is known. Every text is escaped."""
    shares = [share_cells(share) for share in overview.shares()]
    if not shares:
        return ""
    note = f"<p>{html.escape(printable(overview_note(overview)))}</p>"
    return _html_table(SHARE_HEAD, shares) + _html_table(*answer_lines(overview.answerability)) + note


def _html_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "".join(_html_parts(head, lines)) if lines else ""


def _html_parts(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{html.escape(title)}</th>" for title in head) + "</tr></thead><tbody>"
    for line in lines:
        yield "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
    yield "</tbody></table>"
