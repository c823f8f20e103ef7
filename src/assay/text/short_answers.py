"""Answers of a few words, such as references are in question answering sets: "1967", "Ada Lovelace | Augusta King".

Whether a text gives such an answer is looked for by its words, in other spellings too: case, accents, punctuation,
articles, numbers in words and figures, the order of neighbouring words ("July 4, 1776", "4 July 1776"), and words
written apart or together ("eye glasses", "eyeglasses"). A word inside a longer one is not found ("daughter" in
"granddaughter"), but in scripts without spaces. Time is linear in the text for each alias.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import accumulate

from assay.records import Span
from assay.text.scripts import CJK, SPACED_CLAUSES

BETWEEN = "|"  # between the aliases of one answer
LONGEST = 6  # words of an answer of a few words,
_ALIAS = 15  # or where there are several: nobody writes sentences with "|" between them
_CHARACTERS = 100  # and their length, which counts where no spaces do

_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
# what ends in a stop and no sentence with it
_INITIALS = re.compile(
    r"(?:[^\W\d_]\.){2,20}|[^\W\d_a-z]\.|(?:Mr|Mrs|Dr|St|Jr|Sr|Inc|Ltd|Co)\."
)  # that end in a stop, and no sentence
_ARTICLES = frozenset(("a", "an", "the"))
_NUMBERS = {
    word: str(number)
    for number, words in enumerate(
        ("zero", "one first", "two second twice", "three third", "four fourth", "five fifth", "six sixth",
         "seven seventh", "eight eighth", "nine ninth", "ten tenth", "eleven eleventh", "twelve twelfth")
    )
    for word in words.split()
}  # fmt: skip
_POLAR = {**dict.fromkeys(("yes", "yeah", "yep", "true"), True), **dict.fromkeys(("no", "nope", "false"), False)}
_ORDINAL_ENDS = frozenset(("st", "nd", "rd", "th"))


def aliases(reference: str) -> tuple[str, ...]:
    """The spellings of an answer of a few words: one, or several with " | " between them; () for a longer text.

    Few words: at most 6 (15 where there are several spellings) and 100 characters, without a line break or a full stop
    other than those of initials and a few abbreviations.
    """
    parts = (part.strip() for part in reference.split(BETWEEN))
    found = tuple(dict.fromkeys(part for part in parts if part))
    most = LONGEST if len(found) == 1 else _ALIAS
    return found if all(_is_short(part, most) for part in found) else ()


def _is_short(text: str, most: int) -> bool:
    return (
        len(text) <= _CHARACTERS
        and len(text.split()) <= most
        and "\n" not in text
        and not text.endswith(("!", "?", "。", "؟", "।"))
        and all(_INITIALS.fullmatch(word) for word in text.split() if word.endswith("."))
        and bool(_words(text))
    )


def polarity(text: str) -> bool | None:
    """What a text that begins with yes or no says, or an answer that is one of them; None for any other."""
    first = _WORD.search(text)
    return None if first is None else _POLAR.get(first.group().casefold())


def stated(text: str, alias: str) -> Span | None:
    """Where a text first gives an answer of a few words; None where it does not, and for an alias without words."""
    wanted = _words(alias)
    if not wanted:
        return None
    said = _words(text)
    return _neighbours(said, wanted) or _match_without_spaces(said, wanted)


Word = tuple[str, int, int]  # in plain form, and where it stands


def _words(text: str) -> list[Word]:
    out: list[Word] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isdigit():
            plain = word.replace(",", "")
            if plain.count(".") == 1:
                plain = plain.rstrip("0").rstrip(".")
        else:
            folded = unicodedata.normalize("NFKD", word.casefold())
            plain = "".join(c for c in folded if not unicodedata.combining(c))
            plain = _NUMBERS.get(plain, plain)
            after_number = bool(out) and out[-1][2] == match.start() and out[-1][0].isdigit()
            if plain in _ARTICLES or (after_number and plain in _ORDINAL_ENDS):
                continue
        out.append((plain, match.start(), match.end()))
    return out


def _neighbours(said: list[Word], wanted: list[Word]) -> Span | None:
    """The same words next to each other, in any order."""
    size = len(wanted)
    missing = Counter(word for word, _, _ in wanted)
    for n, (word, _, end) in enumerate(said):
        missing[word] -= 1
        if n >= size:
            missing[said[n - size][0]] += 1
        # size words, and none of the wanted is missing: then no other is among them
        if n + 1 >= size and word in missing and all(missing[one] <= 0 for one, _, _ in wanted):
            return Span(said[n + 1 - size][1], end)
    return None


def _match_without_spaces(said: list[Word], wanted: list[Word]) -> Span | None:
    """The same letters, wherever the spaces are, from the beginning of a word to the end of one."""
    whole, sought = "".join(word for word, _, _ in said), "".join(word for word, _, _ in wanted)
    if not any(map(str.isalpha, sought)):  # "19 67" is not 1967
        return None
    unspaced = bool(CJK.search(sought) or SPACED_CLAUSES.search(sought))
    ends = list(accumulate(len(word) for word, _, _ in said))
    first = {end - len(word): n for n, (end, (word, _, _)) in enumerate(zip(ends, said, strict=True))}
    last = {end: n for n, end in enumerate(ends)}
    at = whole.find(sought)
    while at >= 0:
        begin, end = first.get(at), last.get(at + len(sought))
        if begin is not None and end is not None:
            return Span(said[begin][1], said[end][2])
        if unspaced:
            return _inside(said, ends, at, at + len(sought))
        at = whole.find(sought, at + 1)
    return None


def _inside(said: list[Word], ends: list[int], start: int, end: int) -> Span:
    """The words in which what was found begins and ends."""
    begin = next(n for n, over in enumerate(ends) if over > start)
    last = next(n for n, over in enumerate(ends) if over >= end)
    return Span(said[begin][1], said[last][2])
