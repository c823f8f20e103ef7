"""No invention scores 1.000 because it hides in a form that a rule for claims may not look at; true twins may."""

from __future__ import annotations

import pytest

from assay import EmbeddedJudge, Sample
from assay.errors import Cause
from assay.metrics import Faithfulness
from assay.metrics._faithfulness import share_supported
from assay.prompts import Claims, Support
from assay.records import Context
from tests.judges.adversarial_claims import BY_HAND, FORMS, Pair, by_rule

PAIRS = (*BY_HAND, *by_rule())


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return EmbeddedJudge()


async def faithfulness(judge: EmbeddedJudge, asked: list[tuple[Pair, str]]) -> list[float | None]:
    """The score of each answer, None where it makes no claim; all read in one batch."""
    found = [answer.judgement for answer in await judge.answer([Claims(text, pair.question) for pair, text in asked])]
    read = iter(
        await judge.answer(
            [
                Support(claims, pair.contexts, pair.question)
                for (pair, _), claims in zip(asked, found, strict=True)
                if claims
            ]
        )
    )
    return [share_supported(next(read).judgement) if claims else None for claims in found]


def test_the_table_is_as_large_and_as_varied_as_it_should_be():
    assert sum(bool(pair.invention) for pair in PAIRS) >= 60
    assert len(FORMS) >= 6
    assert len({pair.form for pair in PAIRS}) > 40


@pytest.mark.long
async def test_no_invention_scores_1(judge):
    asked = [(pair, pair.invention) for pair in PAIRS if pair.invention]
    scores = await faithfulness(judge, asked)
    unseen = [text for (_, text), score in zip(asked, scores, strict=True) if score is None or score == 1.0]
    assert unseen == []


@pytest.mark.long
async def test_their_true_twins_do(judge):
    asked = [(pair, pair.twin) for pair in PAIRS if pair.twin]
    scores = await faithfulness(judge, asked)
    assert sum(score == 1.0 for score in scores) >= 0.9 * len(asked)


async def test_a_refusal_that_goes_on_is_scored_and_a_mere_one_is_not(judge):
    sample = Sample(
        question="How long do I have?",
        contexts=(Context(text="Refunds are possible within 14 days."),),
        answer="The documents do not mention a limit, so refunds are possible within 90 days.",
    )
    score = await Faithfulness().score(sample, judge)
    assert score.value == 0.0
    mere = Sample(
        question=sample.question, contexts=sample.contexts, answer="The documents do not mention a limit. Sorry!"
    )
    score = await Faithfulness().score(mere, judge)
    assert score.error.cause is Cause.NO_CLAIMS
    assert score.texts["not_judged"] == ("The documents do not mention a limit.", "Sorry!")
