"""What flipped in a row: claims, passages and criteria whose label is another in the second run, one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay._util.tabular import ResultRows, Tabular
from assay._util.terminal import shortened
from assay.errors import printable
from assay.records import Score
from assay.records.phrases import label_in_prose

#: Share of their words (Dice) that two claims have in common where the second one stands in the place of the first.
ALIKE = 0.5
#: Characters of a flip in a text without a width.
_LONGEST = 240
_FEWEST = 10  # characters of a quote, below which it is left out
_ROOMY = 16  # below which its place is a number alone
_QUOTE_FRAME = len(' [passage 1: ""]')


@dataclass(frozen=True, slots=True)
class Flip(Tabular):
    """A claim (or passage, or criterion) before and after, with its labels.

    Attributes:
        first_claim, second_claim: What was judged in each run; None where that run has nothing in this place.
        first, second: The labels, as in the data; None likewise.
        against: What it was judged against: "contexts", "reference", "answer", ...
        quote: The located quote behind the second label, else behind the first.
        passage: The passage of the quote, from 1.
    """

    _columns, _noun = "first_claim first second_claim second against quote passage", "flip"

    first_claim: str | None
    second_claim: str | None
    first: str | None
    second: str | None
    against: str = "contexts"
    quote: str | None = None
    passage: int | None = None

    def __str__(self) -> str:
        return self.line(_LONGEST)

    @property
    def labels(self) -> tuple[str, str]:
        """Both labels in prose; "added" and "removed" where one run has none."""
        first = "added" if self.first is None else label_in_prose(self.first, self.against)
        return first, "removed" if self.second is None else label_in_prose(self.second, self.against)

    def line(self, width: int) -> str:
        """The claim before and after in one line of at most so many characters, as far as the labels fit."""
        before, after = (printable(label) for label in self.labels)
        claims = [printable(one) for one in self._claims()]
        frame = sum(len(label) + 3 for label in (before, after)) + 4 + 2 * len(claims)
        room = max(width - frame, 8 * len(claims))
        claims = _fitted(claims, room, 0 if self.quote is None else _ROOMY + _QUOTE_FRAME)
        quote = self._quoted(room - sum(map(len, claims)))
        if len(claims) == 2:
            return f'"{claims[0]}" ({before}) -> "{claims[1]}" ({after}){quote}'
        if self.first is None:
            return f'added: "{claims[0]}" ({after}){quote}'
        if self.second is None:
            return f'removed: "{claims[0]}" ({before}){quote}'
        return f'"{claims[0]}" ({before} -> {after}){quote}'

    def _claims(self) -> list[str]:
        """The claims; the same one once."""
        both = [self.first_claim, self.second_claim]
        return [" ".join(one.split()) for one in dict.fromkeys(both) if one is not None]

    def _quoted(self, room: int) -> str:
        """The quote and its place in what room is left; nothing where that is too little."""
        if self.quote is None:
            return ""
        place = self.against if self.against in ("reference", "answer") else f"passage {self.passage}"
        for told in (place, str(self.passage)):
            left = room - len(f' [{told}: ""]')
            if left >= (_ROOMY if told == place else _FEWEST):
                return f' [{told}: "{printable(shortened(self.quote, left))}"]'
        return ""


def _fitted(claims: Sequence[str], room: int, for_quote: int) -> list[str]:
    """The claims in so many characters: without words that both begin or end with, as many as needed, then cut."""
    found = list(claims)
    for around in (2, 1, 0) if len(claims) == 2 else ():
        if sum(map(len, found)) <= room - for_quote:
            break
        found = _focused(claims[0].split(), claims[1].split(), around)
    if sum(map(len, found)) <= room:
        return found
    return [shortened(one, room // len(found)) for one in found]


def _focused(first: Sequence[str], second: Sequence[str], around: int) -> list[str]:
    """Two claims without the words that they begin and end with in common, but for so many."""
    shorter = min(len(first), len(second))
    start = next((n for n in range(shorter) if first[n] != second[n]), shorter)
    end = next((n for n in range(shorter - start) if first[-1 - n] != second[-1 - n]), shorter - start)
    around = max(around, len(first) == start + end, len(second) == start + end)  # one of them would be empty
    head, tail = max(0, start - around), max(0, end - around)
    return [
        " ".join((["…"] if head else []) + list(words[head : len(words) - tail]) + (["…"] if tail else []))
        for words in (first, second)
    ]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was judged, its label, and its quote."""

    text: str
    label: str
    quote: str | None = None
    passage: int | None = None


