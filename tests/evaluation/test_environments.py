"""The same evaluation passes wherever users call it from."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from assay import ScriptedJudge, evaluate
from assay.evaluation.evaluate import aevaluate

ROWS = [
    {"question": "Capital?", "contexts": ["Paris is the capital."], "answer": "Paris is the capital."},
    {"question": "Age?", "contexts": ["Rome is old."], "answer": "Rome is old. Rome is huge."},
]
MEAN = 0.75  # (1/1 + 1/2) / 2


def scripted() -> ScriptedJudge:
    return ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")


def mean_of(folder) -> float | None:
    return evaluate(ROWS, "faithfulness", scripted(), store=folder).metrics["faithfulness"].mean


def test_in_a_plain_script(tmp_path):
    assert mean_of(tmp_path) == MEAN


def test_twice_in_a_row_with_one_judge(tmp_path):
    judge = scripted()
    first = evaluate(ROWS, "faithfulness", judge, store=tmp_path / "1")
    second = evaluate(ROWS, "faithfulness", judge, store=tmp_path / "2")
    assert first.metrics["faithfulness"].mean == second.metrics["faithfulness"].mean == MEAN


async def test_sync_and_async_in_pytest_asyncio(tmp_path):
    assert mean_of(tmp_path / "sync") == MEAN
    result = await aevaluate(ROWS, "faithfulness", scripted(), store=tmp_path / "async")
    assert result.metrics["faithfulness"].mean == MEAN


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not exist there")
def test_inside_a_running_uvloop(tmp_path):
    uvloop = pytest.importorskip("uvloop")

    async def main() -> tuple[float | None, float | None]:
        outer = asyncio.get_running_loop()
        assert type(outer).__module__.startswith("uvloop")
        sync = mean_of(tmp_path / "sync")
        result = await aevaluate(ROWS, "faithfulness", scripted(), store=tmp_path / "async")
        assert asyncio.get_running_loop() is outer
        return sync, result.metrics["faithfulness"].mean

    assert uvloop.run(main()) == (MEAN, MEAN)


def test_in_worker_threads(tmp_path):
    means: dict[int, float | None] = {}
    threads = [
        threading.Thread(target=lambda n=n: means.update({n: mean_of(tmp_path / str(n))})) for n in range(4)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert means == dict.fromkeys(range(4), MEAN)


def test_threads_share_one_store_and_one_judge(tmp_path):
    judge, means = scripted(), []
    threads = [
        threading.Thread(
            target=lambda: means.append(
                evaluate(ROWS, "faithfulness", judge, store=tmp_path).metrics["faithfulness"].mean
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert means == [MEAN] * 4


@pytest.mark.long
def test_in_an_executed_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    source = f"""
from assay import ScriptedJudge, evaluate
judge = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")
result = evaluate({ROWS!r}, "faithfulness", judge, store={str(tmp_path / "store")!r})
result
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {}})
    client.execute()
    shown = notebook.cells[0].outputs[-1]["data"]
    assert "<strong>0.750</strong>" in shown["text/html"]


@pytest.mark.long
def test_no_loop_is_patched_and_none_is_left_behind(tmp_path):
    import psutil

    mean_of(tmp_path / "warm")
    before = psutil.Process().num_fds()
    for n in range(30):
        mean_of(tmp_path / str(n))
    # each evaluation holds its store open until its result is gone; loops and their sockets must be gone by now
    import gc

    gc.collect()
    assert psutil.Process().num_fds() <= before + 5
    assert "nest_asyncio" not in sys.modules
