"""A store with flipped bits, cut pages or deleted rows never gives a better number, and never a raw error."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay import Gate, GateRule, Result, ScriptedJudge, Store, check, evaluate
from assay.cli.main import main
from assay.errors import AssayError
from assay.store.integrity import check_store

WRONG, ROWS = 12, 40
MEAN = 1 - WRONG / ROWS
GATE = Gate((GateRule("ragas:exact_match", "at_least", 0.8),))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with one run, all of it in the file itself."""
    folder = tmp_path_factory.mktemp("sound")
    rows = [
        {"id": f"r{n}", "question": f"What is {n}?", "answer": "x" if n < WRONG else "y", "reference": "y"}
        for n in range(ROWS)
    ]
    result = evaluate(rows, "ragas:exact_match", ScriptedJudge(), store=folder, run="now", progress=False)
    assert result.metrics["ragas:exact_match"].mean == MEAN
    result.store.close()
    with closing(sqlite3.connect(folder / "assay.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / "assay.db").read_bytes()


def look(folder: Path) -> str:
    """What reading the run says: "sound", "damaged" (the result says so) or "refused" (a StoreError or InputError)."""
    try:
        with Store(folder) as store:
            result = Result.load("now", store)
            verdict = check(GATE, result).verdict
    except AssayError:
        return "refused"
    if not result.complete:
        assert verdict == "INCONCLUSIVE"
        return "damaged"
    values = [row.scored.scores["ragas:exact_match"].value for row in result.numbered_rows()]
    assert (verdict, values) == ("FAIL", [0.0] * WRONG + [1.0] * (ROWS - WRONG))
    return "sound"


def stores(sound: bytes, folder: Path, changes: Iterator[bytes]) -> Iterator[tuple[int, Path]]:
    for n, content in enumerate(changes):
        shutil.rmtree(folder / "bad", ignore_errors=True)
        (folder / "bad").mkdir()
        (folder / "bad" / "assay.db").write_bytes(content)
        yield n, folder / "bad"


def flips(sound: bytes, number: int, seed: int) -> Iterator[bytes]:
    places = random.Random(seed)
    for _ in range(number):
        content = bytearray(sound)
        content[places.randrange(100, len(content))] ^= 1 << places.randrange(8)
        yield bytes(content)


def check_flips(sound: bytes, folder: Path, number: int, seed: int) -> None:
    found = [look(path) for _, path in stores(sound, folder, flips(sound, number, seed))]
    assert len(found) == number
    assert found.count("damaged") + found.count("refused") > number / 20  # most bits of a small file stand for nothing


def test_a_flipped_bit_makes_no_number_better(sound: bytes, tmp_path: Path) -> None:
    check_flips(sound, tmp_path, 60, seed=1)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_two_thousand_flipped_bits_make_no_number_better(sound: bytes, tmp_path: Path) -> None:
    check_flips(sound, tmp_path, 2_000, seed=2)


def test_a_file_that_is_cut_at_any_page_is_no_smaller_run(sound: bytes, tmp_path: Path) -> None:
    page = int.from_bytes(sound[16:18], "big")
    cuts = (sound[: page * n] for n in range(len(sound) // page))
    found = {n: look(path) for n, path in stores(sound, tmp_path, cuts)}
    assert set(found.values()) <= {"refused", "damaged"}


def test_deleted_rows_are_missing_whichever_they_are(sound: bytes, tmp_path: Path) -> None:
    chosen = random.Random(3)
    for _, path in stores(sound, tmp_path, iter([sound] * 15)):
        numbers = chosen.sample(range(1, ROWS + 1), chosen.randint(1, ROWS))
        with closing(sqlite3.connect(path / "assay.db")) as db:
            db.executemany("DELETE FROM rows WHERE number = ?", [(number,) for number in numbers])
            db.commit()
        with Store(path) as store:
            result = Result.load("now", store)
            summary = result.metrics["ragas:exact_match"]
            assert (result.missing, summary.total, check(GATE, result).verdict) == (len(numbers), ROWS, "INCONCLUSIVE")
            low, high = summary.bounds
            assert low <= MEAN <= high


@pytest.mark.long
def test_every_command_says_it_in_a_sentence(
    sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, whatever page is damaged: the second half of each in turn is zeros."""
    page = int.from_bytes(sound[16:18], "big")

    def zeroed() -> Iterator[bytes]:
        for n in range(1, len(sound) // page, 3):
            middle, end = page * n + page // 2, page * (n + 1)
            yield sound[:middle] + bytes(end - middle) + sound[end:]

    for _, path in stores(sound, tmp_path, zeroed()):
        for command in (["runs"], ["show", "now"], ["store", "check"], ["gate", "now", "--fail-below", "x=1"]):
            monkeypatch.setattr("sys.argv", ["assay", *command, "--store", str(path)])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code in (0, None, 1, 2, 6), capsys.readouterr().err
            assert "Traceback" not in capsys.readouterr().err


def test_the_check_of_a_sound_store_finds_nothing(sound: bytes, tmp_path: Path) -> None:
    (_, path), *_ = stores(sound, tmp_path, iter([sound]))
    with Store(path) as store:
        found = check_store(store)
    assert (found.damaged, found.errors, [(run.run, run.rows, run.damaged) for run in found.runs]) == (
        False,
        (),
        [("now", ROWS, False)],
    )
