"""A run of a target that is killed continues; ten thousand rows; the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import assay

APPLICATION = """
import os, sys, time, pathlib
HERE = pathlib.Path(__file__).parent
def answer(question, model="m"):
    print("noise on stdout")
    os.system("echo noise of a child")
    with open(HERE / "calls", "a") as file:
        file.write(question + "\\n")
    if question == "q6" and (HERE / "hold").exists():
        time.sleep(60)
    return {"answer": f"{model} says {question}", "contexts": [f"{model} says {question}"]}
"""

COMMAND = [sys.executable, "-m", "assay", "run", "app:answer", "questions.jsonl", "--metrics", "langchain:exact_match",
           "--map", "reference=id", "--quiet"]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APPLICATION)
    rows = [json.dumps({"question": f"q{n}", "id": f"id{n}"}) for n in range(10)]
    (tmp_path / "questions.jsonl").write_text("\n".join(rows))
    return tmp_path


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().split() if path.exists() else []


def test_a_killed_run_asks_only_what_is_missing(folder: Path) -> None:
    (folder / "hold").touch()
    arguments = [*COMMAND, "--concurrency", "1", "--name", "k", "--json"]
    first = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while "q6" not in calls(folder) and time.monotonic() < until:
        time.sleep(0.05)  # another process has no event to wait for
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    (folder / "hold").unlink()
    second = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    found = json.loads(second.stdout)  # what the application prints is not in it
    assert found["runs"][0]["answered"] == 10
    assert found["runs"][0]["cached"] == 6  # q0 to q5
    assert calls(folder) == [f"q{n}" for n in range(7)] + [f"q{n}" for n in range(6, 10)]
    assert "noise of a child" in second.stderr


def test_the_command_ranks_the_combinations(folder: Path) -> None:
    arguments = [*COMMAND, "--vary", "model=a,b", "--repeats", "2", "--name", "v"]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "v.model=b against v.model=a: unchanged" in done.stdout
    assert "between repeats" in done.stdout
    assert "20 of 20 rows answered" in done.stdout


def echo(question: str) -> str:
    return question


def length(answer: str) -> float:
    return min(1.0, len(answer) / 100)


@pytest.mark.parametrize("rows", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_many_rows_keep_their_order(tmp_path: Path, rows: int) -> None:
    data = [{"question": f"question {n}", "id": str(n)} for n in range(rows)]
    runs = assay.run(echo, data, [length], store=tmp_path, progress=False)
    assert [one.sample.answer for _, one in runs.result.all_rows()] == [row["question"] for row in data]
    again = assay.run(echo, data, [length], store=tmp_path, progress=False)
    assert (runs.runs[0].cached, again.runs[0].cached) == (0, rows)
