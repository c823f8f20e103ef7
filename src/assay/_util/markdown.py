"""Markdown for comments and summaries: texts of others are neither markup nor links nor mentions in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from assay.errors import printable

#: What Markdown or HTML would read in a text. An underscore within a word is none of it.
_SPECIAL = re.compile(r"[\\`*\[\]<>#|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+=]|^\d{1,9}(?=[.)])")
#: What hosts make of plain text: calls to people, links, issues, entities.
_CALLS = re.compile(r"[&@]|:(?=//|[\w+-]+:)|(?<=www)\.|(?<=WWW)\.")
_TICKS = re.compile(r"`+")


def escape(text: str) -> str:
    """Escape a text: on one line, in which nothing is Markdown, HTML or a mention."""
    plain = _CALLS.sub(lambda found: f"\0{ord(found[0])};", " ".join(printable(text).split()))
    return _SPECIAL.sub(_behind, plain).replace("\0", "&#")


def _behind(found: re.Match[str]) -> str:
    """A mark behind a backslash; a number that would begin a list as an entity."""
    return f"\\{found[0]}" if not found[0].isdigit() else f"\0{ord(found[0][0])};{found[0][1:]}"


def code(text: str) -> str:
    """Make a code span of a text, on one line, whatever ticks it has."""
    flat = " ".join(printable(text).split())
    longest = max(map(len, _TICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def code_cell(text: str) -> str:
    """Make a code span for a cell of a table: there a bar ends the cell even in a code span."""
    return code(text.replace("|", "¦"))


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> Iterator[str]:
    """Make a table.

    Args:
        titles: The titles of its columns.
        rows: The cells of each row, escaped or as code.
        numbers: The titles of the columns whose cells stand to the right.

    Yields:
        Its lines.
    """
    yield f"| {' | '.join(titles)} |"
    yield f"|{'|'.join('--:' if title in numbers else '---' for title in titles)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
