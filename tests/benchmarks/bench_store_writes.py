"""Rows per second that a store takes, with judgements: a folder beside a PostgreSQL server on loopback, in turns.

    python -m tests.benchmarks.bench_store_writes [--rows 200,2000] [--rounds 3] [--quick-judge]

Four metrics by an LLM judge that answers at once: the local fake endpoint, a process of its own. With `--quick-judge`
it is a judge in the process that takes next to no time, so that the store is most of what there is to do. The folder
(SQLite in WAL mode) does not wait for the disk at each transaction, and the server (fsync on) does.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from assay import ScriptedJudge, evaluate
from assay.judges import BaseJudge
from assay.judges.llm.openai import OpenAIJudge
from tests._support.servers.postgres_server import server
from tests.benchmarks.bench_store import METRICS, samples

HERE = Path(__file__).parents[2]
TARGET = 0.7


class QuickJudge(ScriptedJudge):
    """Says yes to everything, and its judgements are kept."""

    durable = True

    def __init__(self) -> None:
        super().__init__(
            support=lambda claim, passage: "supported",
            usefulness=lambda question, passage: True,
            back_questions=lambda text: ["What is known of the bridge?"],
            similarity=lambda text, other: 0.5,
            directness=lambda question, answer: True,
        )


def rate(judge: BaseJudge, store: str | Path, count: int, seed: int) -> tuple[float, float]:
    """Rows per second, and ms of this process's CPU a row."""
    data = samples(count, seed)
    began, cpu = time.perf_counter(), time.process_time()
    result = evaluate(data, METRICS, judge, store=store, progress=False)
    took, spent = time.perf_counter() - began, time.process_time() - cpu
    assert all(summary.scored == count for summary in result.metrics.values()), str(result)
    result.store.close()
    return count / took, spent / count * 1000


def main(arguments: Sequence[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", default="200,2000")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--quick-judge", action="store_true")
    chosen = options.parse_args(arguments)
    command = [sys.executable, "-m", "tests._support.servers.openai_server"]
    endpoint = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)
    try:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().split()[-1]
        judge = QuickJudge() if chosen.quick_judge else OpenAIJudge("fake", base_url=url, embedding_model="e")
        with server() as postgres, tempfile.TemporaryDirectory() as folder:
            rate(judge, Path(folder) / "warm", 20, 99)
            rate(judge, postgres.url("warm"), 20, 99)
            print("| rows | folder: rows/s, CPU ms | PostgreSQL | rows/s, by the folder's | target |")
            print("|---|---|---|---|---|")
            for count in map(int, chosen.rows.split(",")):
                found: dict[str, list[tuple[float, float]]] = {"folder": [], "postgresql": []}
                for turn in range(chosen.rounds):
                    named = f"s{count}_{turn}"
                    stores: dict[str, str | Path] = {"folder": Path(folder) / named, "postgresql": postgres.url(named)}
                    for name in stores if turn % 2 else reversed(stores):
                        found[name].append(rate(judge, stores[name], count, turn))
                cells = [f"{statistics.median(r for r, _ in one):.1f}, {statistics.median(c for _, c in one):.1f}"
                         for one in found.values()]  # fmt: skip
                both = zip(found["postgresql"], found["folder"], strict=True)
                ratio = statistics.median(theirs[0] / ours[0] for theirs, ours in both)
                print(f"| {count} | {cells[0]} | {cells[1]} | {ratio:.2f} | ≥ {TARGET} |", flush=True)
    finally:
        endpoint.terminate()


if __name__ == "__main__":
    main(sys.argv[1:])
