"""What the plugin costs a session of pytest in which nothing uses it: loading it, and collecting.

Run: python -m tests.benchmarks.bench_pytest

Both sessions are timed in turn, in processes of their own, and compared pair by pair; the ratio is the median. An empty
suite, and one of 200 tests that are collected and not run. CPU time, so that other work on the machine counts little.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PAIRS = 15
PLUGIN = ("-p", "assay_pytest.plugin")


def cpu(folder: Path, *arguments: str) -> float:
    """Seconds of CPU of one session."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        check=False,  # 5: no tests
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(folder: Path, pairs: int = PAIRS) -> tuple[float, float]:
    """The median ratio of a session with the plugin to one without, and the median seconds without."""
    cpu(folder, *PLUGIN)  # compiles
    found = [(cpu(folder), cpu(folder, *PLUGIN)) for _ in range(pairs)]
    return statistics.median(b / a for a, b in found), statistics.median(a for a, _ in found)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, tests in (("an empty suite", 0), ("200 tests", 200)):
            if tests:
                body = "\n".join(f"def test_{n}():\n    pass" for n in range(tests))
                (folder / "test_many.py").write_text(body, encoding="utf-8")
            found, alone = ratio(folder)
            print(f"- {title}: {found:.3f} times pytest without it, which takes {alone:.2f} s of CPU (at most 1.05)")


if __name__ == "__main__":
    main()
