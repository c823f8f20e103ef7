"""Jobs of several processes: how much sooner they end, and what they add to a row.

    python -m tests.benchmarks.bench_jobs [--rounds N] [--only WHICH]

The rows of the demo, each with the passages of the rows after it until there are three, and again with other texts
until there are enough. Every way is a process of its own that is started anew, with imports (of what is compiled, as
in any installation) and the loading of models; ways take turns, and of each the quickest round counts, because other
work on the machine only ever makes one slower. What is added to a row is CPU time, of all processes, above that of the
same scoring in a loop.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

METRICS = ["faithfulness", "context_utilization"]
ROUNDS = 3
LARGE, SMALL = 400, 132
QUIET = 60.0  # seconds to wait for other work on the machine to end
LOOPED, MANY = 20_000, 100_000
#: What is measured, with what `Ways` calls it.
ALONE, ALL_CORES, TWO = "one process, one thread", "one process, all cores", "--jobs 2, one thread each"


def written(path: Path, count: int) -> Path:
    """So many rows for the embedded judge."""
    from tests.benchmarks.bench_embedded_rows import rows

    found = rows(3)
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            row, copy = found[n % len(found)], n // len(found)
            contexts = [f"{text} This is copy {copy} of the text." for text in row["contexts"]]
            file.write(json.dumps({**row, "id": f"r{n}", "contexts": contexts}) + "\n")
    return path


def alone(data: Path, folder: Path, threads: int | None) -> None:
    import assay

    judge = assay.EmbeddedJudge(threads=threads)
    found = assay.evaluate(data, METRICS, judge, store=folder, progress=False)
    assert found.metrics["faithfulness"].scored


def in_processes(data: Path, folder: Path) -> None:
    from assay.evaluation.sharded.job import evaluate_in_processes

    found = evaluate_in_processes(data, METRICS, "embedded", jobs=2, store=folder, progress=False)
    assert found.metrics["faithfulness"].scored


def in_a_loop(data: Path, folder: Path) -> None:
    """The same scoring as a job's, and the same lines written, row after row."""
    from assay.data import open_data
    from assay.evaluation.score_sample import score_sample
    from assay.evaluation.summary import Summary
    from assay.judges.cache import JudgementCache
    from assay.metrics import Metric
    from assay.metrics.names import resolve_metrics
    from assay.records import Sample
    from tests.evaluation.sharded.work import judge

    metrics: Sequence[Metric] = resolve_metrics("faithfulness")

    async def score() -> None:
        summary, cache = Summary("faithfulness"), JudgementCache(judge())
        for _, row in open_data(data):
            assert isinstance(row, Sample)
            scored = await score_sample(row, metrics, cache, deadline=300.0)
            summary.add(scored.scores["faithfulness"])
        assert summary.mean is not None

    asyncio.run(score())


def lean(data: Path, folder: Path, jobs: int = 1) -> None:
    from assay.evaluation.sharded.job import evaluate_in_processes
    from tests.evaluation.sharded.work import judge

    found = evaluate_in_processes(data, "faithfulness", judge, jobs=jobs, store=folder, lean=True, progress=False)
    assert found.complete


Ways = dict[str, Callable[[Path, Path], None]]
WAYS: Ways = {
    ALONE: lambda data, folder: alone(data, folder, 1),
    ALL_CORES: lambda data, folder: alone(data, folder, None),
    TWO: in_processes,
    "loop": in_a_loop,
    "lean": lean,
    "lean, two": lambda data, folder: lean(data, folder, 2),
}


