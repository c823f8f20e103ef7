"""A handler made for one request, as other vendors' are, costs no thread, file or loop of its own."""

from __future__ import annotations

import gc
import threading
from typing import Any

import psutil
import pytest
from assay_langchain import AssayCallbackHandler

from assay.judges.scripted import ScriptedJudge
from assay.live.lifetime import _ALIVE
from integrations.langchain.tests.shapes.parts import rag


def request(*arguments: Any) -> None:
    handler = AssayCallbackHandler(*arguments)
    rag().invoke("Why do cats purr?", {"callbacks": [handler]})


def finish() -> None:
    for scorer in list(_ALIVE):
        scorer.flush(120)
    gc.collect()


def ours() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("assay-")]


@pytest.mark.long
@pytest.mark.parametrize(("default", "number"), [(False, 1000), (True, 1000)])
def test_handlers_for_one_request_each_cost_no_thread_and_no_file(default: bool, number: int) -> None:
    """With the embedded judge its readings use one thread more for each further core, while they last."""
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    arguments: tuple[Any, ...] = () if default else ("faithfulness", judge)
    for _ in range(100):  # what is loaded once, and the caches that stay
        request(*arguments)
    finish()
    me = psutil.Process()
    files, memory, most = me.num_fds(), me.memory_info().rss, 0
    for n in range(number):
        request(*arguments)
        most = max(most, len([name for name in ours() if name != "assay-embedded-reading"]))
        if n % 100 == 99:
            finish()
            assert me.num_fds() <= files
    assert most <= 3
    finish()
    # 64 MiB: no more than what Python and the models keep for themselves; 1000 handlers of 100 KiB would be 100
    assert me.memory_info().rss - memory < 64 * 2**20
    assert not [scorer for scorer in _ALIVE if scorer.health().submitted]
