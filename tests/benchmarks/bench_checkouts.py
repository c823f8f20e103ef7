"""Two versions of assay on the same clean run, in turns: ratios of CPU time and of memory, with intervals.

    python -m tests.benchmarks.bench_checkouts OTHER_CHECKOUT [PAIRS]

Each run is a process of its own that scores 60 samples with four metrics by the local fake endpoint, another process,
and keeps them in a new store. A ratio is this checkout's number by the other's, within a pair; the interval of the mean
logarithm is Student's.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[2]
RUN = """
import json, resource, sys, tempfile
from assay import OpenAIJudge, evaluate
rows, metrics, url = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    judge = OpenAIJudge("fake", base_url=url, embedding_model="e")
    result = evaluate(rows, metrics, judge, store=folder, progress=False)
    assert not result.errors, result.errors[:3]
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def one_run(checkout: Path, arguments: str) -> tuple[float, float]:
    """CPU seconds and MB at most of one process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", RUN]
        done = subprocess.run(
            command, input=arguments, env=environment, cwd=folder, check=True, capture_output=True, text=True
        )
    cpu, memory = json.loads(done.stdout.splitlines()[-1])
    return cpu, memory


def interval(ratios: list[float]) -> str:
    from assay.stats.distributions import t_quantile

    logs = [math.log(ratio) for ratio in ratios]
    middle, spread = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    reach = t_quantile(0.975, len(logs) - 1) * spread
    return f"{math.exp(middle):.3f} ({math.exp(middle - reach):.3f} to {math.exp(middle + reach):.3f})"


def main() -> None:
    from tests.benchmarks.bench_faults import METRICS, rows

    other, pairs = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30
    command = [sys.executable, "-m", "tests._support.servers.openai_server"]
    server = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        arguments = json.dumps([rows(), METRICS, url])
        for checkout in (HERE, other):
            one_run(checkout, arguments)  # compiled files, and what is read from the disk the first time
        found = []
        for turn in range(pairs):
            order = [HERE, other] if turn % 2 else [other, HERE]
            made = {checkout: one_run(checkout, arguments) for checkout in order}
            found.append((made[HERE], made[other]))
    finally:
        server.terminate()
    for n, name in enumerate(("CPU", "memory")):
        this, that = ([pair[k][n] for pair in found] for k in (0, 1))
        ratio = interval([a / b for a, b in zip(this, that, strict=True)])
        print(f"{name}: {statistics.median(this):.2f} by {statistics.median(that):.2f}, ratio {ratio}, {pairs} pairs")


if __name__ == "__main__":
    main()
