"""The examples of docs/scorers.md run as they stand, with the embedded judge, and say what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.long  # the embedded judge loads its models


def example(section: str) -> str:
    found = re.search(rf"## {section}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_every_example_is_run_here() -> None:
    assert PAGE.count("```python") == 3


def test_phoenix(capsys: pytest.CaptureFixture[str]) -> None:
    exec(example("Phoenix"), {})
    # of "It was first lit in 1759." and "A ticket costs 12 pounds." the passage says the first
    assert capsys.readouterr().out.splitlines()[-1] == "0.5"


@pytest.mark.filterwarnings("ignore")
def test_langsmith(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith import Client
    from langsmith.schemas import Example

    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    asked = {"question": "When was the lighthouse first lit?"}
    known: dict[str, Any] = {
        "examples": [Example(id=uuid.uuid4(), inputs=asked, dataset_id=uuid.uuid4(), created_at=datetime.now(UTC))],
        "client": Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False),
    }
    exec(example("LangSmith"), known)
    lines = capsys.readouterr().out.splitlines()
    assert "faithfulness 0.5 None" in lines
    assert "context_recall None skipped: missing_input" in lines


@pytest.mark.timeout(900)  # the first run installs MLflow
def test_mlflow(tmp_path: Path, mlflow_packages: Path) -> None:
    """In a process of its own, and in a file: MLflow keeps where it writes for the whole process."""
    code = f"import sys; sys.path.append({str(mlflow_packages)!r})\n" + example("MLflow")
    settings = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/local.db", "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "'faithfulness/mean': np.float64(0.5)" in done.stdout  # of the first row alone
    assert "'context_recall/mean': np.float64(1.0)" in done.stdout
