"""Every file of the cookbook runs as it stands, in a folder of its own, with no network but loopback and no key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.servers.batch_server import BatchServer
from tests.docs.pages import unhandled

COOKBOOK = Path(__file__).parents[2] / "cookbook"

#: The server that an example writes to: its address is the argument.
SERVERS = {"live_service.py": "phoenix_url", "mlflow_evaluation.py": "mlflow_url", "nightly_batch.py": "batch_url"}
MARKS = {
    "live_service.py": pytest.mark.needs(name="phoenix"),
    "mlflow_evaluation.py": pytest.mark.needs(name="mlflow"),
    "production_traces.py": pytest.mark.long,
}

#: What a reader must see in the output of each.
SHOWN = {
    "gate_a_pull_request.py": (
        "FAIL: pull-request against main breaks faithfulness at most 0.02 worse than the baseline",
        'added: "Visitors from abroad enter free of charge on Sundays." (not in the passages)',
        "PASS: unchanged against main keeps all 2 rules",
        "a CI job would end with exit code 5",
    ),
    "calibrate_a_judge.py": (
        "the judge says        0.708",
        "calibration error",
        "the calibrated judge",
        "with 0 calls more",
    ),
    "live_service.py": ("4 answers, 8 scores, 8 of them confirmed by Phoenix", "0 undelivered", "errors: none"),
    "compare_two_retrievers.py": (
        "better on answer_correctness; inconclusive on context_recall (9 rows in both)\nrarity against counting\n",
        "why 7 of 9 rows of the first failed:",
        "57% not retrieved",
        "43% ranked too low",
    ),
    "langchain_chain.py": ("faithfulness", "not_mentioned"),
    "llama_index_query_engine.py": ("faithfulness", "not_mentioned"),
    "mlflow_evaluation.py": (
        "Who wrote Hamlet?",
        "not_mentioned",
        "Not scored (no_context): nothing was retrieved",
        "'faithfulness/mean': 0.75",
    ),
    "run_an_application.py": ("k=2: 6 of 6 rows answered", "between repeats", "answer_correctness: rank"),
    "nightly_batch.py": (
        "run nightly waits for 1 batch with",
        "22/24",
        "in 2 batches at half the usual price:",
    ),
    "one_name_many_formulas.py": (
        "one answer, 0.50 to 1.00:",
        "counts: not contradicted",
        "faithfulness: not scored (no_claims)",
        "deepeval:faithfulness@original = 1.000 by convention",
        "ragchecker:faithfulness@original = 0.000 by convention",
    ),
    "production_traces.py": ("22/24", "no_context", "The least faithful one, trace-010", "not “born on May 15, 1867”"),
}


@pytest.fixture
def batch_url() -> Iterator[str]:
    with BatchServer(takes=0.5) as server:
        yield server.base_url


EXAMPLES = [pytest.param(name, marks=MARKS.get(name, pytest.mark.long)) for name in sorted(SHOWN)]

#: Any connection that is not to this machine fails.
NO_NETWORK = """
import socket
connect = socket.socket.connect
def only_here(self, address, *rest):
    if not (isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1", "localhost")):
        raise OSError(f"the cookbook must not reach {address}")
    return connect(self, address, *rest)
socket.socket.connect = only_here
"""


#: What needs a server of its own, and has a test of its own.
ELSEWHERE = {
    "export_openai_evals.py": "tests/data/test_openai_export.py",
    "last_months_traces_on_ray.py": "integrations/ray/tests/test_cookbook.py",
    "traces_on_spark.py": "tests/evaluation/sharded/test_on_spark.py",
}


MOST_LINES = 60


def test_a_file_answers_one_question_in_few_lines():
    for path in COOKBOOK.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MOST_LINES, path.name
        assert "?" in text.split("\n\n")[0], path.name


def test_the_index_names_every_file_once():
    index = (COOKBOOK / "README.md").read_text(encoding="utf-8")
    files = re.findall(r"\]\(([\w./-]+)\)", index)
    assert sorted(files) == sorted([*(path.name for path in COOKBOOK.glob("*.py")), "github-actions"])


def test_the_cookbook_is_complete():
    assert {path.name for path in COOKBOOK.glob("*.py")} == set(SHOWN) | set(ELSEWHERE)
    assert all((COOKBOOK.parent / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.timeout(900)  # the first run installs the Phoenix server
@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_and_shows_its_point(name, tmp_path, request):
    arguments = [request.getfixturevalue(SERVERS[name])] if name in SERVERS else []
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")} | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(COOKBOOK / name), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert unhandled(done.stderr) == [], done.stderr
    for text in SHOWN[name]:
        assert text in done.stdout
