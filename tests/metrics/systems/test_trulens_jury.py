"""A jury's numbers as TruLens puts them together, and what a jury asks."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics._faithfulness import Faithfulness
from assay.metrics.base import Metric
from assay.metrics.systems import named
from assay.metrics.trulens import jury
from assay.metrics.trulens.jury import Jury
from assay.prompts import Rating
from assay.records import Context, Sample, Score
from tests.metrics.systems.golden import CASES, agrees, golden

import trulens_worlds as world  # isort: skip  # on the path once `golden` is imported

GOLDEN = {name: values for name, values in golden("trulens")["values"].items() if name.startswith("jury_")}
RELEVANCE = named("trulens:relevance")
SAMPLE = Sample(question="Why?", answer="Because.", contexts=(Context(text="Because."),))


class Given(Metric):
    """What the judge's name says."""

    async def measure(self, sample: Sample, judge: Judge) -> float:
        if judge.fingerprint == "None":
            raise JudgeFailure(Cause.PARSE, "no number")
        return float(judge.fingerprint)


def juror(score: float | None) -> ScriptedJudge:
    return ScriptedJudge(name=str(score))


def score_of(metric: Metric, judge: Any = None, sample: Sample = SAMPLE) -> Score:
    return asyncio.run(metric.score(sample, judge or ScriptedJudge()))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_every_number_of_trulens_jury_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= 40
    way = name.removeprefix("jury_")
    for case, expected in GOLDEN[name].items():
        judges = tuple(juror(score) for score in world.votes(CASES[case]))
        if way in ("score_std", "flip_rate", "outcome_entropy"):
            assert score_of(Jury(metric=Given(), judges=judges)).parts[way] == pytest.approx(expected, abs=1e-9)
        else:
            made = Jury(metric=Given(), judges=judges, aggregation=way, weights=world.WEIGHTS)  # type: ignore[arg-type]
            agrees(score_of(made), expected)


def test_trimmed_mean() -> None:
    assert jury.trimmed_mean([0.1, 0.9, 0.5, 0.3]) == pytest.approx(0.4)  # (0.3 + 0.5) / 2
    assert jury.trimmed_mean([0.1, 0.9, 0.5]) == 0.5
    assert jury.trimmed_mean([0.1, 0.9]) == 0.5


def test_majority() -> None:
    assert jury.majority_vote([0.5, 0.9, 0.1], 0.5) == 1.0
    assert jury.majority_vote([0.4, 0.9, 0.1], 0.5) == 0.0
    assert jury.majority_vote([0.2, 0.8, 0.6, 0.3], 0.5) == pytest.approx(0.45)  # a tie: (0.3 + 0.6) / 2


def test_weighted_mean() -> None:
    assert jury.weighted_mean([1.0, 0.0, 0.5], [1, 2, 1]) == pytest.approx(1.5 / 4)


def test_how_far_they_agree() -> None:
    assert jury.flip_rate([0.9, 0.8, 0.5, 0.1], 0.5) == 0.25
    assert jury.outcome_entropy([0.9, 0.1], 0.5) == 1.0
    # 1/4 and 3/4: 0.5 + 0.75 * log2(4/3)
    assert jury.outcome_entropy([0.9, 0.8, 0.5, 0.1], 0.5) == pytest.approx(0.8112781244591328)
    assert jury.outcome_entropy([0.9, 0.8], 0.5) == 0.0


def test_votes_are_asked_one_by_one() -> None:
    asked: list[int] = []

    class Sampled(ScriptedJudge):
        async def answer(self, prompts: Any) -> Any:
            asked.extend(prompt.vote for prompt in prompts)
            return await super().answer(prompts)

    found = score_of(Jury(metric=RELEVANCE, votes=3), Sampled(rating=lambda question: 2))
    assert sorted(asked) == [1, 2, 3]
    assert found.value == pytest.approx(2 / 3)
    assert found.parts["score 3"] == pytest.approx(2 / 3)
    assert found.usage.calls == 3


def test_what_cannot_be_sampled_is_asked_once() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    score = score_of(Jury(metric=Faithfulness(), votes=4), judge)
    assert score.value == 1.0
    assert dict(judge.asked) == {"claims": 1, "support": 1}
    assert set(score.verdicts) == {f"answer/contexts ({n})" for n in range(1, 5)}


