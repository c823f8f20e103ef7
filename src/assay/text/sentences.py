"""Sentences, as offsets into the text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from assay.records import Span
from assay.text import fallback, guards, plain
from assay.text.blocks import blocks
from assay.text.cache import BoundedCache
from assay.text.repair import repair
from assay.text.scripts import CJK_ENDS, OTHER_ENDS, SPACED_CLAUSES, WEAK_ENDS

Pieces = list[tuple[int, int]]

#: Characters given to pysbd at once. Its time grows with the square of this, and its work per call is about 0.2 ms.
_WINDOW = 1000
_OVERLAP = 50  # of a window that goes on with an open sentence: marks mean nothing without the word before them

#: Only where one of these stands before a word can there be a border. Most list items and titles have none.
_MAY_SPLIT = re.compile(rf"[{CJK_ENDS}{OTHER_ENDS}{WEAK_ENDS};\u037e)]|{SPACED_CLAUSES.pattern}")
_HEADING = re.compile(r"#{1,6}\s")
_WORD = re.compile(r"\w")


def split_sentences(text: str, language: str = "en") -> tuple[Span, ...]:
    """The sentences of `text`, in order; `()` for a blank text.

    Spans do not overlap and have no outer whitespace, and whatever is in none of them is whitespace. Paragraphs, list
    items, headings and table rows end a sentence; a line break that wraps prose does not. `language` is an ISO 639-1
    code ("en-GB" is read as "en"); an unknown one is split by the marks of its script. Takes linear time, returns for
    every input, and may be called from any number of threads.
    """
    code = re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]
    return _REMEMBERED.get((text, code), lambda: _split_all(text, code))


def _split_all(text: str, code: str) -> tuple[Span, ...]:
    return tuple(Span(start, end) for block in blocks(text) for start, end in _sentences(text, *block, code))


def _bytes(key: tuple[str, str], spans: tuple[Span, ...]) -> int:
    """About what a text and its sentences take in memory."""
    return sys.getsizeof(key[0]) + 200 + 120 * len(spans)


#: Several prompts split the texts of one sample, one after the other.
_REMEMBERED: BoundedCache[tuple[str, str], tuple[Span, ...]] = BoundedCache(2_000_000, _bytes, share=1 / 2)


def _sentences(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """The sentences of one block, a window at a time. A window's last sentence, maybe cut, opens the next window."""
    if _HEADING.match(text, start) or (text[start] == text[end - 1] == "|"):  # a heading or a table row: one thing
        yield start, end
        return
    open_at: int | None = None  # where a sentence began that is longer than a window
    before = start - _WINDOW  # where the window before began
    while start < end:
        began, crawls = start, False
        stop = _border(text, start, end)
        pieces = [(start + left, start + right) for left, right in _split(text[start:stop], language)]
        if stop == end:
            keep, start = pieces, end
        elif len(pieces) > 1:
            keep, last = pieces[:-1], pieces[-1][0]
            crawls = last - before < _WINDOW // 2  # two windows get ahead by half of one, so that time stays linear
            start = stop - _OVERLAP if crawls else last
        elif pieces and fallback.is_border(text, pieces[0][1], language):
            keep, start = pieces, stop
        else:  # no end in sight
            if pieces and open_at is None:
                open_at = pieces[0][0]
            before, start = began, stop - _OVERLAP
            continue
        if open_at is not None and keep:
            keep[0], open_at = (open_at, keep[0][1]), None
        yield from keep
        before = began
        if crawls:
            open_at = last
    if open_at is not None:
        yield open_at, end


def _border(text: str, start: int, end: int) -> int:
    """Where the window that starts at `start` stops: at a space where there is one in its second half."""
    stop = start + _WINDOW
    if stop >= end:
        return end
    for at in range(stop, start + _WINDOW // 2, -1):
        if text[at].isspace():
            return at
    return stop


def _split(window: str, language: str) -> Pieces:
    mark = _MAY_SPLIT.search(window)
    if mark is None or not _WORD.search(window, mark.end()):
        start, end = len(window) - len(window.lstrip()), len(window.rstrip())
        return [(start, end)] if start < end else []
    pieces = plain.split(window) if language == "en" else None
    if pieces is not None:
        return repair(window, pieces)
    masked = guards.mask(window)
    pieces = guards.split(masked, language)
    if pieces is None:
        pieces = fallback.split(masked, language)
    return repair(masked, pieces)
