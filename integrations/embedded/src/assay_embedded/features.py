"""What a claim and a passage have in common, in plain words: shared words, numbers, names and word order.

No model and no numpy: each feature is a count that a reader can check by eye, and the time taken grows in
proportion to the length of the two texts. A passage is indexed once, as a whole, and never shortened; what is
selected are its sentences, by how much of the claim they cover.

English only: names are told by their capital letters, endings are cut off by English rules.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from assay_embedded.english import (
    ENDINGS,
    NEGATIONS,
    NO_MISMATCH,
    NUMBER_WORDS,
    PLAIN_ENDINGS,
    STARTERS,
    STOP,
)
from assay_embedded.records import RecordPart, pieces
from assay_embedded.sentences import OPENING, sentences

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "words_shared": "share of the claim's different content words that the passage has",
        "words_shared_weighted": "the same, where a word found in few sentences of the passage counts more",
        "best_sentence": "largest share of the claim's content words in one sentence of the passage",
        "best_three": "share of the claim's content words in the three sentences that together cover most",
        "in_order": "longest common subsequence of the claim and one of those sentences, over the claim's words",
        "pairs_shared": "share of the claim's pairs of neighbouring words that the passage has",
        "triples_shared": "share of the claim's triples of neighbouring words that the passage has",
        "verbatim": "1 when the claim's words stand in the passage in one piece",
        "numbers_missing": "numbers of the claim that are nowhere in the passage (counted up to 3)",
        "numbers_missing_share": "the same, over the numbers of the claim",
        "numbers_elsewhere_share": "share of the claim's numbers in the passage, but not in the three sentences",
        "names_missing": "names of the claim that are nowhere in the passage (counted up to 3)",
        "names_missing_share": "the same, over the names of the claim",
        "names_elsewhere_share": "share of the claim's names in the passage, but not in the three sentences",
        "negation_differs": "1 when only one of the claim and the best sentence has a negation",
        "negation": "1 when the claim has a negation",
        "new_run": "longest run of content words in the claim that the passage lacks (counted up to 6)",
        "claim_words": "logarithm of 1 + the words of the claim",
        "passage_words": "logarithm of 1 + the words of the passage",
    }
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*")
_BEST = 3
_LONGEST = 60  # words of pieces that are joined

#: Whether the second of two pieces of prose goes on with the first: "am 3." and "Oktober".
GoesOn = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """One claim against one passage. `values` are in the order of FEATURES; `sentence` is (0, 0) when none fits.

    Attributes:
        missing: Offsets in the claim of runs of words and numbers that are nowhere in the passage.
    """

    values: tuple[float, ...]
    sentence: tuple[int, int]
    missing: tuple[tuple[int, int], ...]

    @property
    def overlap(self) -> float:
        """Share of the claim's different content words that the passage has, in [0, 1]."""
        return self.values[0]


def words(text: str) -> list[str]:
    """Words and numbers in lower case, without accents."""
    return [_plain(word) for word in _WORD.findall(text)]


def _plain(word: str) -> str:
    word = word.lower()
    if not word.isascii():
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)).replace("’", "'")
    return word.removesuffix("'s")


