"""The tests of `integrations/ray`, in the environment that has Ray."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests._support.servers import ray_cluster

ROOT = Path(__file__).parents[3]
TESTS = "integrations/ray/tests"
#: One of each kind: a job, a Dataset, a bucket. Budgets and rows that kill are not the engine's: see test_job.py.
SAMPLE = (
    "test_jobs.py::test_the_result_is_that_of_one_process_and_other_engines_go_on_where_it_stopped",
    "test_datasets.py::test_a_dataset_in_many_blocks_is_scored_in_its_order_and_a_rerun_asks_nothing",
    "test_objects.py::test_results_in_a_bucket_are_gone_on_with_by_another_engine",
)
PARTS = {
    "sample": [f"{TESTS}/{name}" for name in SAMPLE],
    "all but kills": ["--ignore", f"{TESTS}/test_kills.py", TESTS],
    "kills": [f"{TESTS}/test_kills.py"],
}


@pytest.mark.needs(name="ray")
@pytest.mark.timeout(3600)  # 444 s alone on two cores, and more than 1800 on a slow machine with others beside it
@pytest.mark.parametrize("files", PARTS.values(), ids=PARTS)
def test_in_the_environment_of_ray(files: list[str]) -> None:
    """All in one process, which starts one cluster for most of them."""
    foreign = ("PYTHON", "VIRTUAL_ENV", "PYTEST_", "RAY_", "AWS_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    command = [str(ray_cluster.python()), "-m", "pytest", "-q", "-m", "", "-W", "default", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
