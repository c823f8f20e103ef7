"""What is probed: sentences that stand in the passages of rows, and so are supported whatever a model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis.judges.probes.rules import names_in
from assay.records import Sample
from assay.text import split_sentences
from assay.text.languages import code_of

#: Words of a sentence that can stand alone.
FEWEST, MOST = 7, 40
#: Beginnings that point back to another sentence.
_POINTING = frozenset({"he", "she", "it", "they", "this", "that", "these", "those", "his", "her", "its", "their",
                       "such", "however", "but", "and", "also", "then", "there"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage; `passages` are all of the row, `unrelated` is a passage of another row.

    Attributes:
        home: The passage that it stands in.
        names: Of other rows, to put in place of its own.
        other: A sentence of the other row's passage.
    """

    row: int
    question: str | None
    text: str
    passages: tuple[str, ...]
    home: int
    unrelated: str
    other: str
    names: tuple[str, ...]


def statements(samples: Sequence[Sample], each: int = 1) -> list[Statement]:
    """Up to `each` statements of every English row with passages; () without two rows about different things.

    Sentences with numbers, dates and names are taken first: more can be changed in them.
    """
    rows = [(number, sample, _sentences(sample)) for number, sample in enumerate(samples, 1)]
    rows = [(number, sample, found) for number, sample, found in rows if found]
    made = []
    for place, (number, sample, found) in enumerate(rows):
        other = _another(rows, place)
        if other is None:
            continue
        _, away, theirs = other
        names = tuple(dict.fromkeys(name for text, _ in theirs for name in names_in(text)))
        for text, home in found[:each]:
            made.append(
                Statement(number, sample.question, text, sample.passages, home, away.passages[theirs[0][1]],
                          theirs[0][0], names)
            )  # fmt: skip
    return made


def _sentences(sample: Sample) -> list[tuple[str, int]]:
    """The sentences that can stand alone with the number of their passage, those with most to change first."""
    if not sample.contexts or code_of(sample.spoken) != "en" or any(one.image for one in sample.contexts):
        return []
    found = [
        (text, home)
        for home, passage in enumerate(sample.passages)
        for span in split_sentences(passage[:20_000])
        if _alone(text := " ".join(span.of(passage).split()))
    ]
    return sorted(dict.fromkeys(found), key=lambda one: -_changeable(one[0]))


def _alone(text: str) -> bool:
    words = text.split()
    return (
        FEWEST <= len(words) <= MOST
        and text.endswith(".")
        and text[0].isupper()
        and words[0].strip(",").casefold() not in _POINTING
        and not any(mark in text for mark in "|*#{}<>=_[]")
    )


def _changeable(text: str) -> int:
    return (
        any(c.isdigit() for c in text) + bool(names_in(text)) + (" is " in text or " was " in text or " are " in text)
    )


def _another(
    rows: Sequence[tuple[int, Sample, list[tuple[str, int]]]], place: int
) -> tuple[int, Sample, list[tuple[str, int]]] | None:
    """The next row that asks something else and whose passages are others."""
    _, sample, _ = rows[place]
    own = set(sample.passages)
    for step in range(1, len(rows)):
        other = rows[(place + step) % len(rows)]
        if not own & set(other[1].passages) and other[1].question != sample.question:
            return other
    return None
