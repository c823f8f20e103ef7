"""Answer directness: the judge's probability, or its label; and what keeps it from asking at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.evaluation.display.explanation import score_in_words
from assay.evaluation.evaluate import DEFAULT_METRICS
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import AnswerDirectness
from assay.prompts import Directness, JudgePrompt
from assay.records import Evidence, Sample, ScoredSample, Span, Verdict
from assay.sinks.annotations import annotations_of

SAMPLE = Sample(question="When did it open?", answer="They say it opened in 1889.", id="s")
QUOTE = Evidence(passage=0, span=Span(9, 26), text="it opened in 1889")


class Gives(BaseJudge):
    """Answers every prompt with one verdict."""

    fingerprint = "gives"

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked: list[JudgePrompt[Any]] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts
        return [Answer(judgement=self.verdict) for _ in prompts]


@pytest.mark.parametrize(
    ("label", "probability", "value"),
    [
        ("direct", None, 1.0),
        ("indirect", None, 0.0),
        ("direct", 0.83, 0.83),  # the probability, where there is one
        ("indirect", 0.2, 0.2),
        ("indirect", 0.0, 0.0),
        ("direct", 0.4, 0.4),  # a label that was written, and the odds of having written it, may differ
    ],
)
async def test_the_score_is_the_probability_else_the_label(label: str, probability: float | None, value: float) -> None:
    verdict = Verdict(label=label, probability=probability, reason="because", evidence=(QUOTE,))
    judge = Gives(verdict)
    score = await AnswerDirectness().score(SAMPLE, judge)
    assert score.value == value
    assert score.parts == ({} if probability is None else {"probability": probability})
    assert score.verdicts == {"question/answer": (verdict,)}
    assert judge.asked == [Directness("When did it open?", "They say it opened in 1889.", "en")]


async def test_the_language_of_the_sample_is_that_of_the_prompt() -> None:
    judge = Gives(Verdict(label="direct"))
    await AnswerDirectness().score(replace(SAMPLE, language="de"), judge)
    (asked,) = judge.asked
    assert isinstance(asked, Directness)
    assert asked.language == "de"


@pytest.mark.parametrize(
    ("sample", "cause"),
    [
        (replace(SAMPLE, question=None), Cause.MISSING_INPUT),
        (replace(SAMPLE, question=" \n"), Cause.MISSING_INPUT),
        (replace(SAMPLE, answer=None), Cause.MISSING_INPUT),
        (replace(SAMPLE, answer=""), Cause.NO_CLAIMS),
    ],
)
async def test_without_question_or_answer_nothing_is_asked(sample: Sample, cause: Cause) -> None:
    judge = Gives(Verdict(label="direct"))
    score = await AnswerDirectness().score(sample, judge)
    assert score.error is not None
    assert score.error.cause is cause
    assert judge.asked == []


async def test_a_refusal_is_a_number_and_a_judge_that_cannot_tell_is_none() -> None:
    """ "I don't know" is an answer that does not give what was asked for: 0, where the judge says so."""
    refusal = replace(SAMPLE, answer="I don't know.")
    score = await AnswerDirectness().score(refusal, ScriptedJudge(directness=lambda question, answer: False))
    assert score.value == 0.0
    cannot = JudgeFailure(Cause.JUDGE_CANNOT, "too short to tell")
    score = await AnswerDirectness().score(SAMPLE, ScriptedJudge(directness=lambda question, answer: cannot))
    assert score.error is not None
    assert (score.error.cause, score.error.message) == (Cause.JUDGE_CANNOT, "too short to tell")


async def test_the_score_says_in_words_what_met_the_question() -> None:
    verdict = Verdict(label="direct", probability=0.83, reason="it names the year", evidence=(QUOTE,))
    score = await AnswerDirectness().score(SAMPLE, Gives(verdict))
    words = score_in_words(score, SAMPLE)
    assert "answer_directness = 0.830 (probability 0.83)" in words
    assert "direct (p=0.83)" in words
    assert "[answer, characters 9–26: “it opened in 1889”] (it names the year)" in words


async def test_quotes_reach_the_stores_with_their_place() -> None:
    score = await AnswerDirectness().score(SAMPLE, Gives(Verdict(label="direct", evidence=(QUOTE,))))
    (annotation,) = annotations_of(ScoredSample(sample=SAMPLE, scores={score.metric: score}))
    assert '"reading":"question/answer","label":"direct"' in annotation.metadata["assay.evidence"]
    assert '"at":[9,26],"text":"it opened in 1889"' in annotation.metadata["assay.evidence"]


def test_it_is_measured_only_when_it_is_named() -> None:
    assert AnswerDirectness().label == "answer_directness"
    assert "answer_directness" not in DEFAULT_METRICS
