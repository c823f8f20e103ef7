"""Missing values that went through a text format: `nan`, `None`, `NULL` and the like in a cell.

A passage or a reference that is nothing but such a word is missing. In an answer or a question `None` may be meant, so
that only words which no person writes are missing there; the others are judged, and a note counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay._util.normalise import missing

#: As programs print a gap, and nobody an answer.
_PRINTED = frozenset({
    "nan", "NaN", "-nan", "NaT", "<NA>", "undefined", "\\N", "1.#QNAN", "1.#IND", "-1.#IND",
    "#N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "#ERROR!",  # of spreadsheets
})  # fmt: skip
#: As programs print a gap, and people write that there is nothing.
_WORDS = _PRINTED | {
    "None", "none", "NONE", "null", "Null", "NULL", "nil", "NIL", "NA", "N/A", "n/a", "NAN", "(null)", "(none)",
    "<null>", "<none>", "[null]", "-", "--", "---", "\u2013", "\u2014",
}  # fmt: skip
_FOLDED = frozenset(word.casefold() for word in _WORDS)

#: White space, and marks without a width that stay of an emptied cell.
_BLANKS = " \t\r\n\f\v\xa0\u200b\ufeff"

_PASSAGES = ("contexts", "reference_contexts")
_TEXTS = ("question", "answer")


def is_missing(field: str, value: object, answer: object = None) -> bool:
    """Check whether a cell of a field is missing, as a value or as a word.

    Args:
        field: The field.
        value: The value in the cell.
        answer: The value in the cell of the answer. A reference of the same word is meant.

    Returns:
        True for a missing cell.
    """
    if not isinstance(value, str):
        return missing(value)
    word = value.strip(_BLANKS)
    if len(word) > 10:
        return False
    if field in _PASSAGES:
        return word.casefold() in _FOLDED
    if field == "reference":
        return word in _PRINTED or (word in _WORDS and not _same_word(word, answer))
    return field in _TEXTS and word in _PRINTED


def is_missing_passage(item: object) -> bool:
    """Check whether an item of a list of passages is none: missing, blank, or such a word.

    Args:
        item: The item.

    Returns:
        True for what is no passage.
    """
    return is_missing("contexts", item) or (isinstance(item, str) and not item.strip(_BLANKS).strip())


def _same_word(word: str, answer: object) -> bool:
    return isinstance(answer, str) and answer.strip().rstrip(".").casefold() == word.casefold()


def missing_word_notes(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> list[str]:
    """Say how many cells have such words, and how they are read.

    Args:
        rows: The first rows of the data.
        columns: Field -> its column.

    Returns:
        A sentence for each field that has some.
    """
    rows = list(rows)
    notes = []
    for field in (*_PASSAGES, "reference", *_TEXTS):
        cells = [(row.get(columns[field]), row.get(columns.get("answer", ""))) for row in rows if field in columns]
        words = [(str(cell).strip(), is_missing(field, cell, answer)) for cell, answer in cells if _is_word(cell)]
        for read, how in (
            (True, "missing"),
            (False, "a text; empty the cell if it is missing"),
        ):
            found = [word for word, gap in words if gap is read]
            if found and (read or field in _TEXTS):
                shown = " or ".join(repr(word) for word in sorted(set(found))[:3])
                notes.append(f"{field}: {len(found)} of the first {len(rows)} rows have {shown}, read as {how}")
    return notes


def _is_word(cell: object) -> bool:
    return isinstance(cell, str) and cell.strip().casefold() in _FOLDED
