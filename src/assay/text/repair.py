"""Mends borders that both splitters get wrong: stray marks, list numbers cut off, cuts inside a word."""

from __future__ import annotations

import re

from assay.text.fallback import is_abbreviation, is_title, word_before
from assay.text.scripts import CJK_ENDS, CLOSING, CLOSING_BEFORE_SPACE, OTHER_ENDS

Pieces = list[tuple[int, int]]

_CLOSING = re.compile(rf"[{CLOSING_BEFORE_SPACE}]+(?=\s|\Z)")
_FULL_END = re.compile(rf"[{CJK_ENDS}{OTHER_ENDS}][{CLOSING}]*\Z")
_NUMBER = re.compile(r"[-*+•]?\s*[(*]{0,3}(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{1,6})[.)]\**")
_SMALL_NUMBER = re.compile(r"\(?\d{1,2}[.)]")  # within a paragraph, "I." and "a." are more likely words


def repair(text: str, pieces: Pieces) -> Pieces:
    """The same text in the same order, with fewer or moved borders. `text` is what the pieces point into."""
    pieces = _join_wordless(text, _join_touching(text, pieces))
    return _join_numbers(text, _join_abbreviated(text, pieces))


def _join_touching(text: str, pieces: Pieces) -> Pieces:
    """Two pieces without a space between them are one sentence, except after a full-width mark."""
    result: Pieces = []
    for start, end in pieces:
        if result and result[-1][1] == start and not _FULL_END.search(text, max(result[-1][0], start - 8), start):
            closing = _CLOSING.match(text, start, end)
            begin = result.pop()[0]
            rest = text[closing.end() : end].lstrip() if closing else ""
            if closing and rest and not rest[0].islower():  # '**Bold.' + '** Next.' -> '**Bold.**' + 'Next.'
                result.append((begin, closing.end()))
                start = end - len(rest)
            else:
                start = begin
        result.append((start, end))
    return result


def _join_wordless(text: str, pieces: Pieces) -> Pieces:
    """Marks without a letter or digit ("...", an emoji, a quotation mark) belong to the sentence before, or after."""
    result: Pieces = []
    leading: int | None = None
    for start, end in pieces:
        if any(char.isalnum() for char in text[start:end]):
            result.append((start if leading is None else leading, end))
            leading = None
        elif result:
            result[-1] = (result[-1][0], end)
        elif leading is None:
            leading = start
    return result if leading is None else [(leading, pieces[-1][1])]


def _join_abbreviated(text: str, pieces: Pieces) -> Pieces:
    """No sentence ends after a title ("Sr. López"), nor after an abbreviation before lower case ("p. ex. vrai")."""
    result: Pieces = []
    for start, end in pieces:
        if result and text[result[-1][1] - 1] == ".":
            word = word_before(text, result[-1][1] - 1)
            if is_title(word) or (text[start].islower() and is_abbreviation(word)):
                start = result.pop()[0]
        result.append((start, end))
    return result


def _join_numbers(text: str, pieces: Pieces) -> Pieces:
    """A list number standing alone ("1.") belongs to what it numbers, unless it answers a question."""
    result: Pieces = []
    number: int | None = None
    for start, end in pieces:
        if number is not None:
            start, number = number, None
        answers = bool(result) and text[result[-1][1] - 1] == "?"
        marker = _SMALL_NUMBER.fullmatch(text, start, end) if result else _NUMBER.fullmatch(text, start, end)
        if marker and not answers and end != pieces[-1][1]:
            number = start
        else:
            result.append((start, end))
    return result
