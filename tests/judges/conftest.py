"""Judges over a local fake endpoint, and judges over a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from assay.judges.llm.capabilities import forget_dialects
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Answer
from assay.prompts import JudgePrompt
from assay.records import Claim, Span, Usage

PASSAGES = ("The bridge opened in 1889. It is 330 metres long.", "Cats sleep most of the day.")


def claims(*texts: str) -> tuple[Claim, ...]:
    return tuple(Claim(text=text, span=Span(0, len(text))) for text in texts)


class Says(TextJudge):
    """A judge that says what a function returns for each request: a text, a Reply, or an exception to raise."""

    def __init__(self, says: Callable[[Request], Any], **limits: Any) -> None:
        self.says = says
        self.requests: list[Request] = []
        for name, value in limits.items():
            setattr(self, name, value)

    @property
    def fingerprint(self) -> str:
        return "says"

    async def generate(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self.says(request)
        if isinstance(said, Exception):
            raise said
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=5)
        return said if isinstance(said, Reply) else Reply(said, usage=usage)


async def ask(judge: Any, *prompts: JudgePrompt[Any]) -> Sequence[Answer]:
    """What the judge answers to all of these at once."""
    answers: Sequence[Answer] = await judge.answer(prompts)
    return answers


@pytest.fixture(autouse=True)
def nothing_learned() -> None:
    """Each test meets its endpoint for the first time."""
    forget_dialects()


@pytest.fixture
async def judge_at() -> AsyncIterator[Callable[..., OpenAIJudge]]:
    """Makes judges with short waits, and closes their clients afterwards."""
    made: list[OpenAIJudge] = []

    def make(server: Any, **options: Any) -> OpenAIJudge:
        made.append(OpenAIJudge("fake", **{"base_url": server.base_url, "retry_base": 0.01, **options}))
        return made[-1]

    yield make
    for judge in made:
        await judge.release()
