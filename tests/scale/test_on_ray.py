"""The tests of `integrations/ray`, in the environment that has Ray."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.servers import ray_cluster

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "integrations" / "ray" / "tests").glob("test_*.py"))


@pytest.mark.needs(name="ray")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_in_the_environment_of_ray(file: Path) -> None:
    foreign = ("PYTHON", "VIRTUAL_ENV", "PYTEST_", "RAY_", "AWS_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    command = [str(ray_cluster.python()), "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
