"""A plain sentence splitter: linear, any script, any language. Takes over where pysbd cannot be trusted.

It goes by sentence marks, by the case of what follows and by a short list of abbreviations. Where in doubt it does
not split: two sentences in one can still be judged, half a sentence cannot.
"""

from __future__ import annotations

import re

from assay.text.scripts import (
    CJK_ENDS,
    CLOSING,
    CLOSING_BEFORE_SPACE,
    OTHER_ENDS,
    REFERENCES,
    SPACED_CLAUSES,
    WEAK_ENDS,
)

Pieces = list[tuple[int, int]]

_STRONG = f"{CJK_ENDS}{OTHER_ENDS}"
# Possessive (++), and only from its first mark: a run is read once, so that a thousand dots cost a thousand steps.
_END = re.compile(
    rf"(?<![{WEAK_ENDS}])(?:(?P<strong>[{WEAK_ENDS}]*+[{_STRONG}][{_STRONG}{WEAK_ENDS}]*+[{CLOSING}]*+)"
    rf"|(?P<weak>[{WEAK_ENDS}]++)[{CLOSING_BEFORE_SPACE}]*+{REFERENCES}*+(?=\s))"
)
_GREEK_QUESTION = re.compile(rf"[;\u037e][{CLOSING_BEFORE_SPACE}]*+(?=\s)")
_MEASURE = re.compile(r"\d\s\w\Z")
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“„«‘]*\Z")
_CLAUSE_SPACE = re.compile(rf"(?<={SPACED_CLAUSES.pattern})\s+(?={SPACED_CLAUSES.pattern})")
_SHORTEST_CLAUSE = 15  # characters; shorter pieces between spaces are names and numbers

#: Full stops after these never end a sentence (lower case, without the dot): titles, across European languages.
_TITLES = frozenset({
    "mr", "mrs", "ms", "mx", "messrs", "dr", "dra", "prof", "rev", "gen", "gov", "lt", "capt", "sgt", "sen", "sr",
    "sra", "srta", "eng", "exmo", "exma", "mgr", "judr", "mudr", "inż", "акад", "проф", "κα", "δρ", "pgs", "ths", "ts",
})  # fmt: skip
#: These rarely do. Those that often close one ("etc.", "Inc.") are left out, single letters need no entry.
_ABBREVIATIONS = _TITLES | {
    "al", "approx", "aprox", "avda", "bc", "bl", "bzw", "ca", "cf", "col", "eds", "eks", "esim", "evtl", "exkl", "ggf",
    "gs", "inkl", "jfr", "mj", "např", "puh", "příp", "resp", "st", "tp", "tzv", "vs", "zzgl", "özv", "αρ", "див", "им",
    "напр", "ул",
}  # fmt: skip
#: The same, but only before a number.
_BEFORE_NUMBER = frozenset({
    "no", "nos", "nr", "núm", "pp", "pg", "pág", "págs", "art", "fig", "figs", "eq", "sec", "ch", "vol", "ref",
    "kap", "abs", "str", "tel", "kl", "klo", "čl", "odst", "стр", "рис", "табл", "ст", "σελ", "hlm", "nº",
})  # fmt: skip
#: Here "3." is "third": a full stop after a small number does not end a sentence.
_ORDINALS = frozenset({
    "de", "da", "nb", "no", "nn", "fi", "cs", "sk", "hu", "et", "lv", "hr", "sl", "sr", "bs", "tr", "is", "fo", "lb",
})  # fmt: skip
_ORDINAL = re.compile(r"\d{1,2}\Z")


def split(text: str, language: str) -> Pieces:
    """Start and end of each sentence in a piece of prose without line breaks. All else is whitespace. Linear."""
    ends = [match.end() for match in _END.finditer(text) if _is_end(text, match, language)]
    if language == "el":
        ends = sorted({*ends, *(match.end() for match in _GREEK_QUESTION.finditer(text))})
    if SPACED_CLAUSES.search(text):
        ends = _with_clauses(text, ends)
    return _pieces(text, ends)


def _is_end(text: str, match: re.Match[str], language: str) -> bool:
    marks = match["weak"]
    if marks is None:
        return True
    after = _first_after(text, match.end())
    if after.islower():
        return False
    if marks != "." or match.end() > match.end("weak"):  # "?!", "...", or a closing mark: not an abbreviation
        return True
    word = word_before(text, match.start())
    if _ORDINAL.match(word) and language in _ORDINALS:
        return not after.isalpha()
    if len(word) == 1 and _MEASURE.search(text, max(0, match.start() - 6), match.start()):  # "is 330 m."
        return True
    if word in _BEFORE_NUMBER or word in _ABBREVIATIONS:
        return word in _BEFORE_NUMBER and not after.isdigit()
    return not is_abbreviation(word)


def is_border(text: str, at: int, language: str) -> bool:
    """Whether a sentence of `text` ends at `at`, judged by the 40 characters on either side."""
    start = max(0, at - 40)
    return any(start + end == at for _, end in split(text[start : at + 40], language)) and at < len(text)


def word_before(text: str, at: int) -> str:
    """The word, in lower case, that ends at `at`; its last 30 characters at most."""
    match = _WORD_BEFORE.search(text, max(0, at - 30), at)
    return match.group().lower() if match else ""


def is_title(word: str) -> bool:
    """Whether this lower-case word stands before a name: "dr", "sra"."""
    return word in _TITLES


def is_abbreviation(word: str) -> bool:
    """Whether a full stop after this lower-case word is likely no end: "dr", "e.g", "u.s", an initial."""
    dotted = "." in word and any(char.isalpha() for char in word)
    return dotted or (len(word) == 1 and word.isalpha()) or word in _ABBREVIATIONS


def _first_after(text: str, at: int) -> str:
    """The first character after `at` that is neither space nor an opening mark; empty at the end."""
    for char in text[at : at + 40]:
        if not char.isspace() and char not in "\"'“”„«»‘’(¿¡*_[":
            return char
    return ""


def _with_clauses(text: str, ends: list[int]) -> list[int]:
    known, last, result = iter([*ends, len(text)]), 0, []
    end = next(known)
    for match in _CLAUSE_SPACE.finditer(text):
        while end <= match.start():
            result.append(end)
            last, end = end, next(known)
        if match.start() - last >= _SHORTEST_CLAUSE and match.start() > last:
            result.append(match.start())
            last = match.start()
    return [*result, *(e for e in ends if e > last)]


def _pieces(text: str, ends: list[int]) -> Pieces:
    pieces: Pieces = []
    start = 0
    for end in [*ends, len(text)]:
        piece = text[start:end]
        left = piece.lstrip()
        if left:
            pieces.append((end - len(left), start + len(piece.rstrip())))
        start = end
    return pieces
