"""One row of a report as arrays: what `html/data.js` reads.

    side      {a: answer, r: reference, q: question, h: [[question, answer], ...],
               c: [[passage, id, score, in prompt, picture, metadata, shown], ...] or null,
               e: [passage, ...] of earlier turns, t: [passage, ...] that tools gave back,
               m: metadata, v: [reading, ...], s: {metric number: score}}
    reading   [name, [verdict, ...]]
    verdict   [label, probability, reason, subject, [quote, ...], quotes not found, cells, unsupported]
    subject   0, or ["c", start, end, text] for a claim, without its text where the span has it, or ["u", place] for a
              passage, ["u", place, start, end] for a piece of one, or ["t", text]
    unsupported   [start, end, start, end, ...]: parts of the claim's own text
    quote     [place, start, end]; [text, place, left, top, right, bottom] on a picture, in thousandths of its size; or
              [text] where it stands nowhere
    score     [value or null where the index has it, formula, [reading number, ...], {part: value}, gap, [more, ...]]
    gap       [cause, message, reply], or 0 where there is a value
    more      [name, [text, ...]]

`shown` is a picture as a data URI, kept with the passages. Texts and passages are references (`tables_of_texts`); -1 is
no text, and -2 the one that the index has. A place is a number of `c`, then `e`, then `t`, counted on; -1 is the answer
and -2 the reference. Starts and ends are units of UTF-16. What says nothing at the end of a list (none, -1, 0, empty)
is left out.
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
from assay.report.text_interning import Passages, Texts

ANSWER, REFERENCE = -1, -2
IN_INDEX = -2  # in place of a text's number
_SEARCHED = 200  # times its own texts that a row is searched through for the pieces that verdicts are on
_LONGEST_NOTE = 2_000  # characters of metadata, and of a judge's reply, that are kept


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Where a report keeps what several rows may share."""

    texts: Texts = field(default_factory=Texts)
    passages: Passages = field(default_factory=Passages)
    pictures: Thumbnails = field(default_factory=Thumbnails)


def side_of(scored: ScoredSample, index: Sample, metrics: Sequence[str], kept: SharedValues) -> Any:
    """One run's half of a row; `index` is the sample whose question the index has."""
    return _Side(scored.sample, index, kept).packed(scored.scores, metrics)


