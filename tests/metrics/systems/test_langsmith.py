"""LangSmith's yes-or-no evaluators, as its `evaluate` scores them on 48 samples, and ours."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from assay.errors import Cause
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems import named, system_entries
from assay.records import Context, Sample, Score
from tests.metrics.systems.golden import CASES, agrees, golden, judge_of, scored

import worlds  # isort: skip  # on the path once `golden` is imported

GOLDEN = golden("langsmith")["values"]
FULL = Sample(
    question="When?", contexts=(Context(text="It opened in 1931."),), answer="In 1931.", reference="It was in 1931."
)


def score_of(name: str, sample: Sample, judge: ScriptedJudge | None = None) -> Score:
    yes = ScriptedJudge(criterion=lambda question, vote: True)
    return asyncio.run(named(f"langsmith:{name}").score(sample, judge or yes))


@pytest.mark.parametrize("metric", sorted(GOLDEN))
def test_every_number_of_langsmith_is_ours(metric: str) -> None:
    assert len(GOLDEN[metric]) >= 40
    for case, expected in GOLDEN[metric].items():
        yes = worlds.share("langsmith", metric, case) < 0.5
        judge = judge_of(CASES[case], criterion=lambda question, vote, yes=yes: yes)
        agrees(scored(f"langsmith:{metric}@original", CASES[case], judge), expected)


def test_all_six_are_here_and_higher_is_better() -> None:
    assert set(system_entries("langsmith")) == set(golden("langsmith")["exports"])
    assert {entry.make().direction for entry in system_entries("langsmith").values()} == {"higher"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("correctness", ["QUESTION", "ANSWER", "REFERENCE"]),
        ("relevance", ["QUESTION", "ANSWER"]),
        ("groundedness", ["PASSAGE P1", "ANSWER"]),
        ("retrieval_relevance", ["PASSAGE P1", "QUESTION"]),
        ("conciseness", ["QUESTION", "ANSWER"]),
        ("hallucination", ["PASSAGE P1", "QUESTION", "ANSWER", "REFERENCE"]),
    ],
)
def test_what_the_judge_sees(name: str, shown: list[str]) -> None:
    titles: list[str] = []

    class Listening(ScriptedJudge):
        async def answer(self, prompts):  # type: ignore[no-untyped-def]
            titles.extend(title for prompt in prompts for title, _ in prompt.material)
            return await super().answer(prompts)

    score = score_of(name, FULL, Listening(criterion=lambda question, vote: False))
    assert titles == shown
    assert (score.value, score.verdicts[f"langsmith:{name}"][0].label) == (0.0, "no")


@pytest.mark.parametrize(
    ("name", "sample", "cause"),
    [
        ("correctness", replace(FULL, reference=None), Cause.MISSING_INPUT),
        ("relevance", replace(FULL, question=None), Cause.MISSING_INPUT),
        ("conciseness", replace(FULL, answer=" "), Cause.NO_CLAIMS),
        ("groundedness", replace(FULL, contexts=()), Cause.NO_CONTEXT),
        ("groundedness@original", replace(FULL, contexts=None), Cause.MISSING_INPUT),
        ("retrieval_relevance", replace(FULL, contexts=(Context(text=" "),)), Cause.NO_CONTEXT),
    ],
)
def test_no_number_without_a_measurement(name: str, sample: Sample, cause: Cause) -> None:
    error = score_of(name, sample).error
    assert error is not None
    assert error.cause is cause


def test_a_reference_is_no_need_of_hallucination() -> None:
    assert score_of("hallucination", replace(FULL, reference=None)).value == 1.0


def test_a_question_is_asked_as_others_ask_it_so_that_its_verdict_is_shared() -> None:
    votes: list[int] = []

    def yes(question: str, vote: int) -> bool:
        votes.append(vote)
        return True

    score_of("correctness", FULL, ScriptedJudge(criterion=yes))
    assert votes == [0]  # the first vote, which all metrics have that ask once
