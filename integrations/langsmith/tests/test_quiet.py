"""A key that is missing or refused is said before anything is scored; the client's log says nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_langsmith import LangSmithSink

from assay import ScriptedJudge, evaluate
from assay.errors import InputError
from tests._support.servers.langsmith_server import KEY, PROJECT, LangSmithServer

RUN = "0195a3f0-1234-7abc-8def-0123456789ab"
ROWS = [
    {"id": f"r{n}", "question": "Q?", "contexts": ["x"], "answer": "So.", "ids": {"langsmith_run_id": RUN}}
    for n in range(3)
]


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as server:
        server.add_run(RUN)
        yield server


def run(sink: LangSmithSink, tmp_path: Path):  # type: ignore[no-untyped-def]
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    return evaluate(ROWS, "faithfulness", judge, store=tmp_path, sinks=[sink])


def test_without_a_key_nothing_is_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="no key: set LANGSMITH_API_KEY"):
        run(LangSmithSink(), tmp_path)


def test_a_refused_key_is_said_before_anything_is_scored(server: LangSmithServer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"LangSmith refuses the key \(LANGSMITH_API_KEY, api_key=\): HTTP 403"):
        run(LangSmithSink(api_url=server.url, api_key="another"), tmp_path)
    assert server.feedback == {}


def test_the_right_key_passes(server: LangSmithServer, tmp_path: Path) -> None:
    result = run(LangSmithSink(api_url=server.url, api_key=KEY), tmp_path)
    assert result.deliveries["LangSmithSink"].confirmed == 3


def test_a_server_that_is_away_costs_a_line_for_each_row_and_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)  # the end of another client is said at a level below
    sink = LangSmithSink(api_url="http://127.0.0.1:9", api_key="x", project_id=PROJECT, attempts=1)
    result = run(sink, tmp_path)
    listed = result.deliveries["LangSmithSink"].listed
    assert listed == [
        f"r{n} ({RUN}): faithfulness: LangSmith cannot be reached: LangSmithConnectionError" for n in range(3)
    ]
    assert [record for record in caplog.records if record.name.startswith(("langsmith", "urllib3"))] == []
    assert "Traceback" not in capfd.readouterr().err
