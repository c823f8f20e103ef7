"""A run of a scripted judge with known probabilities, and what people say of it."""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.records import Claim, Span, Verdict


class Noisy(BaseJudge):
    """Reads "p=0.73" out of a claim and gives that probability; `calls` counts what it was asked."""

    durable = True

    def __init__(self, name: str = "noisy") -> None:
        self.name = name
        self.calls = 0

    @property
    def fingerprint(self) -> str:
        return f"noisy/{self.name}"

    async def answer(self, prompts):
        self.calls += len(prompts)
        return [Answer(judgement=self._judgement(prompt)) for prompt in prompts]

    def _judgement(self, prompt):
        if prompt.name == "claims":
            text, at, found = prompt.text, 0, []
            for part in text.split(". "):
                found.append(Claim(text=part, span=Span(at, at + len(part))))
                at += len(part) + 2
            return tuple(found)
        assert prompt.name == "support"
        return tuple(self._verdict(claim) for claim in prompt.claims)

    def _verdict(self, claim):
        p = float(claim.text.rpartition("p=")[2])
        return Verdict(label="supported" if p >= 0.5 else "not_mentioned", probability=p, claim=claim)


@pytest.fixture(scope="session")
def rows():
    """90 samples of two claims; the judge's probabilities are too high: people affirm where p + noise is above 0.7."""
    rng = np.random.default_rng(4)
    made, truth = [], {}
    for n in range(90):
        claims = []
        for k in range(2):
            p = round(float(rng.uniform(0.05, 0.95)), 3)
            claims.append(f"claim {n}-{k} p={p}")
            truth[f"r{n}", k] = bool(p + rng.normal() * 0.15 > 0.7)
        topic = "even" if n % 2 == 0 else "odd"
        made.append(
            {"id": f"r{n}", "question": "?", "contexts": ["a text"], "answer": ". ".join(claims), "topic": topic}
        )
    return made, truth


@pytest.fixture(scope="session")
def result(rows, tmp_path_factory):
    return evaluate(rows[0], "faithfulness", Noisy(), store=tmp_path_factory.mktemp("store"), progress=False)


@pytest.fixture(scope="session")
def labels(rows):
    """All claims labelled, by text."""
    texts = {row["id"]: row["answer"].split(". ") for row in rows[0]}
    return [
        {"id": name, "claim": texts[name][k], "label": "supported" if yes else "not_mentioned"}
        for (name, k), yes in rows[1].items()
    ]
