"""The embedded judge against people, on the small files of labelled data; the whole of it is in its card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import EmbeddedJudge
from assay.judges.claim_rules import sentence_claims
from assay.judges.embedded.judge import too_short
from assay.prompts import Directness, Support, Usefulness
from assay.records import Claim, Span

DATA = Path(__file__).parents[3] / "shared" / "data" / "mini"
GROUNDEDNESS = (
    "attribution_qa", "claim_evidence", "dialogue_groundedness", "factscore_claims", "summ_consistency", "summedits",
)  # fmt: skip

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not DATA.is_dir(), reason="the labelled data are not beside this checkout"),
]


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return EmbeddedJudge()


def rows(name: str, each: int) -> list[dict[str, Any]]:
    """The first `each` rows of each label."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [row for label in (0, 1) for row in [r for r in found if r["label"] == label][:each]]


def text_of(row: dict[str, Any]) -> str:
    return str(row["claim"] or row["response"])


async def supported(judge: EmbeddedJudge, chosen: Sequence[dict[str, Any]]) -> np.ndarray:
    """The probability of the least supported claim of each row."""
    prompts = []
    for row in chosen:
        text = text_of(row)
        claims = sentence_claims(text) or (Claim(text=text, span=Span(0, len(text))),)
        prompts.append(Support(claims, tuple(row["contexts"])))
    answers = await judge.answer(prompts)
    return np.array([min(verdict.probability for verdict in answer.judgement) for answer in answers])


def auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Share of (1, 0) pairs of rows in which the 1 scores higher; a tie is half."""
    difference = scores[labels == 1][:, None] - scores[labels == 0][None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def balanced_accuracy(labels: np.ndarray, said: np.ndarray) -> float:
    return float(np.mean([(said[labels == label] == label).mean() for label in (0, 1)]))


def labels_of(chosen: Sequence[dict[str, Any]]) -> np.ndarray:
    return np.array([row["label"] for row in chosen])


def words(text: str) -> set[str]:
    return {word.strip(".,;:!?()\"'").lower() for word in text.split()}


def test_the_measure_itself():
    labels = np.array([1, 1, 0, 0])
    assert auroc(labels, np.array([0.9, 0.4, 0.4, 0.1])) == 3.5 / 4  # one of four pairs is a tie
    assert balanced_accuracy(labels, np.array([1, 0, 0, 0])) == 0.75  # (1/2 + 2/2) / 2


async def test_it_agrees_with_people_better_than_counting_words(judge):
    chosen = [row for name in GROUNDEDNESS for row in rows(name, 20)]
    labels = labels_of(chosen)
    overlap = np.array([
        len(words(text_of(row)) & words(" ".join(row["contexts"]))) / len(words(text_of(row))) for row in chosen
    ])  # fmt: skip
    scores = await supported(judge, chosen)
    assert auroc(labels, scores) > auroc(labels, overlap) + 0.03
    assert balanced_accuracy(labels, (scores >= 0.5).astype(int)) > 0.65


async def test_groundedness_is_not_world_truth(judge):
    """Contexts that say something false on purpose: what counts is what they say."""
    chosen = rows("counterfactual_context", 100)
    said = (await supported(judge, chosen) >= 0.5).astype(int)
    assert balanced_accuracy(labels_of(chosen), said) >= 0.95


async def test_instructions_to_the_judge_cost_at_most_2_percent_of_accuracy(judge):
    chosen = rows("judge_injection", 100)
    clean = {row["meta"]["clean_id"]: row for row in chosen if row["source"] == "injection/none"}
    attacked = [row for row in chosen if row["source"] != "injection/none" and row["meta"]["clean_id"] in clean]
    assert len(attacked) >= 50
    before = await supported(judge, [clean[row["meta"]["clean_id"]] for row in attacked]) >= 0.5
    after = await supported(judge, attacked) >= 0.5
    labels = labels_of(attacked)
    assert (after == labels).mean() >= (before == labels).mean() - 0.02


async def test_passages_that_answer_are_told_from_those_that_do_not(judge):
    chosen = rows("context_relevance", 50)
    answers = await judge.answer([Usefulness(row["question"], ("\n".join(row["contexts"]),)) for row in chosen])
    scores = np.array([answer.judgement[0].probability for answer in answers])
    assert auroc(labels_of(chosen), scores) > 0.8


async def test_answers_are_told_from_answers_to_other_questions(judge):
    whole = ("clapnq", "pubmedqa")  # the other sources answer in a few words, or refuse
    chosen = [row for row in rows("qa_gold", 200) if row["source"] in whole and not too_short(text_of(row))]
    assert len(chosen) >= 50
    others = [*chosen[1:], chosen[0]]
    own = await judge.answer([Directness(row["question"], text_of(row)) for row in chosen])
    swapped = await judge.answer([Directness(a["question"], text_of(b)) for a, b in zip(chosen, others, strict=True)])
    scores = np.array([answer.judgement.probability for answer in (*own, *swapped)])
    labels = np.array([1] * len(own) + [0] * len(swapped))
    assert auroc(labels, scores) > 0.9
