"""Gates on runs that are damaged or did not finish: never PASS, and the reason in words."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import ScriptedJudge, Store
from assay.analysis.comparison.compare import compare
from assay.analysis.gates import Gate, GateRule, check
from assay.analysis.gates.early_stopping import Early
from assay.errors import Cause, InputError, StoreError
from assay.evaluation.result import Result
from assay.evaluation.run_names import runs_of
from assay.sinks.store import StoreSink
from assay.store import group_writer
from assay.store.pruning import prune
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.analysis.gates.conftest import Runs, quality

Run = Callable[..., tuple[int, str, str]]
METRIC = "ragas:exact_match"
#: Rows 9 and 10 are wrong: the mean is 0.8, and 1.0 without them.
RIGHT, ROWS = 8, 10
RULE = ("--fail-below", f"{METRIC}=0.9")

#: What happens to the wrong rows, and what is said of it.
UNREADABLE, MISSING = "2 of 10 rows could not be read", "2 of 10 rows are missing from the store"
DAMAGES = {
    "emptied": ("UPDATE rows SET body = x'' WHERE run = 'now' AND number > 8", UNREADABLE),
    "truncated": ("UPDATE rows SET body = substr(body, 1, length(body) / 2) WHERE run = 'now' AND number > 8",
                  UNREADABLE),
    "deleted": ("DELETE FROM rows WHERE run = 'now' AND number > 8", MISSING),
    "moved to another run": ("UPDATE rows SET run = 'nox' WHERE run = 'now' AND number > 8", MISSING),
    "all deleted": ("DELETE FROM rows WHERE run = 'now'", "10 of 10 rows are missing from the store"),
}  # fmt: skip
STOPPED = ("not finished", "interrupted", "store 'x' cannot be written: the disk is full")


def change(sql: str, *values: Any, folder: Path | str = ".assay") -> None:
    """Change a store behind its back."""
    with closing(sqlite3.connect(Path(folder) / "assay.db")) as db:
        db.execute(sql, values)
        db.commit()


def flip_a_bit(number: int, place: int, folder: Path | str = ".assay") -> None:
    with closing(sqlite3.connect(Path(folder) / "assay.db")) as db:
        ((body,),) = db.execute("SELECT body FROM rows WHERE run = 'now' AND number = ?", (number,)).fetchall()
        flipped = bytearray(body)
        flipped[place % len(flipped)] ^= 4
        db.execute("UPDATE rows SET body = ? WHERE run = 'now' AND number = ?", (bytes(flipped), number))
        db.commit()


def stop(why: str, folder: Path | str = ".assay", run: str = "now") -> None:
    """The run as it is in the store while it goes on, and after it was stopped."""
    with Store(folder) as store:
        store.put_run(run, {**store.get_run(run), "stopped": why})


@pytest.fixture
def assay_command(command_line: Run) -> Run:
    """The command line, in a folder with the runs `before` (all right) and `now` (two wrong)."""
    for name, right in (("before", ROWS), ("now", RIGHT)):
        lines = [
            {"id": f"r{n}", "question": "?", "answer": "x" if n < right else "y", "reference": "x"} for n in range(ROWS)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        command_line("score", f"{name}.jsonl", "--metrics", METRIC, "--name", name, "--quiet")
    return command_line


def is_inconclusive(command: Run, reason: str, *gate: str) -> None:
    """Every form of the answer says that the gate cannot decide, and why."""
    code, text, _ = command(*gate)
    assert (code, text.split(":")[0]) == (6, "INCONCLUSIVE")
    assert reason in " ".join(text.split())
    assert command(*gate, "--allow-inconclusive")[0] == 6  # it is for runs that are complete
    code, out, _ = command(*gate, "--json", "--junit", "gate.xml", "--summary", "summary.md")
    found = json.loads(out)
    assert (code, found["verdict"], found["exit_code"]) == (6, "INCONCLUSIVE", 6)
    assert any(reason in said for said in found["incomplete"])
    assert all(one["verdict"] == "INCONCLUSIVE" and reason in one["because"] for one in found["rulings"])
    suite = ET.parse("gate.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("errors"), suite.get("failures")) == (suite.get("tests"), "0")
    assert all(reason in (one.get("message") or "") for one in suite.findall("testcase/error"))
    summary = Path("summary.md").read_text()
    assert summary.startswith("### ❔ assay: INCONCLUSIVE")
    assert reason in summary
    assert reason in command(*gate, "--markdown")[1]


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rows_are_inconclusive_in_every_form(assay_command: Run, damage: str) -> None:
    sql, reason = DAMAGES[damage]
    assert assay_command("gate", "now", *RULE)[0] == 5  # 8 of 10 are right
    change(sql)
    is_inconclusive(assay_command, reason, "gate", "now", *RULE)
    is_inconclusive(assay_command, reason, "gate", "now", "--baseline", "before", "--max-drop", f"{METRIC}=0.5")


def test_a_bit_flipped_in_a_row_is_inconclusive(assay_command: Run) -> None:
    flip_a_bit(9, 40)
    is_inconclusive(assay_command, "1 of 10 rows could not be read", "gate", "now", *RULE)


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("why", STOPPED)
def test_a_run_that_did_not_finish_is_inconclusive_in_every_form(assay_command: Run, why: str) -> None:
    stop(why)
    reason = "the run did not finish: 10 of 10 rows" + (f" ({why})" if why != "not finished" else "")
    for rule in (RULE, ("--fail-below", f"{METRIC}=0.5"), ("--fail-below", f"{METRIC}=1")):  # whatever the rows say
        is_inconclusive(assay_command, reason, "gate", "now", *rule)
    is_inconclusive(assay_command, reason, "gate", "now", "--baseline", "before", "--max-drop", f"{METRIC}=0.5")


def test_lost_rows_and_an_early_end_are_both_said(assay_command: Run) -> None:
    stop("interrupted")
    change("DELETE FROM rows WHERE run = 'now' AND number = 1")
    flip_a_bit(2, 30)
    out = " ".join(assay_command("gate", "now", *RULE)[1].split())
    # 10 were saved: 1 deleted, 1 damaged, 8 left, of which 6 are right
    for reason in ("the run did not finish: 10 of 10 rows (interrupted)", "1 of 10 rows could not be read",
                   "1 of 10 rows is missing from the store", "mean 0.750 on 8 of 10 rows"):  # fmt: skip
        assert reason in out


@pytest.mark.long
def test_every_byte_of_a_wrong_row_may_be_damaged(runs: Runs, tmp_path: Path) -> None:
    """One bit of each byte in turn: the gate never passes."""
    runs("now", [1.0] * 5 + [0.0])
    gate, folder = Gate((GateRule("quality", "at_least", 0.9),)), tmp_path / "store"
    with Store(folder) as store:
        ((length,),) = store.query("SELECT LENGTH(body) FROM rows WHERE number = 6")
    for place in range(length):
        flip_a_bit(6, place, folder)
        result = Result.load("now", folder)
        assert (check(gate, result).verdict, result.lost, result.altered) in (
            ("INCONCLUSIVE", 1, False),
            ("INCONCLUSIVE", 0, True),  # the bit says nothing about the content
        ), place
        flip_a_bit(6, place, folder)  # as it was
    assert check(gate, Result.load("now", folder)).verdict == "FAIL"


def test_a_store_file_that_is_cut_never_passes(runs: Runs, tmp_path: Path) -> None:
    runs("now", [1.0] * 300 + [0.0] * 60)
    gate, folder = Gate((GateRule("quality", "at_least", 0.9),)), tmp_path / "store"
    change("PRAGMA wal_checkpoint(TRUNCATE)", folder=folder)
    whole = (folder / "assay.db").read_bytes()
    for cut in range(len(whole) - 1, 4096, -max(1, len(whole) // 40)):
        for beside in folder.glob("assay.db-*"):
            beside.unlink()
        (folder / "assay.db").write_bytes(whole[:cut])
        try:
            verdict = check(gate, Result.load("now", folder)).verdict
        except (StoreError, InputError):  # the command ends with 2 or 3
            continue
        assert verdict != "PASS", cut


def test_a_file_that_cannot_be_read_is_an_error_of_the_command(assay_command: Run) -> None:
    change("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = Path(".assay/assay.db").read_bytes()
    Path(".assay/assay.db").write_bytes(whole[: len(whole) // 2])
    code, out, err = assay_command("gate", "now", *RULE)
    assert (code not in (0, 5), "PASS" in out, "damaged" in err) == (True, False, True)


# ---- real processes


def score(server: OpenAIServer, folder: Path) -> subprocess.Popen[bytes]:
    """`assay score` of 12 rows, one at a time, as a process of its own."""
    rows = [{"id": f"r{n}", "question": f"Which is city {n}?", "contexts": [f"Paris {n} is a city."],
             "answer": f"Paris {n} is a city."} for n in range(1, 13)]  # fmt: skip
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["score", "rows.jsonl", "--metrics", "faithfulness", "--judge", "openai:fake", "--base-url",
               server.base_url, "--concurrency", "1", "--name", "now", "--quiet"]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "assay", *command], cwd=folder, env={**os.environ, "OPENAI_API_KEY": "none"}
    )


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (signal.SIGKILL, "the run did not finish: 3 of 12 rows"),
        pytest.param(signal.SIGINT, "the run did not finish: 3 of 12 rows (interrupted)", marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_killed_or_interrupted_midway(
    command_line: Run, tmp_path: Path, sent: signal.Signals, reason: str
) -> None:
    """Row 4 is never answered: rows 1 to 3, all of them good, are in the store then."""
    waiting = threading.Event()

    def hang(call: Call) -> Say | None:
        if "Paris 4 " not in json.dumps(call.body):
            return None
        waiting.set()
        return Say(hang=True)

    with OpenAIServer(plan=hang) as server:
        running = score(server, tmp_path)
        try:
            assert waiting.wait(120)
            # while it is under way
            is_inconclusive(command_line, "the run did not finish: 3 of 12 rows", "gate", "now", "--fail-below",
                            "faithfulness=0.5")  # fmt: skip
            running.send_signal(sent)
            running.wait(60)
        finally:
            running.kill()
    is_inconclusive(command_line, reason, "gate", "now", "--fail-below", "faithfulness=0.5")
    _, out, _ = command_line("runs")
    assert "3 rows" in out


@pytest.mark.long
def test_a_run_that_is_killed_before_its_first_row(command_line: Run, tmp_path: Path) -> None:
    waiting = threading.Event()

    def hang(call: Call) -> Say:
        waiting.set()
        return Say(hang=True)

    with OpenAIServer(plan=hang) as server:
        running = score(server, tmp_path)
        try:
            assert waiting.wait(120)
        finally:
            running.kill()
            running.wait(60)
    is_inconclusive(command_line, "the run did not finish: 0 of 12 rows", "gate", "now", "--fail-below",
                    "faithfulness=0.5")  # fmt: skip


def test_a_run_without_rows_against_a_baseline(assay_command: Run) -> None:
    """There is no row to compare."""
    with Store(".assay") as store:
        store.create_run("begun", {**store.get_run("now"), "stopped": "not finished"})
    for rules in (RULE, ("--baseline", "before", "--max-drop", f"{METRIC}=0.5")):
        is_inconclusive(assay_command, "the run did not finish: 0 of 10 rows", "gate", "begun", *rules)


# ---- from Python


def test_a_full_disk_is_inconclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_rows, saved = group_writer.put_rows, list[Any]()

    def full(db: Any, run: str, rows: Any, *rest: Any, **how: Any) -> None:
        if len(saved) == 3:
            raise sqlite3.OperationalError("database or disk is full")
        put_rows(db, run, rows, *rest, **how)
        saved.extend(rows)

    monkeypatch.setattr(group_writer, "put_rows", full)
    rows = [{"question": f"Q{n}?", "answer": "It is.", "quality": 1.0} for n in range(10)]
    with pytest.raises(StoreError):
        assay.evaluate(rows, quality, ScriptedJudge(), store=tmp_path, run="now", concurrency=1, progress=False)
    decision = check(Gate((GateRule("quality", "at_least", 0.5),)), Result.load("now", tmp_path))
    assert decision.verdict == "INCONCLUSIVE"
    assert decision.incomplete[0].startswith("the run did not finish: 3 of 10 rows (store ")


def test_a_run_that_its_caller_ends_is_inconclusive(tmp_path: Path) -> None:
    """The result that `evaluate` gives, not loaded again."""
    rows = [{"question": f"Q{n}?", "answer": "It is.", "quality": 1.0} for n in range(10)]
    ended: list[int] = []

    def until(number: int, scored: assay.ScoredSample) -> str | None:
        ended.append(number)
        return "enough" if len(ended) == 4 else None

    result = assay.evaluate(rows, quality, ScriptedJudge(), store=tmp_path, concurrency=1, progress=False, until=until)
    decision = check(Gate((GateRule("quality", "at_least", 0.5),)), result)
    assert (decision.verdict, decision.exit_code) == ("INCONCLUSIVE", 6)
    assert decision.incomplete == ("the run did not finish: 4 of 10 rows (enough)",)


@pytest.mark.parametrize("damage", ["lost", "stopped"])
def test_a_baseline_that_is_incomplete_decides_no_rule_against_it(runs: Runs, tmp_path: Path, damage: str) -> None:
    """Of ten rows the run lost the one that got worse; rules about the run alone are decided."""
    runs("before", [1.0] * 9 + [0.9])
    runs("after", [1.0] * 9 + [0.9])
    folder = tmp_path / "store"
    if damage == "lost":
        change("DELETE FROM rows WHERE run = 'before' AND number = 10", folder=folder)
    else:
        stop("interrupted", folder, run="before")
    said = {
        "lost": "baseline before: 1 of 10 rows is missing from the store",
        "stopped": "baseline before: the run did not finish: 10 of 10 rows (interrupted)",
    }[damage]
    gate = Gate((GateRule("quality", "at_least", 0.5), GateRule("quality", "max_drop", 0.5)))
    before, after = Result.load("before", folder), Result.load("after", folder)
    decision = check(gate, after, before)
    assert [one.verdict for one in decision.rulings] == ["PASS", "INCONCLUSIVE"]
    assert decision.incomplete == (said,)
    assert said in decision.rulings[1].because
    assert said not in decision.rulings[0].because
    assert check(Gate(gate.rules[:1]), after, before).verdict == "PASS"  # nothing is held against it
    with pytest.raises(InputError, match=f"early: {said.split(':')[0]}"):
        Early(gate, [quality], [], after.judge, before)


def test_a_metric_that_a_killed_run_did_not_reach_is_explained(runs: Runs, tmp_path: Path) -> None:
    runs("now", [1.0] * 3)
    stop("not finished", tmp_path / "store")
    with pytest.raises(InputError, match=r"'other' is not in run 'now'.*the run did not finish: 3 of 3 rows"):
        check(Gate((GateRule("other", "at_least", 0.5),)), Result.load("now", tmp_path / "store"))


def test_lost_rows_are_missing_values_with_clusters_and_by_the_interval(runs: Runs, tmp_path: Path) -> None:
    """Ten rows of five documents, of which two are gone: 8 known values of 1, bounds 0.8 and 1."""
    runs("now", [1.0] * 10, document=[f"d{n // 2}" for n in range(10)])
    change("DELETE FROM rows WHERE number > 8", folder=tmp_path / "store")
    gate = Gate((GateRule("quality", "at_least", 0.5, by="interval"),), cluster="document")
    (ruling,) = check(gate, Result.load("now", tmp_path / "store")).rulings
    assert (ruling.verdict, ruling.measured, ruling.rows) == ("INCONCLUSIVE", 8, 10)
    assert ruling.bounds == (0.8, 1.0)


# ---- what is counted and shown besides


def test_lost_rows_count_wherever_a_run_is_shown(assay_command: Run) -> None:
    change("DELETE FROM rows WHERE run = 'now' AND number = 10")
    flip_a_bit(9, 40)
    result = Result.load("now")
    summary = result.metrics[METRIC]
    assert (result.rows, result.unreadable, result.missing, result.complete) == (8, 1, 1, False)
    assert (summary.scored, summary.total, summary.causes) == (8, 10, {Cause.LOST: 2})
    assert summary.bounds == (0.8, 1.0)
    assert [(one.number, one.cause) for one in result.errors] == [(9, "lost"), (None, "lost")]
    _, out, _ = assay_command("show", "now")
    assert "8/10" in out
    assert "INCOMPLETE: 1 of 10 rows could not be read" in out
    _, out, _ = assay_command("errors", "now")
    assert out.count("lost") == 2
    _, out, _ = assay_command("runs")
    # the list reads no row: the scores of row 9 are in the columns
    assert "10 rows · now.jsonl · 1 missing from the store · 1 skipped or failed" in out
    (line, _) = runs_of(Store(".assay"))
    assert (line.rows, line.missing, line.metrics[METRIC].total) == (10, 1, 10)
    for name in ("r.md", "r.html", "r.xml"):
        assert assay_command("report", "now", "--out", name)[0] == 0
        assert "1 of 10 rows could not be read" in Path(name).read_text()
    assert "now by itself, 8 of 10 rows: " in Path("r.md").read_text()
    assert "8/10" in Path("r.md").read_text()
    assert 'errors="1"' in Path("r.xml").read_text()
    assert "now is incomplete: 1 of 10 rows could not be read." in compare(Result.load("before"), result).notes


def test_a_complete_run_says_nothing_of_it(assay_command: Run) -> None:
    result = Result.load("now")
    assert (result.complete, result.incomplete, result.lost, result.expected) == (True, (), 0, 10)
    assert (result.to_dict()["complete"], result.to_dict()["incomplete"]) == (True, [])
    assert assay_command("gate", "now", "--fail-below", f"{METRIC}=0.5")[0] == 0
    assert "INCOMPLETE" not in assay_command("show", "now")[1]


def test_a_run_without_end_is_complete_and_may_be_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sink writes to it for years; a run that was scored once lacks the pruned rows."""
    rows = [{"id": f"r{n}", "question": f"Q{n}?", "answer": "It is.", "quality": 1.0} for n in range(4)]
    result = assay.evaluate(rows, quality, ScriptedJudge(), store=tmp_path, run="once", progress=False)
    sink = StoreSink(tmp_path, "live")
    for scored in result:
        sink.write(scored)
    sink.close()
    change("UPDATE rows SET at = 0 WHERE number < 3", folder=tmp_path)
    with Store(tmp_path) as store:
        assert prune(store, older_than=86_400.0).rows == 4
    live, once = Result.load("live", tmp_path), Result.load("once", tmp_path)
    assert (live.rows, live.incomplete) == (2, ())
    assert once.incomplete == ("2 of 4 rows were pruned",)
    gate = Gate((GateRule("quality", "at_least", 0.5),))
    assert [check(gate, one).verdict for one in (live, once)] == ["PASS", "INCONCLUSIVE"]