def flips_of(first: Score, second: Score) -> tuple[Flip, ...]:
    """What flipped from one score of a row to the other: changed labels before what was added or removed."""
    found = []
    for reading in dict.fromkeys((*second.verdicts, *first.verdicts)):
        before, after = _judged(first, reading), _judged(second, reading)
        against = reading.partition("/")[2] or "contexts"
        found += [_flip(one, other, against) for one, other in _matched(before, after) if _differ(one, other)]
    changed = [one for one in dict.fromkeys(found) if one.first is not None and one.second is not None]
    rest = (one for one in dict.fromkeys(found) if one.first is None or one.second is None)
    return ResultRows((*changed, *rest), Flip)


def _flip(one: _Judged | None, other: _Judged | None, against: str) -> Flip:
    quoted = next((side for side in (other, one) if side is not None and side.quote is not None), None)
    return Flip(
        None if one is None else one.text,
        None if other is None else other.text,
        None if one is None else one.label,
        None if other is None else other.label,
        against,
        None if quoted is None else quoted.quote,
        None if quoted is None else quoted.passage,
    )


def _differ(one: _Judged | None, other: _Judged | None) -> bool:
    return (None if one is None else one.label) != (None if other is None else other.label)


def _judged(score: Score, reading: str) -> list[_Judged]:
    """The verdicts of a reading; one about neither a claim nor a passage is named by its kind."""
    verdicts = score.verdicts.get(reading, ())
    found = []
    for number, verdict in enumerate(verdicts, 1):
        name = reading if len(verdicts) == 1 else f"{reading} {number}"
        if verdict.claim is not None:
            name = verdict.claim.text
        elif verdict.passage is not None:
            name = f"passage {verdict.passage + 1}"
        quote = next(iter(verdict.evidence), None) if verdict.claim is not None else None
        text, passage = (None, None) if quote is None else (quote.text, quote.passage + 1)
        found.append(_Judged(name, verdict.label, text, passage))
    return found


def _matched(before: Sequence[_Judged], after: Sequence[_Judged]) -> Iterator[tuple[_Judged | None, _Judged | None]]:
    """Each claim of the second run with that of the first in whose place it stands; then those of the first alone."""
    place = _places([one.text for one in before], [one.text for one in after])
    for number, one in enumerate(after):
        yield (before[place[number]] if number in place else None), one
    taken = set(place.values())
    yield from ((one, None) for number, one in enumerate(before) if number not in taken)


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """For claims of the second run, which of the first: the same text, else the most similar; of as many
    claims those left in the same place."""
    found: dict[int, int] = {}
    left = {number: Counter(text.lower().split()) for number, text in enumerate(before)}
    for number, text in enumerate(after):
        same = next((n for n in left if before[n] == text), None)
        if same is not None:
            found[number] = same
            del left[same]
    new = {number: Counter(text.lower().split()) for number, text in enumerate(after) if number not in found}
    alike = sorted(
        ((-share, number, n) for number, words in new.items() for n, others in left.items()
         if (share := _dice(words, others)) >= ALIKE)
    )  # fmt: skip
    for _, number, n in alike:
        if number in new and n in left:
            found[number] = n
            del new[number], left[n]
    if len(before) != len(after):
        return found
    return found | {number: number for number in new if number in left}


def _dice(one: Counter[str], other: Counter[str]) -> float:
    both = one.total() + other.total()
    return 2.0 * (one & other).total() / both if both else 0.0
