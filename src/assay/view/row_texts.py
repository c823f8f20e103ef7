"""The texts of a row as pages show them: in pieces, with the class of the verdict on each, within a page's size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from assay._util.terminal import shortened
from assay.errors import printable
from assay.records import ScoredSample, Verdict
from assay.records.phrases import label_in_prose, units_of
from assay.report.formulas import filled_in
from assay.report.marked_text import ViewPart, claim_parts, quote_parts, segments, telling

LONGEST = 12_000  # characters of one text
ALL = 150_000  # bytes of all texts of a page, as HTML has them
_MARK, _VERDICT = 120, 300  # bytes of HTML around a marked part, and around a verdict
_SCORES = 40  # metrics of a row
_VERDICTS = 60  # of one reading
_QUOTES = 5  # of one verdict
_PASSAGES = 60
_CLASSES = frozenset(
    ("supported", "contradicted", "not_mentioned", "useful", "not_useful", "direct", "indirect", "yes", "no")
)


def class_of(label: str) -> str:
    """The class of a label; labels come from the data, and only known ones are classes."""
    return label if label in _CLASSES else "other"


@dataclass(slots=True)
class TextBudget:
    """How many bytes of HTML a page still has room for: a sign may become six, such as `&#34;` or `\\u202e`."""

    left: int = ALL

    def take(self, text: str | None, most: int = LONGEST) -> str:
        """The text, cut where it has more than so many characters or there is no more room."""
        taken = (text or "")[: max(0, min(most, self.left))]
        size = _size(taken)
        if size > self.left:
            taken = taken[: len(taken) * self.left // size]
            size = _size(taken)
        self.left = max(0, self.left - size)
        return taken

    def spend(self, size: int) -> bool:
        """Whether there is room for so much more; it is taken where there is."""
        if self.left < size:
            return False
        self.left -= size
        return True


def _size(text: str) -> int:
    return len(escape(printable(text)).encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text in pieces: (piece, class of its verdict or ""). `more` characters are not shown."""

    pieces: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.pieces)


def clip_text(text: str | None, budget: TextBudget, parts: Iterable[ViewPart] = (), most: int = LONGEST) -> ShownText:
    """A text with its marked parts, as far as there is room."""
    taken = budget.take(text, most)
    fitting = (
        ViewPart(one.start, min(one.end, len(taken)), one.style, one.rank) for one in parts if budget.spend(2 * _MARK)
    )
    return ShownText(list(segments(taken, fitting)), len(text or "") - len(taken))


@dataclass(frozen=True, slots=True)
class RowTexts:
    """What a page shows of a row's texts."""

    answer: ShownText
    passages: list[dict[str, Any]]
    passages_more: int
    scores: list[dict[str, Any]]


def answer_of(scored: ScoredSample, budget: TextBudget, most: int = LONGEST) -> ShownText:
    """The answer with its claims in the colours of their verdicts."""
    score, reading = telling(scored.scores)
    parts = [] if score is None else claim_parts(score, reading, class_of)
    return clip_text(scored.sample.answer, budget, parts, most)


def row_texts(scored: ScoredSample, budget: TextBudget) -> RowTexts:
    """Answer, passages with the quotes that the verdicts rest on, and the scores with their verdicts."""
    score, reading = telling(scored.scores)
    quotes: Mapping[int, list[ViewPart]] = {} if score is None else quote_parts(score, reading, class_of)
    answer = answer_of(scored, budget)
    contexts = scored.sample.contexts or ()
    passages = [
        {
            "number": number + 1,
            "text": clip_text(one.text, budget, quotes.get(number, ())),
            "id": shortened(one.id, 200) if one.id else None,
            "score": None if one.score is None else f"{one.score:.3g}",
            "in_prompt": one.in_prompt,
            "image": None if one.image is None else shortened(one.image[:200], 80),
        }
        for number, one in enumerate(contexts[:_PASSAGES])
    ]
    return RowTexts(answer, passages, max(0, len(contexts) - _PASSAGES), list(_scores(scored, budget)))


def _scores(scored: ScoredSample, budget: TextBudget) -> Iterator[dict[str, Any]]:
    for name, score in list(scored.scores.items())[:_SCORES]:
        readings = [
            {
                "against": reading.partition("/")[2],
                "verdicts": shown,
                "more": len(verdicts) - len(shown),
            }
            for reading, verdicts in score.verdicts.items()
            for shown in [_verdicts(verdicts, reading, units_of(score, reading, scored.sample), budget)]
        ]
        error = score.error
        yield {
            "name": shortened(name, 200),
            "formula": budget.take(filled_in(score), 500),
            "cause": None if error is None else str(error.cause.value),
            "message": None if error is None else budget.take(error.message, 2_000),
            "reply": "" if error is None else budget.take(error.raw, 2_000),
            "readings": readings,
        }


def _verdicts(verdicts: Sequence[Verdict], reading: str, units: Sequence[str], budget: TextBudget) -> list[Any]:
    """The first verdicts of a reading, as many as there is room for."""
    against = reading.partition("/")[2]
    return [_verdict(one, against, units, budget) for one in verdicts[:_VERDICTS] if budget.spend(_VERDICT)]


def _verdict(verdict: Verdict, against: str, units: Sequence[str], budget: TextBudget) -> dict[str, Any]:
    subject = ""
    if verdict.claim is not None:
        subject = verdict.claim.text
    elif verdict.passage is not None and 0 <= verdict.passage < len(units):
        subject = f"{verdict.passage + 1}: {shortened(units[verdict.passage], 120)}"
    quotes = [
        (quote.passage + 1, budget.take(quote.text, 400))
        for quote in verdict.evidence[:_QUOTES]
        if against not in ("reference", "tools")
    ]
    return {
        "label": label_in_prose(verdict.label, against)[:80],
        "class": class_of(verdict.label),
        "subject": budget.take(subject, 1_000),
        "probability": None if verdict.probability is None else f"{verdict.probability:.2f}",
        "reason": budget.take(verdict.reason, 1_000),
        "quotes": quotes,
        "unlocated": verdict.unlocated,
    }
