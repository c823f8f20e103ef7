"""Plain English prose, split without pysbd: the same borders in a fraction of its time.

pysbd spends its time on looking for what most prose does not have: abbreviations, initials, lists, speech, ellipses.
Here a text is read against a grammar in which none of that can occur, so that every ".", "?" and "!" before a space
ends a sentence, for pysbd too. A text that the grammar does not know is left to pysbd: this never guesses.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.text import guards

Pieces = list[tuple[int, int]]

_LETTER = "A-Za-zÀ-ÖØ-öø-įĲ-ž"  # without those that count as "i", "k" or "s" where case is ignored
_SPACES = r"[ \n]{1,20}+"
# Possessive throughout: every character is read once.
_WORD = rf"[$£€#~+@]?+[{_LETTER}0-9]++(?:(?:[-–—'’&/:,+@]|(?<=[0-9])\.(?=[0-9]))[{_LETTER}0-9]++)*+[%°]?+"
_WORDS = rf"{_WORD}(?:[,;:]?+{_SPACES}{_WORD})*+"
#: A word; or something in quotes, parentheses or brackets in which no sentence ends.
_UNIT = rf"(?:{_WORD}['’]?+|\({_WORDS}\)|\"{_WORDS},?+\"|“{_WORDS},?+”|\[[0-9]{{1,3}}+(?:,[ ]?[0-9]{{1,3}}+)*+\])"
_PLAIN = re.compile(rf"[ \n]{{0,20}}+(?:(?:[-–—&+=/]{_SPACES})?+{_UNIT}(?:[ ]?[,;:.?!])?+(?:{_SPACES}|\Z))*+")
#: Items of a list ("(a)", "of 2)"), and what pysbd cuts out between two quotations.
_CUT = re.compile(r"[( \n](?:[a-z]|[ivx]++)\)|[ \n][0-9]{1,2}\)|[\"”][ \n]\(")
_MARK = re.compile(r"[.?!](?=[ \n]|\Z)")
_NUMBER_FOLLOWS = re.compile(r"[ \n]+\(|[ \n][0-9]")
_SENTENCE_GOES_ON = re.compile(r"[ \n](?:[a-z0-9(]|I[ \n]|I'm|I'll)")
_GAP = re.compile(r"[ \n]*")
_MOST_ENDS = 40  # with more, `guards` may take the text for a list


def split(window: str) -> Pieces | None:
    """Start and end of each sentence, as pysbd finds them in English; None for a text that is not plain. Linear."""
    if window.count(".") + window.count(")") > _MOST_ENDS or not _PLAIN.fullmatch(window) or _CUT.search(window):
        return None
    pieces: Pieces = []
    start = _after_gap(window, 0)
    for mark in _MARK.finditer(window):
        ends = _ends(window, start, mark.start())
        if ends is None:
            return None
        if ends:
            pieces.append((start, mark.end()))
            start = _after_gap(window, mark.end())
    if start < len(window):
        pieces.append((start, len(window.rstrip())))
    # pysbd cuts after what is quoted at the start of a sentence
    return None if any(window[start] in '"“(' for start, _ in pieces) else pieces


def _after_gap(window: str, at: int) -> int:
    gap = _GAP.match(window, at)
    return gap.end() if gap else at


def _ends(window: str, start: int, at: int) -> bool | None:
    """Whether pysbd ends the sentence that began at `start` at the mark at `at`; None where that takes more rules."""
    word = window[max(window.rfind(" ", start, at), window.rfind("\n", start, at), start - 1) + 1 : at]
    if window[at] == "?":
        return True
    if window[at] == "!":  # "Wow! he said" is one sentence, and "Yahoo!" a name
        following = _after_gap(window, at + 1)
        goes_on = "a" <= window[following : following + 1] <= "z"
        return None if goes_on or word.endswith(("Yahoo", "Yum")) else True
    if len(word) <= 2 and word.isdigit():  # perhaps an item of a list
        return None
    if word.endswith(("°", "Co")):  # pysbd has rules of their own for "N°. 5" and "Co. KG"
        return None
    if len(word) == 1 and word.isalpha():  # an initial; what may be a numeral or an item is left to pysbd
        return False if "A" <= word <= "Z" and word not in "IV" else None
    return _after_abbreviation(window, word.lower(), at)


def _after_abbreviation(window: str, word: str, at: int) -> bool | None:
    titles, before_numbers, others, unclear = _abbreviations()
    if word in titles:
        return False
    if word in before_numbers:
        return _NUMBER_FOLLOWS.match(window, at + 1) is None
    if word in others:
        return _SENTENCE_GOES_ON.match(window, at + 1) is None
    return None if unclear.fullmatch(word) else True


@lru_cache(maxsize=1)
def _abbreviations() -> tuple[frozenset[str], frozenset[str], frozenset[str], re.Pattern[str]]:
    """pysbd's: titles, those before numbers, the rest, and an expression for the dotted ones and their last parts.

    pysbd takes the dot of "e.g" for any character, and so "egg" for an abbreviation.
    """
    rules = guards.abbreviations()
    known = set(rules.ABBREVIATIONS)
    dotted = {word for word in known if "." in word}
    unclear = dotted | {word.rpartition(".")[2] for word in dotted} | {"al", "v"}
    titles = known & set(rules.PREPOSITIVE_ABBREVIATIONS) - unclear
    numbers = known & set(rules.NUMBER_ABBREVIATIONS) - unclear - titles
    return (
        frozenset(titles),
        frozenset(numbers),
        frozenset(known - titles - numbers - unclear),
        re.compile("|".join(sorted(unclear))),
    )
