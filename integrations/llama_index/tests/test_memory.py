"""Memory: flat over many queries, a fifth of them streams that are left, and nothing is kept of a finished one."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import gc
import psutil
from assay_llama_index import AssayInstrumentation
from assay.judges.scripted_judge import ScriptedJudge
from integrations.llama_index.tests.fakes import engine

process = psutil.Process()
judge = ScriptedJudge(claims=lambda text: [text], support=lambda claim, passage: "supported")
assay = AssayInstrumentation("faithfulness", judge).attach()
first = None
for number in range(1, 3001):
    if number % 250 == 1:  # a callback manager of LlamaIndex keeps the id of every event that it has seen
        whole, streaming = engine(), engine(streaming=True)
    if number % 5:
        whole.query(f"{number} " + "why do cats purr? " * 50)
    else:
        tokens = streaming.query(f"{number}").response_gen
        next(tokens)
        tokens.close()
    if number % 250 == 0:
        assert assay.flush(60)
        gc.collect()  # else cycles that wait for their turn decide where the heap's next block begins
    if number == 500:
        first = process.memory_info().rss
gc.collect()
grown = (process.memory_info().rss - first) / 2**20
capture, health = assay._capture, assay.health()
assert (health.open, health.open_spans, health.exchanges) == (0, 0, 3000), health
assert (len(capture.answers.streams), len(capture._inside)) == (0, 0)
assert not health.errors and health.live.finished == 3000, health
assert health.live.causes == {"partial": 600}, health
assert assay.close().live.pending == 0
print(f"grown by {grown:.1f} MB")
assert grown < 2, grown
"""


@pytest.mark.long
def test_memory_is_flat_over_3000_queries() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURE],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path) + ":."},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("grown by ")
