"""CPU of this process per sample that an LLM judge scores, with the endpoint in a process of its own.

    python -m tests.benchmarks.bench_client_cpu [SAMPLES]

Four metrics and the default set, on an endpoint without log-probabilities and without latency; lowest of the rounds,
which alternate; over aiohttp (extra `fast`) and over the `openai` client. Of each the share that is spent in the HTTP
library, and in the SDK where that is used, as a profile of one more round tells.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from itertools import product
from typing import Any

FOUR = ["faithfulness", "answer_relevancy", "context_precision", "context_recall"]
SETS: dict[str, Any] = {"four metrics": FOUR, "default metrics": None}
OVER = {"aiohttp": True, "openai": False}  # by whether requests may leave over aiohttp
ROUNDS = 5

_SERVER = """
import sys, time
from tests._support.servers.openai_server import OpenAIServer
with OpenAIServer(logprobs=False) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


def rows(count: int) -> list[dict[str, Any]]:
    """Rows like those of `bench_tokens`, each with texts of its own."""
    from tests.benchmarks.bench_tokens import rows

    made = rows()
    return [
        {**row, "id": str(n), "question": f"{row['question']} ({n})", "answer": f"{row['answer']} Number {n}."}
        for n, row in ((n, made[n % len(made)]) for n in range(count))
    ]


def once(base_url: str, data: list[dict[str, Any]], metrics: Any) -> float:
    """Milliseconds of CPU a sample."""
    from assay import OpenAIJudge, evaluate

    judge = OpenAIJudge("fake", base_url=base_url, embedding_model="e", max_concurrency=16)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        result = evaluate(data, metrics, judge, store=folder, concurrency=16)
        took = time.process_time() - began
    assert result.complete
    assert all(summary.scored == len(data) for summary in result.metrics.values()), str(result)
    return 1000 * took / len(data)


def over(way: str) -> None:
    """Have requests leave this way."""
    from assay.judges.http import transports

    transports._has_aiohttp = lambda: OVER[way]  # type: ignore[assignment]


def share_of_others(base_url: str, data: list[dict[str, Any]], metrics: Any) -> float:
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    once(base_url, data, metrics)
    profile.disable()
    stats = pstats.Stats(profile)
    names = ("openai", "httpx", "httpcore", "anyio", "h11", "aiohttp", "yarl", "multidict")
    own = total = 0.0
    for (file, _, _), (_, _, seconds, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        total += seconds
        own += seconds if any(f"{os.sep}{name}" in file for name in names) else 0.0
    return own / total


def main(count: int = 60) -> None:
    data = rows(count)
    server = subprocess.Popen([sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdin is not None
    base_url = server.stdout.readline().strip()
    try:
        jobs = list(product(SETS, OVER))
        for name, way in jobs:
            over(way)
            once(base_url, data[:5], SETS[name])  # what is loaded at first use
        lowest = dict.fromkeys(jobs, float("inf"))
        for _ in range(ROUNDS):
            for name, way in jobs:
                over(way)
                lowest[name, way] = min(lowest[name, way], once(base_url, data, SETS[name]))
        for name, way in jobs:
            over(way)
            share = share_of_others(base_url, data[: count // 2], SETS[name])
            spent = f"{lowest[name, way]:6.1f} ms of CPU a sample, {share:.0%} of it in files of others"
            print(f"{name:<16} over {way:<8} {spent}", flush=True)
    finally:
        server.stdin.close()
        server.wait(10)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
