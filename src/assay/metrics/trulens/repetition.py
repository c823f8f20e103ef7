"""TruLens' conversation repetition: 1 minus how much the worst of the assistant's replies repeats. It asks no judge.

    of a reply    1 - (1 - n-grams) * (1 - overlap) * (1 - phrase) * (1 - words)
    n-grams       mean over n = 2, 3, 4 of the share of n-grams that stand in it already
    overlap       the square of ROUGE-L's F1 with the reply before
    phrase        1 where it holds one of `fallback_phrases`, else 0
    words         how far the share of repeated words is above 0.3, / 0.7; 0 for fewer than four words
    score         1 - the highest of the replies

Range 0 to 1, higher is better. trulens 2.16.0, `trulens.feedback.deterministic.conversation_repetition`, which rounds
to four digits, as the profile "original" does. Words are runs of a to z and digits in lower case. The replies are what
the assistant says in `messages`, or in the history and this exchange; without one there is no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import messages_of
from assay.records import Sample, Score

ORDERS = (2, 3, 4)
#: What an assistant says that has no answer; in lower case.
FALLBACK_PHRASES = (
    "i'm sorry, i can't help with that",
    "i'm sorry, but i can't help with that",
    "i don't understand",
    "could you rephrase",
    "could you please rephrase",
    "as an ai language model",
)
#: Words of a reply that are looked at: the time for comparing it with the reply before grows with the square.
MOST_WORDS = 10_000

_WORD = re.compile(r"[a-z0-9]+")


def words_of(text: str) -> list[str]:
    """The words of a reply, as far as they are compared."""
    return [found.group() for found in islice(_WORD.finditer(text.lower()), MOST_WORDS)]


def repeated_ngrams(words: Sequence[str], order: int) -> float:
    """The share of n-grams that stand before already; 0 where there are none."""
    grams = [tuple(words[n : n + order]) for n in range(len(words) - order + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def overlap(words: Sequence[str], before: Sequence[str]) -> float:
    """ROUGE-L's F1 of two replies, squared, so that phrases which happen to be shared count little."""
    common = longest_common(words, before)
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(before)
    f1 = 2 * precision * recall / (precision + recall)
    return float(f1**2)


def longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest common subsequence; the table's rows are the bits of one number (Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for n, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << n
    whole = (1 << len(a)) - 1
    row = whole
    for word in b:
        met = row & places.get(word, 0)
        row = (row + met | row - met) & whole
    return len(a) - row.bit_count()


def repeated_words(words: Sequence[str]) -> float:
    """How far the share of words that stand before already is above 0.3, by what is left up to 1."""
    if len(words) < 4:
        return 0.0
    return max(0.0, (1 - len(set(words)) / len(words) - 0.3) / 0.7)


def combined(signals: Sequence[float]) -> float:
    """High where any of the signals is: 1 - product of (1 - signal)."""
    return 1 - math.prod(1 - signal for signal in signals)


@dataclass(frozen=True)
class ConversationRepetition(SystemMetric):
    """1 - the repetition of the reply that repeats most."""

    name: ClassVar[str] = "trulens:conversation_repetition"

    fallback_phrases: tuple[str, ...] = FALLBACK_PHRASES

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        said = [message.content for message in messages_of(sample) if message.role == "assistant"]
        replies = [reply for reply in said if reply]
        if not replies:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'messages' in which an assistant speaks")
        words = [words_of(reply) for reply in replies]
        before = [[], *words[:-1]]
        found = [self.of_reply(*one) for one in zip(replies, words, before, strict=True)]
        value = 1 - max(found)
        parts = {f"reply {number}": repetition for number, repetition in enumerate(found, 1)}
        return self.make_score(round(value, 4) if self.original else value, parts=parts)

    def of_reply(self, reply: str, words: Sequence[str], before: Sequence[str]) -> float:
        """How much a reply repeats itself, the reply before, and phrases that are no answer."""
        ngrams = math.fsum(repeated_ngrams(words, order) for order in ORDERS) / len(ORDERS)
        phrase = float(any(phrase.lower() in reply.lower() for phrase in self.fallback_phrases))
        return combined((ngrams, overlap(words, before), phrase, repeated_words(words)))


ENTRIES = (
    Entry(
        make=ConversationRepetition,
        source="trulens.feedback.deterministic.conversation_repetition",
        compared="trulens 2.16.0",
        family="criteria",
        steps=Steps("replies of the assistant", "themselves and the reply before", "repeated", "1 - highest"),
        empty="none",
    ),
)