def test_a_jury_in_a_run() -> None:
    judges = tuple(
        ScriptedJudge(rating=lambda question, level=level: level, name=f"judge {level}") for level in (0, 1, 3)
    )
    made = Jury(metric=RELEVANCE, judges=judges, aggregation="median")
    (row,) = assay.evaluate([SAMPLE], [made], judge=ScriptedJudge(), store=None)
    score = row.scores["trulens:relevance_jury"]
    assert score.value == pytest.approx(1 / 3)
    assert score.parts["score_std"] == pytest.approx(statistics.pstdev([0, 1 / 3, 1]))
    assert score.texts["judges"] == ("judge 0", "judge 1", "judge 3")
    assert score.usage.calls == 3


def test_a_jury_has_the_range_of_its_metric() -> None:
    distance = Jury(metric=named("trulens:cosine_distance"), votes=1)
    assert (distance.low, distance.high, distance.direction, distance.needs) == (0, 2, "lower", ("question", "answer"))
    assert distance.asks == named("trulens:cosine_distance").asks


def test_without_a_vote_there_is_no_number() -> None:
    none = score_of(Jury(metric=Given(), judges=(juror(None), juror(None))))
    assert none.error is not None
    assert (none.error.cause, none.error.message) == (Cause.PARSE, "no judge gave a score: no number")
    missing = score_of(Jury(metric=RELEVANCE, votes=2), sample=Sample(question="Why?"))
    assert missing.error is not None
    assert missing.error.cause is Cause.MISSING_INPUT


def test_one_that_can_is_enough() -> None:
    able = ScriptedJudge(rating=lambda question: 3)
    found = score_of(Jury(metric=RELEVANCE, judges=(ScriptedJudge(), able)))
    assert found.value == 1.0
    assert "score 1" not in found.parts
    none = score_of(Jury(metric=RELEVANCE, judges=(ScriptedJudge(), ScriptedJudge())))
    assert none.error is not None
    assert none.error.cause is Cause.JUDGE_CANNOT


def test_a_value_by_convention_has_no_vote_and_stays_one() -> None:
    original = named("trulens:comprehensiveness@original")
    empty = ScriptedJudge(extraction=lambda what, texts: [], classification=lambda what, item, texts: "3")
    full = ScriptedJudge(extraction=lambda what, texts: ["It is."], classification=lambda what, item, texts: "3")
    both = score_of(Jury(metric=original, judges=(empty, full)))
    assert (both.value, both.measured) == (1.0, True)
    none = score_of(Jury(metric=original, judges=(empty, empty)))
    assert (none.value, none.measured) == (0.0, False)
    assert none.metric == "trulens:comprehensiveness@original_jury"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"votes": 0}, "votes: expected a whole number of at least 1, not 0"),
        ({"aggregation": "mode"}, "aggregation: expected one of 'mean', 'median'"),
        ({"aggregation": "weighted_mean"}, "weights: expected 5, one for each, got 0"),
        ({"aggregation": "weighted_mean", "votes": 2, "weights": (1, 0)}, "weights: expected numbers above 0"),
        ({"metric": "faithfulness"}, "metric: expected a metric, got 'faithfulness'"),
        ({"judges": ("nobody",)}, "judge"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Jury(**{"metric": RELEVANCE, **parameters})


def test_a_majority_needs_0_and_1() -> None:
    class Percent(Given):
        low = 2.0
        high = 100.0

    with pytest.raises(InputError, match="a majority is 0 or 1, which given does not reach"):
        Jury(metric=Percent(), aggregation="majority_vote")


def test_a_vote_is_the_judge_in_all_else() -> None:
    judge = ScriptedJudge(rating=lambda question: 1, name="mine")
    vote = jury.Voting(judge, 7)
    assert (vote.fingerprint, vote.detects_contradiction, vote.cannot(Rating)) == ("mine", True, None)
    assert replace(Rating("Well?", ((0, "no"), (1, "yes")), ()), vote=7).vote == 7


def test_whom_a_jury_consults() -> None:
    own = (ScriptedJudge(rating=lambda question: 3),)
    assert Jury(metric=RELEVANCE).consults
    assert not Jury(metric=RELEVANCE, judges=own).consults  # the run's judge is not asked
    assert not Jury(metric=Given()).consults


def test_a_jury_of_one() -> None:
    empty = ScriptedJudge(extraction=lambda what, texts: [], classification=lambda what, item, texts: "3")
    none = score_of(Jury(metric=named("trulens:comprehensiveness@original"), judges=(empty,)))
    assert (none.value, none.measured) == (0.0, False)
    unable = score_of(Jury(metric=RELEVANCE, judges=(ScriptedJudge(),)))
    assert unable.error is not None
    assert unable.error.cause is Cause.JUDGE_CANNOT
    with pytest.raises(InputError, match="weights"):
        Jury(metric=RELEVANCE, votes=1, aggregation="weighted_mean", weights=(float("inf"),))
