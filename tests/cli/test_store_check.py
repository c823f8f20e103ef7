"""`assay store check` finds damage, and `assay store repair` brings rows back from the data."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scored(command_line: Run) -> Run:
    rows = [{"id": f"r{n}", "answer": "x" if n < 4 else "y", "reference": "x"} for n in range(5)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("first", "second"):
        assert command_line("score", "rows.jsonl", "--metrics", "ragas:exact_match", "--name", name, "--quiet")[0] == 0
    return command_line


def change(*statements: str) -> None:
    with closing(sqlite3.connect(".assay/assay.db")) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_a_sound_store(scored: Run) -> None:
    code, out, _ = scored("store", "check")
    assert (code, out) == (0, "2 of 2 runs without damage\n")
    code, out, _ = scored("store", "repair", "first")
    assert (code, out) == (0, "run first: no row is lost\n")


def test_damage_is_named_run_by_run_and_repaired(scored: Run) -> None:
    change(
        "UPDATE rows SET body = x'00' WHERE run = 'first' AND number = 5",
        "DELETE FROM rows WHERE run = 'first' AND number IN (1, 2)",
    )
    code, out, _ = scored("store", "check")
    assert (code, out.splitlines()) == (
        1,
        ["run first: 1 row cannot be read: 5; 2 rows missing", "1 of 2 runs without damage"],
    )
    found = json.loads(scored("store", "check", "--json")[1])
    assert (found["damaged"], found["runs"][1]["unreadable"], found["runs"][1]["missing"]) == (True, [5], 2)
    code, out, err = scored("store", "repair", "first")
    assert (code, out) == (2, "run first: cannot be read: 5; gone: 1, 2\n")
    assert "repair: give the data of run first, --data FILE: without it no row comes back" in err
    assert scored("gate", "first", "--fail-below", "ragas:exact_match=0.9")[0] == 6
    code, out, _ = scored("store", "repair", "first", "--data", "rows.jsonl")
    assert code == 0
    assert "run first: 3 rows scored again with 0 calls" in out
    assert scored("store", "check")[:2] == (0, "2 of 2 runs without damage\n")
    assert scored("gate", "first", "--fail-below", "ragas:exact_match=0.9")[0] == 5  # 0.8, as before


def test_what_is_known_about_a_run_is_checked_too(scored: Run) -> None:
    change("UPDATE runs SET info = REPLACE(info, 'exact_match', 'exact_matsh') WHERE id = 'second'")
    code, out, _ = scored("store", "check")
    assert code == 1
    assert "run second: store '.assay/assay.db': run 'second': what is known about it is damaged" in out
    assert scored("gate", "second", "--fail-below", "ragas:exact_match=0.1")[0] == 2
    assert scored("store", "repair", "second", "--data", "rows.jsonl")[0] == 2
    code, out, _ = scored("runs")
    assert (code, "first" in out, "second" in out) == (0, True, True)


def test_other_data_are_refused(scored: Run) -> None:
    change("DELETE FROM rows WHERE run = 'first' AND number = 3")
    Path("other.jsonl").write_text(Path("rows.jsonl").read_text().replace('"x"', '"z"'))
    code, _, err = scored("store", "repair", "first", "--data", "other.jsonl")
    assert (code, "these are other data" in err) == (2, True)
    assert scored("store", "check")[0] == 1
