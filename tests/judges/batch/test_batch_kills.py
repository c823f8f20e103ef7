"""`kill -9` at each state of a batch, and at 56 random points: each request submitted once, each result used."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from assay import OpenAIJudge, evaluate
from tests._support.servers.batch_server import BatchServer
from tests._support.servers.openai_server import OpenAIServer, Say, _error
from tests.evaluation.test_llm_evaluation import row
from tests.judges.batch.apps import METRICS, ROWS, score

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")]

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.judges.batch.apps", "openai"])
LAG = 0.3  # of the server's list; the judge waits for it longer
REQUESTS = 5 * ROWS  # two texts into claims, usefulness, two readings


@pytest.fixture(scope="module")
def expected() -> list[dict[str, float]]:
    """What single calls find."""
    with OpenAIServer() as server:
        result = evaluate(
            [row(n) for n in range(ROWS)], METRICS, OpenAIJudge("fake", base_url=server.base_url), store=None
        )
    return [dict(scored.values) for scored in result]


def begun(server: BatchServer, kind: str, folder: Path) -> BaseProcess:
    running = CONTEXT.Process(target=score, args=(server.base_url, kind, str(folder), str(LAG + 0.3)))
    running.start()
    return running


def finished(server: BatchServer, kind: str, folder: Path) -> dict[str, Any]:
    running = begun(server, kind, folder)
    running.join(60)
    assert running.exitcode == 0
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def check(server: BatchServer, kind: str, folder: Path, expected: list[dict[str, float]]) -> None:
    """Let it finish: everything was submitted once, and is there; another run asks nothing."""
    assert finished(server, kind, folder)["values"] == expected
    assert len(server.submitted) == REQUESTS
    assert set(server.submitted.values()) == {1}
    score(server.base_url, kind, str(folder), "0.6")  # in this process
    assert json.loads((folder / "out.json").read_text()) == {"values": expected, "calls": 0}
    assert set(server.submitted.values()) == {1}


MOMENTS = ["upload asked", "upload done", "create asked", "create made", "list asked", "look asked", "results asked"]


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_killed_at_each_state(kind, moment, nth, tmp_path, expected):
    """The nth time that a moment comes: those of the first round, and of the second."""
    if kind == "anthropic" and moment.startswith("upload"):
        pytest.skip("nothing is uploaded before the batch is made")
    killed: list[int] = []
    process: list[BaseProcess] = []
    count = 0

    def kill(seen: str, about: str) -> Say | None:
        nonlocal count
        if moment == "list asked" and seen == "create made" and not server.batches.keys() - {about}:
            return Say(drop=True)  # so that there is something to look for
        count += seen == moment
        if seen != moment or count != nth or killed:
            return None
        pid = process[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)
        return _error(500, "gone") if moment == "create asked" else None

    with BatchServer(lag=LAG, takes=0.1, moment=kill) as server:
        process.append(begun(server, kind, tmp_path))
        process[0].join(60)
        assert process[0].exitcode == -signal.SIGKILL
        check(server, kind, tmp_path, expected)


def killed_at_random(server: BatchServer, kind: str, folder: Path, drawn: random.Random) -> None:
    """Kill it somewhere: one in five before it has spoken to the server, the others in what comes after that."""
    running = begun(server, kind, folder)
    early = drawn.random() < 0.2
    while not ((folder / "begun").exists() if early else server.asked):
        time.sleep(0.002)
    time.sleep(drawn.uniform(0.0, 0.8 if early else 0.5))
    running.kill()
    running.join(20)


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_a_random_point(seed, tmp_path, expected):
    """One kill somewhere between the start and the end of the whole; the kinds take turns."""
    drawn = random.Random(seed)
    kind = ("openai", "anthropic")[seed % 2]
    with BatchServer(lag=LAG, takes=drawn.choice([0.0, 0.1, 0.2])) as server:
        killed_at_random(server, kind, tmp_path, drawn)
        check(server, kind, tmp_path, expected)


@pytest.mark.parametrize("seed", range(10))
def test_killed_again_and_again(seed, tmp_path, expected):
    """Five kills in one run after the other, and it still ends with each request submitted once."""
    drawn = random.Random(1000 + seed)
    kind = ("openai", "anthropic")[seed % 2]
    with BatchServer(lag=LAG, takes=0.1) as server:
        for _ in range(5):
            (tmp_path / "begun").unlink(missing_ok=True)
            killed_at_random(server, kind, tmp_path, drawn)
        check(server, kind, tmp_path, expected)
