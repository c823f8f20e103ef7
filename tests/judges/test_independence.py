"""A score depends on its own sample alone, and a judgement on what was asked: not on neighbours, not on other
metrics."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from assay import evaluate
from assay.evaluation.score_sample import score_sample
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.protocol import BatchedQuestions
from assay.metrics.names import resolve_metrics
from assay.metrics.registry import METRICS
from assay.records import Sample
from tests._support.servers import brain
from tests.metrics.test_every_metric import SAMPLE


class Echo(TextJudge):
    """Answers honestly, and puts a hash of all that it was shown into every reason and text that it writes."""

    fingerprint = "echo"

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def generate(self, request: Request) -> Reply:
        user = self.user(request)
        self.shown.append(user)
        body = {"messages": [{"role": "user", "content": user}]}
        seen = hashlib.sha256(brain.SECTION.sub(r"\2 \3", user).encode()).hexdigest()[:12]
        return Reply(json.dumps(_marked(brain.think(brain.read(body)), seen)))


def _marked(value: Any, mark: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _marked(inner, mark, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, mark, key) for inner in value]
    return f"{value} {mark}" if key in ("reason", "claim", "questions") and isinstance(value, str) else value


#: Those that a judge answers in writing alone.
WRITTEN = [name for name, make in METRICS.items() if make().cannot(Echo()) is None]


def evidence(score: Any) -> Any:
    return score.value, score.verdicts, score.parts, score.texts


@pytest.mark.parametrize("batched_questions", ["auto", "yes", "no"])
async def test_every_metric_finds_the_same_alone_and_among_all_others(batched_questions: BatchedQuestions) -> None:
    assert len(WRITTEN) >= 15
    together = (
        await score_sample(SAMPLE, resolve_metrics(WRITTEN), Echo().with_batched_questions(batched_questions))
    ).scores
    for name in WRITTEN:
        alone = (
            await score_sample(SAMPLE, resolve_metrics(name), Echo().with_batched_questions(batched_questions))
        ).scores[name]
        assert evidence(alone) == evidence(together[name]), name


@pytest.mark.parametrize("concurrency", [1, 8])
def test_samples_with_the_same_question_and_passages_do_not_read_each_other(concurrency: int) -> None:
    """Two systems' answers to one question, scored in one run: neither is in view of the other's judge."""
    contexts = ["The tower is 90 m high."]
    rows = [{"question": "How high?", "contexts": contexts, "answer": f"It is {n} m high."} for n in (90, 91)]
    judge = Echo()
    result = evaluate(rows, "faithfulness", judge, store=None, concurrency=concurrency)
    assert result.rows == 2
    for shown in judge.shown:
        assert not ("90 m high" in shown.replace(contexts[0], "") and "91 m high" in shown)


async def test_order_and_company_change_no_judgement() -> None:
    other = Sample(question=SAMPLE.question, contexts=SAMPLE.contexts, answer="Quite another one.", reference="No.")
    judge = Echo()
    first = await score_sample(SAMPLE, resolve_metrics("faithfulness"), judge)
    await score_sample(other, resolve_metrics("faithfulness"), judge)
    again = await score_sample(SAMPLE, resolve_metrics("faithfulness"), Echo())
    assert evidence(first.scores["faithfulness"]) == evidence(again.scores["faithfulness"])
