"""What is in the store stays in the store."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sqlite3
import zlib
from contextlib import closing

import pytest

from assay import Context, Sample, Score, ScoredSample, Store
from assay._util.compression import unpack
from assay._util.sqlite import Database
from assay.errors import StoreError
from assay.evaluation.result import Result
from assay.store.schema import SCHEMA_VERSION


def scored(number: int) -> ScoredSample:
    sample = Sample(id=f"r{number}", question="¿Qué?", contexts=(Context(text="猫は眠る。"),), answer="Ünïcode 🐈")
    return ScoredSample(sample=sample, scores={"m": Score(metric="m", value=number % 11 / 10)})


def test_what_is_no_store_is_an_error_that_names_it(tmp_path):
    (tmp_path / "text.db").write_text("This is not a database, and it is long enough to be one. " * 50)
    with pytest.raises(StoreError, match=r"text\.db"):
        Store(tmp_path / "text.db")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "file" / "below")


def test_a_store_of_a_newer_assay_is_refused(tmp_path):
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "assay.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.close()
    with pytest.raises(StoreError, match="newer assay"):
        Store(tmp_path)


def test_nothing_is_pickled(tmp_path):
    with Store(tmp_path) as store:
        store.put_judgement("k", "claims", "judge", b'["a"]')
        store.put_row("run", 1, scored(1))
    raw = (tmp_path / "assay.db").read_bytes()
    assert b"\x80\x04\x95" not in raw  # the head of a pickle
    with closing(sqlite3.connect(tmp_path / "assay.db")) as db:
        (judgement,), (body,) = (db.execute(f"SELECT {name}").fetchone() for name in JUDGEMENT_AND_ROW)
    assert json.loads(unpack(judgement)) == ["a"]
    assert json.loads(unpack(body))["sample"]["contexts"] == [{"text": "猫は眠る。", "metadata": {}}]


JUDGEMENT_AND_ROW = ("judgement FROM judgements", "body FROM rows")


# ---- what goes wrong


def failing(monkeypatch, *pragmas: str) -> None:
    """From now on every connection is opened with these settings, which stand for a disk's."""
    honest = Database._connected

    def connected(self):
        db = honest(self)
        for pragma in pragmas:
            db.execute(pragma)
        return db

    monkeypatch.setattr(Database, "_connected", connected)


WRITES = {
    "put_judgement": lambda store: store.put_judgement("new", "claims", "j", random.randbytes(9000)),
    "put_judgements": lambda store: store.put_judgements([("new", "claims", "j", random.randbytes(9000))]),
    "put_row": lambda store: store.put_row("run", 7, scored(7)),
    "merge_row": lambda store: store.merge_row("run", scored(8)),
    "put_run": lambda store: store.put_run("run", {"a": "b" * 9000}),
    "create_run": lambda store: store.create_run("another", {"a": "b" * 9000}),
    "forget": lambda store: store.forget(prompt="claims"),
    "delete_run": lambda store: store.delete_run("run"),
}
READS = {
    "get_judgement": lambda store: store.get_judgement("k"),
    "rows": lambda store: list(store.rows("run")),
    "get_row": lambda store: store.get_row("run", 1),
    "get_run": lambda store: store.get_run("run"),
    "run_id": lambda store: store.run_id("last"),
    "has_run": lambda store: store.has_run("run"),
    "judges": lambda store: store.judges(),
    "unreadable": lambda store: store.unreadable("run"),
}


def filled(path) -> Store:
    store = Store(path)
    store.put_judgement("k", "claims", "judge", b'["a"]')
    store.create_run("run", {})
    store.put_row("run", 1, scored(1))
    store.close()
    return store


@pytest.mark.parametrize("name", [*WRITES, *READS])
def test_a_disk_that_fails_is_a_store_error_that_names_the_file(tmp_path, monkeypatch, name):
    store = filled(tmp_path)
    failing(monkeypatch, "PRAGMA query_only = ON")
    if name in WRITES:
        with pytest.raises(StoreError, match=r"assay\.db' cannot be written: the file is read-only"):
            WRITES[name](store)
    else:
        READS[name](store)  # what is there can still be read
    store.close()
    (tmp_path / "assay.db").write_bytes(b"no database at all, " * 500)
    with pytest.raises(StoreError, match=r"assay\.db' cannot be .*: the file is damaged"):
        {**WRITES, **READS}[name](store)


