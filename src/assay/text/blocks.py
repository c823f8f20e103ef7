"""Which line breaks end a sentence: text -> blocks, each of which is running prose.

A blank line, a list item, a heading, a table row and a short line do; a line break that only wraps prose does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.scripts import CJK

Line = tuple[int, str]  # where it starts in the text, and the line without its break and outer whitespace

#: Starts a new item whatever went before: bullets, "1." "2)" "(a)" "iv.", headings, quotes, table rows, code fences.
_ITEM = re.compile(
    r"[-*+•‣⁃◦▪●○■□·]\s|#{1,6}\s|>|\||```|~~~"
    r"|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,6})[.)]\s|\((?:\d{1,3}|[A-Za-z]|[IVXLC]{1,6})\)\s|[A-Z]\)\s"
    r"|\*\*\d{1,3}[.)]"
)
#: May also be prose that was wrapped here: an initial ("J. Smith") or a spaced dash.
_PERHAPS_ITEM = re.compile(r"[A-Z]\.\s|[–—]\s")
_ONE_LINE = re.compile(r"#{1,6}\s|\||```|~~~")  # a heading, a table row, a code fence: never goes on
_CONTINUES = re.compile(r"[,;)\]}%&]")  # no sentence begins so
_FIRST_WORD = re.compile(r"\S+")

# Prose is wrapped to some width between these; a longer line was not wrapped, a shorter one is a list or a title.
_NARROWEST, _NARROWEST_CJK, _WIDEST = 30, 15, 130


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each block of `text`, in order, without outer whitespace. Nothing for a blank text. Linear."""
    for paragraph in _paragraphs(text):
        width = max(len(line) for _, line in paragraph)
        start, last = paragraph[0][0], paragraph[0]
        for line in paragraph[1:]:
            if not _goes_on(last[1], line[1], width):
                yield start, last[0] + len(last[1])
                start = line[0]
            last = line
        yield start, last[0] + len(last[1])


def _paragraphs(text: str) -> Iterator[list[Line]]:
    lines: list[Line] = []
    at = 0
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        if line:
            lines.append((at + len(raw) - len(raw.lstrip()), line))
        elif lines:
            yield lines
            lines = []
        at += len(raw)
    if lines:
        yield lines


def _goes_on(above: str, below: str, width: int) -> bool:
    """Whether the break between two lines only wraps prose; `width` is that of the paragraph's longest line."""
    if _ITEM.match(below) or _ONE_LINE.match(above):
        return False
    wrapped = _was_full(above, below, width)
    if _PERHAPS_ITEM.match(below):
        return wrapped
    return wrapped or below[0].islower() or _CONTINUES.match(below) is not None


def _was_full(above: str, below: str, width: int) -> bool:
    """Whether the first word of `below` did not fit on the line above. Then the writer, or a program, wrapped there."""
    if CJK.match(above[-1]) or CJK.match(below[0]):  # wrapped between any two characters
        return _NARROWEST_CJK <= width <= _WIDEST and len(above) + 2 >= width
    word = _FIRST_WORD.match(below)
    return word is not None and _NARROWEST <= width <= _WIDEST and len(above) + 1 + word.end() > width
