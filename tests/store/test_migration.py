"""What commit d6834d3 wrote is read today: a store, a queue, a sharded job, JSON lines. See `data/README.md`."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay import Context, Result, Sample, ScoredSample, ScriptedJudge, Store, evaluate
from assay.cli.main import main
from assay.errors import InputError, StoreError
from assay.evaluation.sharded.manifest import Folder
from assay.live.queue.queue_file import QueueFile
from assay.live.queue.sample_queue import SampleQueue
from assay.records import migration
from assay.sinks.jsonl import read_jsonl
from assay.store.schema import SCHEMA_VERSION

DATA = Path(__file__).parent / "data" / "d6834d3.tar.xz"
RUNS = ("first", "second", "nuggets", "sharded", "live")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with tarfile.open(DATA) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(tmp_path / "old")
    return tmp_path / "old"


def expected(old: Path, run: str) -> dict[str, dict[str, Any]]:
    """The scores of a run by row and metric, as d6834d3 wrote them, under today's names."""
    rows: dict[str, dict[str, Any]] = json.loads((old / "expected.json").read_text())[run]
    return {
        name: {metric: migration.rename(score, {"unscored": "error"}) for metric, score in scores.items()}
        for name, scores in rows.items()
    }


def scores_of(rows: Any) -> dict[str, dict[str, Any]]:
    return {row.sample.id: {name: score.to_dict() for name, score in row.scores.items()} for row in rows}


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def without_interval(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: {key: value for key, value in one.items() if key != "interval"} for name, one in metrics.items()}


@pytest.mark.parametrize("run", RUNS)
def test_a_run_has_the_scores_causes_and_evidence_that_it_had(old: Path, run: str) -> None:
    with Store(old / "store") as store:
        result = Result.load(run, store)
        assert scores_of(result) == expected(old, run)
        assert (result.complete, result.lost) == (True, 0)
        kept = json.loads((old / "first.json").read_text())
        if run == "first":
            now = result.to_dict()
            assert now["cache_hits"] == kept["reused"]
            assert without_interval(now["metrics"]) == without_interval(kept["metrics"])  # means, coverage, causes
            for name, metric in now["metrics"].items():  # Student's quantiles had 12 digits then
                assert metric["interval"] == pytest.approx(kept["metrics"][name]["interval"], rel=1e-9)
            assert now["usage"] == kept["usage"]


def test_causes_of_several_kinds_are_in_it(old: Path) -> None:
    with Store(old / "store") as store:
        causes = Counter(one.cause for one in Result.load("first", store).errors)
    assert set(causes) == {"missing_input", "no_claims", "no_context", "parse", "partial", "rate_limited"} & set(causes)
    assert len(causes) >= 5


class Keeping(ScriptedJudge):
    """The judge that the store has judgements of, by its name. It answers nothing that is asked anew."""

    durable = True


def test_what_was_asked_is_not_asked_again(old: Path) -> None:
    """Questions whose reply is read as it was are cache hits. Support and usefulness are read otherwise since (a quote
    that is not in its passage lifts no label), and so are asked again: their version says so."""
    judge = Keeping(support=lambda claim, passage: passage, classification=lambda *_: "okay")
    contexts = tuple(Context(text=text) for text in ("Notice is 90 days.", "Delivery takes 3 days."))
    row = Sample(id="x", question="How long is notice?", contexts=contexts, answer="Notice is 90 days.",
                 reference="Notice is 90 days.")  # fmt: skip
    found = evaluate([row], ["nugget_recall_answer"], judge, store=old / "store", progress=False)
    assert found.row("x").scores["nugget_recall_answer"].value == 1.0
    assert judge.asked == {"support": 1}  # the claims and their classification were known
    assert found.cache_hits >= 2


