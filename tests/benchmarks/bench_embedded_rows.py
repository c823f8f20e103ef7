"""CPU of the embedded judge for a row and for a guard's call; beside another installation of assay, if one is named.

    python -m tests.benchmarks.bench_embedded_rows [--against PYTHON]

Rows are those of the demo, each with the passages of the rows after it until there are three or five. One thread,
models loaded before, nothing stored: what is left is reading. PYTHON is that of an environment with another release;
both take turns, and of each the lowest counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

METRICS = ["faithfulness", "context_utilization"]
ROUNDS = 3


def rows(passages: int) -> list[dict[str, Any]]:
    from assay.data.demo import answers

    found = answers()
    pool = [[text for row in found[n:] + found[:n] for text in row["contexts"]] for n in range(len(found))]
    return [{**row, "contexts": pool[n][:passages]} for n, row in enumerate(found)]


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measured() -> dict[str, float]:
    """CPU seconds of each job."""
    import assay
    from assay import Context, Sample

    judge = assay.EmbeddedJudge(threads=1)
    guard = assay.guard(
        "faithfulness", judge, on_timeout="pass", on_error="block", on_skipped="block", fallback="-", deadline=600
    )

    def score(passages: int) -> float:
        given = rows(passages)
        taken = cpu(lambda: assay.evaluate(given, METRICS, judge, store=None, progress=False, sample_deadline=None))
        return taken / len(given)

    def check() -> float:
        samples = [
            Sample(
                question=row["question"],
                contexts=tuple(Context(text=text) for text in row["contexts"]),
                answer=" ".join(row["answer"].split(". ")[:2]),
            )
            for row in rows(5)[:8]
        ]
        return cpu(lambda: [guard.check(sample) for sample in samples]) / len(samples)

    assay.evaluate(rows(1)[:1], METRICS, judge, store=None, progress=False)  # loads the models
    return {"a row, 3 passages": score(3), "a row, 5 passages": score(5), "a guard's call, 5 passages": check()}


def turn(python: str) -> dict[str, float]:
    command = [python, str(Path(__file__).resolve()), "--measure"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def lowest(turns: list[dict[str, float]]) -> dict[str, float]:
    return {job: min(one[job] for one in turns) for job in turns[0]}


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--against", help="the Python of another installation")
    ask.add_argument("--measure", action="store_true", help="print this installation's seconds as JSON")
    given = ask.parse_args()
    if given.measure:
        print(json.dumps(measured()))
        return
    pythons = [sys.executable, *([given.against] if given.against else [])]
    turns: list[list[dict[str, float]]] = [[] for _ in pythons]
    for _ in range(ROUNDS):
        for python, into in zip(pythons, turns, strict=True):
            into.append(turn(python))
    now, *others = map(lowest, turns)
    print("| CPU of one thread | now |" + (" before | ratio |" if others else ""))
    print("|---|---|" + ("---|---|" if others else ""))
    for job, seconds in now.items():
        beside = "".join(f" {other[job]:.3f} s | 1/{other[job] / seconds:.1f} |" for other in others)
        print(f"| {job} | {seconds:.3f} s |{beside}")


if __name__ == "__main__":
    main()
