"""The cookbook's recipe for Spark, where Java is at hand: the scores of one process, from Spark's executors."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay import evaluate
from tests._support.servers import spark

COOKBOOK = Path(__file__).parents[3] / "cookbook"


@pytest.mark.needs(name="spark")
@pytest.mark.timeout(900)
def test_traces_on_spark(tmp_path: Path) -> None:
    python = spark.python()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK_", "PYSPARK_"))}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
    command = [str(python), str(COOKBOOK / "traces_on_spark.py")]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    traces = COOKBOOK / "data" / "traces.jsonl"
    metrics = ["faithfulness", "context_utilization"]
    alone = evaluate(traces, metrics, column_map={"id": "trace_id"}, store=None)
    for name, summary in alone.metrics.items():
        assert f"{name}: {summary.mean:.3f}, {summary.scored}/{summary.total} scored" in done.stdout
