"""Support by judges that read a claim against a text with a model: what they read, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from assay._util.terminal import shortened
from assay.judges.claim_rules.plain import has_verb, plain
from assay.judges.claim_rules.statements import asks
from assay.prompts import Support, SupportCells
from assay.records import Cell, Claim, Evidence, Span, SupportLabel, Verdict
from assay.text.short_answers import BETWEEN as BETWEEN_SPELLINGS
from assay.text.short_answers import aliases

_FEW = 15  # words of a text that is no passage
LONGEST_QUESTION = 300  # characters of one that an answer of a few words is read with
_PARTS, _QUOTED = 3, 80  # parts of a claim that a reason quotes, and characters of each
BETWEEN = "\n"  # between passages that are read together

Pair = tuple[str, str]  # a text, and a claim


class PairReading(Protocol):
    """What a text says of a claim."""

    @property
    def probability(self) -> float:
        """That the text supports the claim, in [0, 1]; 0.5 is the threshold."""

    @property
    def contradiction(self) -> float:
        """That it says otherwise, in [0, 1 - probability]; what is left is that it does not say."""

    @property
    def sentence(self) -> tuple[int, int]:
        """Offsets in the text of what says most about the claim; two that are equal for nothing."""

    @property
    def unsupported(self) -> Sequence[tuple[int, int]]:
        """Offsets of the parts of the claim by which it is not supported; none where that is not known."""


R = TypeVar("R", bound=PairReading)
T = TypeVar("T")


def support_judgements(
    prompts: Mapping[int, Support], read: Callable[[list[Pair]], Sequence[R]], reason: Callable[[R, str], str | None]
) -> dict[int, tuple[Verdict, ...]]:
    """The judgements of these prompts; `read` gets every pair of text and claim once.

    `reason` says why in words: it is told the reading, and the parts by which a claim is not supported, as quotes.
    """
    asked = [(i, claim, text) for i in prompts.values() for claim in i.claims for text in _texts(i)]
    pairs = distinct((text, said) for i, claim, text in asked for said in claim_texts(claim.text, i.question, text))
    readings = dict(zip(pairs, read(pairs), strict=True)) if pairs else {}

    def best(prompt: Support, claim: Claim, text: str) -> tuple[R, str]:
        spellings = claim_texts(claim.text, prompt.question, text)
        return max(((readings[text, said], said) for said in spellings), key=lambda one: one[0].probability)

    return {
        n: tuple(_verdict(claim, i, [best(i, claim, text) for text in _texts(i)], reason) for claim in i.claims)
        for n, i in prompts.items()
    }


def claim_texts(claim: str, question: str | None, text: str) -> tuple[str, ...]:
    """What is read of a claim, in one or several spellings of which the best counts.

    "1889" says nothing by itself, and any passage with that number would support it: an answer of a few words is read
    with the question that it answers. Not so against a text that is itself no more than a few words, as many references
    are: it knows nothing of the question.
    """
    asked = (question or "").strip()
    spellings = aliases(claim) if asked and len(asked) <= LONGEST_QUESTION and asks(asked) else ()
    if not spellings or ":" in claim or claim.startswith(asked) or has_verb(plain(claim)) or _is_few_words(text):
        return (claim,)
    return tuple(f"{asked} {spelling}" for spelling in spellings)


def _is_few_words(text: str) -> bool:
    return "\n" not in text and (BETWEEN_SPELLINGS in text or len(text.split()) <= _FEW)


def distinct(items: Iterable[T]) -> list[T]:
    """Each once, in order."""
    return list(dict.fromkeys(items))


def _texts(prompt: Support) -> tuple[str, ...]:
    """What a claim is read against: all passages together, as some claims need two of them; for cells each alone."""
    alone = prompt.passages
    return alone if isinstance(prompt, SupportCells) or not alone else (BETWEEN.join(alone),)


def _label(reading: PairReading) -> SupportLabel:
    if reading.probability >= 0.5:
        return "supported"
    silent = 1 - reading.probability - reading.contradiction
    return "contradicted" if reading.contradiction > silent else "not_mentioned"


def _verdict(
    claim: Claim, prompt: Support, read: Sequence[tuple[R, str]], reason: Callable[[R, str], str | None]
) -> Verdict:
    """The verdict of the reading that supports the claim best, where there are several, and where its evidence is.

    `read`: each reading, and what was read of the claim.
    """
    if not read:
        return Verdict(label="not_mentioned", probability=0.0, claim=claim, reason="there are no passages")
    readings = [reading for reading, _ in read]
    best = max(range(len(readings)), key=lambda k: readings[k].probability)
    top, said = read[best]
    alone = len(readings) == len(prompt.passages)  # the readings are those of the passages
    evidence = evidence_of(top.sentence, prompt.passages, best if alone else None)
    label = _label(top)
    wrong = () if label == "supported" else unsupported_in(claim.text, said, top.unsupported)
    return Verdict(
        label=label,
        probability=top.probability,
        claim=claim,
        reason=reason(top, _quoted(claim.text, wrong)),
        cells=tuple(Cell(label=_label(one), probability=one.probability) for one in readings) if alone else (),
        evidence=() if evidence is None else (evidence,),
        unsupported=wrong,
    )


def unsupported_in(claim: str, said: str, parts: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Parts of what was read, as parts of the claim that it ends with; none where it was spelled otherwise."""
    before = len(said) - len(claim)
    if not said.endswith(claim):
        return ()
    return tuple(Span(start=start - before, end=end - before) for start, end in parts if before <= start < end)


def _quoted(claim: str, parts: Sequence[Span]) -> str:
    quotes = [f"“{shortened(part.of(claim), _QUOTED)}”" for part in parts[:_PARTS]]
    return ", ".join(quotes) + (f" and {len(parts) - _PARTS} more" if len(parts) > _PARTS else "")


def evidence_of(sentence: tuple[int, int], passages: Sequence[str], passage: int | None) -> Evidence | None:
    """The sentence of the passage that was read, or None where there is none; no `passage`: of all of them joined."""
    start, end = sentence
    if start == end:
        return None
    if passage is None:
        passage = 0
        while start >= len(passages[passage]) + len(BETWEEN):
            start, end = (at - len(passages[passage]) - len(BETWEEN) for at in (start, end))
            passage += 1
        end = min(end, len(passages[passage]))  # a table may go on in the next
    span = Span(start, end)
    return Evidence(passage=passage, span=span, text=span.of(passages[passage]))
