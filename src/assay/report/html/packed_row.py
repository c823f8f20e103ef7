"""One row of a report as JSON, by names: what `html/sample.js` reads.

    side      {answer, reference, history: [{question, answer}, ...], contexts: [context, ...] or null,
               earlier: [passage, ...] of earlier turns, tools: [passage, ...] that tools gave back, metadata,
               readings: [{name, verdicts: [verdict, ...]}, ...], scores: {metric number: score}}
    context   {passage, id, score, in_prompt, image, metadata, shown}
    verdict   {label, probability, reason, subject, quotes: [quote, ...], unlocated, cells, unsupported}
    subject   {place, start, end} for a claim or a piece of a passage, with the claim's `text` where the span has not
              quite that; {place} for a whole passage; {text} for what stands nowhere; `claim` says which is one
    quote     {place, start, end}; {text, place, box} on a picture, in thousandths of its size; {text} from nowhere
    unsupported   [[start, end], ...]: parts of the claim's own text
    score     {value where the index has it not, formula, readings: [number, ...], parts: {name: value}, gap,
               texts: {name: [text, ...]}}
    gap       {cause, message, reply}

A passage, also `shown`, a picture as a data URI, is its number among those of the block. A place counts the texts of
`contexts`, then `earlier`, then `tools`; -1 is the answer and -2 the reference. Starts and ends are units of UTF-16.
What says nothing is left out.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.metrics.tool_calls import tool_evidence
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, Verdict
from assay.records.images import is_data_uri
from assay.records.phrases import shortened, units_of
from assay.report.formulas import filled_in
from assay.report.html.thumbnails import Thumbnails

ANSWER, REFERENCE = -1, -2
_SEARCHED = 200  # times its own texts that a row is searched through for the pieces that verdicts are on
_LONGEST_NOTE = 2_000  # characters of metadata, and of a judge's reply, that are kept


class Passages:
    """The passages of one block, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.size = 0  # characters
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a passage."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
            self.size += len(text)
        return self._numbers[text]


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Where a block keeps what several of its rows may share."""

    passages: Passages = field(default_factory=Passages)
    pictures: Thumbnails = field(default_factory=Thumbnails)


def side_of(scored: ScoredSample, index: Sample, metrics: Sequence[str], kept: SharedValues) -> dict[str, Any]:
    """One run's half of a row; `index` is the sample whose values the index has."""
    return _Side(scored.sample, index, kept).packed(scored.scores, metrics)


