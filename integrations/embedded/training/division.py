"""A sentence into the statements that can be true or false by themselves, from what a model says of its words.

Each word is outside every statement (conjunctions, lead-ins), begins one, goes on with one, or is shared by several: in
"The pool opens at nine and costs five euros" the first two words are the subject of both. A statement that begins
without a subject of its own borrows the shared words before it, or where there are none the next ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

#: What the model says of a word, in the order of its outputs.
LABELS = ("outside", "inside", "shared", "own", "borrowing")
OUTSIDE, INSIDE, SHARED, OWN, BORROWING = range(len(LABELS))
#: Added to the log-odds of a beginning: a cut too few joins two statements, of which one may be false.
EAGER = 0.5
LONGEST = 600  # characters of a statement that is looked through for a place and a date

Place = tuple[int, int]


class Statement(NamedTuple):
    """One statement of a sentence.

    Attributes:
        places: What makes it up, in the order of the text: one place, or the shared words and its own.
        own: From the first of its own words to the last.
    """

    places: tuple[Place, ...]
    own: Place

    def text(self, sentence: str) -> str:
        """The statement as a text of its own."""
        return " ".join(sentence[start:end] for start, end in self.places)


_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = rf"(?:on|in) (?:(?:the )?(?:{_DAY} (?:of )?)?(?:{_MONTH})(?: {_DAY})?(?:,? \d{{4}})?|\d{{4}})"
_PLACE = r"(?:in|at|near) (?:the )?[A-Z][\w'’-]{1,30}(?:,? (?:of |the |de )?[A-Z][\w'’-]{1,30}){0,4}"
_PLACE_AND_DATE = re.compile(
    rf"(?P<place>{_PLACE}),? (?P<date>{_DATE})(?=[.!]?$)"
    rf"|(?P<date_first>{_DATE}),? (?P<place_behind>{_PLACE})(?=[.!]?$)"
)


def place_and_date(sentence: str, statement: Statement) -> list[Statement]:
    """A statement that ends with a place and a date as two: "was born in Ulm on 14 March 1879" says both.

    Args:
        sentence: The sentence.
        statement: One of its statements.

    Returns:
        Two statements, or the one.
    """
    *shared, (start, end) = statement.places
    found = _PLACE_AND_DATE.search(sentence[start:end]) if end - start <= LONGEST else None
    if found is None or found.start() == 0:
        return [statement]
    head = (start, start + len(sentence[start : start + found.start()].rstrip()))
    parts = [found.span(name) for name in found.groupdict() if found[name]]
    return [
        Statement((*shared, head, (start + a, start + b)), statement.own if n == 0 else (start + a, start + b))
        for n, (a, b) in enumerate(sorted(parts))
    ]


def first_tokens(text: str, offsets: Sequence[Place]) -> list[int]:
    """The tokens that begin a word, by number: the others go on with it."""
    found, end = [], -1
    for number, (start, stop) in enumerate(offsets):
        if start != end or not (text[start].isalnum() and text[start - 1].isalnum()):
            found.append(number)
        end = stop
    return found


def statements(text: str, offsets: Sequence[Place], tags: Sequence[int]) -> list[Statement]:
    """The statements of a sentence.

    Args:
        text: The sentence.
        offsets: The place of each token.
        tags: What each token is, by its place in LABELS; only those of first tokens count.

    Returns:
        The statements, in the order of their own words.
    """
    words = list(_words(text, offsets, tags))
    shared = _runs([place for place, tag in words if tag == SHARED], words)
    found: list[tuple[bool, list[Place]]] = []
    for place, tag in words:
        if tag in (OWN, BORROWING) or (tag == INSIDE and not found):
            found.append((tag == BORROWING, [place]))
        elif tag == INSIDE:
            own = found[-1][1]
            if place[0] - own[-1][1] <= 1:
                own[-1] = (own[-1][0], place[1])
            else:
                own.append(place)
    return [
        Statement(tuple(sorted([*(_borrowed(own[0], shared) if borrows else ()), *own])), (own[0][0], own[-1][1]))
        for borrows, own in found
    ]


def _words(text: str, offsets: Sequence[Place], tags: Sequence[int]) -> Iterator[tuple[Place, int]]:
    first = [*first_tokens(text, offsets), len(offsets)]
    for here, after in pairwise(first):
        yield (offsets[here][0], offsets[after - 1][1]), tags[here]


def _runs(places: Sequence[Place], words: Sequence[tuple[Place, int]]) -> list[Place]:
    """Shared words that follow each other, as one place each."""
    order = {place: n for n, (place, _) in enumerate(words)}
    found: list[tuple[Place, int]] = []
    for place in places:
        if found and order[place] == found[-1][1] + 1:
            found[-1] = ((found[-1][0][0], place[1]), order[place])
        else:
            found.append((place, order[place]))
    return [place for place, _ in found]


def _borrowed(own: Place, shared: Sequence[Place]) -> list[Place]:
    before = [place for place in shared if place[1] <= own[0]]
    return [before[-1]] if before else list(shared[:1])
