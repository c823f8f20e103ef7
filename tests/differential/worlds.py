"""Samples whose truth is known: what a judge would say of any of their texts follows from a hash of these texts.

Only the standard library: the scripts that drive other packages in environments of their own import it, and so do the
tests that hold assay's numbers to theirs.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

SUBJECTS = (
    "the bridge", "the museum", "the river", "the school", "the tower", "the train", "the library", "the harbour",
    "the market", "the stadium", "the garden", "the castle",
)  # fmt: skip
FACTS = (
    "opened in 1931", "is 88 metres long", "belongs to the city", "closes at noon", "was built of brick",
    "has two floors", "lies north of the lake", "was sold in 1974", "is free for children", "burned down twice",
    "was painted green", "serves four villages",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One sample. `said` are the statements of the answer, `known` those of the reference; they make up the texts."""

    id: str
    question: str
    contexts: tuple[str, ...]
    said: tuple[str, ...]
    known: tuple[str, ...]

    @property
    def answer(self) -> str:
        return " ".join(self.said) or REFUSAL

    @property
    def reference(self) -> str:
        return " ".join(self.known)


REFUSAL = "I do not know."


def pick(labels: Sequence[str], *about: str) -> str:
    """One of the labels, always the same for the same texts."""
    return labels[_number(*about) % len(labels)]


def share(*about: str) -> float:
    """A number in [0, 1), always the same for the same texts."""
    return _number(*about) % 10_007 / 10_007


def _number(*about: str) -> int:
    return int.from_bytes(hashlib.sha256("\x00".join(about).encode()).digest()[:8], "big")


def supports(claim: str, passage: str) -> bool:
    """Whether this passage alone supports the claim: what stands in it does, and of the rest two in five."""
    if not passage.strip():
        return False
    return claim in passage or share("supports", claim, passage) < 0.4


def supported(claim: str, passages: Sequence[str]) -> bool:
    """Whether some of the passages does."""
    return any(supports(claim, passage) for passage in passages)


def label(claim: str, passage: str) -> str:
    """ "supported", "contradicted" or "not_mentioned"."""
    if supports(claim, passage):
        return "supported"
    return pick(("contradicted", "not_mentioned"), "label", claim, passage)


def useful(question: str, passage: str, given: str = "") -> bool:
    """Whether the passage is useful for the question; `given` is the reference or the answer it should lead to."""
    return bool(passage.strip()) and share("useful", question, passage, given) < 0.5


def embedding(text: str, size: int = 16) -> list[float]:
    """A vector of length 1 made of the text's hash and of its words, so that texts with the same words are close."""
    vector = [0.0] * size
    for word in text.lower().split():
        vector[_number("word", word) % size] += 1.0
    vector[_number("text", text) % size] += 0.5
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]


def cosine(a: str, b: str) -> float:
    """The cosine of the embeddings of two texts."""
    return sum(x * y for x, y in zip(embedding(a), embedding(b), strict=True))


def cases() -> list[Case]:
    """48 samples: 40 ordinary ones, and eight that decide what a formula does at its ends."""
    chance = random.Random(7)

    def sentence() -> str:
        subject = chance.choice(SUBJECTS)
        return f"{subject[0].upper()}{subject[1:]} {chance.choice(FACTS)}."

    def some(least: int, most: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(sentence() for _ in range(chance.randint(least, most))))

    found = [
        Case(
            id=f"case-{number}",
            question=f"What is known of {chance.choice(SUBJECTS)} ({number})?",
            contexts=tuple(" ".join(some(1, 3)) for _ in range(chance.randint(1, 5))),
            said=some(1, 5),
            known=some(1, 4),
        )
        for number in range(40)
    ]
    one = found[0]
    twice = one.contexts[0]
    found += [
        Case("refusal", one.question, one.contexts, (), one.known),
        Case("nothing-retrieved", one.question, (), one.said, one.known),
        Case("blank-contexts", one.question, ("", ""), one.said, one.known),
        Case("same-context-twice", one.question, (twice, twice, *one.contexts[1:]), one.said, one.known),
        Case("said-twice", one.question, one.contexts, (one.said[0], one.said[0]), one.known),
        Case("answer-is-reference", one.question, one.contexts, one.known, one.known),
        Case("all-in-context", one.question, (" ".join(one.said), " ".join(one.known)), one.said, one.known),
        Case("no-reference", one.question, one.contexts, one.said, ()),
    ]
    return found
