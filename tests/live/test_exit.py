"""The process ends within two seconds more than without live scoring, whatever judges and sinks do."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

PROGRAM = """
import asyncio, sys, time
from assay.judges.base import BaseJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.records import Context, Sample

kind, number = sys.argv[1], int(sys.argv[2])

class Hangs(BaseJudge):
    fingerprint, budgeted = "hangs", True

    async def answer(self, prompts):
        if kind == "awaits":
            await asyncio.sleep(600)
        if kind == "blocks":
            time.sleep(600)
        if kind == "calls a thread":
            await asyncio.to_thread(time.sleep, 600)
        while True:  # will not be cancelled
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                pass

    async def release(self):
        await asyncio.sleep(600)

class Sink:
    def write(self, scored):
        time.sleep(600)

    def close(self):
        time.sleep(600)

scripted = ScriptedJudge(support=lambda claim, passage: "supported")
if kind == "does not release":
    scripted.release = Hangs().release
judge = None if kind == "loads" else scripted if kind in ("sink", "does not release", "nothing") else Hangs()
sinks = [Sink()] if kind == "sink" else []
scorers = [LiveScorer("faithfulness", judge, sinks=sinks) for _ in range(number)]
for scorer in scorers:
    for n in range(3 * (kind != "nothing")):
        scorer.submit(Sample(question="Why?", contexts=(Context(text="Cats purr."),), answer=f"Cats purr. {n}"))
time.sleep(0.4)  # it has begun
print(time.time(), flush=True)
"""


def seconds_to_exit(kind: str, number: int) -> float:
    """From the last line of the program to the end of its process."""
    command = [sys.executable, "-c", PROGRAM, kind, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    ended = time.time()
    assert done.returncode == 0, done.stderr
    return ended - float(done.stdout)


@pytest.fixture(scope="module")
def plain() -> float:
    """What the end takes where nothing is to be waited for."""
    return min(seconds_to_exit("nothing", 6) for _ in range(2))


KINDS = ("awaits", "blocks", "calls a thread", "will not be cancelled", "sink", "does not release", "loads")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_end_takes_two_seconds_at_most_with_any_number_of_scorers(kind: str, plain: float) -> None:
    for number in (1, 6):
        # a busy machine adds to it: half a second is allowed for that, and the best of three tries counts
        tries = (seconds_to_exit(kind, number) - plain for _ in range(3))
        assert any(seconds < 2.5 for seconds in tries), number
