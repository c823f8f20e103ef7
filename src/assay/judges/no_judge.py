"""The judge of a run whose metrics ask nothing: none is loaded, opened or looked at.

What metrics say of themselves decides (`Metric.may_ask`). The run's judge is then `NO_JUDGE`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.protocol import Answer
from assay.judges.resolve import check_judge, resolve_judge
from assay.prompts.base import JudgePrompt

#: The fingerprint in place of a judge's, where none was asked.
NO_JUDGE = "none"


class NoJudge(BaseJudge):
    """Stands in place of a judge that no metric asks."""

    durable = False
    budgeted = True
    free = True

    @property
    def fingerprint(self) -> str:
        return NO_JUDGE

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Refuse every question.

        Args:
            prompts: The questions.

        Returns:
            One failure for each.
        """
        message = "it was asked by a metric that says it asks nothing; name its prompts in `asks`"
        return [Answer(failure=JudgeFailure(Cause.JUDGE_CANNOT, message))] * len(prompts)


def judge_if_asked(
    asked: bool, judge: JudgeSpec, resolve: Callable[[JudgeSpec], BaseJudge] = resolve_judge
) -> BaseJudge:
    """Resolve a judge, unless nothing will be asked of it.

    Args:
        asked: Whether a metric may ask it.
        judge: The judge, as its user names it.
        resolve: What resolves it.

    Returns:
        The judge; an `NoJudge` where nothing will be asked.

    Raises:
        InputError: `judge` names none, also where it would not be asked.
    """
    if asked:
        return resolve(judge)
    check_judge(judge)
    return NoJudge()


def same_judge(one: str, other: str) -> bool:
    """Check whether scores of two runs are by one judge.

    Args:
        one: Fingerprint of a run's judge.
        other: That of the other run's judge.

    Returns:
        True for equal ones, and where one of the runs asked no judge: what both measured was then asked of none.
    """
    return one == other or NO_JUDGE in (one, other)
