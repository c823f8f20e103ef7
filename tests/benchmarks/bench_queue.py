"""The queue: appends per second in the application, and samples per second of the workers behind it.

    python -m tests.benchmarks.bench_queue

The baselines are of the same run: one SQLite transaction for each sample, and scoring the same samples in a plain loop.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assay import Context, Sample, ScriptedJudge
from assay.evaluation.score_sample import score_sample
from assay.live import SampleQueue
from assay.metrics.names import resolve_metrics

SAMPLES = 5000
SCORED = 8000  # by the workers, whose start takes as long as some hundred samples
ROUNDS = 3
TEXT = "Cats purr when they are calm, and also when they are hurt. " * 17  # 1 kB
WORKER = """
import sys
from assay import ScriptedJudge
from assay.live import Worker
judge = ScriptedJudge(usefulness=lambda question, passage: True)
Worker(sys.argv[1], "context_utilization", judge).run(until_empty=True)
"""


def sample(number: int) -> Sample:
    contexts = tuple(Context(text=f"{n} {TEXT}") for n in range(4))
    return Sample(id=f"s{number}", question=f"{number}?", contexts=contexts, answer=TEXT)


def appends(folder: Path, samples: list[Sample]) -> tuple[float, float]:
    """Samples per second that the queue puts on disk, and µs that `submit` takes of its caller."""
    queue = SampleQueue(folder, max_queue=len(samples), max_queue_bytes=2**30)
    started = time.perf_counter()
    cpu = time.thread_time()
    for one in samples:
        queue.submit(one)
    spent = time.thread_time() - cpu
    assert queue.flush(300)
    took = time.perf_counter() - started
    assert queue.close().queued == len(samples)
    return len(samples) / took, spent / len(samples) * 1e6


def one_by_one(folder: Path, samples: list[Sample]) -> float:
    """Samples per second with a transaction for each."""
    db = sqlite3.connect(folder / "plain.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("CREATE TABLE samples (key TEXT PRIMARY KEY, body TEXT)")
    started = time.perf_counter()
    for one in samples:
        db.execute("INSERT INTO samples VALUES (?, ?)", (one.id, json.dumps(one.to_dict())))
    return len(samples) / (time.perf_counter() - started)


def in_a_loop(samples: list[Sample]) -> float:
    """Samples per second where each is scored after the other, in memory."""
    judge, metrics = ScriptedJudge(usefulness=lambda question, passage: True), resolve_metrics("context_utilization")

    async def run() -> float:
        started = time.perf_counter()
        for one in samples:
            await score_sample(one, metrics, judge)
        return len(samples) / (time.perf_counter() - started)

    return asyncio.run(run())


def workers(folder: Path, count: int, samples: list[Sample]) -> float:
    """Samples per second of so many worker processes on one queue, from the first start to the last end."""
    queue = SampleQueue(folder, max_queue=len(samples), max_queue_bytes=2**30)
    for one in samples:
        queue.submit(one)
    queue.close(300)
    started = time.perf_counter()
    running = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], start_new_session=True) for _ in range(count)
    ]
    assert [process.wait() for process in running] == [0] * count
    return len(samples) / (time.perf_counter() - started)


def main() -> None:
    samples = [sample(number) for number in range(SAMPLES)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = one_by_one(folder, samples)
        speed, each = appends(folder / "queue", samples)
        print(f"| samples of 5 kB ({SAMPLES}) | per second | ratio |\n|---|---|---|")
        print(f"| one SQLite transaction each | {plain:.0f} | 1 |")
        print(
            f"| queue, from `submit` to disk (the caller spends {each:.1f} µs) | {speed:.0f} | {speed / plain:.2f}x |"
        )
        loop = in_a_loop(samples)
        print(f"| scored in a loop, in memory, by a judge that takes no time | {loop:.0f} | 1 |")
        one, two = in_turns(folder, [sample(number) for number in range(SCORED)])
        best = max(one)
        print(f"| 1 worker process, start-up and storing included | {best:.0f} | {best / loop:.2f}x |")
        print(f"| 2 worker processes, start-up and storing included | {max(two):.0f} | {max(two) / loop:.2f}x |")
        print(
            f"\nTwo workers beside one, in alternating rounds of {SCORED} samples: best {max(two) / best:.2f}x, "
            f"median {statistics.median(b / a for a, b in zip(one, two, strict=True)):.2f}x (target: at least 1.6x on "
            "idle cores)."
        )


def in_turns(folder: Path, samples: list[Sample]) -> tuple[list[float], list[float]]:
    """Samples per second of one worker and of two, round by round, so that other work disturbs both alike."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(ROUNDS):
        for count, found in rates.items():
            found.append(workers(folder / f"workers-{turn}-{count}", count, samples))
    return rates[1], rates[2]


if __name__ == "__main__":
    main()
