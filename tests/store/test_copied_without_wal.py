"""A store that was copied without its -wal file lacks the last transactions: its runs never look complete."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from assay import Gate, GateRule, InputError, Result, ScoredSample, ScriptedJudge, Store, check, evaluate
from assay._util.sqlite import Database

GATE = Gate((GateRule("faithfulness", "at_least", 0.5),))


def copied(folder: Path, name: str) -> Path:
    """A copy of the file alone."""
    target = folder.parent / name
    target.mkdir()
    shutil.copy(folder / "assay.db", target / "assay.db")
    return target


@pytest.mark.parametrize(
    "size", [5, pytest.param(100_000, marks=pytest.mark.long)], ids=["all is in the -wal", "some is in the file"]
)
def test_a_copy_of_the_file_alone_is_no_whole_run(tmp_path: Path, size: int) -> None:
    """The first 30 rows are right and the last 30 wrong: a gate on the first ones alone would pass."""
    kept = Store(tmp_path / "kept")
    rng = random.Random(3)  # texts that do not shrink: SQLite moves 4 MB of the -wal into the file at a time
    rows = [{"id": str(n), "answer": f"Cats purr {n}.", "contexts": [rng.randbytes(size).hex()]} for n in range(60)]
    copies: list[Path] = []

    def copy(scored: ScoredSample) -> None:
        if int(scored.sample.id or 0) % 10 == 9:
            copies.append(copied(tmp_path / "kept", f"copy{scored.sample.id}"))

    judge = ScriptedJudge(
        support=lambda claim, text: "supported" if int(claim.rstrip(".").split()[-1]) < 30 else "not_mentioned"
    )
    evaluate(rows, "faithfulness", judge, store=kept, run="nightly", concurrency=1, progress=False, on_score=copy)
    copies.append(copied(tmp_path / "kept", "end"))
    seen = 0
    for folder in copies:
        with suppress(InputError):  # the run itself is in the -wal, too
            found = Result.load("nightly", folder)
            seen += 1
            assert found.rows == 60 or not found.complete
            assert check(GATE, found).verdict != "PASS"
            assert found.metrics["faithfulness"].total == 60  # what is missing are gaps
    assert seen > 0 or size == 5
    assert Result.load("nightly", kept).complete


def test_a_copy_of_the_file_alone_knows_the_last_run(tmp_path: Path) -> None:
    """The first run is right, the second wrong: "last" in the copy is not the first one."""
    kept = Store(tmp_path / "kept")
    for name, answer in (("good", "Cats purr."), ("bad", "Cats bark.")):
        rows = [{"answer": answer, "contexts": ["Cats purr."]}] * 20
        judge = ScriptedJudge(support=lambda claim, text: "supported" if "purr" in claim else "not_mentioned")
        evaluate(rows, "faithfulness", judge, store=kept, run=name, progress=False)
    folder = copied(tmp_path / "kept", "copy")
    with Store(folder) as store:
        assert store.run_id("last") == "bad"
    found = Result.load("last", folder)
    assert found.run == "bad"
    assert check(GATE, found).verdict != "PASS"


def test_a_run_starts_also_where_nothing_can_be_moved_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is full by then: what was written is in the -wal."""
    rows = Database.rows

    def full(self: Database, sql: str, *values: object) -> object:
        if "wal_checkpoint" in sql:
            raise sqlite3.OperationalError("database or disk is full")
        return rows(self, sql, *values)

    monkeypatch.setattr(Database, "rows", full)
    with Store(tmp_path / "kept") as store:
        store.create_run("nightly", {"judge": "j", "metrics": ["m"]})
        assert store.run_id("last") == "nightly"
