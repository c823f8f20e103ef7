"""Processes for the tests to start and kill: an application that submits, a worker that scores.

python -m tests.live.apps app QUEUE LOG FIRST COUNT
python -m tests.live.apps worker QUEUE SCORES [key=value ...]
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import Budget, SampleQueue, Worker
from assay.metrics.base import Metric
from assay.records import Context, Sample, Score
from assay.sinks import JsonlSink


@dataclass(frozen=True)
class Probe(Metric):
    """Does what the answer says."""

    name: ClassVar[str] = "probe"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if sample.answer == "kill":
            os.kill(os.getpid(), 9)
        if sample.answer == "hang":
            await asyncio.sleep(3600)
        await asyncio.sleep(0.002)
        return self.make_score(1.0)


def sample(id: str, answer: str = "An answer.") -> Sample:
    return Sample(question="q", answer=answer, contexts=(Context(text="A passage."),), id=id)


def app(queue: str, log: str, first: str, count: str) -> None:
    """Submit samples `first` and on, each written to `log` before; then wait to be killed."""
    target = SampleQueue(queue)
    written = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for n in range(int(first), int(first) + int(count)):
        os.write(written, f"{n}\n".encode())
        target.submit(sample(str(n)))
        if n % 4 == 0:
            time.sleep(0.002)
    target.flush(30)
    print("flushed", flush=True)
    time.sleep(3600)


def worker(queue: str, scores: str, *options: str) -> None:
    """Score until killed."""
    given: dict[str, Any] = dict(option.split("=", 1) for option in options)
    lease = float(given.get("lease", 1.0))
    until_empty = "until_empty" in given
    metrics: Any = [Probe()]
    judge: Any = ScriptedJudge()
    budget = None
    if "base_url" in given:
        from assay.judges.llm.openai import OpenAIJudge

        metrics, judge = "faithfulness", OpenAIJudge("fake", base_url=given["base_url"], retry_base=0.01)
        budget = Budget(calls_per_day=int(given["calls"]))
    print("ready", flush=True)
    Worker(
        queue, metrics, judge, sinks=[JsonlSink(scores)], lease=lease, max_attempts=int(given.get("max_attempts", 50)),
        concurrency=int(given.get("concurrency", 4)), budget=budget, deadline=20, when_spent=given.get("when", "wait"),
    ).run(until_empty)  # fmt: skip


if __name__ == "__main__":
    {"app": app, "worker": worker}[sys.argv[1]](*sys.argv[2:])
