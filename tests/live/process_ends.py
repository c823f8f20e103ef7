"""A program that starts children which submit a few samples and end at once, each in another way.

python -m tests.live.process_ends KIND STATE FOLDER WAY...

KIND is "queue" or "live". STATE is "warm" (the parent has scored or written before) or "cold". For each way it prints a
line of JSON: how many samples the children submitted, and how many of them are in the queue or in the JSONL file.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue
from assay.live.base import BaseIntake
from assay.records import Context, Sample
from assay.sinks import JsonlSink

BURST = 20  # samples of one child
CHILDREN = 2
TASKS = 40  # of a pool
UNWARNED = ("os._exit", "SIGKILL", "SIGTERM")  # SIGTERM: what `Process.terminate` sends


@dataclass(frozen=True)
class Place:
    """Where samples go, as what a child can be given: intakes do not travel."""

    kind: str
    folder: Path
    pause: float = 0.0  # seconds that the judge of a live scorer takes

    def open(self) -> BaseIntake:
        if self.kind == "queue":
            return SampleQueue(self.folder / "queue")

        def support(claim: str, passage: str) -> str:
            time.sleep(self.pause)
            return "supported"

        judge = ScriptedJudge(support=support, name="scripted")
        return LiveScorer("faithfulness", judge, sinks=[JsonlSink(self.folder / "scores.jsonl")])

    def ids(self) -> list[str]:
        """The ids of the samples that were kept."""
        if self.kind == "queue":
            return [key for (key,) in SampleQueue(self.folder / "queue")._file.rows("SELECT key FROM samples")]
        path = self.folder / "scores.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line)["sample"]["id"] for line in lines]


_INTAKES: dict[Place, BaseIntake] = {}


def intake(place: Place) -> BaseIntake:
    """The one of this process; a forked child has that of its parent."""
    if place not in _INTAKES:
        _INTAKES[place] = place.open()
    return _INTAKES[place]


def submit(place: Place, way: str, count: int = BURST) -> None:
    for number in range(count):
        id = f"{way} {os.getpid()} {number}"
        contexts = (Context(text="Cats purr."),)  # so short that no model is loaded to find the language
        intake(place).submit(Sample(id=id, question="Why?", answer="Cats purr.", contexts=contexts))


def submit_and_exit(place: Place, way: str) -> None:
    submit(place, way)
    sys.exit(0)


def submit_and_raise(place: Place, way: str) -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the traceback, until the process ends
    submit(place, way)
    raise ValueError("the child fails")


def submit_in_threads(place: Place, way: str) -> None:
    """The threads submit when the process waits for them: before Python 3.13 that is after the finalizers."""
    waits_for_threads = threading.Event()
    threading._register_atexit(waits_for_threads.set)  # type: ignore[attr-defined]

    def late(count: int) -> None:
        waits_for_threads.wait(20)
        submit(place, f"{way} {count}", count)

    threading.Thread(target=late, args=(BURST // 2 - 1,)).start()
    ThreadPoolExecutor(1).submit(late, BURST // 2 + 1)


def submit_in_grandchild(place: Place, way: str) -> None:
    run_process("fork", submit, place, way, children=1)


def submit_in_plain_grandchild(place: Place, way: str) -> None:
    """`os.fork` in a child of multiprocessing: the grandchild ends as the child does, by `os._exit`."""
    grandchild = os.fork()
    if grandchild == 0:
        submit(place, way)
        return
    os.waitpid(grandchild, 0)


def submit_and_die(place: Place, way: str) -> None:
    """No code runs at the end of the child, 100 ms after its last sample."""
    submit(place, way)
    time.sleep(0.1)
    *_, end = way.split()
    if end == "os._exit":
        os._exit(1)
    os.kill(os.getpid(), getattr(signal, end))


def run_process(method: str, target: Callable[..., None], place: Place, way: str, children: int = CHILDREN) -> int:
    """Processes of multiprocessing; how many samples they submit."""
    context: Any = multiprocessing.get_context(method)
    started = [context.Process(target=target, args=(place, way)) for _ in range(children)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    return children * BURST


def submit_one(arguments: tuple[Place, str, int]) -> None:
    place, way, number = arguments
    submit(place, f"{way} {number}", 1)


def run_pool(place: Place, way: str) -> int:
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=7) as pool:
        pool.map(submit_one, [(place, way, number) for number in range(TASKS)], chunksize=1)
        pool.close()  # else the `with` block terminates the children
        pool.join()
    return TASKS


def run_executor(method: str, place: Place, way: str) -> int:
    context: BaseContext = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        list(executor.map(submit_one, [(place, way, number) for number in range(TASKS)]))
    return TASKS


def run_fork(place: Place, way: str) -> int:
    """Plain forks, such as those of gunicorn: with `--max-requests` its workers end by `sys.exit`."""
    children = []
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            submit(place, way)
            sys.exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return CHILDREN * BURST


WAYS: dict[str, Callable[[Place, str], int]] = {
    "return": lambda place, way: run_process("fork", submit, place, way),
    "sys.exit": lambda place, way: run_process("fork", submit_and_exit, place, way),
    "exception": lambda place, way: run_process("fork", submit_and_raise, place, way),
    "threads": lambda place, way: run_process("fork", submit_in_threads, place, way),
    "grandchild": lambda place, way: run_process("fork", submit_in_grandchild, place, way),
    "plain grandchild": lambda place, way: run_process("fork", submit_in_plain_grandchild, place, way),
    "pool": run_pool,
    "executor": lambda place, way: run_executor("fork", place, way),
    "fork and sys.exit": run_fork,
    "spawn": lambda place, way: run_process("spawn", submit, place, way),
    "spawn executor": lambda place, way: run_executor("spawn", place, way),
    "forkserver": lambda place, way: run_process("forkserver", submit, place, way),
    **{
        f"{method} {way}": lambda place, way: run_process(way.split()[0], submit_and_die, place, way)
        for method in ("fork", "spawn", "forkserver")
        for way in UNWARNED
    },
}


def main(kind: str, state: str, folder: str, *ways: str) -> None:
    warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12: a fork while threads run
    place = Place(kind, Path(folder))
    if not any("spawn" in way or "forkserver" in way for way in ways):
        intake(place)
    if state == "warm":
        submit(place, "parent", 1)
        intake(place).flush(20)
    for way in ways:
        submitted = WAYS[way](place, way)
        kept = [id for id in place.ids() if id.startswith(f"{way} ")]
        print(json.dumps({"way": way, "submitted": submitted, "kept": len(kept), "ids": len(set(kept))}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
