"""ragas' context relevancy of 0.0.11 and 0.0.22: the share of the contexts' sentences that are needed.

    0.0.22   sentences extracted / sentences of the contexts
    0.0.11   agreement * mean over the extractions of (sentences extracted / sentences of the contexts)

In 0.0.11 the judge extracts the needed sentences `strictness` times. The agreement of two extractions A and B is

    bert_score   mean over the sentences of A of the highest similarity to a sentence of B
    jaccard      sentences in both / sentences in either

and that of more than two the mean over all pairs; 1 for a single extraction. Higher is better. Source: ragas 0.0.11,
gone since 0.1. There a cross-encoder gives the similarities; here it is asked of the judge as a cosine, of which a
negative one counts as 0. By assay's profile a sentence counts once, and only where it stands in the contexts: range 0
to 1. By the original's every sentence of the reply counts, whether or not it stands anywhere, so that an extraction of
nothing counts as one sentence and the value may exceed 1; and sentences are what ". " parts, so that the last of a
context and the first of the next are one. Without contexts it still compares the replies: a value by convention.

0.0.22 ("context_relevancy_0_0_22") asks once, is 1 at most, 0 without contexts, and counts an extraction of nothing as
no sentence. There sentences are those of pysbd; here they are assay's, also by the original's profile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Literal

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.ragas.common import above_one
from assay.metrics.shared_prompts import ask, cosines, gather
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least
from assay.metrics.systems.input_rules import TAKES_NO_PASSAGES
from assay.prompts import Extraction, JudgePrompt, Similarity
from assay.records import Sample, Score
from assay.text import split_sentences

Sentences = tuple[str, ...]
Agreement = Literal["bert_score", "jaccard"]

TASK = """\
Copy from the PASSAGES the sentences without which the QUESTION cannot be answered, as few as possible and letter for
letter. Where the passages do not answer it, the list is empty."""


def by_full_stops(text: str) -> Sentences:
    """The sentences as the original finds them: parted by a full stop and one space, without it at their ends."""
    return tuple(part[:-1] if part.endswith(".") else part for part in text.strip().split(". "))


def jaccard(first: Sequence[str], second: Sequence[str]) -> float:
    """Sentences in both / sentences in either; 1.0 for two that are empty."""
    either = set(first) | set(second)
    return len(set(first) & set(second)) / len(either) if either else 1.0


def nearness(rows: Sequence[Sequence[float]]) -> float:
    """The mean of the highest of each row, where negative ones count as 0. Expects at least one row."""
    return math.fsum(max(0.0, *row) for row in rows) / len(rows)


def relevancy(agreement: float, extracted: Sequence[int], sentences: int) -> float:
    """Agreement times the mean share of the sentences. Expects at least one extraction and one sentence."""
    return agreement * math.fsum(count / sentences for count in extracted) / len(extracted)


@dataclass(frozen=True)
class ContextRelevancy(SystemMetric):
    """Needed sentences / sentences of the contexts, times the agreement of `strictness` extractions."""

    needs: ClassVar = ("question", "contexts")
    input_rules: ClassVar = TAKES_NO_PASSAGES

    strictness: int = 2
    agreement: Agreement = "bert_score"

    def __post_init__(self) -> None:
        at_least(self, "strictness")

    @property
    def name(self) -> str:  # type: ignore[override]  # the agreement is part of it
        return "ragas:context_relevancy" + ("" if self.agreement == "bert_score" else f"_{self.agreement}")

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the agreement
        return (Extraction, Similarity) if self.agreement == "bert_score" and self.strictness > 1 else (Extraction,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        votes = (0,) if self.strictness == 1 else range(1, self.strictness + 1)
        extractions = await ask(judge, *(_extraction(sample, vote) for vote in votes))
        count, found = (_original if self.original else _located)(sample, extractions)
        if not count:
            return self.skip(Cause.NO_CONTEXT, "the contexts hold no sentence")
        agreement = await self._agreement(found, judge)
        value = relevancy(agreement, [len(one) for one in found], count)
        score = self.make_score(
            min(value, 1.0),
            parts={"agreement": agreement, "sentences": count},
            texts={f"extraction_{number}": one for number, one in enumerate(found, 1)},
        )
        missing = Metric.missing(self, sample)
        return replace(above_one(score, value), convention=missing.message if missing is not None else None)

    async def _agreement(self, found: Sequence[Sentences], judge: Judge) -> float:
        pairs = list(combinations(found, 2))
        if not pairs:
            return 1.0
        if self.agreement == "jaccard":
            return math.fsum(jaccard(*pair) for pair in pairs) / len(pairs)
        return math.fsum(await gather(*(_compared(*pair, judge) for pair in pairs))) / len(pairs)


def _extraction(sample: Sample, vote: int = 0) -> Extraction:
    """The question for the sentences that are needed."""
    titles = [(f"PASSAGE P{number}", text) for number, text in enumerate(sample.passages, 1)]
    material = (*titles, ("QUESTION", sample.question or ""))
    return Extraction("sentences", TASK, material, vote, sample.spoken)


async def _compared(first: Sentences, second: Sentences, judge: Judge) -> float:
    """The mean over the sentences of the first of the highest similarity to one of the second."""
    if not first or not second:
        return float(first == second)
    return nearness(await gather(*(cosines(sentence, second, judge) for sentence in first)))


def _original(sample: Sample, extractions: Sequence[Sentences]) -> tuple[int, list[Sentences]]:
    """How many sentences the contexts have, and those of each reply, wherever they come from."""
    replies = [by_full_stops(" ".join(one)) for one in extractions]
    return len(by_full_stops("\n".join(sample.passages))), replies


def _located(sample: Sample, extractions: Sequence[Sentences]) -> tuple[int, list[Sentences]]:
    """How many sentences the contexts have, and those of them that each extraction holds."""
    own = [span.of(text) for text in sample.passages for span in split_sentences(text, sample.spoken)]
    return len(own), [tuple(sentence for sentence in own if sentence in listed) for listed in map(set, extractions)]


@dataclass(frozen=True)
class ContextRelevancy0022(SystemMetric):
    """Needed sentences / sentences of the contexts, asked once."""

    name: ClassVar[str] = "ragas:context_relevancy_0_0_22"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Extraction,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        (extracted,) = await ask(judge, _extraction(sample))
        count, (found,) = (_whole if self.original else _located)(sample, (extracted,))
        if not count:
            return self.skip(Cause.NO_CONTEXT, "the contexts hold no sentence")
        value = relevancy(1.0, [len(found)], count)
        return self.make_score(min(value, 1.0), parts={"sentences": count}, texts={"extraction_1": found})


def _whole(sample: Sample, extractions: Sequence[Sentences]) -> tuple[int, list[Sentences]]:
    """How many sentences the contexts have, and those of each reply, wherever they come from."""

    def sentences(text: str) -> Sentences:
        return tuple(span.of(text) for span in split_sentences(text, sample.spoken))

    return len(sentences("\n".join(sample.passages))), [sentences(" ".join(one)) for one in extractions]


def _entry(agreement: Agreement) -> Entry:
    return Entry(
        make=partial(ContextRelevancy, agreement=agreement),
        source=f"ragas.metrics.ContextRelevancy(agreement_metric={agreement!r}), of 0.0.11",
        compared="ragas 0.0.11",
        family="context relevance",
        steps=Steps("sentences of the contexts", "the question", "extracted", f"share, times {agreement} agreement"),
        empty="an extraction of nothing counts as one sentence",
    )


ENTRIES = (
    _entry("bert_score"),
    _entry("jaccard"),
    Entry(
        make=ContextRelevancy0022,
        source="ragas.metrics.ContextRelevancy, of 0.0.22",
        compared="ragas 0.0.22",
        family="context relevance",
        steps=Steps("sentences of the contexts", "the question", "extracted", "share"),
        empty="0",
    ),
)
