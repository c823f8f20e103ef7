"""ragas' quoted spans alignment: quotations of the response that stand in the contexts / its quotations.

Range 0 to 1, higher is better; ragas 0.4.3 (collections). A quotation is what stands between two quote marks of any
kind on one line, with three words or more; case and white space are made equal. The original joins the contexts to one
text, so that a quotation may begin in one and end in the next, takes apostrophes for quote marks, and gives 1 where
nothing is quoted. Without its profile a quotation must stand in one context, an apostrophe inside a word is none, and
an answer that quotes nothing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least
from assay.records import Sample, Score

_MARKS = "\"'`´‘’“”„‟"
_QUOTED = re.compile(f"[{_MARKS}]([^{_MARKS}\n]*)[{_MARKS}]")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_STAND_IN = "\ufdd0"  # a code point that no text has


def quotations(text: str, words: int, *, apostrophes: bool) -> list[str]:
    """What stands between quote marks and has so many words; with `apostrophes`, those inside words are marks too."""
    shown = text if apostrophes else _APOSTROPHE.sub(_STAND_IN, text)
    found = (match.group(1).replace(_STAND_IN, "'").strip() for match in _QUOTED.finditer(shown))
    return [one for one in found if len(one.split()) >= words]


def tidy(text: str) -> str:
    """A text in lower case with single spaces."""
    return " ".join(text.split()).lower()


def located(quotes: Sequence[str], passages: Sequence[str], *, casefold: bool, straight: bool = False) -> list[bool]:
    """Whether each quotation stands in one of the passages; `straight`: apostrophes are made equal."""

    def plain(text: str) -> str:
        text = text.replace("’", "'") if straight else text
        return tidy(text) if casefold else text

    texts = [plain(passage) for passage in passages]
    return [any(plain(quote) in text for text in texts) for quote in quotes]


@dataclass(frozen=True)
class QuotedSpansAlignment(SystemMetric):
    """Quotations of the answer that stand in the contexts / quotations of the answer."""

    name: ClassVar[str] = "ragas:quoted_spans_alignment"
    needs: ClassVar = ("answer", "contexts")
    needs_passages: ClassVar = False
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0, Cause.NOT_APPLICABLE: 1.0, Cause.NO_CONTEXT: 0.0}

    casefold: bool = True
    min_span_words: int = 3

    def __post_init__(self) -> None:
        at_least(self, "min_span_words")

    @property
    def label(self) -> str:
        shown = f"(casefold={self.casefold},min_span_words={self.min_span_words})"
        return super().label + (shown if (self.casefold, self.min_span_words) != (True, 3) else "")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        quotes = quotations(sample.answer or "", self.min_span_words, apostrophes=self.original)
        if not quotes:
            return self.skip(Cause.NOT_APPLICABLE, "the answer quotes nothing")
        if not any(map(str.strip, sample.passages)):
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        passages = (" ".join(sample.passages),) if self.original else sample.passages
        found = located(quotes, passages, casefold=self.casefold, straight=not self.original)
        missing = tuple(quote for quote, there in zip(quotes, found, strict=True) if not there)
        return self.make_score(
            sum(found) / len(found),
            parts={"found": sum(found), "quotations": len(found)},
            texts={"not_found": missing} if missing else {},
        )


ENTRIES = (
    Entry(
        make=QuotedSpansAlignment,
        source="ragas.metrics.collections.QuotedSpansAlignment",
        compared="ragas 0.4.3",
        family="citations",
        steps=Steps("quotations of the answer", "all contexts together", "stands there verbatim", "share"),
        empty="1 for no quotations",
    ),
)
