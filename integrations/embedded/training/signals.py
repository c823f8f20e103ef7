"""What each judge says of the development rows: word overlap, embedding, words, the reader, and the judge that ships.

A row is a claim, or an answer of several; what is said of its claims becomes one number by `of_answer`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import rows as reading
from agreement import claims_of, overlap
from assay_embedded import Models
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.reader import EXCERPT
from assay_embedded.support import margin

from assay import EmbeddedJudge
from assay.judges.base import BaseJudge
from assay.prompts import Support
from assay.records import Claim, Span, Verdict

WORST = 2  # claims of an answer that count, those with the lowest scores


def logit(probability: float) -> float:
    safe = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(safe / (1 - safe)))


def of_answer(scores: Sequence[float]) -> float:
    """The mean of the two lowest: one claim that is misread does not decide alone."""
    return float(np.mean(sorted(scores)[:WORST]))


@dataclass(slots=True)
class Signals:
    """The models that ship, and the judge that uses them."""

    models: Models
    judge: BaseJudge = field(default_factory=EmbeddedJudge)
    claims_per_cpu_second: float = 0.0

    def verdicts(self, rows: Sequence[reading.Row]) -> list[tuple[Verdict, ...]]:
        """The judge's verdicts on the claims of each row, its contexts being the passages."""
        prompts = [
            Support(tuple(Claim(text=c, span=Span(0, len(c))) for c in claims_of(row.claim)), row.contexts)
            for row in rows
        ]
        start = time.process_time()
        answers = asyncio.run(_answered(self.judge, prompts))
        spent = time.process_time() - start
        self.claims_per_cpu_second = round(sum(len(i.claims) for i in prompts) / spent, 1)
        return answers

    def support(self, rows: Sequence[reading.Row]) -> np.ndarray:
        """What ships: the probability that the row is supported."""
        scores = [of_answer([logit(v.probability or 0.0) for v in one]) for one in self.verdicts(rows)]
        return 1 / (1 + np.exp(-np.array(scores)))

    def others(self, rows: Sequence[reading.Row], embedding: bool = True) -> dict[str, np.ndarray]:
        """What else says something: each signal, by name, [rows]; only their order means something."""
        units = [(row.passage, claim) for row in rows for claim in claims_of(row.claim)]
        owners = np.array([i for i, row in enumerate(rows) for _ in claims_of(row.claim)])
        found = {
            "word overlap": [overlap(passage, claim) for passage, claim in units],
            "regression over words (the first judge)": self.models.word_logits(units),
            "reader alone": [-99.0 if one is None else margin(one) for one in self.models.support_logits(units)],
        }
        if embedding:
            found["embedding similarity"] = self._similarity(units)
        return {
            name: np.array([of_answer(np.array(values)[owners == i].tolist()) for i in range(len(rows))])
            for name, values in found.items()
        }

    def _similarity(self, units: Sequence[tuple[str, str]]) -> list[float]:
        """Cosine of the claim with the nearest sentence of what is read of the passage."""
        passages = {passage: Passage(passage) for passage, _ in units}
        out = []
        for passage, claim in units:
            texts = [passages[passage].pieces[i].text for i in excerpt(passages[passage], claim, EXCERPT)]
            vectors = self.models.embed([claim, *texts])
            out.append(float((vectors[1:] @ vectors[0]).max()) if texts else 0.0)
        return out


async def _answered(judge: BaseJudge, prompts: Sequence[Support]) -> list[tuple[Verdict, ...]]:
    answers = await judge.answer(prompts)
    for answer in answers:
        if answer.failure is not None:
            raise answer.failure
    return [answer.judgement for answer in answers]