def stem(word: str) -> str:
    """A word without its ending, by a few rules; equal for most forms of one English word."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _number(word: str) -> str | None:
    """The value of a word that is a number, in one spelling: 1,967 and 1967, five and 5, 2.50 and 2.5."""
    if word[:1].isdigit():
        value = word.replace(",", "")
        if value.count(".") == 1:
            value = value.rstrip("0").rstrip(".")
        return value
    return NUMBER_WORDS.get(word)


def _names(text: str) -> Iterator[str]:
    """Words that start with a capital, as written; at the start of a sentence only where they look like a name."""
    for start, end in sentences(text):
        found = list(_WORD.finditer(text, start, end))
        for place, match in enumerate(found):
            word = match.group()
            if not word[0].isupper() or _plain(word) in STOP or (len(word) == 1 and place == 0):
                continue
            if place == 0 or text[start : match.start()].strip(OPENING + " ") == "":
                following = found[place + 1].group() if place + 1 < len(found) else ""
                compound = following[:1].isupper() or any(c.isupper() for c in word[1:])
                lower = _plain(word)
                if not compound and (lower in STARTERS or lower.endswith(PLAIN_ENDINGS) or len(word) < 3):
                    continue
            yield word


@dataclass(slots=True)
class Passage:
    """A passage, indexed once for any number of claims."""

    text: str
    goes_on: GoesOn | None = None  # where sentences break otherwise than in English
    pieces: list[RecordPart] = field(init=False)  # what is read, and where it stands
    tokens: list[list[str]] = field(init=False)
    length: int = field(init=False)
    _where: dict[str, list[int]] = field(init=False)  # stem -> sentences that have it
    _all: set[str] = field(init=False)
    _numbers: dict[str, set[int]] = field(init=False)
    _pairs: set[tuple[str, str]] = field(init=False)
    _triples: set[tuple[str, str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.pieces = list(pieces(self.text))
        if self.goes_on is not None:
            self.pieces = list(_joined(self.text, self.pieces, self.goes_on))
        self.tokens = [words(piece.text) for piece in self.pieces]
        self._where, self._numbers = {}, {}
        for i, sentence in enumerate(self.tokens):
            for word in sentence:
                number = _number(word)
                if number is not None:
                    self._numbers.setdefault(number, set()).add(i)
            for key in {stem(word) for word in sentence}:
                self._where.setdefault(key, []).append(i)
        flat = [word for sentence in self.tokens for word in sentence]
        self._all = set(flat)
        self.length = len(flat)
        self._pairs = set(pairwise(flat))
        self._triples = set(zip(flat, flat[1:], flat[2:], strict=False))

    def compare(self, claim: str) -> TextFeatures:
        """Every feature of a claim against this passage, and the words that explain them."""
        tokens = words(claim)
        content = {stem(word) for word in tokens if word not in STOP}
        weight = self.weights(content)
        best = self._cover(content, weight)
        near: set[str] = {word for i in best for word in self.tokens[i]}
        near_stems = {stem(word) for word in near}
        shared = {word for word in content if word in self._where}

        numbers = dict.fromkeys(n for word in tokens if (n := _number(word)) is not None and word not in NO_MISMATCH)
        lost_numbers = [n for n in numbers if n not in self._numbers]
        far_numbers = [n for n in numbers if n in self._numbers and not self._numbers[n].intersection(best)]
        names = dict.fromkeys(map(_plain, _names(claim)))
        lost_names = [name for name in names if name not in self._all and stem(name) not in self._where]
        far_names = [n for n in names if n not in lost_names and n not in near and stem(n) not in near_stems]

        negated = _negated(tokens)
        pairs = set(pairwise(tokens))
        triples = set(zip(tokens, tokens[1:], tokens[2:], strict=False))
        values = (
            _share(len(shared), len(content)),
            _share(math.fsum(weight[word] for word in shared), math.fsum(weight.values())),
            max((self._share_in((i,), content) for i in best), default=0.0),
            self._share_in(best, content),
            max((_in_order(tokens, self.tokens[i]) for i in best), default=0.0),
            _share(len(pairs & self._pairs), len(pairs)),
            _share(len(triples & self._triples), len(triples)),
            float(bool(tokens) and any(_inside(tokens, self.tokens[i]) for i in best)),
            float(min(3, len(lost_numbers))),
            _share(len(lost_numbers), len(numbers)),
            _share(len(far_numbers), len(numbers)),
            float(min(3, len(lost_names))),
            _share(len(lost_names), len(names)),
            _share(len(far_names), len(names)),
            float(bool(best) and negated != _negated(self.tokens[best[0]])),
            float(negated),
            float(min(6, self._new_run(tokens))),
            math.log1p(len(tokens)),
            math.log1p(self.length),
        )
        return TextFeatures(
            values=values,
            sentence=self.pieces[best[0]].span if best else (0, 0),
            missing=self._missing(claim),
        )

    def around(self, text: str) -> str:
        """The three sentences that together cover `text` best, each with the one before and after, in their order.

        "" where no word is shared.
        """
        content = {stem(word) for word in words(text) if word not in STOP}
        best = self._cover(content, self.weights(content))
        return self.read(sorted({i for at in best for i in (at - 1, at, at + 1) if 0 <= i < len(self.pieces)}))

    def read(self, chosen: Iterable[int]) -> str:
        """These pieces of it, by number, as one text."""
        return " ".join(self.pieces[i].text for i in chosen)

    def weights(self, content: set[str]) -> dict[str, float]:
        """Rare words of the passage weigh more; a word it lacks weighs as much as one it has half a time."""
        total = max(1, len(self.tokens))
        return {word: math.log1p(total / (len(self._where[word]) if word in self._where else 0.5)) for word in content}

    def places(self, word: str) -> Sequence[int]:
        """The sentences, by number, that have a word of this stem."""
        return self._where.get(word, ())

    def _cover(self, content: set[str], weight: Mapping[str, float]) -> tuple[int, ...]:
        """Up to three sentences that together cover the claim best, the best first; ties go to the earlier one."""
        left = {word for word in content if word in self._where}
        chosen: list[int] = []
        while left and len(chosen) < _BEST:
            gain: dict[int, float] = {}
            for word in sorted(left):  # in one order, so that sums round alike in every process
                for i in self._where[word]:
                    gain[i] = gain.get(i, 0.0) + weight[word]
            top = max(gain, key=lambda i: (gain[i] / (1 + 0.01 * len(self.tokens[i])), -i))
            chosen.append(top)
            left -= {stem(word) for word in self.tokens[top]}
        return tuple(chosen)

    def _share_in(self, chosen: Sequence[int], content: set[str]) -> float:
        here = {stem(word) for i in chosen for word in self.tokens[i]}
        return _share(len(content & here), len(content))

    def _missing(self, claim: str) -> tuple[tuple[int, int], ...]:
        """Words that say little may stand within a run; that a passage lacks them says nothing.

        In other languages than English numbers alone count: which words are the same is told by rules for English.
        """
        runs: list[tuple[int, int]] = []
        goes_on = False
        for match in _WORD.finditer(claim):
            word = _plain(match.group())
            if word in STOP or word in NO_MISMATCH:
                continue
            number = _number(word)
            if number is None:
                known = self.goes_on is not None or word in self._all or stem(word) in self._where
            else:
                known = number in self._numbers
            if not known:
                runs[-1:] = [(runs[-1][0], match.end())] if goes_on else [*runs[-1:], match.span()]
            goes_on = not known
        return tuple(runs)

    def _new_run(self, tokens: Sequence[str]) -> int:
        longest = run = 0
        for word in tokens:
            if word in STOP:
                continue
            run = 0 if word in self._all or stem(word) in self._where else run + 1
            longest = max(longest, run)
        return longest


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _negated(tokens: Sequence[str]) -> bool:
    return any(word in NEGATIONS or word.endswith("n't") for word in tokens)


def _in_order(claim: Sequence[str], sentence: Sequence[str]) -> float:
    """Longest common subsequence over the claim's length; a sentence has 60 words at most, so this is linear too."""
    if not claim or not sentence:
        return 0.0
    before = [0] * (len(sentence) + 1)
    for word in claim:
        row = [0]
        for place, other in enumerate(sentence):
            row.append(before[place] + 1 if word == other else max(before[place + 1], row[place]))
        before = row
    return before[-1] / len(claim)


