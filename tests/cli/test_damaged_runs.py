"""What a store knows about its runs is damaged: every command says so in words, and no gate passes for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from assay import Store
from assay.errors import StoreError

Run = Callable[..., tuple[int, str, str]]
GATE = ("gate", "last", "--fail-below", "ragas:exact_match=0.9")


@pytest.fixture
def scored(command_line: Run) -> Run:
    """A good run, and then a bad one: exact match 1.0 and 0.6."""
    for name, right in (("good", 10), ("bad", 6)):
        rows = [{"id": f"r{n}", "answer": "x" if n < right else "y", "reference": "x"} for n in range(10)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert (
            command_line("score", f"{name}.jsonl", "--metrics", "ragas:exact_match", "--name", name, "--quiet")[0] == 0
        )
    return command_line


def change(statement: str) -> None:
    with closing(sqlite3.connect(".assay/assay.db")) as db:
        db.execute(statement)
        db.commit()


DAMAGES = {
    "row lost": "DELETE FROM runs WHERE id = 'bad'",
    "name is a blob": "UPDATE runs SET id = CAST(id AS BLOB) WHERE id = 'bad'",
    "name of one character more": "UPDATE runs SET id = id || 'x' WHERE id = 'bad'",
    "start is a text": "UPDATE runs SET started = 'abc' WHERE id = 'bad'",
    "start is a blob": "UPDATE runs SET started = x'00ff' WHERE id = 'bad'",
    "facts are a blob": "UPDATE runs SET info = CAST(info AS BLOB) WHERE id = 'bad'",
    "facts' digest is a text": "UPDATE runs SET info_digest = 'x' WHERE id = 'bad'",
    "saved is a text": "UPDATE runs SET saved = 'abc' WHERE id = 'bad'",
    "saved is negative": "UPDATE runs SET saved = -5 WHERE id = 'bad'",
    "saved is too many": "UPDATE runs SET saved = 1000000010 WHERE id = 'bad'",
    "saved is the largest": f"UPDATE runs SET saved = {2**63 - 1} WHERE id = 'bad'",
    "pruned is a blob": "UPDATE runs SET pruned = x'01' WHERE id = 'bad'",
    "pruned is negative": f"UPDATE runs SET pruned = {-(2**62)} WHERE id = 'bad'",
    "digest is a text": "UPDATE runs SET digest = 'x' WHERE id = 'bad'",
    "version is no whole number": "UPDATE meta SET value = '6.0' WHERE key = 'version'",
    "version is a blob": "UPDATE meta SET value = x'ff' WHERE key = 'version'",
}


@pytest.mark.short_cases(5)
@pytest.mark.parametrize("kind", DAMAGES)
def test_no_command_breaks_and_no_gate_passes(scored: Run, kind: str) -> None:
    """The gate asks for 0.9: `bad` has 0.6, and `good`, which passes, is not the last run."""
    change(DAMAGES[kind])
    assert scored(*GATE)[0] != 0
    for command in (("runs",), ("show", "bad"), ("store", "check"), ("store", "repair", "bad"), GATE):
        code, out, err = scored(*command)
        assert "fault in assay" not in out + err, command
        assert code in range(7)
    assert scored("store", "check")[0] != 0


def test_a_store_that_has_lost_a_run_still_gives_the_others_by_name(scored: Run) -> None:
    change(DAMAGES["row lost"])
    code, out, _ = scored("store", "check")
    assert (code, "run bad: the store has its rows, and has lost the run" in out) == (1, True)
    assert scored("gate", "good", *GATE[2:])[0] == 0
    with Store(".assay") as store:
        assert store.lost_runs() == ["bad"]
        with pytest.raises(StoreError, match="has lost what is known about 'bad'"):
            store.run_id("last")


def test_a_store_without_damage_has_lost_no_run(scored: Run) -> None:
    with Store(".assay") as store:
        assert store.lost_runs() == []
        store.delete_run("bad")
        assert store.lost_runs() == []
        assert store.run_id("last") == "good"