@pytest.mark.parametrize("name", ["put_judgement", "put_judgements", "put_run", "create_run"])
def test_a_full_disk_is_a_store_error_and_what_is_there_stays(tmp_path, monkeypatch, name):
    store = filled(tmp_path)
    with monkeypatch.context() as patch:
        failing(patch, "PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match=r"assay\.db' cannot be written: the disk is full"):
            WRITES[name](store)
        assert store.get_judgement("k") == b'["a"]'
        assert [row.number for row in store.rows("run")] == [1]
        store.close()
    WRITES[name](store)  # there is room again


@pytest.mark.long
def test_a_store_that_is_locked_for_long_says_so(tmp_path):
    store = filled(tmp_path)
    store._tables._file._timeout = 0.01
    with closing(sqlite3.connect(tmp_path / "assay.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process"):
            store.put_judgement("new", "claims", "j", b"1")
    store.put_judgement("new", "claims", "j", b"1")


def spoil(path, sql: str) -> None:
    with closing(sqlite3.connect(path / "assay.db")) as db:
        db.execute(sql)
        db.commit()


def test_a_judgement_that_cannot_be_read_is_missing_and_can_be_kept_again(tmp_path):
    with filled(tmp_path) as store:
        spoil(tmp_path, "UPDATE judgements SET judgement = x'0102'")
        assert store.get_judgement("k") is None
        store.put_judgement("k", "claims", "judge", b'["b"]')
        assert store.get_judgement("k") == b'["b"]'


@pytest.mark.parametrize("body", ["x'00'", "NULL", "'text'", "malformed"])
def test_a_row_that_cannot_be_read_leaves_the_others(tmp_path, body, caplog):
    if body == "malformed":  # a score that an earlier assay let through
        body = f"x'{zlib.compress(json.dumps({'sample': {}, 'scores': {'m': {'metric': 3}}}).encode()).hex()}'"
    with filled(tmp_path) as store:
        for number in (2, 3):
            store.put_row("run", number, scored(number))
        spoil(tmp_path, "CREATE TABLE loose AS SELECT * FROM rows")
        spoil(tmp_path, "DROP TABLE rows")
        spoil(tmp_path, "ALTER TABLE loose RENAME TO rows")  # as it is, without NOT NULL
        spoil(tmp_path, f"UPDATE rows SET body = {body} WHERE number = 2")
        assert [row.number for row in store.rows("run")] == [1, 3]
        assert "run run, row 2 cannot be read" in caplog.text
        assert store.unreadable("run") == [2]
        assert store.numbers("run") == [1, 2, 3]
        assert store.get_row("run", "r3").scored == scored(3)
        with pytest.raises(StoreError, match=r"assay\.db': run 'run', row 2 cannot be read"):
            store.get_row("run", "r2")


# ---- whose eyes


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_folder_and_files_are_their_owners_alone(tmp_path, umask_022):
    with Store(tmp_path / "new" / "deep") as store:
        store.put_judgement("k", "claims", "judge", b"1")
        files = {path.name: mode(path) for path in (tmp_path / "new" / "deep").iterdir()}
    assert files == {"assay.db": 0o600, "assay.db-wal": 0o600, "assay.db-shm": 0o600}
    assert mode(tmp_path / "new") == mode(tmp_path / "new" / "deep") == 0o700


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_a_store_that_others_may_read_stays_so(tmp_path, umask_022):
    Store(tmp_path / "shared").close()
    (tmp_path / "shared").chmod(0o755)
    (tmp_path / "shared" / "assay.db").chmod(0o644)
    with Store(tmp_path / "shared") as store:
        store.put_judgement("k", "claims", "judge", b"1")
        assert mode(tmp_path / "shared" / "assay.db-wal") == 0o644
    assert (mode(tmp_path / "shared"), mode(tmp_path / "shared" / "assay.db")) == (0o755, 0o644)


def mode(path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def umask_022():
    before = os.umask(0o022)
    yield
    os.umask(before)


# ---- versions

VERSION_1 = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
    key TEXT PRIMARY KEY, inquiry TEXT NOT NULL, judge TEXT NOT NULL, finding BLOB NOT NULL, at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, started REAL NOT NULL, info TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
    run TEXT NOT NULL, number INTEGER NOT NULL, id TEXT, sample TEXT NOT NULL, scores TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rows_by_id ON rows (run, id);
INSERT OR IGNORE INTO meta VALUES ('version', '1');
"""


def write_version_1(path, rows: int = 3) -> None:
    """A store as assay wrote it before judgements were compressed; row 2 cannot be read."""
    path.mkdir()
    with closing(sqlite3.connect(path / "assay.db")) as db:
        db.executescript(VERSION_1)
        db.execute("INSERT INTO findings VALUES (?, 'claims', 'openai/m@h#1', ?, 5.0)", ("ab" * 32, b'["a"]'))
        db.execute("INSERT INTO findings VALUES (?, 'support', 'openai/m@h#1', ?, 6.0)", ("cd" * 32, '["täxt"]'))
        for name, started in (("b-first", 10.0), ("a-last", 20.0)):
            db.execute("INSERT INTO runs VALUES (?, ?, ?)", (name, started, json.dumps({"judge": name})))
        for number in range(1, rows + 1):
            data = scored(number).to_dict()
            sample = json.dumps(data["sample"], ensure_ascii=False) if number != 2 else "{"
            row = ("b-first", number, f"r{number}", sample, json.dumps(data["scores"]))
            db.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", row)
        db.commit()


def test_a_store_of_version_1_is_brought_to_this_one_in_place(tmp_path):
    write_version_1(tmp_path / "old")
    for _ in range(2):  # the second time there is nothing to do
        with Store(tmp_path / "old") as store:
            assert store.get_judgement("ab" * 32) == b'["a"]'
            assert store.get_judgement("cd" * 32) == '["täxt"]'.encode()
            assert store.judges() == {"openai/m@h#1": 2}
            assert store.run_id("last") == "a-last"
            assert store.get_run("b-first") == {"judge": "b-first"}
            assert {row.number: row.scored for row in store.rows("b-first")} == {1: scored(1), 3: scored(3)}
            assert store.unreadable("b-first") == [2]
            assert store.forget(prompt="claims", dry_run=True) == 1
            tables = {name for (name,) in store._tables.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
            assert not any(name.startswith("old_") for name in tables)


def as_version_4(path) -> None:
    """The tables of a store under the names that they had up to version 4."""
    for statement in (
        "ALTER TABLE sources RENAME COLUMN prompt TO inquiry",
        "ALTER TABLE sources RENAME TO makers",
        "ALTER TABLE judgements RENAME COLUMN source TO maker",
        "ALTER TABLE judgements RENAME COLUMN judgement TO finding",
        "ALTER TABLE judgements RENAME TO findings",
        "ALTER TABLE run_judgements RENAME COLUMN judgement TO finding",
        "ALTER TABLE run_judgements RENAME TO used",
        "DROP INDEX judgements_by_source",
        "DROP INDEX judgements_by_time",
        "CREATE INDEX findings_by_maker ON findings (maker)",
        "CREATE INDEX findings_by_time ON findings (at)",
        *(f"ALTER TABLE runs DROP COLUMN {name}" for name in ("pruned", "digest", "info_digest", "scores_digest")),
        *(f"DROP TABLE {name}" for name in ("names", "scores", "metric_ranges", "row_facts", "column_blocks")),
    ):
        spoil(path, statement)


def test_a_store_of_version_2_learns_when_rows_are_written(tmp_path):
    with filled(tmp_path) as store:
        started = store.run_started("run")
    as_version_4(tmp_path)
    spoil(tmp_path, "ALTER TABLE runs DROP COLUMN saved")
    spoil(tmp_path, "CREATE TABLE loose AS SELECT place, run, number, id, body FROM rows")
    spoil(tmp_path, "DROP TABLE rows")
    spoil(tmp_path, "ALTER TABLE loose RENAME TO rows")
    spoil(tmp_path, "CREATE UNIQUE INDEX rows_by_number ON rows (run, number)")
    spoil(tmp_path, "UPDATE meta SET value = '2' WHERE key = 'version'")
    spoil(tmp_path, "PRAGMA user_version = 2")
    for _ in range(2):
        with Store(tmp_path) as store:
            assert store.get_row("run", 1).scored == scored(1)
            assert store.get_judgement("k") == b'["a"]'
            assert store.query("SELECT value FROM meta WHERE key = 'version'") == [(str(SCHEMA_VERSION),)]
    with Store(tmp_path) as store:
        store.put_row("run", 2, scored(2))
        ((first,), (second,)) = store.query("SELECT at FROM rows ORDER BY number")
        assert (first, second >= started) == (None, True)


def test_a_prompt_of_the_user_that_has_the_new_name_of_one_of_ours(tmp_path):
    """`sorting` is `classification` since schema 5; a judge has answered prompts of both names."""
    with Store(tmp_path) as store:
        for key, prompt, judge in (("a", "sorting", "j"), ("b", "classification", "j"), ("c", "sorting", "other")):
            store.put_judgement(key, prompt, judge, b'"x"')
    as_version_4(tmp_path)
    spoil(tmp_path, "UPDATE meta SET value = '4' WHERE key = 'version'")
    spoil(tmp_path, "PRAGMA user_version = 4")
    with Store(tmp_path) as store:
        assert sorted(store.query("SELECT prompt, judge FROM sources")) == [
            ("classification", "j"),
            ("classification", "other"),
        ]
        assert [store.get_judgement(key) for key in "abc"] == [b'"x"'] * 3
        assert store.forget(prompt="classification", judge="j", dry_run=True) == 2
        assert store.forget(prompt="sorting", dry_run=True) == 0


def test_a_store_of_version_3_does_not_know_how_many_rows_its_runs_had(tmp_path):
    filled(tmp_path)
    as_version_4(tmp_path)
    spoil(tmp_path, "ALTER TABLE runs DROP COLUMN saved")
    spoil(tmp_path, "UPDATE meta SET value = '3' WHERE key = 'version'")
    spoil(tmp_path, "PRAGMA user_version = 3")
    for _ in range(2):
        with Store(tmp_path) as store:
            assert store.get_row("run", 1).scored == scored(1)
            assert store.query("SELECT value FROM meta WHERE key = 'version'") == [(str(SCHEMA_VERSION),)]
    with Store(tmp_path) as store:
        store.put_row("run", 2, scored(2))
        assert (store.row_counts("run")[:2], store.row_counts("run").missing) == ((2, None), 0)
        store.put_run("run", {"judge": "j", "metrics": ["m"]})
        spoil(tmp_path, "UPDATE rows SET body = x'00' WHERE number = 2")
        result = Result.load("run", store)
        assert result.incomplete == ("1 of 2 rows could not be read",)  # what is in the table is known
        store.create_run("new", {})
        assert store.row_counts("new")[:2] == (0, 0)


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path, monkeypatch):
    write_version_1(tmp_path / "old")
    before = content(tmp_path / "old")
    with monkeypatch.context() as patch:
        patch.setattr("assay.store.schema.pack", lambda content: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Store(tmp_path / "old")
    assert content(tmp_path / "old") == before
    with Store(tmp_path / "old") as store:
        assert store.get_judgement("ab" * 32) == b'["a"]'


def content(path) -> list[str]:
    with closing(sqlite3.connect(path / "assay.db")) as db:
        return list(db.iterdump())


def write_many(path: str, n: int) -> None:
    with Store(path) as store:
        for i in range(50):
            store.put_judgement(f"{n}/{i}", "claims", "j", b"1")


@pytest.mark.long
def test_processes_that_bring_a_store_up_at_once_all_find_it(tmp_path):
    write_version_1(tmp_path / "old", rows=400)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(str(tmp_path / "old"), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with Store(tmp_path / "old") as store:
        assert len(list(store.rows("b-first"))) == 399
        assert store.judges() == {"j": 150, "openai/m@h#1": 2}


def test_assay_of_version_1_says_that_this_store_is_newer(tmp_path):
    filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / "assay.db")) as db:  # as it opened a store
        db.executescript(VERSION_1)
        assert int(db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()[0]) > 1


# ---- runs


# ---- forgetting