def busy() -> float:
    """CPU seconds that all processes of this machine have taken since it was started; 0.0 where nothing says it."""
    try:
        fields = Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, soft, *_ = map(int, fields)
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(patience: float = QUIET) -> None:
    """Until other work takes less than a fifth of a core, but not for ever."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = busy()
        time.sleep(2)
        if (busy() - before) / 2 < 0.2:
            return


def measured(way: str, data: Path) -> dict[str, float]:
    """One way in a process of its own: seconds, CPU seconds, the memory of driver and workers in MB, bytes written, and
    how many cores other work on the machine took meanwhile.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(data.parent / "compiled")
        began, others = time.perf_counter(), busy()
        command = [sys.executable, "-m", "tests.benchmarks.bench_jobs", "--measure", way, str(data), folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        seconds = time.perf_counter() - began
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        found["others"] = max(0.0, (busy() - others - found["cpu"]) / seconds)
        lines = [path.stat().st_size for path in Path(folder).glob("jobs/*/rows/*.jsonl")]
        stored = sum(path.stat().st_size for path in Path(folder).glob("assay.db*"))
        return {**found, "seconds": seconds, "lines": sum(lines), "stored": stored}


def measure(way: str, data: Path, folder: Path) -> dict[str, float]:
    WAYS[way](data, folder)
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    return {"cpu": cpu, "driver": own.ru_maxrss / 1024, "worker": others.ru_maxrss / 1024}


def turns(ways: Sequence[str], data: Path, rounds: int) -> dict[str, dict[str, float]]:
    """The quickest round of each way, and the lowest CPU time of all."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for n in range(rounds):
        for way in ways if n % 2 == 0 else reversed(ways):
            wait_for_quiet()
            found[way].append(measured(way, data))
    best = {way: min(many, key=lambda one: one["seconds"]) for way, many in found.items()}
    return {way: {**best[way], "cpu": min(one["cpu"] for one in found[way])} for way in ways}


def show_speed(folder: Path, rounds: int) -> None:
    print(f"| quickest of {rounds} | rows | seconds | CPU seconds | cores taken by others | times as quick | target |")
    print("|---|---|---|---|---|---|---|")
    for count in (SMALL, LARGE):
        found = turns((ALONE, ALL_CORES, TWO), written(folder / f"{count}.jsonl", count), rounds)
        base = found[ALONE]["seconds"]
        for way, one in found.items():
            target = ("≥ 1.8, and no less than all cores" if count == LARGE else "no less than all cores") * (
                way == TWO
            )
            times = f"{base / one['seconds']:.2f}"
            figures = f"{one['seconds']:.1f} | {one['cpu']:.1f} | {one['others']:.1f} | {times}"
            print(f"| {way} | {count} | {figures} | {target} |", flush=True)


def show_overhead(folder: Path, rounds: int) -> None:
    from tests.evaluation.sharded.work import write

    data = write(folder / "looped.jsonl", LOOPED)
    found = turns(("loop", "lean"), data, rounds)
    start = turns(("loop", "lean"), write(folder / "few.jsonl", 8), rounds)
    each = {way: 1e6 * found[way]["cpu"] / LOOPED for way in found}
    more = each["lean"] - each["loop"]
    begin = 1e6 * (start["lean"]["cpu"] - start["loop"]["cpu"]) / LOOPED
    print(f"\n| {LOOPED:,} rows, one metric, scripted judge, `--lean`, one process | CPU | target |\n|---|---|---|")
    print(f"| a row in a loop | {each['loop']:.0f} µs | |")
    print(f"| what a job adds to it | {more:.0f} µs | ≤ 100 µs |")
    print(f"| of that, starting one more process | {begin:.0f} µs | |", flush=True)


def show_many(folder: Path) -> None:
    from tests.evaluation.sharded.work import write

    print("\n| scripted judge, `--lean`, two processes | driver's MB | worker's MB | a row's line | in the store |")
    print("|---|---|---|---|---|")
    for count in (MANY // 10, MANY):
        one = measured("lean, two", write(folder / f"many{count}.jsonl", count))
        sizes = f"{one['lines'] / count:.0f} B | {one['stored'] / count:.0f} B"
        print(f"| {count:,} rows | {one['driver']:.0f} MB | {one['worker']:.0f} MB | {sizes} |", flush=True)


SHOWN: dict[str, Callable[[Path, int], None]] = {
    "speed": show_speed,
    "overhead": show_overhead,
    "many": lambda folder, rounds: show_many(folder),
}


def main(arguments: Sequence[str] | None = None) -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rounds", type=int, default=ROUNDS)
    ask.add_argument("--only", choices=SHOWN)
    ask.add_argument("--measure", nargs=3, metavar=("WAY", "DATA", "FOLDER"), help="one way, here, as JSON")
    given = ask.parse_args([] if arguments is None else arguments)
    if given.measure:
        way, data, where = given.measure
        found: dict[str, Any] = measure(way, Path(data), Path(where))
        print(json.dumps(found))
        return
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for name, shown in SHOWN.items():
            if given.only in (None, name):
                shown(Path(folder), given.rounds)
    print(f"\nLoad of the machine before and after: {before:.1f} and {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main(sys.argv[1:])
