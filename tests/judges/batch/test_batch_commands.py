"""`assay score --detach` and `assay store batches`, as processes of their own that end and begin again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.judges.batch.state import BatchState
from tests._support.servers.batch_server import BatchServer
from tests._support.servers.openai_server import Say
from tests.evaluation.test_llm_evaluation import row

pytestmark = pytest.mark.long

Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]


@pytest.fixture
def assay(tmp_path: Path) -> Command:
    """Runs a command in a folder with two rows."""
    lines = [json.dumps(row(n)) for n in range(2)]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")

    def run(*arguments: str) -> Done:
        environment = {**os.environ, "COLUMNS": "120", "MY_KEY": "secret-key"}
        command = [sys.executable, "-m", "assay", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def score(server: BatchServer, *more: str) -> list[str]:
    judge = ["--judge", "openai-batch:fake", "--base-url", server.base_url, "--api-key-env", "MY_KEY"]
    return ["score", "answers.jsonl", "--metrics", "faithfulness,context_recall", *judge, *more]


def test_a_detached_run_goes_on_by_collecting(assay, tmp_path):
    with BatchServer(takes=3600.0) as server:
        begun = assay(*score(server, "--detach", "--discount", "0.5", "--poll", "1", "--rows-in-flight", "50"))
        assert begun.returncode == 0
        assert "4 requests are at" in begun.stderr
        assert "waits for 1 batch with 4 requests; `assay store batches collect` goes on" in begun.stderr
        shown = assay("store", "batches", "status")
        assert "4 requests of run " in shown.stdout
        assert "under way since 0 min" in shown.stdout
        early = assay("store", "batches", "collect")
        assert early.returncode == 7
        assert "waits for 1 batch" in early.stderr
        server.takes = 0.0
        middle = assay("store", "batches", "collect")  # the second round is sent, and looked at once
        assert middle.returncode in (0, 7)
        ended = middle if middle.returncode == 0 else assay("store", "batches", "collect", "--wait")
        assert ended.returncode == 0
        assert "faithfulness" in ended.stdout
        assert "8 requests in 2 batches at half the usual price" in " ".join(ended.stdout.split())
        assert set(server.submitted.values()) == {1}
    runs = json.loads(assay("runs", "--json").stdout)
    assert [(one["rows"], one["stopped"]) for one in runs] == [(2, None)]  # one run, however often it went on
    nothing = assay("store", "batches", "collect")
    assert nothing.returncode == 2
    assert "no run waits for batches" in nothing.stderr
    assert json.loads(assay("store", "batches", "status", "--json").stdout) == {"runs": [], "batches": []}
    assert not any(b"secret-key" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_what_cannot_be_repeated_does_not_detach(assay):
    with BatchServer() as server:
        for arguments, said in (
            (["score", "-", "--format", "jsonl", *score(server)[2:], "--detach"], "cannot be read a second time"),
            (["score", "answers.jsonl", "--detach"], "goes with a judge that answers in batches"),
            (
                [*score(server), "--detach", "--base-url", server.base_url.replace("//", "//me:word@")],
                "no address may hold a password",
            ),
        ):
            done = assay(*arguments)
            assert done.returncode == 2
            assert said in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1


def test_a_batch_that_may_exist_is_named_or_given_up(assay, tmp_path):
    def broken(moment: str, about: str) -> Say | None:
        return Say(drop=True) if moment == "create made" and about == "batch_0" else None

    with BatchServer(lists=False, moment=broken) as server:
        done = assay(*score(server))
        assert done.returncode == 3
        assert "may have been made" in done.stderr
        (batch,) = BatchState(tmp_path / ".assay").batches()
        assert f"batch {batch.tag}: 4 requests" in assay("store", "batches", "status").stdout
        assert assay("store", "batches", "adopt", "nobody", "batch_0").returncode == 2
        assert assay("store", "batches", "adopt", batch.tag, "batch_0").returncode == 0
        ended = assay(*score(server, "--quiet"))
        assert ended.returncode == 0, ended.stderr
        assert set(server.submitted.values()) == {1}

    with BatchServer(lists=False, moment=broken) as server:
        store = ["--store", "other"]
        assert assay(*score(server, *store)).returncode == 3
        (batch,) = BatchState(tmp_path / "other").batches()
        assert assay("store", "batches", "resubmit", batch.tag, *store).returncode == 0
        assert assay(*score(server, *store)).returncode == 0
        assert set(server.submitted.values()) == {1, 2}  # as was said: it had been made
