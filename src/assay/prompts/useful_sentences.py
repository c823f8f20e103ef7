"""UsefulSentences: which sentences of the passages help to answer the question?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from assay.errors import InvalidReply
from assay.prompts.base import (
    Division,
    LabelQuestion,
    PromptContent,
    PromptSection,
    Rule,
    whole,
)
from assay.prompts.item_verdicts import ItemVerdicts
from assay.prompts.pieces import Piece, pack
from assay.prompts.schemas import READINGS, passage_sections, question_section
from assay.prompts.usefulness import LABELS
from assay.records import Evidence, Span, Verdict
from assay.text import split_sentences

TASK = """\
Find the sentences of the PASSAGES that state something which an answer to the QUESTION needs; being about the same
topic is not enough. SENTENCES numbers them all, each with its passage and how it begins. Give the numbers of those
found as "sentences"; it may be empty. "items" stays empty."""

#: Words by which the list shows a sentence; the whole of it stands in its passage.
BEGINNING = 3


@dataclass(frozen=True)
class UsefulSentences(ItemVerdicts):
    """Which of `sentences` are useful for the question, read where they stand in `passages`?

    `sentences` say where each stands. Judgement: one verdict per sentence, in order; `passage` of a verdict counts the
    sentences, from 0. A useful sentence is its own evidence, so no reason and no quote is asked for.
    """

    name: ClassVar[str] = "useful_sentences"
    item_field: ClassVar[str] = "sentences"
    rule_name: ClassVar[str] = "usefulness"
    rule_default: ClassVar[Any] = False
    most_items: ClassVar[int] = 120  # a list of numbers, not a verdict for each

    question: str
    passages: tuple[str, ...]
    sentences: tuple[Evidence, ...]
    language: str = "en"
    earlier: str | None = field(default=None, repr=False)  # as in `Usefulness`

    @classmethod
    def of(cls, question: str, passages: Sequence[str], language: str = "en", earlier: str | None = None) -> Self:
        """The prompt on all sentences of these passages."""
        sentences = tuple(
            Evidence(passage=index, span=span, text=span.of(passage))
            for index, passage in enumerate(passages)
            for span in split_sentences(passage, language)
        )
        return cls(question, tuple(passages), sentences, language, earlier)

    def content(self) -> PromptContent:
        texts = passage_sections(self.passages) + question_section(self.question, self.earlier)
        listed = "\n".join(f"{n} P{s.passage + 1} {_beginning(s.text)}" for n, s in enumerate(self.sentences, 1))
        return PromptContent(
            material=(*texts, PromptSection("SENTENCES", listed)),
            task=TASK,
            schema=READINGS,
            output_tokens=30 + 2 * len(self.sentences),
            shared=len(texts),
            needed=("sentences",),
        )

    def read(self, reply: Mapping[str, Any]) -> tuple[Verdict, ...]:
        numbers = reply.get("sentences")
        count = len(self.sentences)
        if not isinstance(numbers, list):
            raise InvalidReply("The field 'sentences' must be a list of numbers, which may be empty.")
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= count:
                raise InvalidReply(f"There is no sentence {number!r}; the numbers are 1 to {count}.")
        useful = frozenset(numbers)
        return tuple(_verdict(n, n + 1 in useful, None) for n in range(count))

    def labels(self) -> tuple[str, ...]:
        return tuple(LABELS)

    def in_place(self, verdict: Verdict, number: int) -> Verdict:
        return replace(verdict, passage=number)

    def fit(self, chars: int) -> Division[tuple[Verdict, ...]] | None:
        beginnings = sum(min(len(sentence.text), 40) for sentence in self.sentences)
        room = chars - len(self.question) - len(self.earlier or "") - beginnings
        if sum(map(len, self.passages)) <= room:
            return whole(self)
        if room < 200:
            return self.halve()
        within = _Places(self.sentences).within
        groups = [(group, found) for group in pack(self.passages, room, self.language) if (found := within(group))]
        parts = tuple(self._of_group(group, found) for group, found in groups)
        numbers = [n for _, found in groups for n, _ in found]
        return Division(parts, lambda judgements: _in_order(numbers, judgements, len(self.sentences)))

    def _of_group(self, group: Sequence[Piece], found: Sequence[tuple[int, int]]) -> Self:
        """This prompt on the sentences `found` in these pieces of the passages, which become its passages."""
        sentences = []
        for n, at in found:
            piece, span = group[at], self.sentences[n].span
            moved = Span(span.start - piece.start, min(span.end - piece.start, len(piece.text)))
            sentences.append(Evidence(passage=at, span=moved, text=moved.of(piece.text)))
        return replace(self, passages=tuple(piece.text for piece in group), sentences=tuple(sentences))

    def questions(self) -> tuple[LabelQuestion, ...]:
        asked = "Does sentence {} of SENTENCES help to answer the QUESTION?"
        return tuple(LabelQuestion(f"s{n}", asked.format(n), LABELS) for n in range(1, len(self.sentences) + 1))

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> tuple[Verdict, ...]:
        shares = [answers[f"s{n}"].get("useful", 0.0) for n in range(1, len(self.sentences) + 1)]
        return tuple(_verdict(n, share >= 0.5, share) for n, share in enumerate(shares))

    def apply_rule(self, rule: Rule) -> tuple[Verdict, ...]:
        says = [rule(self.question, sentence.text) for sentence in self.sentences]
        return tuple(_verdict(n, bool(yes), None) for n, yes in enumerate(says))


class _Places:
    """Where the sentences begin, by passage: long texts have many of them, and are read in many pieces."""

    def __init__(self, sentences: Sequence[Evidence]) -> None:
        self._starts: dict[int, list[tuple[int, int]]] = {}
        for n, sentence in enumerate(sentences):
            self._starts.setdefault(sentence.passage, []).append((sentence.span.start, n))
        for starts in self._starts.values():
            starts.sort()

    def within(self, group: Sequence[Piece]) -> list[tuple[int, int]]:
        """The numbers of the sentences that begin within these pieces, each with the place of its piece in `group`."""
        found = []
        for at, piece in enumerate(group):
            starts = self._starts.get(piece.passage, [])
            first, last = (bisect_left(starts, (edge,)) for edge in (piece.start, piece.start + len(piece.text)))
            found += [(n, at) for n in sorted(n for _, n in starts[first:last])]
        return found


def _verdict(number: int, useful: bool, probability: float | None) -> Verdict:
    return Verdict(label="useful" if useful else "not_useful", probability=probability, passage=number)


def _beginning(sentence: str) -> str:
    words = sentence.split(None, BEGINNING)
    return " ".join(words[:BEGINNING])[:60] + (" ..." if len(words) > BEGINNING else "")


def _in_order(numbers: Sequence[int], judgements: Sequence[tuple[Verdict, ...]], count: int) -> tuple[Verdict, ...]:
    """The verdicts of all parts, where the first is on sentence `numbers[0]` of the whole, and so on."""
    verdicts = [verdict for judgement in judgements for verdict in judgement]
    found = {n: replace(verdict, passage=n) for n, verdict in zip(numbers, verdicts, strict=True)}
    return tuple(found.get(n, _verdict(n, False, None)) for n in range(count))
