"""`cookbook/export_openai_evals.py` against a server that speaks the lists and pages of the evals API, and back in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from assay.data import RowError, open_data
from assay.records import Sample

SCRIPT = Path(__file__).parents[2] / "cookbook" / "export_openai_evals.py"
PAGE = 2  # output items of a page, whatever was asked for


def item(number: int, run: str = "evalrun_1") -> dict[str, Any]:
    return {
        "object": "eval.run.output_item", "id": f"outputitem_{run}_{number}", "created_at": 1, "run_id": run,
        "eval_id": "eval_1", "status": "pass", "datasource_item_id": number,
        "datasource_item": {"question": f"Question {number}?", "docs": [f"Passage {number}."]},
        "results": [{"name": "grader", "passed": True, "score": 1.0, "sample": None}],
        "sample": {
            "input": [], "output": [{"role": "assistant", "content": f"Answer {number}."}], "finish_reason": "stop",
            "model": "m", "error": None, "a_field_of_tomorrow": {"kept": True},
        },
    }  # fmt: skip


RUNS = [
    {"object": "eval.run", "id": run, "eval_id": "eval_1", "status": "completed", "created_at": 1, "model": "m",
     "data_source": {"type": "jsonl", "source": {"type": "file_content", "content": [{"item": {"question": "?"}}]}}}
    for run in ("evalrun_1", "evalrun_2")
]  # fmt: skip
LISTS = {
    "/v1/evals": [{"object": "eval", "id": "eval_1", "name": "Books", "testing_criteria": [], "created_at": 1}],
    "/v1/evals/eval_1/runs": RUNS,
    "/v1/evals/eval_1/runs/evalrun_1/output_items": [item(n) for n in range(5)],
    "/v1/evals/eval_1/runs/evalrun_2/output_items": [item(n, "evalrun_2") for n in range(2)],
}


class Api(BaseHTTPRequestHandler):
    """Pages behind a cursor; the third request is refused once, as a busy service does."""

    asked: list[str]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.asked.append(self.path)
        if len(self.asked) == 3:
            self.reply(429, {"error": {"message": "slow down"}})
        elif url.path == "/v1/evals/eval_1":
            self.reply(200, LISTS["/v1/evals"][0])
        elif url.path in LISTS:
            found = LISTS[url.path]
            ids = [one["id"] for one in found]
            after = parse_qs(url.query).get("after")
            start = ids.index(after[0]) + 1 if after else 0
            page = found[start : start + PAGE]
            more = start + PAGE < len(found)
            self.reply(200, {"object": "list", "data": page, "last_id": page[-1]["id"], "has_more": more})
        else:
            self.reply(404, {"error": {"message": f"no {url.path}"}})

    def reply(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Api,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    server.shutdown()
    server.server_close()
    thread.join(5)


def export(folder: Path, url: str, *ids: str) -> str:
    environment = {**os.environ, "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": url}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *ids],
        capture_output=True, text=True, timeout=120, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("ids", [(), ("eval_1",)])
def test_all_pages_of_all_runs_come_back_as_samples(tmp_path: Path, api: tuple[str, list[str]], ids: Any) -> None:
    url, asked = api
    said = export(tmp_path, url, *ids)
    assert "evalrun_1.output_items.jsonl: 5 output items" in said.replace(os.sep, "/")
    assert sum("/evalrun_1/output_items" in one for one in asked) >= 3  # 5 items in pages of 2
    rows = [row for _, row in open_data(f"openai-evals:{tmp_path}")]
    assert not [row for row in rows if isinstance(row, RowError)]
    samples = [row for row in rows if isinstance(row, Sample)]
    assert len(samples) == 7  # 5 + 2; what stands inside of the runs is not read besides
    assert [sample.question for sample in samples[:5]] == [f"Question {n}?" for n in range(5)]
    assert samples[0].answer == "Answer 0."
    assert samples[0].passages == ("Passage 0.",)
    kept = json.loads((tmp_path / "eval_1" / "evalrun_1.output_items.jsonl").read_text().splitlines()[0])
    assert kept == item(0)  # nothing lost, the unknown field neither


@pytest.mark.long
def test_the_second_time_only_what_is_missing_is_fetched(tmp_path: Path, api: tuple[str, list[str]]) -> None:
    url, asked = api
    export(tmp_path, url)
    (tmp_path / "eval_1" / "evalrun_2.output_items.jsonl").unlink()
    asked.clear()
    assert "there already" in export(tmp_path, url)
    assert not any("evalrun_1/output_items" in one for one in asked)
    assert (tmp_path / "eval_1" / "evalrun_2.output_items.jsonl").exists()
    assert not list(tmp_path.rglob("*.part"))
