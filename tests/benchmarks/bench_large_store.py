"""Commands over runs of many rows: `python -m tests.benchmarks.bench_large_store [ROWS] [--folder DIR]`.

Two runs of three passages of 120 words and four metrics go through the store's own writer. Each command runs in a
process of its own; its CPU seconds are those beyond `assay metrics`, which reads no store. DIR is kept, and rows that
it has already are not written again.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from assay import Context, Sample, Score, ScoredSample, Store
from assay.errors import Cause
from assay.evaluation.overview import overview_facts
from assay.evaluation.result import Result
from assay.records import Claim, Evidence, ScoreError, Span, Verdict
from tests.benchmarks.bench_store import WORDS

METRICS = ("faithfulness", "answer_relevance", "context_recall", "context_precision")
WORDS_A_PASSAGE, PASSAGES = 120, 3
AT_ONCE = 500
TOPICS = ("billing", "delivery", "returns", "accounts")
#: Command -> CPU seconds and MB that it may take at 10^6 rows.
TARGETS: dict[str, tuple[float, float | None]] = {
    "runs": (1.0, None),
    "worst faithfulness b": (1.0, None),
    "failures b": (1.0, None),
    "errors b": (1.0, None),
    "compare a b": (10.0, 200.0),
    "report b -o {out}/report.html": (60.0, None),
}


def scored_rows(rows: int, seed: int, better: float) -> Iterator[tuple[int, ScoredSample, str]]:
    """Rows with evidence for faithfulness; one score in a hundred is missing."""
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(WORDS, k=WORDS_A_PASSAGE)) for _ in range(2000)]
    for number in range(1, rows + 1):
        passages = tuple(Context(text=chance.choice(texts)) for _ in range(PASSAGES))
        answer = passages[0].text[:240]
        sample = Sample(
            id=f"row-{number}", question=f"What of {number}?", contexts=passages, answer=answer, reference=answer[:80],
            metadata={"topic": TOPICS[number % len(TOPICS)], "version": "1.4"},
        )  # fmt: skip
        scores = {name: _score(name, chance, better, answer) for name in METRICS}
        scored = ScoredSample(sample=sample, scores=scores)
        facts = overview_facts(scored).to_text() if number <= 1000 else "000"  # the same for all, and slow to read
        yield number, scored, facts


def _score(name: str, chance: random.Random, better: float, answer: str) -> Score:
    if chance.random() < 0.01:
        return Score(metric=name, error=ScoreError(cause=Cause.PARSE, message="the reply was no JSON"))
    value = min(1.0, max(0.0, chance.betavariate(4.0, 2.0) + better))
    verdicts = {}
    if name == "faithfulness":
        span = Span(start=0, end=60)
        claim = Claim(text=answer[:60], span=span)
        quote = Evidence(passage=0, span=span, text=answer[:60])
        verdicts = {"answer/contexts": (Verdict(claim=claim, label="supported", evidence=(quote,)),) * 4}
    return Score(metric=name, value=value, verdicts=verdicts, judge="made")


def write(folder: Path, rows: int) -> dict[str, float]:
    """Write both runs; CPU seconds of each that was not there."""
    found = {}
    with Store(folder) as store:
        for seed, (run, better) in enumerate((("a", 0.0), ("b", 0.01))):
            if store.has_run(run) and store.row_counts(run).stored == rows:
                continue
            if store.has_run(run):  # of another number of rows, or begun and not finished
                store.delete_run(run)
            start = time.process_time()
            started = store.create_run(run, {"judge": "made", "metrics": list(METRICS), "expected": rows})
            batch = []
            for row in scored_rows(rows, seed, better):
                batch.append(row)
                if len(batch) == AT_ONCE:
                    store.put_rows(run, batch, started=started)
                    batch = []
            store.put_rows(run, batch, started=started)
            Result.load(run, store).save()
            found[run] = time.process_time() - start
    return found


_MEASURED = """
import atexit, runpy, sys
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("VmHWM", line.split()[1], file=sys.stderr)
atexit.register(peak)
sys.argv[0] = "assay"
runpy.run_module("assay", run_name="__main__")
"""


def cost(arguments: list[str], folder: Path) -> tuple[float, float, int]:
    """CPU seconds, peak MB and exit status of a command."""
    # ru_maxrss of a child begins with what its parent had at the fork; VmHWM begins at the exec
    command = [sys.executable, "-c", _MEASURED, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 5, 6):
        raise SystemExit(f"assay {' '.join(arguments)}: {process.returncode}\n{said.decode()[-2000:]}")
    peak = float(said.decode().rpartition("VmHWM ")[2])
    return usage.ru_utime + usage.ru_stime, peak / 1024, process.returncode


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("rows", type=int, nargs="?", default=100_000)
    ask.add_argument("--folder", type=Path, help="where the store is kept")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = (given.folder or Path(made)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for run, seconds in write(folder / ".assay", given.rows).items():
            print(f"run {run}: {given.rows:,} rows in {seconds:.0f} CPU s ({1000 * seconds / given.rows:.2f} ms a row)")
        size = sum(path.stat().st_size for path in (folder / ".assay").iterdir()) / given.rows / 2
        print(f"{size / 1000:.2f} kB a row\n")
        start, _, _ = cost(["metrics"], folder)
        print(
            f"| command ({given.rows:,} rows a run) | CPU s beyond start ({start:.1f}) | target at 10⁶ | MB | target |"
        )
        print("|---|---|---|---|---|")
        for command, (seconds, memory) in TARGETS.items():
            took, peak, _ = cost(command.format(out=made).split(), folder)
            most = "" if memory is None else f"{memory:.0f}"
            print(
                f"| `{command.partition(' -o')[0]}` | {took - start:.2f} | {seconds:g} | {peak:.0f} | {most} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
