"""A small cluster and a server of S3 on this machine.

Without Ray nothing here is read: `tests/evaluation/sharded/test_on_ray.py` runs these files where it is.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("ray") is None or importlib.util.find_spec("assay_ray") is None:
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).parents[3]
CORES = 4  # of the cluster: it need not be true
MEMORY = 300 << 20  # bytes for objects
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # CI runs under `uv run`
os.environ["PYTHONPATH"] = str(ROOT)  # where workers find the judges of tests


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an empty bucket, which the environment leads to; started before Ray, whose workers ask it too."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.environ.update(
        AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="us-east-1"
    )
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
                break
            time.sleep(0.2)
        import s3fs

        s3fs.S3FileSystem(skip_instance_cache=True).mkdir("traces")
        yield "s3://traces"
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="session")
def cluster(s3: str) -> Iterator[None]:
    """A cluster of this process."""
    import ray

    ray.init(num_cpus=CORES, object_store_memory=MEMORY, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()