class _Side:
    def __init__(self, sample: Sample, index: Sample, kept: SharedValues) -> None:
        self._sample, self._index = sample, index
        self._passages, self._pictures = kept.passages, kept.pictures
        self._earlier, self._tools = sample.earlier_passages, tool_evidence(sample)
        self._places: dict[int, str] = dict(enumerate((*sample.passages, *self._earlier, *self._tools)))
        self._places[ANSWER], self._places[REFERENCE] = sample.answer or "", sample.reference or ""
        self._offsets: dict[int, Offsets] = {}
        self._left = _SEARCHED * sum(map(len, self._places.values()))
        self._readings: list[tuple[str, tuple[Verdict, ...], Sequence[str]]] = []

    def packed(self, scores: Mapping[str, Score], metrics: Sequence[str]) -> dict[str, Any]:
        sample = self._sample
        found = {n: self._score(scores[name]) for n, name in enumerate(metrics) if name in scores}
        return {
            "answer": sample.answer,
            "reference": sample.reference,
            "history": [{"question": turn.question, "answer": turn.answer} for turn in sample.history],
            "contexts": None if sample.contexts is None else [self._context(context) for context in sample.contexts],
            "earlier": [self._passages.number(one) for one in self._earlier],
            "tools": [self._passages.number(one) for one in self._tools],
            "metadata": _note(sample.metadata),
            "readings": [
                {"name": name, "verdicts": [self._verdict(one, name, units) for one in verdicts]}
                for name, verdicts, units in self._readings
            ],
            "scores": found,
        }

    def _context(self, context: Context) -> dict[str, Any]:
        image, shown = None, None
        if context.image is not None:
            uri, why_not = self._pictures.of(context.image)
            name = "in the row" if is_data_uri(context.image) else shortened(context.image[:200], 80)
            image = name if why_not is None else f"{name} (not shown: {why_not})"
            shown = None if uri is None else self._passages.number(uri)
        return _present(
            passage=self._passages.number(context.text),
            id=context.id,
            score=context.score,
            in_prompt=context.in_prompt,
            image=image,
            metadata=_note(context.metadata),
            shown=shown,
        )

    def _score(self, score: Score) -> dict[str, Any]:
        ends = {name.partition("/")[2] for name in score.verdicts}
        formula, gap = filled_in(score), None
        if score.error is not None:
            reply = score.error.raw and score.error.raw[:_LONGEST_NOTE]
            gap = _present(cause=score.error.cause.value, message=score.error.message, reply=reply)
        return _present(
            value=None if self._index is self._sample and score.measured else rounded(score.value),
            formula=formula,
            readings=[self._reading(score, name, verdicts) for name, verdicts in score.verdicts.items()],
            parts={name: rounded(value, 4) for name, value in score.parts.items() if f"{value:.3f}" not in formula},
            gap=gap,
            texts={name: texts for name, texts in score.texts.items() if name not in ends},
        )

    def _reading(self, score: Score, name: str, verdicts: tuple[Verdict, ...]) -> int:
        """The number of a reading; what several metrics read is there once."""
        for number, (known, others, _) in enumerate(self._readings):
            if known == name and others == verdicts:
                return number
        self._readings.append((name, verdicts, units_of(score, name, self._sample)))
        return len(self._readings) - 1

    def _verdict(self, verdict: Verdict, reading: str, units: Sequence[str]) -> dict[str, Any]:
        of, _, against = reading.partition("/")
        subject, parts = None, []
        if verdict.claim is not None:
            subject = self._claim(verdict.claim, REFERENCE if of == "reference" else ANSWER)
            units_at = Offsets(verdict.claim.text)
            parts = [[units_at(part.start), units_at(part.end)] for part in verdict.unsupported]
        elif verdict.passage is not None and 0 <= verdict.passage < len(units):
            subject = self._unit(verdict.passage, units)
        return _present(
            label=verdict.label,
            probability=None if verdict.probability is None else round(verdict.probability, 2),
            reason=verdict.reason,
            subject=subject,
            quotes=[self._quote(quote, against) for quote in verdict.evidence],
            unlocated=verdict.unlocated or None,
            cells="".join(cell.label[0] for cell in verdict.cells),
            unsupported=parts,
        )

    def _claim(self, claim: Claim, place: int) -> dict[str, Any]:
        start, end = claim.span.start, claim.span.end
        stands = self._places[place][start:end]
        if not stands:
            return {"claim": True, "text": claim.text}
        own = {} if claim.text == stands else {"text": claim.text}
        return {"claim": True, **self._at(place, start, end), **own}

    def _unit(self, number: int, units: Sequence[str]) -> dict[str, Any]:
        """A passage, or a piece of one: where it stands, if that can be found."""
        unit = units[number]
        if number in self._places and self._places[number] == unit:
            return {"place": number}
        for place, text in self._places.items():
            self._left -= len(text)
            if self._left < 0 or place < 0:
                break
            start = text.find(unit)
            if start >= 0:
                return self._at(place, start, start + len(unit))
        return {"claim": True, "text": unit}

    def _quote(self, quote: Evidence, against: str) -> dict[str, Any]:
        place = {"answer": ANSWER, "reference": REFERENCE}.get(against, quote.passage)
        if against == "tools":
            place += len(self._sample.passages) + len(self._earlier)
        start, end = quote.span.start, quote.span.end
        if quote.text and self._places.get(place, "")[start:end] == quote.text:
            return self._at(place, start, end)
        if quote.box is not None:
            return {"text": quote.text, "place": place, "box": [round(1000 * share) for share in quote.box]}
        return {"text": quote.text}

    def _at(self, place: int, start: int, end: int) -> dict[str, int]:
        if place not in self._offsets:
            self._offsets[place] = Offsets(self._places[place])
        units = self._offsets[place]
        return {"place": place, "start": units(start), "end": units(end)}


def _present(**values: Any) -> dict[str, Any]:
    """The values that say something."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def rounded(value: float | None, digits: int = 6) -> float | None:
    """A number as a report keeps it; None where it is none that JSON can hold."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return round(value, digits)


def _note(metadata: Mapping[str, Any]) -> str | None:
    if not metadata:
        return None
    said = ", ".join(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
                     for name, value in metadata.items())  # fmt: skip
    return said[:_LONGEST_NOTE]


class Offsets:
    """Turns offsets in one text, counted in characters, into units of UTF-16. Linear in the text, once."""

    __slots__ = ("_wide",)

    def __init__(self, text: str) -> None:
        wide = not text.isascii() and max(text, default="") > "\uffff"
        self._wide = [n for n, char in enumerate(text) if char > "\uffff"] if wide else []

    def __call__(self, offset: int) -> int:
        """The same place in units of UTF-16."""
        return offset + bisect_left(self._wide, offset) if self._wide else offset
