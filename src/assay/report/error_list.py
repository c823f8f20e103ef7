"""Rows without a score, for terminals: groups on one screen, and the rows of one cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText as Text
from assay._util.terminal import pluralize
from assay._util.text_lines import wrapped_lines
from assay.evaluation.error_groups import ErrorGroup, UnscoredRow

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Words for what to do about a cause, given its message.
Remedy = Callable[[str, str], str]

SCREEN = 24  # lines
_INDENT = 4
_NAMED = 3  # metrics of a group that are named
_ROOMY, _TIGHT = (8, 2), 1  # most lines of a message
#: A message that says itself what to do.
_SAYS_REMEDY = re.compile(r"(?<!\w)--[a-z]|\binstall\b|\bname an? ")
_LONGEST = 3  # lines of a message in a list of rows


def error_groups_list(groups: Sequence[ErrorGroup], columns: int, most: int, remedy: Remedy) -> RenderableType:
    """A few lines for each group: count, cause, metrics, first rows; the message; what to do.

    Args:
        groups: The groups, the largest first.
        columns: Width of the terminal.
        most: Most lines. Groups that have no room are counted by cause at the end.
        remedy: Words for what to do about a cause.
    """
    blocks: list[list[Text]] = []
    for lines in (*_ROOMY, _TIGHT):
        blocks = [_group_lines(group, columns, lines, remedy) for group in groups]
        if sum(map(len, blocks)) <= most:
            break
    room = most if sum(map(len, blocks)) <= most else most - 2  # for what is left out
    shown: list[Text] = []
    count = 0
    for block in blocks:
        if len(shown) + len(block) > room:
            break
        shown += block
        count += 1
    return _stacked([*shown, *_left_out(groups[count:], columns)])


def error_rows_list(rows: Sequence[UnscoredRow], columns: int) -> RenderableType:
    """Each row with its number, id and metrics, and the message below."""
    lines: list[Text] = []
    for row in rows:
        number = "a row" if row.number is None else f"row {row.number}"
        named = "" if row.id is None else f" ({row.id[:40]})"
        lines += wrapped_lines(f"{number}{named}: {', '.join(row.metrics)}", columns, hanging=_INDENT)
        lines += wrapped_lines(row.message, columns, _INDENT, most=_LONGEST, style="dim")
    return _stacked(lines)


def _group_lines(group: ErrorGroup, columns: int, most: int, remedy: Remedy) -> list[Text]:
    head = f"{pluralize(group.rows, 'row')}, {group.cause}: {_metrics(group)}{_first(group)}"
    lines = wrapped_lines(head, columns, hanging=_INDENT, most=2)
    for line in lines:
        line.highlight_words([group.cause], "yellow")
    message = wrapped_lines(group.message, columns, _INDENT, style="dim")
    to_do = remedy(group.cause, group.message)
    if len(message) <= most and _SAYS_REMEDY.search(group.message):
        to_do = ""
    message = wrapped_lines(group.message, columns, _INDENT, most=most, style="dim")
    return [*lines, *message, *(wrapped_lines(f"→ {to_do}", columns, _INDENT, most=2) if to_do else [])]


def _metrics(group: ErrorGroup) -> str:
    named = [name for name, _ in group.metrics.most_common(_NAMED)]
    more = len(group.metrics) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _first(group: ErrorGroup) -> str:
    if not group.first:
        return ""
    more = ", …" if group.rows > len(group.first) else ""
    return f" ({'row' if group.rows == 1 else 'rows'} {', '.join(map(str, group.first))}{more})"


def _left_out(groups: Sequence[ErrorGroup], columns: int) -> list[Text]:
    """How many groups have no room, and of which causes they are."""
    if not groups:
        return []
    causes: Counter[str] = Counter()
    for group in groups:
        causes[group.cause] += group.rows
    said = ", ".join(f"{cause} {count:,}" for cause, count in causes.most_common())
    return wrapped_lines(f"and {pluralize(len(groups), 'more group')}: {said}", columns, most=2, style="dim")


def _stacked(lines: Sequence[Text]) -> RenderableType:
    from rich.console import Group

    return Group(*lines)
