"""Memory stays flat over thousands of invocations, a fifth of them streams left early, and nothing is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
INVOCATIONS = 3000

#: The benchmark does this with 100,000; a process of its own, so that other tests' memory is not measured.
SCRIPT = f"""
import json
import assay_langchain
from tests.benchmarks import bench_langchain as bench

made = []
attach = bench.handler
bench.handler = lambda **options: made.append(attach(**options)) or made[-1]
sizes = [size for _, size in bench.memory({INVOCATIONS}, warm=1000)]
collector = made[0].collector
maps = {{name: len(value) for name, value in vars(collector).items() if isinstance(value, dict)}}
print(json.dumps({{"sizes": sizes, "maps": maps, "gone": len(collector._gone)}}))
"""


@pytest.mark.long
def test_memory_is_flat_and_all_maps_are_empty_at_idle() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["sizes"][-1] - found["sizes"][0] <= 5.0  # MB, after the first thousand
    assert found["maps"]  # runs, traces, orphans …
    assert not any(found["maps"].values()), found["maps"]
    assert found["gone"] <= 8192 + 100  # ids of ended runs, by which late events are told: a fixed number
