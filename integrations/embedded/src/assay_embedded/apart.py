"""What a claim and a passage differ in by a mark alone, so told that a reader of words sees it.

A model that learnt from prose hardly looks at marks: to it "-5 °C" is "5 °C", "x < 5" is "x > 5", "$500" is "€500", and
one long number or key is much like another. The words that both share tell it nothing either. So such marks are read
by their names, and identifiers with a code beside them, where only one of the two texts has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from itertools import groupby

from assay_embedded.records.spoken import DATE, spoken
from assay_embedded.spelled import code, names

_Found = tuple[int, int, str]  # where in the text, and what it is

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


def told_apart(claim: str, passage: str, *, english: bool = True) -> tuple[str, str]:
    """Both as they are read; without `english` no mark is told by its English name, and those are left as they are.

    Emoji that only the claim has are left out, but where the passage has others: they adorn, and state nothing.
    """
    if english:
        claim, passage = _dated(claim, passage)
    claim, passage = _coded(claim, passage)
    claim = _unadorned(claim, passage)
    return _named(claim, passage) if english else (claim, passage)


# -- marks -------------------------------------------------------------------------------------------------------------


def _named(claim: str, passage: str) -> tuple[str, str]:
    in_claim, in_passage = [*_marks(claim)], [*_marks(passage)]
    own, others = ({mark for *_, mark in found} for found in (in_claim, in_passage))
    tell = own - others
    if tell:
        tell |= others - own
    words = f"{claim} {passage}".casefold()
    tell -= {mark for mark in _UNITS if NAMES[mark] not in words}
    tell |= _ALWAYS

    def name(mark: str) -> str:
        return f" {NAMES.get(mark) or names(mark)} "

    return _told(claim, in_claim, tell, name), _told(passage, in_passage, tell, name)


def _marks(text: str) -> Iterator[_Found]:
    for match in _SIGN.finditer(text):
        yield match.start(), match.end(), _KINDS.get(match.lastgroup or "") or match.group()
    if not text.isascii():
        yield from ((at, at + 1, char) for at, char in enumerate(text) if _is_symbol(char))


def _is_symbol(char: str, kinds: Collection[str] = ("So", "Sk", "Sm", "Sc")) -> bool:
    """Whether it has no letters to stand for it, as ™ and ℃ have, and no name in the table."""
    if char.isascii() or char in NAMES or unicodedata.category(char) not in kinds:
        return False
    return unicodedata.is_normalized("NFKC", char)


def _pictures(text: str) -> set[str]:
    """Emoji and their like."""
    return {char for char in text if _is_symbol(char, ("So", "Sk"))}


def _unadorned(claim: str, passage: str) -> str:
    """The claim without the pictures that the passage lacks, unless the passage has others."""
    if claim.isascii():
        return claim
    own, others = _pictures(claim), _pictures(passage)
    if not own - others or others - own:
        return claim
    plain = "".join(char for char in claim if char in others or char not in own).translate(_JOINERS)
    return plain if plain.strip() else claim


# -- dates and identifiers --------------------------------------------------------------------------------------------


def _dated(claim: str, passage: str) -> tuple[str, str]:
    """Dates in figures (2024-01-03) that only one of them has, in words; a claim does not say which day of the week."""
    in_claim, in_passage = (
        [(*match.span(), match.group()) for match in DATE.finditer(text)] for text in (claim, passage)
    )
    tell = {date for *_, date in in_claim} ^ {date for *_, date in in_passage}

    def alone(date: str) -> str:
        return spoken(date).partition(", ")[2] or date

    return _told(claim, in_claim, tell, alone), _told(passage, in_passage, tell, spoken)


def _coded(claim: str, passage: str) -> tuple[str, str]:
    """Identifiers that only one of them has, where the other has one like it: each with a code beside it."""
    in_claim, in_passage = [*_identifiers(claim)], [*_identifiers(passage)]
    own, others = ({one for *_, one in found} for found in (in_claim, in_passage))
    shapes = {_shape(one) for one in own - others} & {_shape(one) for one in others - own}
    if not shapes:
        return claim, passage
    tell = {one for one in own ^ others if _shape(one) in shapes}

    def beside(identifier: str) -> str:
        return f"{identifier} {code(identifier)}"

    return _told(claim, in_claim, tell, beside), _told(passage, in_passage, tell, beside)


def _identifiers(text: str) -> Iterator[_Found]:
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


def _told(text: str, found: Collection[_Found], tell: Collection[str], how: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, end, what in sorted(found):
        if what in tell:
            parts += [text[at:start], how(what)]
            at = end
    return "".join((*parts, text[at:]))
