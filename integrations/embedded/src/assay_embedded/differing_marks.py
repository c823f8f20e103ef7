"""What a claim and a passage differ in by a mark alone, so told that a reader of words sees it.

A model that learnt from prose hardly looks at marks: to it "-5 °C" is "5 °C", "x < 5" is "x > 5", "$500" is "€500", and
one long number or key is much like another. The words that both share tell it nothing either. So such marks are read
by their names, and identifiers with a code beside them, where only one of the two texts has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import groupby

from assay_embedded.records.spoken import DATE, spoken
from assay_embedded.unknown_words import code, names

_Found = tuple[int, int, str]  # where in a text, and what it is
_Pair = tuple[str, str]  # a claim, and what is read of a passage
_Which = Callable[[set[str], set[str]], Collection[str]]  # of what the claim has, and the passage

NAMES = {
    "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "₹": "rupees", "%": "percent", "‰": "per thousand",
    "°": "degrees", "+": "plus", "−": "minus", "±": "plus or minus", "×": "times", "÷": "divided by", "=": "equals",
    "==": "equals", "!=": "does not equal", "≠": "does not equal", "≈": "about", "~": "about", "→": "to",
    "<": "less than", "<=": "less than or equal to", "≤": "less than or equal to",
    ">": "more than", ">=": "more than or equal to", "≥": "more than or equal to",
    "C#": "sharp", "#5": "number", "-5": "negative", "5K": "thousand", "5M": "million", "5B": "billion",
}  # fmt: skip
#: Told wherever they stand: both texts may have the same of them, in other places.
_ALWAYS = frozenset({"<", ">", "<=", "≤", ">=", "≥", "-5"})
#: Told only where one of the texts says the word: a record has bare numbers, and "19%" of a text about it is no lie.
_UNITS = ("%", "°")
_OPERAND = r"(?= (?:[a-zA-Z]\b|\d))"
# marks that prose and markup have as well are told where they stand beside a number or between single letters
_SIGN = re.compile(
    r"(?:<=?|(?<![^\s(])>=?|(?<=\s[a-zA-Z])>=?)(?=\s?[\d.$€£¥₹−-])"
    rf"|(?<=\b[a-zA-Z] )(?:<=|>=|[<>]){_OPERAND}"
    r"|!=|(?<![-=<>])==?(?!>)|[$€£¥₹%‰°+±×÷≠≈→≤≥]|~(?=\d)"
    r"|(?P<negative>(?<![\w.,)\]°%])[-−–](?=[$€£¥₹]?\d))"
    rf"|(?P<minus>(?<=\b[a-zA-Z] )[-−]{_OPERAND}|(?<=\b[A-F])[-−](?![\w−-]))"
    r"|(?P<sharp>(?<=\w)#(?!\w))|(?P<number>#(?=\d))"
    r"|(?<=\d)(?:(?P<thousand>K)|(?P<million>M)|(?P<billion>B))(?!\w)"
)
_KINDS = {
    "negative": "-5", "minus": "−", "sharp": "C#", "number": "#5", "thousand": "5K", "million": "5M", "billion": "5B",
}  # fmt: skip
_JOINERS = dict.fromkeys(map(ord, "\u200d\ufe0f"))

# dates and the like, or a word; of an address or a path each part is one
_IDENTIFIER = re.compile(r"(?P<figures>\d+(?:[-/.:]\d+){2,})|[A-Za-z0-9](?:[A-Za-z0-9_@+-]*[A-Za-z0-9])?")
_ENOUGH = 12  # letters and digits in one piece that are no word with a number


def mark_differences(claim: str, passage: str, *, english: bool = True) -> tuple[str, str]:
    """Both as they are read; without `english` no mark is told by its English name, and those are left as they are.

    Emoji that only the claim has are left out, but where the passage has others: they adorn, and state nothing.
    """
    pair = claim, passage
    if english:
        pair = _dates(pair).told(pair, _without_day, spoken)
    pair = _identifiers(pair).told(pair, _with_code)
    pair = _unadorned(*pair), pair[1]
    return _marks(pair).told(pair, _name) if english else pair


def only_in_claim(claim: str, passage: str) -> list[tuple[int, int]]:
    """Offsets in the claim of the marks and identifiers that are told because the passage lacks them."""
    pair = claim, passage
    read = {*_unadorned(*pair)}
    spans = []
    for seen in (_identifiers(pair), _marks(pair)):
        alone = {*seen.tell} - {what for *_, what in seen.in_passage}
        spans += [(start, end) for start, end, what in seen.in_claim if what in alone and claim[start] in read]
    return sorted(spans)


@dataclass(frozen=True, slots=True)
class _Marks:
    """What of one kind is in a claim and in a passage, and what of it is to be told wherever it stands."""

    in_claim: Collection[_Found]
    in_passage: Collection[_Found]
    tell: Collection[str]

    def told(self, pair: _Pair, how: Callable[[str], str], in_passage: Callable[[str], str] | None = None) -> _Pair:
        return self._told(pair[0], self.in_claim, how), self._told(pair[1], self.in_passage, in_passage or how)

    def _told(self, text: str, found: Collection[_Found], how: Callable[[str], str]) -> str:
        parts, at = [], 0
        for start, end, what in found:
            if what in self.tell:
                parts += [text[at:start], how(what)]
                at = end
        return "".join((*parts, text[at:]))


def _marks_of(pair: _Pair, find: Callable[[str], Iterator[_Found]], which: _Which) -> _Marks:
    """What `find` finds in both; `which` of it is to be told, by what each of them has."""
    in_claim, in_passage = (sorted(find(text)) for text in pair)
    own, others = ({what for *_, what in found} for found in (in_claim, in_passage))
    return _Marks(in_claim, in_passage, which(own, others))


# -- dates and identifiers ---------------------------------------------------------------------------------------------


def _dates(pair: _Pair) -> _Marks:
    """Dates in figures (2024-01-03) that only one of them has, in words."""
    return _marks_of(pair, _dates_in, set.symmetric_difference)


def _dates_in(text: str) -> Iterator[_Found]:
    yield from ((*match.span(), match.group()) for match in DATE.finditer(text))


def _without_day(date: str) -> str:
    """A passage says which day of the week that was; a claim is not held to it."""
    return spoken(date).partition(", ")[2] or date


def _identifiers(pair: _Pair) -> _Marks:
    """Identifiers that only one of them has, where the other has one like it."""

    def which(own: set[str], others: set[str]) -> set[str]:
        shapes = {*map(_shape, own - others)} & {*map(_shape, others - own)}
        return {one for one in own ^ others if _shape(one) in shapes}

    return _marks_of(pair, _identifiers_in, which)


def _identifiers_in(text: str) -> Iterator[_Found]:
    for match in _IDENTIFIER.finditer(text):
        found = match.group()
        if match["figures"] or "@" in found or "_" in found or any(map(_is_mixed, re.split("[+-]", found))):
            yield match.start(), match.end(), found.casefold()


def _is_mixed(piece: str) -> bool:
    """Whether letters and digits take turns in it, or it is long and has both."""
    turns = len(list(groupby(piece, str.isdigit)))
    return turns > 2 or (turns == 2 and len(piece) >= _ENOUGH)


def _shape(identifier: str) -> str:
    """Of which kind it is: two of one kind may be taken for each other."""
    if "@" in identifier:
        return "address"
    return "name" if "_" in identifier else re.sub(r"[a-z0-9]", "x", identifier)


def _with_code(identifier: str) -> str:
    return f"{identifier} {code(identifier)}"


# -- marks -------------------------------------------------------------------------------------------------------------


def _marks(pair: _Pair) -> _Marks:
    """Marks that only one of them has, and those that are always told."""
    words = " ".join(pair).casefold()

    def which(own: set[str], others: set[str]) -> Collection[str]:
        tell = own ^ others if own - others else set()
        return _ALWAYS | tell - {mark for mark in _UNITS if NAMES[mark] not in words}

    return _marks_of(pair, _marks_in, which)


def _marks_in(text: str) -> Iterator[_Found]:
    for match in _SIGN.finditer(text):
        yield match.start(), match.end(), _KINDS.get(match.lastgroup or "") or match.group()
    if not text.isascii():
        yield from ((at, at + 1, char) for at, char in enumerate(text) if _is_symbol(char))


def _name(mark: str) -> str:
    return f" {NAMES.get(mark) or names(mark)} "


def _is_symbol(char: str, kinds: Collection[str] = ("So", "Sk", "Sm", "Sc")) -> bool:
    """Whether it has no letters to stand for it, as ™ and ℃ have, and no name in the table."""
    if char.isascii() or char in NAMES or unicodedata.category(char) not in kinds:
        return False
    return unicodedata.is_normalized("NFKC", char)


def _unadorned(claim: str, passage: str) -> str:
    """The claim without the emoji and their like that the passage lacks, unless the passage has others."""
    if claim.isascii():
        return claim
    own, others = ({char for char in text if _is_symbol(char, ("So", "Sk"))} for text in (claim, passage))
    if not own - others or others - own:
        return claim
    plain = "".join(char for char in claim if char in others or char not in own).translate(_JOINERS)
    return plain if plain.strip() else claim