def _inside(claim: Sequence[str], sentence: Sequence[str]) -> bool:
    size = len(claim)
    return any(sentence[i] == claim[0] and sentence[i : i + size] == claim for i in range(len(sentence) - size + 1))


def _joined(text: str, found: Iterable[RecordPart], goes_on: GoesOn) -> Iterator[RecordPart]:
    """The pieces, those of prose on one line joined where the second goes on with the first."""
    open_piece: RecordPart | None = None
    for piece in found:
        if open_piece is not None and _on_one_line(text, open_piece, piece) and goes_on(open_piece.text, piece.text):
            start, end = open_piece.span[0], piece.span[1]
            open_piece = RecordPart(start, end, text[start:end])
            continue
        if open_piece is not None:
            yield open_piece
        open_piece = piece
    if open_piece is not None:
        yield open_piece


def _on_one_line(text: str, first: RecordPart, second: RecordPart) -> bool:
    """Whether both stand as they are on one line of the text, and are short enough to be one."""
    (start, middle), (after, end) = first.span, second.span
    as_it_is = text[start:middle] == first.text and text[after:end] == second.text
    blank = text[middle:after].isspace() and "\n" not in text[middle:after]
    return as_it_is and blank and len(first.text.split()) + len(second.text.split()) <= _LONGEST
