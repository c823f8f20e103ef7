"""Files of spans wherever samples are taken: in `evaluate`, on the command line, and in a queue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay import evaluate
from assay.cli.main import app
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from integrations.opentelemetry.tests.test_files import document, otlp, trace


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    """Two traces with an exchange, one without, and a line that is broken."""
    path = tmp_path / "spans.jsonl"
    lines = [document(*trace(1)), document(*trace(2)), document(otlp(1, None, "EMBEDDING", 3))]
    path.write_text("\n".join(["{broken", *map(json.dumps, lines)]))
    return path


def test_evaluate_reads_traces(spans: Path, tmp_path: Path) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate(f"otel:{spans}", "faithfulness", judge, store=tmp_path / "store")
    rows = list(result)
    assert [row.scores["faithfulness"].value for row in rows] == [None, 1.0, 1.0]
    assert "line 1 is no JSON" in rows[0].scores["faithfulness"].error.message
    assert [row.sample.ids["otel_trace_id"] for row in rows[1:]] == [f"{1:032x}", f"{2:032x}"]


def test_the_command_line_reads_traces(spans: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    done = CliRunner().invoke(
        app, ["score", f"otel:{spans}", "--metrics", "faithfulness", "--store", str(tmp_path / "s"), "--out", str(out)]
    )
    assert done.exit_code in (0, 1), done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["sample"].get("answer") for row in rows] == [None, "Cats purr when calm.", "Cats purr when calm."]
    assert rows[1]["scores"]["faithfulness"]["value"] > 0.5


def test_traces_go_into_a_queue_once(spans: Path, tmp_path: Path) -> None:
    arguments = ["data", "import", f"otel:{spans}", str(tmp_path / "queue"), "--json"]
    first, second = (json.loads(CliRunner().invoke(app, arguments).stdout) for _ in range(2))
    assert (first["read"], first["new"], first["unreadable"]) == (2, 2, 1)
    assert (second["read"], second["new"], second["known"]) == (2, 0, 2)
    assert first["errors"][0].startswith("line 1 is no JSON")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no file"):
        evaluate(f"otel:{tmp_path / 'none.jsonl'}", "faithfulness", ScriptedJudge(), store=None)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="has no rows"):
        evaluate(f"otel:{tmp_path / 'empty.jsonl'}", "faithfulness", ScriptedJudge(), store=None)
