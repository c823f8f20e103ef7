"""CPU of an OpenAIJudge against the bare openai client on the same calls: `python -m tests.benchmarks.bench_openai`.

Both send the same messages to a fake endpoint in another process and get the same replies; the bare client also
decodes the JSON of the reply. What is compared is CPU of this process, in alternating rounds, as the median of the
ratios. The target is at most 1.25.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Claims, JudgePrompt, Support, Usefulness
from assay.records import Claim, Span
from tests._support.servers.openai_server import subprocess_server

CONCURRENCY = 8
PASSAGES = tuple(
    f"Report {n}: the bridge of town {n} was opened in {1900 + n} and is {200 + n} metres long. It carries two tracks "
    f"and a path for walkers. Repairs took place in {1950 + n}, when the deck was made wider by {n} metres."
    for n in range(5)
)


def prompts(kind: str, count: int) -> list[JudgePrompt[Any]]:
    """Different prompts of one kind, about 1.5 kB of prompt each."""
    question = "When was the bridge opened and how long is it?"
    made: list[JudgePrompt[Any]] = []
    for n in range(count):
        claims = [f"The bridge of town {k} was opened in {1900 + k}." for k in range(3)] + [f"The deck has {n} planks."]
        if kind == "claims":
            made.append(Claims(" ".join(claims), f"{question} ({n})"))
        elif kind == "support":
            listed = tuple(Claim(text=text, span=Span(0, len(text))) for text in claims)
            made.append(Support(listed, PASSAGES, f"{question} ({n})"))
        else:
            made.append(Usefulness(f"{question} ({n})", PASSAGES))
    return made


async def in_turn(jobs: Sequence[Callable[[], Awaitable[Any]]]) -> float:
    """CPU seconds of running the jobs, `CONCURRENCY` at a time."""
    waiting = list(jobs)

    async def work() -> None:
        while waiting:
            await waiting.pop()()

    started = time.process_time()
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return time.process_time() - started


async def compare(base_url: str, kind: str, calls: int, rounds: int, logprobs: bool) -> list[tuple[float, float]]:
    """Milliseconds of CPU per call, (bare client, judge), for each round."""
    import openai

    judge = OpenAIJudge("fake", base_url=base_url, max_concurrency=CONCURRENCY, logprobs=logprobs)
    client = openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0)
    asked = prompts(kind, calls)
    bodies = [judge.request_body(i.full_content) for i in asked]

    async def bare(body: dict[str, Any]) -> None:
        reply = await client.chat.completions.create(**body)
        json.loads(reply.choices[0].message.content or "")

    async def judged(prompt: JudgePrompt[Any]) -> None:
        (answer,) = await judge.answer([prompt])
        assert answer.failure is None, answer.failure

    async def both() -> tuple[float, float]:
        first = await in_turn([lambda body=body: bare(body) for body in bodies])
        second = await in_turn([lambda prompt=prompt: judged(prompt) for prompt in asked])
        return 1000 * first / calls, 1000 * second / calls

    await both()  # connections, caches, what the endpoint accepts
    measured = [await both() for _ in range(rounds)]
    await client.close()
    await judge.release()
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| CPU per call (target: at most 1.25x) | bare client | judge | ratio |\n|---|---|---|---|")
    with subprocess_server() as base_url:
        for kind, logprobs in (("claims", False), ("support", False), ("usefulness", False), ("support", True)):
            rounds = asyncio.run(compare(base_url, kind, options.calls, options.rounds, logprobs))
            ratio = statistics.median(judge / bare for bare, judge in rounds)
            bare, judge = (statistics.median(values) for values in zip(*rounds, strict=True))
            name = kind + (" + logprobs" if logprobs else "")
            print(f"| {name} | {bare:.2f} ms | {judge:.2f} ms | {ratio:.2f}x |")


if __name__ == "__main__":
    main()
