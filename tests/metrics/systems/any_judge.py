"""A judge that answers whatever it is asked, always the same to the same, and not always favourably."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.errors import JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import (
    BackQuestions,
    Claims,
    Classification,
    Entities,
    Extraction,
    JudgePrompt,
    KeyQuestions,
    Similarity,
    Support,
    Usefulness,
    UsefulSentences,
)
from assay.prompts.back_questions import BackQuestionsJudgement
from assay.records import Claim, Evidence, Span, Usage, Verdict
from assay.testing import FavourableJudge
from assay.text import split_sentences


def number(*about: object) -> float:
    """A number in [0, 1), always the same for the same."""
    return int.from_bytes(hashlib.sha256(repr(about).encode()).digest()[:6], "big") / 2**48


#: What it says of passages depends on their texts alone, not on where they stand.
_BY_TEXTS = ScriptedJudge(
    support=lambda claim, passage: "supported" if claim.split(" [")[0].rstrip(".") in passage else "not_mentioned",
    usefulness=lambda question, passage: "Bread" not in passage,
)


class AnyJudge(BaseJudge):
    """Answers by a hash of what is asked. `failure`: in place of every answer."""

    durable = False
    budgeted = True
    sees = True
    fingerprint = "any"

    def __init__(self, failure: JudgeFailure | None = None) -> None:
        self.failure = failure
        self.asked: list[JudgePrompt[Any]] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts
        if self.failure is not None:
            return [Answer(failure=self.failure, usage=Usage(calls=1)) for _ in prompts]
        return [replace(await self._one(prompt), usage=Usage(calls=1)) for prompt in prompts]

    async def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        if isinstance(prompt, Claims):
            return Answer(judgement=tuple(Claim(text=s.of(prompt.text), span=s) for s in _sentences(prompt.text)))
        if isinstance(prompt, Similarity):
            return Answer(judgement=tuple(1.0 if other == prompt.text else number(other) for other in prompt.others))
        if isinstance(prompt, BackQuestions):
            return Answer(judgement=BackQuestionsJudgement(questions=("What?", "When?", "Who?"), noncommittal=False))
        if isinstance(prompt, KeyQuestions):
            return Answer(judgement=("Is it?", "Was it?"))
        if isinstance(prompt, Extraction):
            texts = [text for _, text in prompt.material]
            return Answer(judgement=tuple(dict.fromkeys(s.of(text) for text in texts for s in _sentences(text)))[:6])
        if isinstance(prompt, Entities):
            words = [(n, text.split(" ")[0]) for n, text in enumerate(prompt.passages) if text.strip()]
            found = (Evidence(passage=n, span=Span(0, len(word)), text=word) for n, word in words if word)
            return Answer(judgement=tuple(found))
        if isinstance(prompt, (Support, Usefulness, UsefulSentences)):
            (answer,) = await _BY_TEXTS.answer([prompt])
            likely = {"supported": 0.9, "useful": 0.8}
            verdicts = (replace(one, probability=likely.get(one.label, 0.1)) for one in answer.judgement)
            return replace(answer, judgement=tuple(verdicts))
        if isinstance(prompt, Classification):
            labels = prompt.labels()
            return Answer(judgement=tuple(Verdict(label=labels[number(item) < 0.4]) for item in prompt.given))
        questions = prompt.questions()
        if questions:
            return Answer(judgement=prompt.from_decisions({one.name: _odds(one.labels, one) for one in questions}))
        return (await FavourableJudge().answer([prompt]))[0]


def _sentences(text: str) -> Sequence[Span]:
    return split_sentences(text, "en")


def _odds(labels: Any, question: Any) -> dict[str, float]:
    weights = {label: 0.01 + number(label, question) for label in labels}
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}
