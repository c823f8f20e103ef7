"""Reads claims against passages with a model: what to read, in which windows, and what becomes of the logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from assay_embedded.differing_marks import mark_differences, only_in_claim
from assay_embedded.excerpt import excerpt
from assay_embedded.features import GoesOn, Passage, TextFeatures
from assay_embedded.graphs import each
from assay_embedded.quantities import Quantity, restated
from assay_embedded.support import Logits, ProbabilityMap, Regression, SupportReading, combined, judged
from assay_embedded.windows import Window, length, windows_of

EXCERPT = 90  # words of a passage that a claim or a question is read with

_Pair = tuple[str, str]
_Triple = tuple[str, str, str]  # a passage, a claim, and the question that it answers or ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A model that reads (claim, passage), and how its logits are read.

    Attributes:
        tokens: A text into tokens.
        one: The logits of one window.
        calibration: Logits into probabilities.
        regression: Over the words that both share, where they have a say: they are told apart by English rules, as are
            quantities.
        goes_on: Of passages where sentences break otherwise than in English.
    """

    tokens: Callable[[str], Sequence[int]]
    one: Callable[[Window], Logits]
    calibration: ProbabilityMap
    regression: Regression | None = None
    goes_on: GoesOn | None = None

    def support(
        self, pairs: Sequence[_Pair], threads: int, questions: Sequence[str] | None = None
    ) -> list[SupportReading]:
        """For each (passage, claim) whether the passage supports the claim, says otherwise, or does not say.

        Where a question is given, the model reads it before the claim; the words that the claim shares with the passage
        are those of the claim alone.
        The claim is read against the sentences of the whole passage that have most to do with it, 90 words of them.
        Quantities that the passage tells otherwise ("60 minutes", "one hour") are read in its words. What is still more
        than 256 tokens is read in windows that cover all of it, of which the one that supports the claim best counts; a
        claim of more than 126 tokens counts by its least supported part. Marks and identifiers that only one of both
        has are told so that the model sees them (`told_apart`). Probability 0 for an empty passage or claim.
        """
        asked = _with_questions(pairs, questions)
        looks = self._looks(asked)
        readings = []
        for logits, one in zip(self._logits(looks, asked, threads), asked, strict=True):
            look = looks[one]
            equal = [(own.text, there.text) for own, there in look.equal]
            readings.append(judged(logits, look.words(), self.regression, self.calibration, look.spans, equal))
        return readings

    def logits(
        self, pairs: Sequence[_Pair], threads: int, questions: Sequence[str] | None = None
    ) -> list[Logits | None]:
        """What `support` turns into probabilities: the model's logits; None where a text is empty."""
        asked = _with_questions(pairs, questions)
        return self._logits(self._looks(asked), asked, threads)

    def _looks(self, asked: Sequence[_Triple]) -> dict[_Triple, _PairInput]:
        passages = {text: Passage(text, self.goes_on) for text, _, _ in asked}
        return {one: self._look(passages[one[0]], *one[1:]) for one in dict.fromkeys(asked)}

    def _look(self, passage: Passage, claim: str, question: str) -> _PairInput:
        english = self.regression is not None
        read_as, equal, odd = restated(claim, passage.text) if english else (claim, [], [])
        pieces = excerpt(passage, _after(question, read_as), EXCERPT)
        read = passage.read(pieces)
        told = mark_differences(read_as, read, english=english)
        return _PairInput(passage, pieces, claim, question, (read_as, read), told, tuple(equal), tuple(odd))

    def _logits(
        self, looks: Mapping[_Triple, _PairInput], asked: Sequence[_Triple], threads: int
    ) -> list[Logits | None]:
        windows = [list(windows_of(*map(self.tokens, look.input))) for look in looks.values()]
        jobs = [window for group in windows for window in group]
        logits = iter(each(self.one, jobs, length, threads))
        found: dict[_Triple, Logits | None] = {}
        for one, group in zip(looks, windows, strict=True):
            parts = groupby(((part, next(logits)) for part, _ in group), key=lambda part: tuple(part[0]))
            found[one] = combined([[logit for _, logit in part] for _, part in parts])
        return [found[one] for one in asked]


def _after(question: str, claim: str) -> str:
    return f"{question} {claim}" if question and claim.strip() else claim


def _with_questions(pairs: Sequence[_Pair], questions: Sequence[str] | None) -> list[_Triple]:
    asked = [""] * len(pairs) if questions is None else questions
    return [(text, claim, question) for (text, claim), question in zip(pairs, asked, strict=True)]


@dataclass(frozen=True, slots=True)
class _PairInput:
    """A claim and what is read of a passage for it.

    Attributes:
        passage: The whole passage.
        pieces: What is read of it, by number.
        claim: The claim as it stands.
        question: What the claim answers, or "".
        standing: The claim with quantities in the passage's words, and what is read of the passage.
        told: The same with marks that the model sees.
        equal: Quantities that both tell otherwise.
        odd: Quantities of the claim without an equal.
    """

    passage: Passage
    pieces: tuple[int, ...]
    claim: str
    question: str
    standing: _Pair
    told: _Pair
    equal: tuple[tuple[Quantity, Quantity], ...] = ()
    odd: tuple[Quantity, ...] = ()

    @property
    def input(self) -> _Pair:
        """Both texts as the model reads them."""
        claim, read = self.told
        return _after(self.question, claim), read

    @property
    def spans(self) -> list[tuple[int, int]]:
        return [self.passage.pieces[i].span for i in self.pieces]

    def words(self) -> TextFeatures:
        """What the claim shares with all of the passage, and what the telling changes in that."""
        read_as, _ = self.standing
        shared = self.passage.compare(read_as)
        values, missing = shared.values, shared.missing
        if self.told != self.standing:
            before, after = (Passage(read).compare(claim).values for claim, read in (self.standing, self.told))
            values = tuple(value + now - then for value, then, now in zip(values, before, after, strict=True))
            missing = _merged((*missing, *only_in_claim(read_as, self.passage.text)))
        if self.equal:  # offsets are those of the claim as it stands
            same = [(own.start, own.end) for own, _ in self.equal]
            missing = tuple(
                (start, end)
                for start, end in self.passage.compare(self.claim).missing
                if not any(start < b and a < end for a, b in same)
            )
        missing = _merged((*missing, *((one.start, one.end) for one in self.odd)))
        return replace(shared, values=values, missing=missing)


def _merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
