"""Citations: which passages a text names by their numbers, counted from 1. English words; marks of any language.

    "[2]"  "[1, 3]"  "[1-3]"  "[^2]"  "【1】"  "【3†source】"     a number between brackets
    "(Passage 2)"  "(see Documents 1 and 3)"  "[source 2]"          between brackets, with what it numbers
    "rain.¹"                                                       a raised number after a full stop
    "As passage 2 says, ..."                                       in the words of the sentence

A number of four digits is a year, "[0, 1]" and "[100-250]" are intervals, and numbers alone between round brackets are
places in a list: none of these cites. All linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.records import Span

#: A range of more passages than these is one of something else.
WIDEST_RANGE = 20

_NUMBER = r"(?<!\d)[1-9]\d{0,2}(?![\d%°$€£]|[.:]\d)"
_AND = r"(?: ?(?:[-–—,;&]|and|or|to|through) ?(?:and )?)"
_KIND = r"(?:passage|document|doc|source|context|excerpt|snippet|chunk|reference|ref|(?:search )?result)s?"
_LIST = rf"#?{_NUMBER}(?:{_AND}(?:{_KIND} )?#?{_NUMBER}){{0,20}}+"
_SAID = (
    r"(?:(?:see(?: also)?|cf\.?|from|per|in|by|via|sources?:?|according to|based on|(?:as )?(?:\w{2,12} )?(?:in|by)) "
    r"(?:the )?)?"
)
#: "Passage 2", "documents 1 and 3": in a sentence. Of several with one number it is a verb ("documents 12 cases").
NAMED = (
    rf"(?:(?:passage|document|source|context|excerpt|snippet|search result) #?{_NUMBER}"
    rf"|(?:passages|documents|sources|contexts|excerpts|snippets|search results) #?{_NUMBER}(?={_AND}))"
    rf"(?:{_AND}(?:(?:passage|document|source|context|excerpt|snippet|search result)s? )?#?{_NUMBER}){{0,20}}+\b"
)
_MARKED = (
    rf"(?:\[\^?{_SAID}(?:{_KIND}(?:\. ?| )?)?{_LIST}\]|【(?:{_KIND} )?{_LIST}(?:†[^】\n]{{0,60}})?】"
    rf"|\( ?{_SAID}{_KIND}(?:\. ?| )?{_LIST} ?\)|(?<=[.,;:!?\"”)])[¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹]{{0,2}}(?!\w))"
)
#: What stands for citations and nothing else; "[1][2]" and "[1], [2]" are one.
MARK = rf"(?:{_MARKED}(?:[,;]? ?{_MARKED}){{0,20}})"  # not possessive: Python before 3.11.5 matches such groups wrongly
_MARK = re.compile(MARK, re.IGNORECASE)
_CITATION = re.compile(rf"{MARK}|\b{NAMED}", re.IGNORECASE)
_DIGITS = re.compile(r"(?P<to>[-–—]|\bto\b|\bthrough\b)|(?P<number>\d{1,3})", re.IGNORECASE)
_NEXT = re.compile(r"[ \t]*(?:\n|\Z)|\s+[\"“'(*]{0,2}[A-Z]")
_TITLE = re.compile(r"†[^】]*")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
#: Line breaks and the like as spaces, one for one: patterns then know one blank, and places stay the same.
BLANKS = str.maketrans("\n\t\r\v\f\u00a0", "      ")


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that names passages: `numbers` as the text counts them, from 1, in its order and each once."""

    span: Span
    numbers: tuple[int, ...]


def citations(text: str) -> tuple[Citation, ...]:
    """All citations of a text, in order. Empty where it has none."""
    return tuple(_read(_CITATION, text))


def marks(text: str) -> tuple[Citation, ...]:
    """Those that are no part of a sentence: what stands between brackets, and raised numbers."""
    return tuple(_read(_MARK, text))


def _read(pattern: re.Pattern[str], text: str) -> Iterator[Citation]:
    for match in pattern.finditer(text.translate(BLANKS)):
        numbers = _numbers(_TITLE.sub("", match.group()).translate(_RAISED))
        if numbers:
            yield Citation(Span(*match.span()), numbers)


def _numbers(mark: str) -> tuple[int, ...]:
    """The numbers of a mark with its ranges filled in; none where one of them is no range of passages."""
    found: list[int] = []
    open_range = False
    for match in _DIGITS.finditer(mark):
        if match["to"]:
            open_range = bool(found)
            continue
        number = int(match["number"])
        if open_range and not 0 < number - found[-1] <= WIDEST_RANGE:
            return ()
        found += range(found[-1] + 1, number) if open_range else ()
        found.append(number)
        open_range = False
    return tuple(dict.fromkeys(found))


def behind_sentence(text: str, mark: Span) -> bool:
    """Whether a mark stands between two sentences of a line, or after the last: it then speaks of the one before it."""
    before = text[max(0, mark.start - 3) : mark.start].rstrip(" ")
    return before.endswith((".", "!", "?", '"', "”", ")")) and _NEXT.match(text, mark.end) is not None


def cited_in(text: str, spans: Sequence[Span]) -> list[tuple[int, ...]]:
    """The numbers cited in each of these pieces of a text, also by marks behind its full stop ("It is red. [2]").

    In order, each number once a piece. Pieces may overlap: what stands in several belongs to each.
    """
    found = citations(text)
    places = [_place(text, citation.span) for citation in found]
    return [
        tuple(
            dict.fromkeys(
                number
                for citation in found[bisect_left(places, span.start) : bisect_left(places, span.end)]
                for number in citation.numbers
            )
        )
        for span in spans
    ]


def _place(text: str, span: Span) -> int:
    """Where a citation counts: at its beginning, or at the end of the sentence before it."""
    if not behind_sentence(text, span):
        return span.start
    before = text[max(0, span.start - 3) : span.start]
    return span.start - 1 - (len(before) - len(before.rstrip(" ")))
