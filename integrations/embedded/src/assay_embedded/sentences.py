"""The sentences of a text, by offsets: by its line breaks and stops, in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_embedded.english import ABBREVIATIONS

OPENING = "\"'“‘([«"
_CHUNK = re.compile(r"\S{1,50}")  # what has no spaces counts as many words, so that no piece is long
_CLOSING = "\"'”’)]»"
_LONGEST = 60  # words; a longer "sentence" is a table or a list, and is read in pieces of this many words
_LONGEST_TEXT = 720  # characters of its words: of marks and other scripts each may be a token


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the sentences of a text: a line break ends one, and so does a stop before a capital or a digit.

    One pass over the words, so time is linear whatever the text; pieces are of at most 60 words, and 720 characters.
    """
    start = end = -1
    count = size = 0
    previous = ""
    for match in _CHUNK.finditer(text):
        word = match.group()
        full = count >= _LONGEST or size + len(word) > _LONGEST_TEXT
        if start >= 0 and (full or "\n" in text[end : match.start()] or _stops(previous, word)):
            yield start, end
            start, count, size = -1, 0, 0
        if start < 0:
            start = match.start()
        end, previous, count, size = match.end(), word, count + 1, size + len(word)
    if start >= 0:
        yield start, end


def _stops(word: str, following: str) -> bool:
    bare = word.rstrip(_CLOSING)
    if not bare.endswith((".", "!", "?", "…")):
        return False
    opened = following.lstrip(OPENING)
    if not opened or not (opened[0].isupper() or opened[0].isdigit()):
        return False
    if bare[-1] != ".":
        return True
    short = bare[:-1].lstrip(OPENING)
    if short.lower() == "no":
        return not opened[0].isdigit()
    return short.lower() not in ABBREVIATIONS and not (len(short) == 1 and short.isupper())
