"""Reads claims against passages with a model: what to read, in which windows, and what becomes of the logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from assay_embedded.excerpt import excerpt
from assay_embedded.features import GoesOn, Passage
from assay_embedded.graphs import each
from assay_embedded.support import Calibration, Logits, Regression, SupportReading, combined, judged
from assay_embedded.windows import Window, length, windows_of

EXCERPT = 90  # words of a passage that a claim or a question is read with

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reader:
    """A model that reads (claim, passage), and how its logits are read.

    tokens       a text into tokens
    one          the logits of one window
    calibration  logits into probabilities
    regression   over the words that both share, where they have a say: they are told apart by English rules
    goes_on      of passages where sentences break otherwise than in English
    """

    tokens: Callable[[str], Sequence[int]]
    one: Callable[[Window], Logits]
    calibration: Calibration
    regression: Regression | None = None
    goes_on: GoesOn | None = None

    def support(self, pairs: Sequence[_Pair], threads: int) -> list[SupportReading]:
        """For each (passage, claim) whether the passage supports the claim, says otherwise, or does not say.

        The claim is read against the sentences of the whole passage that have most to do with it, 90 words of them.
        What is still more than 256 tokens is read in windows that cover all of it, of which the one that supports the
        claim best counts; a claim of more than 126 tokens counts by its least supported part. Probability 0 for an
        empty passage or claim.
        """
        passages = {text: Passage(text, self.goes_on) for text, _ in pairs}
        read = _excerpts(pairs, passages)
        readings = []
        for logits, (text, claim) in zip(self._logits(passages, read, pairs, threads), pairs, strict=True):
            words, spans = passages[text].compare(claim), [passages[text].pieces[i].span for i in read[text, claim]]
            readings.append(judged(logits, words, self.regression, self.calibration, spans))
        return readings

    def logits(self, pairs: Sequence[_Pair], threads: int) -> list[Logits | None]:
        """What `support` turns into probabilities: the model's logits; None where a text is empty."""
        passages = {text: Passage(text, self.goes_on) for text, _ in pairs}
        return self._logits(passages, _excerpts(pairs, passages), pairs, threads)

    def _logits(
        self,
        passages: Mapping[str, Passage],
        read: Mapping[_Pair, Sequence[int]],
        pairs: Sequence[_Pair],
        threads: int,
    ) -> list[Logits | None]:
        windows: list[list[Window]] = []
        for (text, claim), chosen in read.items():
            windows.append(list(windows_of(self.tokens(claim), self.tokens(passages[text].read(chosen)))))
        jobs = [window for group in windows for window in group]
        logits = iter(each(self.one, jobs, length, threads))
        found: dict[_Pair, Logits | None] = {}
        for pair, group in zip(read, windows, strict=True):
            parts = groupby(((part, next(logits)) for part, _ in group), key=lambda one: tuple(one[0]))
            found[pair] = combined([[logit for _, logit in part] for _, part in parts])
        return [found[pair] for pair in pairs]


def _excerpts(pairs: Sequence[_Pair], passages: Mapping[str, Passage]) -> dict[_Pair, tuple[int, ...]]:
    """Which pieces of its passage each claim is read against, by number."""
    return {(text, claim): excerpt(passages[text], claim, EXCERPT) for text, claim in dict.fromkeys(pairs)}
