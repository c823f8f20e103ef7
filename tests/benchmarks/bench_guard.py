"""How many decisions a second a guard makes within its deadline.

    python -m tests.benchmarks.bench_guard [--deadline 2.0] [--seconds 5] [--only embedded]

Requests come at a fixed rate, whether or not those before have their decision, each with a sample of its own: nothing
is remembered. The capacity is the highest rate found at which 99% have a decision from scores within the deadline. The
process is held to two CPUs. Beside it stands one check after the other, in the same run: the ratio says what the guard
makes of the machine, and holds where the machine is busy or another.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import assay
from assay import Context, Guard, Sample, ScriptedJudge

MET = 0.99  # share of requests that must be decided in time
PASSAGE = ("Cats purr when they are calm, and also when they are hurt. " * 4)[:200]


def samples() -> Iterator[Sample]:
    """Five passages of 200 characters, an answer of two sentences; no two alike."""
    for n in itertools.count():
        contexts = tuple(Context(text=f"{n}-{k}: {PASSAGE}") for k in range(5))
        answer = f"Cats purr when they are calm, says page {n}. They also purr when they are hurt, says page {n + 1}."
        yield Sample(question=f"Why do cats purr, number {n}?", contexts=contexts, answer=answer)


def one_after_the_other(guard: Guard, numbered: Iterator[Sample], seconds: float) -> float:
    """Seconds of one check while nothing else is asked: the median."""
    until, taken = time.perf_counter() + seconds, []
    while time.perf_counter() < until or len(taken) < 5:
        taken.append(guard.check(next(numbered)).seconds)
    return statistics.median(taken)


async def met(guard: Guard, numbered: Iterator[Sample], rate: float, seconds: float) -> float:
    """The share of requests that are decided from scores within the deadline, at this rate."""
    started = time.perf_counter()
    tasks = []
    for n in range(max(10, int(rate * seconds))):
        await asyncio.sleep(max(0.0, started + n / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(guard.acheck(next(numbered))))
    decisions = await asyncio.gather(*tasks)
    return sum(decision.outcome in ("passed", "blocked") for decision in decisions) / len(decisions)


def capacity(guard: Guard, numbered: Iterator[Sample], start: float, seconds: float) -> float:
    """The highest rate found, in decisions a second: doubled until it is too much, then halved in between."""
    low, high = 0.0, start
    while asyncio.run(met(guard, numbered, high, seconds)) >= MET:
        low, high = high, 2 * high
    for _ in range(3):
        middle = (low + high) / 2
        if asyncio.run(met(guard, numbered, middle, seconds)) >= MET:
            low = middle
        else:
            high = middle
    return low


def main(arguments: Sequence[str] = ()) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--deadline", type=float, default=2.0)
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--only", choices=["script", "embedded"], help="one of the two judges")
    chosen = options.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    judges: dict[str, Any] = {
        "script": ScriptedJudge(support=lambda claim, passage: "supported"),
        "embedded": None,
    }
    print(f"| `faithfulness`, deadline {chosen.deadline:g} s | one alone | capacity | times one after the other |")
    print("|---|---|---|---|")
    for name, judge in judges.items():
        if chosen.only not in (None, name):
            continue
        numbered = samples()
        guard = assay.guard(
            "faithfulness", judge, deadline=chosen.deadline, on_timeout="pass", on_error="block", on_skipped="pass"
        )
        guard.warm_up()
        alone = one_after_the_other(guard, numbered, 2.0)
        rate = capacity(guard, numbered, 0.5 / alone, chosen.seconds)
        health = guard.close()
        assert health.error == health.skipped == 0, health
        print(f"| {name} | {alone * 1000:.1f} ms | {rate:.0f}/s | {rate * alone:.2f}x |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
