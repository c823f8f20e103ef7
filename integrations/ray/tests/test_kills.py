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
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import fsspec
import psutil
import pytest

from assay.evaluation.result import Result
from tests.evaluation.sharded.work import write

ROOT = Path(__file__).parents[3]

#: A driver with a cluster of its own, which ends with it.
DRIVER = """
import sys
import ray
import assay_ray
from tests.evaluation.sharded.work import judge
if __name__ == "__main__":
    data, store, out, shard_rows = sys.argv[1:]
    ray.init(num_cpus=2, object_store_memory=200 << 20, include_dashboard=False, log_to_driver=False)
    how = {"store": store, "shard_rows": int(shard_rows), "lean": True, "progress": False}
    result = assay_ray.score(data, "faithfulness", judge, workers=2, out=out, **how)
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
    driver_mb: tuple[int, ...]
    worker_mb: tuple[int, ...]


class Memory(threading.Thread):
    """The memory of a driver and of its workers that is theirs alone, in MB: the largest seen in each minute."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.driver: int | None = None
        self.drivers: dict[int, int] = {}
        self.workers: dict[int, int] = {}
        self.began = time.monotonic()

    def run(self) -> None:
        while True:
            if self.driver is not None:
                self._note(self.drivers, [self.driver])
                self._note(self.workers, scorers(self.driver))
            time.sleep(5)

    def _note(self, seen: dict[int, int], processes: list[int]) -> None:
        minute = int(time.monotonic() - self.began) // 60
        for pid in processes:
            with contextlib.suppress(psutil.Error):
                own = psutil.Process(pid).memory_full_info().uss >> 20
                seen[minute] = max(seen.get(minute, 0), own)


def scorers(driver: int) -> list[int]:
    """The processes of the actors that score."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(driver).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "ray::Scorer" in " ".join(child.cmdline()):
                    found.append(child.pid)
    return found


def alive(process: psutil.Process) -> bool:
    """Whether it runs still. Where nobody takes in orphans, a dead one keeps its number."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def files(where: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The files of a job's folder, as they are now, and where it is in them."""
    found: tuple[fsspec.AbstractFileSystem, str] = fsspec.url_to_fs(
        where, use_listings_cache=False, skip_instance_cache=True
    )
    return found


def done(where: str) -> int:
    """How many shards are done."""
    system, folder = files(where)
    with contextlib.suppress(FileNotFoundError):
        return sum(name.endswith(".json") for name in system.ls(f"{folder}/done", detail=False))
    return 0


def killed_again_and_again(
    folder: Path, rows: int, shard_rows: int, workers: int, drivers: int, out: str | None = None
) -> Outcome:
    """Score so many rows while so many workers and drivers are killed, then until the end."""
    out = out or str(folder / "out")
    data, store, draw = write(folder / "a.jsonl", rows), folder / "s", random.Random(7)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-c", DRIVER, str(data), str(store), out, str(shard_rows)]
    began, killed, memory = time.monotonic(), 0, Memory()
    memory.start()
    # shards done when the next worker is killed: anywhere in the job but for its last tenth
    moments = sorted(draw.uniform(0.0, 0.9) * rows / shard_rows for _ in range(workers))
    each = -(-workers // drivers)
    for turn in range(drivers):
        driver = subprocess.Popen(command, env=env)
        memory.driver = driver.pid
        while killed < min(workers, each * (turn + 1)):
            there = done(out)
            while done(out) <= max(there, moments[killed]):  # it has gone on since the last kill
                assert driver.poll() is None, "the driver ended before its workers were killed"
                time.sleep(0.05)
            time.sleep(draw.uniform(0.0, 0.5))
            for worker in draw.sample(found := scorers(driver.pid), min(1, len(found))):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    killed += 1
        time.sleep(draw.uniform(0.0, 1.0))
        family = psutil.Process(driver.pid).children(recursive=True)
        at_work = scorers(driver.pid)
        scoring = [process for process in family if process.pid in at_work]
        driver.kill()
        assert driver.wait() == -signal.SIGKILL  # it was still at work
        until = time.monotonic() + 60
        while any(alive(process) for process in scoring) and time.monotonic() < until:
            time.sleep(0.1)
        for process in family:  # agents of Ray that nobody told, which end after a minute
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    last = subprocess.Popen(command, env=env)
    memory.driver = last.pid
    assert last.wait() == 0
    return told(store, out, killed, drivers, time.monotonic() - began, memory)


def told(store: Path, out: str, workers: int, drivers: int, seconds: float, memory: Memory) -> Outcome:
    written, numbers, longest, output = 0, set[int](), 0, 0
    system, folder = files(out)
    for name in system.ls(f"{folder}/rows", detail=False):
        held = system.cat_file(name)
        output += len(held)
        for line in held.splitlines():
            written, longest = written + 1, max(longest, len(line))
            numbers.add(json.loads(line)["row"])
    output += sum(system.size(name) for name in system.ls(f"{folder}/done", detail=False))
    result = Result.load("last", store)
    mean = result.metrics["faithfulness"].mean
    driver_mb, worker_mb = (tuple(seen.values()) for seen in (memory.drivers, memory.workers))
    return Outcome(
        workers, drivers, written, len(numbers), result.complete, mean, longest, output, seconds, driver_mb, worker_mb
    )


@pytest.mark.timeout(1500)
def test_kills_of_workers_and_of_the_driver_lose_nothing(tmp_path: Path) -> None:
    rows = 10_000
    found = killed_again_and_again(tmp_path, rows, 50, workers=6, drivers=2)
    assert found.workers >= 6
    assert (found.written, found.numbers, found.complete) == (rows, rows, True)
    assert found.mean == pytest.approx(0.375, abs=1e-12)  # rows have 0, 1/4, 2/4 and 3/4 in turn
    assert found.output / rows <= 1000


@pytest.mark.timeout(900)
def test_kills_lose_nothing_where_results_go_into_a_bucket(tmp_path: Path, s3: str) -> None:
    found = killed_again_and_again(tmp_path, 3_000, 30, workers=3, drivers=1, out=f"{s3}/kills")
    assert found.workers >= 3
    assert (found.written, found.numbers, found.complete) == (3_000, 3_000, True)
    assert found.mean == pytest.approx(0.375, abs=1e-12)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(killed_again_and_again(Path(name), int(sys.argv[1]), 200, workers=20, drivers=3))
