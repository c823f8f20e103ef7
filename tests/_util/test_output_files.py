"""A file that assay writes is private, whole or not there, and runs no formula in a spreadsheet."""

from __future__ import annotations

import csv
import errno
import io
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Gate, GateRule, Result, ScriptedJudge, check, evaluate
from assay._util import output_files
from assay._util.csv_rows import plain_text, write_table
from assay._util.output_files import output_file, write_output
from assay.analysis.judges.noise import NoiseReport
from assay.cli.gate_options import write_decision
from assay.cli.output import write_csv
from assay.data.bedrock.write import write_bedrock
from assay.data.files import from_path
from assay.report.write import FORMS, report_run


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def bits(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def gate_as_junit(result: Result, path: Path) -> None:
    write_decision(check(Gate((GateRule("faithfulness", "at_least", 0.5),)), result), None, path)


#: All that write a file for users, by a name.
WRITERS: dict[str, Callable[[Result, Path], object]] = {
    "x.jsonl": lambda result, path: result.to_jsonl(path),
    "y.jsonl": lambda result, path: result.to_bedrock(path),
    "z.jsonl": lambda result, path: write_bedrock([{"question": "q", "answer": "a"}], path),
    "rows.csv": lambda result, path: result.to_csv(path),
    "table.csv": lambda result, path: write_csv(result.records(), result.columns, str(path)),
    "gate.xml": gate_as_junit,
    "noise.json": lambda result, path: NoiseReport("scripted", ("a", "b")).save(path),
    **{f"report{suffix}": report_run for suffix in FORMS},
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest, result: Result, tmp_path: Path) -> Any:
    def write() -> Path:
        WRITERS[request.param](result, tmp_path / request.param)
        return tmp_path / request.param

    return write


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    rows = [{"question": "q", "contexts": ["Thing 1 is red."], "answer": "Thing 1 is red."}]
    return evaluate(rows, "faithfulness", ScriptedJudge(support=lambda claim, passage: passage),
                    store=tmp_path_factory.mktemp("run"))  # fmt: skip


def test_what_is_written_is_private_and_leaves_nothing_beside(writer: Any, umask: None, tmp_path: Path) -> None:
    path = writer()
    assert bits(path) == 0o600
    assert path.stat().st_size > 0
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_on_a_full_disk_the_file_before_stays_and_the_error_names_it(
    writer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = writer()
    path.write_text("before")
    path.chmod(0o644)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(output_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        writer()
    assert raised.value.filename == str(path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    monkeypatch.undo()
    writer()
    assert (path.read_bytes() != b"before", bits(path)) == (True, 0o644)


def test_a_limit_of_the_system_is_such_an_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "x.txt"
    path.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            write_output(path, "x" * 60_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (raised.value.filename, path.read_text(), len([*tmp_path.iterdir()])) == (str(path), "before", 1)


def test_what_fails_while_it_is_written_leaves_no_part(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, str]]:
        yield {"question": "q"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), output_file(tmp_path / "x.csv", newline="") as out:
        write_table(out, rows(), ["question"])
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("where", ["missing/x.txt", "folder"])
def test_what_cannot_be_opened_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"No such file|directory") as raised:
        write_output(tmp_path / where, "x")
    assert raised.value.filename == str(tmp_path / where)


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before")
    path.chmod(0o444)
    monkeypatch.setattr(output_files.os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(PermissionError, match="Permission denied"):
        write_output(path, "after")
    assert path.read_text() == "before"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for text in ("one", "two"):
        write_output(link, text)
        assert (link.is_symlink(), target.read_text()) == (True, text)


def test_devices_and_pipes_are_written_directly(tmp_path: Path) -> None:
    write_output(os.devnull, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_output(pipe, "x" * 100_000)
    reader.join(10)
    assert (found, stat.S_ISFIFO(pipe.stat().st_mode)) == (["x" * 100_000], True)


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_file_that_is_mounted_by_itself_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before, and longer")
    before = path.stat().st_ino

    def mounted(part: Path, target: Path) -> None:
        raise OSError(number, os.strerror(number), str(part))

    monkeypatch.setattr(Path, "replace", mounted)
    write_output(path, "after")
    assert (path.read_text(), path.stat().st_ino, len([*tmp_path.iterdir()])) == ("after", before, 1)


@pytest.mark.parametrize("name", ["n" * 251, "\xe4" * 125, "n" + "\xe4" * 125, "\u6771" * 83])
def test_a_long_name_has_room_for_its_part(tmp_path: Path, name: str) -> None:
    """A name has at most 255 bytes: these and ".txt" have 253 to 255."""
    assert write_output(tmp_path / f"{name}.txt", "x").read_text() == "x"


FORMULAS = [
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://x")',
    "'=1",
    "''@x",
    "-5 °C",
    "- a list",
]


@pytest.mark.parametrize("text", [*FORMULAS, "'plain'", "a=1", "", "'"])
def test_a_spreadsheet_runs_no_text_and_our_reader_sees_it_as_it_was(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    with output_file(path, newline="") as out:
        write_table(out, [{"question": text, "score": -0.5}], ["question", "score"])
    ((cell, number),) = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))[1:]
    assert cell == (f"'{text}" if text in FORMULAS else text)
    assert number == "-0.5"
    assert list(from_path(path).open()) == [{"question": text or None, "score": "-0.5"}]


@given(st.text())
def test_no_cell_is_a_formula_and_every_text_comes_back(text: str) -> None:
    out = io.StringIO()
    write_table(out, [{"row": 1, text: text}], ["row", text])
    (_, name), (_, cell) = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert name == cell
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert plain_text(cell) == text
