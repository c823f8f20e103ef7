"""Words that a vocabulary has no tokens for, in letters that it has.

A model reads every such word as one and the same mark: two emoji, two keys or two names in another script would be
equal to it, and whatever is said of one of them true of the other.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby

LONGEST = 96  # characters; of what would be longer the beginning is told, so many of them, and a code
BEGINNING = 32
_SILENT = {"Cf", "Me"}  # what joins emoji, and the box around a keycap


def spelled(word: str, known: Callable[[str], bool]) -> str:
    """The word with what is not `known` of its characters told in others: symbols by name, the rest by a code.

    The same for equal words, and as good as never for different ones; LONGEST characters at most.
    """
    word = "".join(char for char in unicodedata.normalize("NFKC", word) if not _silent(char))
    told = " ".join(_parts(word, known))
    return told if len(told) <= LONGEST else f"{told[:BEGINNING]} {code(word)}"


def code(text: str) -> str:
    """Nine characters that stand for a text; the same for it in capitals."""
    return "u" + hashlib.sha256(text.casefold().encode("utf-8", "replace")).hexdigest()[:8]


def names(symbols: str) -> str:
    """What Unicode calls them: a reader of English knows what a smiling face is."""
    return " ".join(unicodedata.name(symbol, code(symbol)).lower() for symbol in symbols)


def _parts(word: str, known: Callable[[str], bool]) -> Iterator[str]:
    def way(char: str) -> Callable[[str], str]:
        return str if known(char) else names if unicodedata.category(char).startswith("S") else code

    for tell, run in groupby(word, way):
        yield tell("".join(run))


def _silent(char: str) -> bool:
    return unicodedata.category(char) in _SILENT or "\ufe00" <= char <= "\ufe0f"