class _Side:
    def __init__(self, sample: Sample, index: Sample, kept: SharedValues) -> None:
        self._sample, self._index = sample, index
        self._texts, self._passages, self._pictures = kept.texts, kept.passages, kept.pictures
        self._earlier, self._tools = sample.earlier_passages, tool_evidence(sample)
        self._places: dict[int, str] = dict(enumerate((*sample.passages, *self._earlier, *self._tools)))
        self._places[ANSWER], self._places[REFERENCE] = sample.answer or "", sample.reference or ""
        self._offsets: dict[int, Offsets] = {}
        self._left = _SEARCHED * sum(map(len, self._places.values()))
        self._readings: list[tuple[str, tuple[Verdict, ...], Sequence[str]]] = []

    def packed(self, scores: Mapping[str, Score], metrics: Sequence[str]) -> dict[str, Any]:
        sample, text = self._sample, self._texts.number
        found = {str(n): self._score(scores[name]) for n, name in enumerate(metrics) if name in scores}
        return {
            "q": IN_INDEX if sample.question == self._index.question else text(sample.question),
            "a": text(sample.answer),
            "r": text(sample.reference),
            "h": [[text(turn.question), text(turn.answer)] for turn in sample.history],
            "c": None if sample.contexts is None else [self._context(context) for context in sample.contexts],
            "e": [self._passages.number(one) for one in self._earlier],
            "t": [self._passages.number(one) for one in self._tools],
            "m": text(_note(sample.metadata)),
            "v": [[text(name), [self._verdict(one, name, units) for one in verdicts]]
                  for name, verdicts, units in self._readings],
            "s": found,
        }  # fmt: skip

    def _context(self, context: Context) -> list[Any]:
        image, shown = None, -1
        if context.image is not None:
            uri, why_not = self._pictures.of(context.image)
            name = "in the row" if is_data_uri(context.image) else shortened(context.image[:200], 80)
            image = name if why_not is None else f"{name} (not shown: {why_not})"
            shown = -1 if uri is None else self._passages.number(uri)
        known = [self._texts.number(context.id), context.score, context.in_prompt, self._texts.number(image)]
        note = self._texts.number(_note(context.metadata))
        return _trimmed([self._passages.number(context.text), *known, note, shown], 1)

    def _score(self, score: Score) -> list[Any]:
        text = self._texts.number
        readings = [self._reading(score, name, verdicts) for name, verdicts in score.verdicts.items()]
        ends = {name.partition("/")[2] for name in score.verdicts}
        more = [[text(name), [text(one) for one in said]] for name, said in score.texts.items() if name not in ends]
        gap: Any = 0
        if score.error is not None:
            raw = score.error.raw
            gap = [text(score.error.cause.value), text(score.error.message), text(raw and raw[:_LONGEST_NOTE])]
        formula = filled_in(score)
        parts = {name: rounded(value, 4) for name, value in score.parts.items() if f"{value:.3f}" not in formula}
        value = None if self._index is self._sample and score.measured else rounded(score.value)
        return _trimmed([value, text(formula), readings, parts, gap, more], 3)

    def _reading(self, score: Score, name: str, verdicts: tuple[Verdict, ...]) -> int:
        """The number of a reading; what several metrics read is there once."""
        for number, (known, others, _) in enumerate(self._readings):
            if known == name and others == verdicts:
                return number
        self._readings.append((name, verdicts, units_of(score, name, self._sample)))
        return len(self._readings) - 1

    def _verdict(self, verdict: Verdict, reading: str, units: Sequence[str]) -> list[Any]:
        of, _, against = reading.partition("/")
        text = self._texts.number
        subject: Any = 0
        if verdict.claim is not None:
            subject = self._claim(verdict.claim, REFERENCE if of == "reference" else ANSWER)
        elif verdict.passage is not None and 0 <= verdict.passage < len(units):
            subject = self._unit(verdict.passage, units)
        cells = "".join(cell.label[0] for cell in verdict.cells)
        quotes = [self._quote(quote, against) for quote in verdict.evidence]
        probability = None if verdict.probability is None else round(verdict.probability, 2)
        parts: list[int] = []
        if verdict.claim is not None and verdict.unsupported:
            place_of = Offsets(verdict.claim.text)
            parts = [place_of(end) for part in verdict.unsupported for end in (part.start, part.end)]
        said = [
            text(verdict.label),
            probability,
            text(verdict.reason),
            subject,
            quotes,
            verdict.unlocated,
            cells,
            parts,
        ]
        return _trimmed(said, 4)

    def _claim(self, claim: Claim, place: int) -> list[Any]:
        start, end = claim.span.start, claim.span.end
        if not self._places[place][start:end]:
            return ["t", self._texts.number(claim.text)]
        whole = claim.text == self._places[place][start:end]
        return _trimmed(["c", *self._at(place, start, end)[1:], -1 if whole else self._texts.number(claim.text)], 3)

    def _unit(self, number: int, units: Sequence[str]) -> list[Any]:
        """A passage, or a piece of one: where it stands, if that can be found."""
        unit = units[number]
        if number in self._places and self._places[number] == unit:
            return ["u", number]
        for place, text in self._places.items():
            self._left -= len(text)
            if self._left < 0 or place < 0:
                break
            start = text.find(unit)
            if start >= 0:
                return ["u", *self._at(place, start, start + len(unit))]
        return ["t", self._texts.number(unit)]

    def _quote(self, quote: Evidence, against: str) -> list[Any]:
        place = {"answer": ANSWER, "reference": REFERENCE}.get(against, quote.passage)
        if against == "tools":
            place += len(self._sample.passages) + len(self._earlier)
        start, end = quote.span.start, quote.span.end
        if quote.text and self._places.get(place, "")[start:end] == quote.text:
            return self._at(place, start, end)
        if quote.box is not None:
            return [self._texts.number(quote.text), place, *(round(1000 * share) for share in quote.box)]
        return [self._texts.number(quote.text)]

    def _at(self, place: int, start: int, end: int) -> list[Any]:
        if place not in self._offsets:
            self._offsets[place] = Offsets(self._places[place])
        units = self._offsets[place]
        return [place, units(start), units(end)]


def _trimmed(values: list[Any], least: int) -> list[Any]:
    """Without the values at the end that say nothing, but for the first `least`."""
    while len(values) > least and values[-1] in (None, -1, 0, "", [], {}):
        values.pop()
    return values


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
