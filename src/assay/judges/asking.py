"""Asking another judge from within a judge: what goes wrong there is an answer, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.inquiries.base import Inquiry
from assay.judges.base import Answer, BaseJudge


async def asked(judge: BaseJudge, inquiries: Sequence[Inquiry[Any]]) -> list[Answer]:
    """One answer per inquiry, in order, each with the shape of its inquiry or a failure. Only cancellation is raised.

    Asks nothing when there are no inquiries.
    """
    if not inquiries:
        return []
    try:
        answers = await judge.answer(inquiries)
    except JudgeFailure as failure:
        return [Answer(failure=failure)] * len(inquiries)
    except Exception as error:  # a judge is foreign code
        bug = JudgeFailure(Cause.BUG, f"the judge raised {type(error).__name__}: {error}")
        bug.__cause__ = error
        return [Answer(failure=bug)] * len(inquiries)
    if len(answers) != len(inquiries):
        message = f"the judge gave {len(answers)} answers to {len(inquiries)} inquiries"
        return [Answer(failure=JudgeFailure(Cause.BUG, message))] * len(inquiries)
    return [_checked(inquiry, answer) for inquiry, answer in zip(inquiries, answers, strict=True)]


def _checked(inquiry: Inquiry[Any], answer: Answer) -> Answer:
    if answer.failure is not None or inquiry.answered_by(answer.finding):
        return answer
    message = f"the judge's finding does not have the shape of its inquiry {inquiry.name}"
    return Answer(failure=JudgeFailure(Cause.BUG, message), usage=answer.usage)
