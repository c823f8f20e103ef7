"""A store on read-only media: commands that read work, and those that write say what is wrong."""

from __future__ import annotations

import ctypes
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay import ScriptedJudge, Store, evaluate

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
OLD = Path(__file__).parent / "data"


def as_anybody() -> None:
    """Let permissions hold for the process, also where the tests are root's."""
    libc = ctypes.CDLL(None)
    for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


def assay(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        check=False, preexec_fn=as_anybody,
    )  # fmt: skip


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder with a store, and `lock`, which takes the right to write it away."""
    rows = [{"question": "q", "contexts": ["Paris is a city."], "answer": "Paris is a city."}]
    judge = ScriptedJudge(support=lambda claim, passage: passage)
    store = Store(tmp_path / ".assay")
    evaluate(rows, "faithfulness", judge, store=store, run="one")
    store.close()
    (tmp_path / "rows.jsonl").write_text('{"answer": "It is.", "reference": "It is."}\n')
    yield tmp_path
    (tmp_path / ".assay").chmod(0o700)


def lock(folder: Path) -> None:
    for path in (folder / ".assay").iterdir():
        path.chmod(0o400)
    (folder / ".assay").chmod(0o500)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / ".assay").iterdir()}


LONG = pytest.mark.long
COMMANDS = [
    ("runs",),
    pytest.param(("show", "one"), marks=LONG),
    pytest.param(("worst", "faithfulness", "one"), marks=LONG),
    pytest.param(("report", "one", "-o", "r.md"), marks=LONG),
]


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_that_read_work(read_only: Path, command: tuple[str, ...]) -> None:
    expected = assay(read_only, *command)
    lock(read_only)
    before = files(read_only)
    found = assay(read_only, *command)
    assert (found.returncode, found.stdout) == (0, expected.stdout), found.stderr
    assert files(read_only) == before


@pytest.mark.long
def test_what_writes_is_refused_in_one_line(read_only: Path) -> None:
    lock(read_only)
    found = assay(read_only, "score", "rows.jsonl", "--metrics", "ragas:exact_match", "--quiet")
    assert found.returncode != 0
    error = found.stderr.strip().splitlines()[-1]
    assert error.startswith("assay: error: store ")
    assert "read-only" in error


@pytest.mark.long
def test_rows_that_stand_beside_the_file_are_read(read_only: Path) -> None:
    """As of a process that was killed: the last transactions are in the file -wal alone."""
    kept = read_only / "kept"
    with closing(sqlite3.connect(read_only / ".assay" / "assay.db", isolation_level=None)) as db:
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("INSERT INTO runs (id, started, info) SELECT 'two', started, info FROM runs")
        shutil.copytree(read_only / ".assay", kept)
    assert (kept / "assay.db-wal").stat().st_size > 0
    (kept / "assay.db-shm").unlink()
    shutil.rmtree(read_only / ".assay")
    kept.rename(read_only / ".assay")
    lock(read_only)
    before = files(read_only)
    found = assay(read_only, "runs")
    assert found.returncode == 0, found.stderr
    assert "two" in found.stdout
    assert files(read_only) == before
    assert "read" in assay(read_only, "score", "rows.jsonl", "--metrics", "ragas:exact_match", "--quiet").stderr
    assert files(read_only) == before


@pytest.mark.long
def test_a_store_that_is_not_there_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        found = assay(tmp_path, "runs")
    finally:
        tmp_path.chmod(0o700)
    assert found.returncode != 0
    assert "Traceback" not in found.stderr
