"""A jury: one metric as several judges score it, or one judge several times, put together to one number.

    mean            sum of scores / scores
    median          the middle score, or the mean of the two in the middle
    trimmed_mean    the mean without the lowest and the highest, from three scores on
    majority_vote   1 where more than half of the scores reach `threshold`, 0 where fewer do; on a tie the median
    weighted_mean   sum of weight * score / sum of the weights

Range and direction are those of the metric. trulens 2.16.0, `trulens.feedback.Jury`. A judge that gives no score, or
one that is not measured, has no vote; with none the jury gives no score either. The parts say how far they agree:

    score_std         the standard deviation of the scores, by their number
    flip_rate         the share of scores on the smaller side of `threshold`: 0 to 0.5
    outcome_entropy   the entropy of the two sides in bits: 0 to 1

    Jury(FAITHFULNESS, judges=("openai:small", "openai:large"), aggregation="median")
    Jury(relevance, votes=5, aggregation="majority_vote")

Votes are independent samples of the run's judge where what the metric asks can be sampled (ratings, criteria, lists);
the claims of a text and what supports them are read once, so that votes on a metric of claims are all the same.
Judgements of `judges` are not kept in the run's store.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeVar

from assay.errors import InputError, JudgeFailure
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.protocol import METER, Around, Judge
from assay.judges.resolve import resolve_judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import gather
from assay.metrics.systems.base import at_least
from assay.prompts import JudgePrompt
from assay.records import Direction, Sample, Score, ScoreError

F = TypeVar("F")

Aggregation = Literal["mean", "median", "trimmed_mean", "majority_vote", "weighted_mean"]


def trimmed_mean(scores: Sequence[float]) -> float:
    """The mean without the lowest and the highest; of all where there are fewer than three."""
    return statistics.fmean(sorted(scores)[1:-1] if len(scores) > 2 else scores)


def majority_vote(scores: Sequence[float], threshold: float) -> float:
    """1.0 where more than half reach the threshold, 0.0 where fewer do; the median where as many do as do not."""
    votes = sum(score >= threshold for score in scores)
    return statistics.median(scores) if 2 * votes == len(scores) else float(2 * votes > len(scores))


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Each score by its weight / the weights."""
    return math.fsum(weight * score for weight, score in zip(weights, scores, strict=True)) / math.fsum(weights)


def flip_rate(scores: Sequence[float], threshold: float) -> float:
    """The share of scores on the side of the threshold with fewer of them."""
    votes = sum(score >= threshold for score in scores)
    return 1 - max(votes, len(scores) - votes) / len(scores)


def outcome_entropy(scores: Sequence[float], threshold: float) -> float:
    """How evenly the scores lie on both sides of the threshold, in bits."""
    share = sum(score >= threshold for score in scores) / len(scores)
    return -math.fsum(side * math.log2(side) for side in (share, 1 - share) if side)


@dataclass(frozen=True, kw_only=True)
class Jury(Metric):
    """The scores of several judges, or of several votes of one, as one.

    Attributes:
        judges: Judges, or their names; without them the run's judge is asked `votes` times.
        weights: One per judge or vote, for aggregation="weighted_mean".
        threshold: Where a score counts as a yes, for majority_vote and the parts.
    """

    name: ClassVar[str] = "trulens:jury"

    metric: Metric
    judges: tuple[JudgeSpec, ...] = ()
    votes: int = 5
    aggregation: Aggregation = "mean"
    weights: tuple[float, ...] = ()
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric):
            raise InputError(f"Jury: metric: expected a metric, got {self.metric!r}")
        at_least(self, "votes")
        if self.aggregation == "majority_vote" and not self.metric.low <= 0 < 1 <= self.metric.high:
            raise InputError(f"Jury: aggregation: a majority is 0 or 1, which {self.metric.label} does not reach")
        object.__setattr__(self, "judges", tuple(resolve_judge(judge) for judge in self.judges))
        if self.aggregation == "weighted_mean" and len(self.weights) != self.size:
            raise InputError(f"Jury: weights: expected {self.size}, one for each, got {len(self.weights)}")
        if any(not 0 < weight < math.inf for weight in self.weights):
            raise InputError(f"Jury: weights: expected numbers above 0, got {self.weights!r}")

    @property
    def size(self) -> int:
        """How many scores there are at most."""
        return len(self.judges) or self.votes

    @property
    def label(self) -> str:
        return f"{self.metric.label}_jury"

    @property
    def low(self) -> float:  # type: ignore[override]  # these are all the metric's
        return self.metric.low

    @property
    def high(self) -> float:  # type: ignore[override]
        return self.metric.high

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return self.metric.direction

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.metric.needs

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]
        return self.metric.asks

    @property
    def consults(self) -> bool:
        return self.metric.consults and not self.judges

    @property
    def may_ask(self) -> bool:
        return self.metric.may_ask

    def missing(self, sample: Sample) -> ScoreError | None:
        return self.metric.missing(sample)

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        """Where none of them can."""
        reasons = [self.metric.cannot(one, language) for one in self._jurors(judge)]
        return None if None in reasons else reasons[0]

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        jurors = self._jurors(judge)
        scores = await gather(*(self.metric.score(sample, one) for one in jurors))
        meter = METER.get()
        if meter is not None:  # each of them kept its own
            for score in scores:
                meter.add(score.usage)
        verdicts = {f"{key} ({n})": found for n, one in enumerate(scores, 1) for key, found in one.verdicts.items()}
        measured = {n: score.value for n, score in enumerate(scores) if score.measured and score.value is not None}
        if not measured:
            reason = next((score.error for score in scores if score.error is not None), None)
            if reason is None:  # all by convention
                return replace(scores[0], metric=self.label)
            return self.skip(reason.cause, f"no judge gave a score: {reason.message}", verdicts=verdicts)
        values = list(measured.values())
        return self.make_score(
            self.together(measured),
            verdicts=verdicts,
            parts={
                **{f"score {n + 1}": value for n, value in measured.items()},
                "score_std": statistics.pstdev(values),
                "flip_rate": flip_rate(values, self.threshold),
                "outcome_entropy": outcome_entropy(values, self.threshold),
            },
            texts={"judges": tuple(one.fingerprint for one in jurors)},
        )

    def together(self, measured: dict[int, float]) -> float:
        """The scores, by the number of their judge or vote, as one."""
        scores = list(measured.values())
        match self.aggregation:
            case "mean":
                return statistics.fmean(scores)
            case "median":
                return statistics.median(scores)
            case "trimmed_mean":
                return trimmed_mean(scores)
            case "majority_vote":
                return majority_vote(scores, self.threshold)
            case "weighted_mean":
                return weighted_mean(scores, [self.weights[n] for n in measured])

    def _jurors(self, judge: Judge) -> list[Judge]:
        judges = [one for one in self.judges if isinstance(one, BaseJudge)]
        return [*judges] or [Voting(judge, vote) for vote in range(1, self.votes + 1)]


@dataclass(frozen=True, slots=True)
class Voting(Around):
    """One vote of a judge: what can be asked for a sample is asked for this one of them."""

    judge: Judge
    vote: int

    async def find(self, prompt: JudgePrompt[F]) -> F:
        sampled = any(one.name == "vote" for one in fields(prompt))
        asked: Any = replace(prompt, vote=self.vote) if sampled else prompt  # type: ignore[call-arg, unused-ignore]
        found: F = await self.judge.find(asked)
        return found
