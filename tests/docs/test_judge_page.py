"""The examples of docs/judge.md run, against local endpoints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay.judges.llm.capabilities import forget_dialects
from tests._support.servers.decision_server import DecisionServer
from tests._support.servers.openai_server import OpenAIServer

PAGE = (Path(__file__).parents[2] / "docs" / "judge.md").read_text(encoding="utf-8")

ROW = {
    "question": "When did the bridge open?",
    "contexts": ["The bridge opened in 1889.", "Cats sleep most of the day."],
    "answer": "The bridge opened in 1889.",
    "reference": "In 1889.",
}


def run(section: str, base_url: str) -> None:
    found = re.search(rf"## {section}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    code = re.sub(r"http://127\.0\.0\.1:\d+/v1", base_url, found[1])
    assert code != found[1]
    exec(code, {})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_dialects()
    monkeypatch.chdir(tmp_path)
    rows = [{**ROW, "id": str(n)} for n in range(8)]
    Path("answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_decision_endpoints(capsys: pytest.CaptureFixture[str]) -> None:
    with DecisionServer() as server:
        run("Decision endpoints", server.base_url)
    assert server.problems == []
    out = capsys.readouterr().out
    assert "faithfulness" in out
    assert "8/8" in out


def test_a_cascade(capsys: pytest.CaptureFixture[str]) -> None:
    with OpenAIServer() as server:
        run("A cascade", server.base_url)
    out = capsys.readouterr().out
    assert "target: agree with openai/llama3 on 95% of verdicts; 8 rows" in out
    assert "everything goes to the second judge" in out  # so few rows show nothing
    assert "cascade: " in out
    assert json.loads(Path("cascade.json").read_text(encoding="utf-8"))["target"] == 0.95