@pytest.mark.parametrize(
    "command",
    [
        "runs", "show first", "show first good", "worst faithfulness first", "failures first", "errors first",
        "causes first", "compare first second", "report first", "gate first --fail-below faithfulness=0", "store info",

    ],
)  # fmt: skip
def test_commands_read_it(
    old: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(old)
    monkeypatch.setattr("sys.argv", ["assay", *command.split(), "--store", str(old / "store")])
    with pytest.raises(SystemExit) as done:
        main()
    said = "".join(capsys.readouterr())
    assert done.value.code in (0, 1, 5, 6), said  # scores are missing, and a gate says so
    assert "unscored" not in said


def test_json_lines_are_read(old: Path) -> None:
    for name in ("first.jsonl", "sink.jsonl"):
        scored = read_jsonl(old / name).samples()
        wanted = expected(old, "first")
        assert scores_of(scored) == {row.sample.id: wanted[row.sample.id or ""] for row in scored}
    assert len(read_jsonl(old / "first.jsonl")) == len(wanted)


def test_a_queue_keeps_its_counts_results_and_what_waits(old: Path) -> None:
    spool = SampleQueue(old / "spool")
    report = spool.report()
    assert (report.appended, report.waiting, report.scored, report.no_value) == (10, 1, 6, 3)
    result = spool.result("parse")
    assert result is not None
    assert {name: one.to_dict() for name, one in result.scores.items()} == expected(old, "live")["parse"]
    spool.close()


def test_a_sharded_job_goes_on(old: Path) -> None:
    folder = Folder(old / "job")
    entries = [json.loads(path.read_text()) for path in sorted((old / "job" / "done").iterdir())]
    lines = [line for path in (old / "job" / "rows").iterdir() for line in path.read_text().splitlines()]
    found = [ScoredSample.from_dict(json.loads(line)) for line in lines]
    assert scores_of(found) == expected(old, "sharded")
    assert all("reused" in entry for entry in entries)
    assert folder.path == old / "job"


# ---- versions


@pytest.mark.parametrize(
    ("version", "said"), [(migration.VERSION + 1, "newer assay"), ("x", "expected a whole"), (0, "expected a whole")]
)
def test_an_unknown_version_of_a_line_is_refused(old: Path, version: object, said: str) -> None:
    line = {**json.loads((old / "first.jsonl").read_text().splitlines()[0]), "schema": version}
    with pytest.raises(InputError, match=said):
        ScoredSample.from_dict(line)


def test_what_is_written_has_the_version(old: Path, tmp_path: Path) -> None:
    with Store(old / "store") as store:
        line = Result.load("first", store).to_jsonl(tmp_path / "new.jsonl").read_text().splitlines()[0]
        assert json.loads(line)["schema"] == migration.VERSION
        store.put_run("new", {"judge": "j", "metrics": []})
        assert json.loads(store.query("SELECT info FROM runs WHERE id = 'new'")[0][0])["schema"] == migration.VERSION
        assert store.query("SELECT value FROM meta WHERE key = 'version'") == [(str(SCHEMA_VERSION),)]


def test_a_newer_queue_is_refused(old: Path) -> None:
    with closing(sqlite3.connect(old / "spool" / "spool.db")) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer assay"):
        SampleQueue(old / "spool")


#: Opens what is there, and is killed before a statement of the migration.
DYING = """
import os, signal, sqlite3, sys
from pathlib import Path

path, name, statement = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count, connect = 0, sqlite3.connect

def trace(_):
    global count
    count += 1
    if count == statement:
        os.kill(os.getpid(), signal.SIGKILL)

def traced(*args, **options):
    db = connect(*args, **options)
    db.set_trace_callback(trace)
    return db

sqlite3.connect = traced
if name == "store":
    from assay.store.schema import FileTables
    FileTables(path / "assay.db").create()
else:
    from assay.live.queue.queue_file import QueueFile
    QueueFile(path).create()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["store", "spool"])
def test_a_migration_that_is_killed_loses_nothing(old: Path, tmp_path: Path, name: str) -> None:
    file = {"store": "assay.db", "spool": "spool.db"}[name]
    before, killed = content(old / name / file), 0
    for statement in range(6, 30, 4):
        copy = tmp_path / f"copy{statement}"
        shutil.copytree(old / name, copy)
        child = subprocess.run([sys.executable, "-c", DYING, copy, name, str(statement)], timeout=60, check=False)
        if child.returncode == 0:  # there were not so many statements
            break
        assert child.returncode == -signal.SIGKILL
        killed += 1
        assert content(copy / file) == before
    assert killed >= 2
    if name == "store":
        with Store(copy) as store:
            assert scores_of(Result.load("first", store)) == expected(old, "first")
    else:
        assert QueueFile(copy).rows("SELECT value FROM counts WHERE name = 'no_value'") == [(3,)]
