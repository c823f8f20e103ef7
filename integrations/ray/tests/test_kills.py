"""Workers and drivers killed at random moments: no row is lost, none is there twice. `python -m
integrations.ray.tests.test_kills ROWS` does it with as many rows as you have time for, and says what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from assay.result import Result
from tests.scale.work import write

ROOT = Path(__file__).parents[3]

#: A driver with a cluster of its own, which ends with it.
DRIVER = """
import sys
import ray
import assay_ray
from tests.scale.work import judge
if __name__ == "__main__":
    data, store, shard_rows = sys.argv[1:]
    ray.init(num_cpus=2, object_store_memory=200 << 20, include_dashboard=False, log_to_driver=False)
    how = {"store": store, "shard_rows": int(shard_rows), "lean": True, "progress": False}
    result = assay_ray.score(data, "faithfulness", judge, workers=2, **how)
    print(result.rows, result.usage.calls, flush=True)
"""


@dataclass
class Outcome:
    """What became of a job: kills, and rows as they came out."""

    workers: int
    drivers: int
    written: int
    numbers: int
    complete: bool
    mean: float | None
    longest: int
    output: int
    seconds: float


def scorers(driver: int) -> list[int]:
    """The processes of the actors that score."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(driver).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "ray::Scorer" in " ".join(child.cmdline()):
                    found.append(child.pid)
    return found


def done(store: Path) -> int:
    return len(list(store.glob("jobs/*/done/*.json")))


def killed_again_and_again(folder: Path, rows: int, shard_rows: int, workers: int, drivers: int) -> Outcome:
    """Score so many rows while so many workers and drivers are killed, then until the end."""
    data, store, draw = write(folder / "a.jsonl", rows), folder / "s", random.Random(7)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-c", DRIVER, str(data), str(store), str(shard_rows)]
    began, killed = time.monotonic(), 0
    each = -(-workers // drivers)
    for turn in range(drivers):
        driver = subprocess.Popen(command, env=env)
        family: list[psutil.Process] = []
        goal = min(workers, each * (turn + 1))
        until = time.monotonic() + 600
        while killed < goal and time.monotonic() < until:
            assert driver.poll() is None, "the driver ended before its workers were killed"
            there = done(store)
            while done(store) == there and driver.poll() is None:  # it has gone on since the last kill
                time.sleep(0.02)
            time.sleep(draw.uniform(0.0, 0.5))
            for worker in draw.sample(found := scorers(driver.pid), min(1, len(found))):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    killed += 1
        time.sleep(draw.uniform(0.0, 1.0))
        family = psutil.Process(driver.pid).children(recursive=True)
        driver.kill()
        assert driver.wait() == -signal.SIGKILL  # it was still at work
        psutil.wait_procs(family, timeout=60)
    subprocess.run(command, env=env, check=True)
    return told(store, killed, drivers, time.monotonic() - began)


def told(store: Path, workers: int, drivers: int, seconds: float) -> Outcome:
    written, numbers, longest, output = 0, set[int](), 0, 0
    for path in store.glob("jobs/*/rows/*.jsonl"):
        output += path.stat().st_size
        for line in path.read_text("utf-8").splitlines():
            written, longest = written + 1, max(longest, len(line))
            numbers.add(json.loads(line)["row"])
    output += sum(path.stat().st_size for path in store.glob("jobs/*/done/*.json"))
    result = Result.load("last", store)
    mean = result.metrics["faithfulness"].mean
    return Outcome(workers, drivers, written, len(numbers), result.complete, mean, longest, output, seconds)


@pytest.mark.timeout(1500)
def test_kills_of_workers_and_of_the_driver_lose_nothing(tmp_path: Path) -> None:
    rows = 20_000
    found = killed_again_and_again(tmp_path, rows, 50, workers=6, drivers=2)
    assert found.workers >= 6
    assert (found.written, found.numbers, found.complete) == (rows, rows, True)
    assert found.mean == pytest.approx(0.375, abs=1e-12)  # rows have 0, 1/4, 2/4 and 3/4 in turn
    assert found.output / rows <= 1000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(killed_again_and_again(Path(name), int(sys.argv[1]), 200, workers=20, drivers=3))
