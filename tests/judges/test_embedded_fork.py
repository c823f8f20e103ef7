"""A process that has judged may fork, as web servers do: the child judges too, with the same result."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, threading
from assay import EmbeddedJudge, Sample, Context
from assay.metrics.names import resolve_metrics
from assay.evaluation.score_sample import score_sample
from assay._util.sync import run_sync

sample = Sample(question="Why do cats purr?", contexts=(Context(text="Cats purr when they are calm."),),
                answer="Cats purr when they are calm.")
def values():
    judge = EmbeddedJudge()
    metrics = resolve_metrics("faithfulness,context_utilization")
    return run_sync(lambda: score_sample(sample, metrics, judge, deadline=60)).values
before = values()
child = os.fork()
if child == 0:
    os._exit(0 if values() == before else 1)
print(before, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_child_of_a_process_that_has_judged_judges_too() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "{'faithfulness': 1.0, 'context_utilization': 1.0} 0"
