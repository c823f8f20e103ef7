"""The cookbook's recipe runs as it stands, and what it shows is true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RECIPE = Path(__file__).parents[3] / "cookbook" / "last_months_traces_on_ray.py"


@pytest.mark.timeout(600)
def test_last_months_traces(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHONPATH"))}
    done = subprocess.run([sys.executable, str(RECIPE)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "the first time: 24 rows in" in done.stdout
    assert "and again: 24 rows in" in done.stdout
    assert done.stdout.count("complete: True") == 2
    assert done.stdout.count("22/24") >= 2  # two have nothing to measure, as in production_traces.py
