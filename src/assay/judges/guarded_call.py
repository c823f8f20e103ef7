"""Asking a judge, whoever wrote it: what goes wrong there is an answer too, under its own name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Answer, JudgeBackend, sees
from assay.prompts.base import JudgePrompt
from assay.records import Usage

T = TypeVar("T")


async def ask_judge(judge: JudgeBackend, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
    """One answer per prompt, in order, each with the shape of its prompt or a failure. Only cancellation is raised.

    Asks nothing when there are no prompts.
    """
    if not prompts:
        return []
    if not sees(judge) and any(prompt.images for prompt in prompts):
        blind = iter(await ask_judge(judge, [prompt for prompt in prompts if not prompt.images]))
        return [_needs_vision(prompt) if prompt.images else next(blind) for prompt in prompts]
    try:
        answers = list(await judge.answer(prompts))
    except JudgeFailure as failure:
        return [Answer(failure=failure)] * len(prompts)
    except (Exception, SystemExit) as error:  # a judge is foreign code; it is not to end the process
        return [Answer(failure=bug(error, "the judge raised "))] * len(prompts)
    if len(answers) != len(prompts):
        message = f"the judge gave {len(answers)} answers to {len(prompts)} prompts"
        return [Answer(failure=JudgeFailure(Cause.BUG, message))] * len(prompts)
    return [_checked(prompt, answer) for prompt, answer in zip(prompts, answers, strict=True)]


def _needs_vision(prompt: JudgePrompt[Any]) -> Answer:
    message = f"{prompt.images[0][0]} has a picture, which this judge cannot be shown; name a model that reads images"
    return Answer(failure=JudgeFailure(Cause.NEEDS_VISION, message))


def bug(error: Exception | SystemExit, before: str = "") -> JudgeFailure:
    """The failure for an exception of foreign code: a prompt, a judge or a client of a user's own."""
    failure = JudgeFailure(Cause.BUG, f"{before}{type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


def _checked(prompt: JudgePrompt[Any], answer: Answer) -> Answer:
    """The answer, its judgement checked for type and labels: a judge's mistake is a failure and never a number."""
    wrong = _wrong_answer(answer)
    if wrong is not None:
        return Answer(failure=JudgeFailure(Cause.BUG, f"the judge answered {prompt.name} with {wrong}"))
    if answer.failure is not None:
        return answer
    try:
        judgement = prompt.validate(answer.judgement)
        wrong = prompt.check(judgement)
    except Exception as error:  # pydantic's, or of a prompt of a user's own
        first = str(error).partition("\n")[0]
        wrong = f"{type(error).__name__}: {first}"
    else:
        if wrong is None:
            return answer if judgement is answer.judgement else Answer(judgement, None, answer.usage, answer.keep)
    message = f"the judge's judgement does not answer its prompt {prompt.name}: {wrong}"
    return Answer(failure=JudgeFailure(Cause.BUG, message), usage=answer.usage)


def _wrong_answer(answer: Any) -> str | None:
    """What stands in the place of an answer, where it is none."""
    if not isinstance(answer, Answer):
        return f"{type(answer).__name__}, expected Answer"
    if not isinstance(answer.failure, JudgeFailure | None):
        return f"a failure that is {type(answer.failure).__name__}, expected JudgeFailure"
    if not isinstance(answer.usage, Usage):
        return f"a usage that is {type(answer.usage).__name__}, expected Usage"
    return None


async def gather_all(work: Sequence[Awaitable[T]]) -> list[T]:
    """The results, in order. When one raises or this is cancelled, all others are cancelled and waited for."""
    if len(work) == 1:
        return [await work[0]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_awaited(one)) for one in work]
    return [task.result() for task in tasks]


async def _awaited(one: Awaitable[T]) -> T:
    return await one
