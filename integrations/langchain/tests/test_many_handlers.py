"""A handler made for one request, as other vendors' are, costs no thread, file or loop of its own."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from assay_langchain import AssayCallbackHandler

from assay.judges.scripted_judge import ScriptedJudge
from assay.live.exit_hooks import _ALIVE
from integrations.langchain.tests.shapes.parts import rag

#: Files of one event loop: that of a thread all handlers share, which ends and begins again as there is work for it.
LOOP = 3


def request(*arguments: Any) -> None:
    handler = AssayCallbackHandler(*arguments)
    rag().invoke("Why do cats purr?", {"callbacks": [handler]})


@pytest.fixture
def finish() -> Callable[[], None]:
    """Wait for the scorers of this test; another test may have left one that never ends."""
    others = set(map(id, _ALIVE))

    def wait() -> None:
        for scorer in list(_ALIVE):
            if id(scorer) not in others:
                assert scorer.flush(120)
        gc.collect()

    return wait


@pytest.fixture
def ours() -> Callable[[], list[str]]:
    """The names of assay's threads that began within this test; those of earlier tests may end at any time."""
    others = set(threading.enumerate())

    def names() -> list[str]:
        return [thread.name for thread in set(threading.enumerate()) - others if thread.name.startswith("assay-")]

    return names


@pytest.mark.long
def test_a_thousand_handlers_for_one_request_each_cost_no_thread_file_or_memory(
    finish: Callable[[], None], ours: Callable[[], list[str]]
) -> None:
    judge, others = ScriptedJudge(support=lambda claim, passage: "supported"), set(map(id, _ALIVE))
    for _ in range(100):  # what is loaded once, and the caches that stay
        request("faithfulness", judge)
    finish()
    me = psutil.Process()
    files, memory, most = me.num_fds(), me.memory_info().rss, 0
    for n in range(1000):
        request("faithfulness", judge)
        most = max(most, len(ours()))
        if n % 100 == 99:
            finish()
    assert most <= 3
    assert me.num_fds() <= files + LOOP
    # 32 MiB: no more than what Python keeps for itself; 1000 handlers of 100 KiB would be 100
    assert me.memory_info().rss - memory < 32 * 2**20
    # a thread names those it has just served until its next look, 20 ms later where the machine is free
    end = time.monotonic() + 30
    while (left := [repr(one) for one in _ALIVE if id(one) not in others]) and time.monotonic() < end:
        time.sleep(0.05)
        gc.collect()
    assert left == []


@pytest.mark.long
def test_with_default_options_they_share_the_embedded_judges_threads(
    finish: Callable[[], None], ours: Callable[[], list[str]]
) -> None:
    """They wait in their queues, as its CPUs are slower than the requests; each reading uses a thread for each CPU."""
    request()
    finish()
    me = psutil.Process()
    files, most = me.num_fds(), 0
    for _ in range(200):  # as many as the thousand above would be minutes of the judge's
        request()
        most = max(most, len([name for name in ours() if name != "assay-embedded-reading"]))
    assert most <= 3
    assert me.num_fds() <= files + LOOP
    for scorer in list(_ALIVE):
        scorer.close(0)
