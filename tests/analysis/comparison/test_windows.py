"""Windows of a live run: results like any other, and compared as independent samples."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from assay import Result, Sample, Score, ScoredSample, Store, compare
from assay.cli.main import main
from assay.errors import InputError

DAY = 86_400.0
INFO = {"judge": "j", "metrics": ["m"], "continuous": True}


def fill(folder: Path, *, conversations: bool = True) -> None:
    """14 days with 30 rows each, three a conversation: 27 of 30 are good in the first week, 18 of 30 in the second."""
    now = time.time()
    with Store(folder) as store:
        store.create_run("live/shop", INFO)
        rows = []
        for number in range(14 * 30):
            day, place = divmod(number, 30)
            metadata = {"ended": now - 14 * DAY + day * DAY + place * 60 + 60, "version": "2" if day >= 10 else "1"}
            if conversations:
                metadata["conversation"] = f"c{number // 3}"
            good = place < (27 if day < 7 else 18)
            rows.append((number + 1, ScoredSample(sample=Sample(id=f"r{number}", metadata=metadata),
                                                  scores={"m": Score(metric="m", value=float(good))})))  # fmt: skip
        store.put_rows("live/shop", rows)


def test_windows_are_compared_as_independent_samples(tmp_path: Path) -> None:
    """7 · 30 = 210 rows a week; 27/30 = 0.9 and 18/30 = 0.6."""
    fill(tmp_path)
    first, second = (Result.load(f"shop@{window}", tmp_path) for window in ("14d..7d", "7d"))
    assert (first.rows, second.rows) == (210, 210)
    assert (first.run, first.stored_run) == ("live/shop@14d..7d", "live/shop")
    found = compare(first, second)
    diff = found.metrics["m"]
    assert (diff.verdict, diff.pairs, diff.second_rows) == ("worse", 210, 210)
    assert diff.difference is not None
    assert (diff.difference.first, diff.difference.second) == pytest.approx((0.9, 0.6))
    assert diff.difference.estimate.clusters == 140  # 70 conversations in each
    assert found.headline == "worse on m (unpaired: 210 and 210 rows)"
    assert "Rows with one conversation count as one cluster." in found.notes
    assert "heard 210" in str(found)


def test_slices_and_conditions_select_rows(tmp_path: Path) -> None:
    fill(tmp_path, conversations=False)
    week = Result.load("live/shop@7d", tmp_path)
    assert week.by("version")["2"]["m"].total == 120  # days 10 to 13
    newer = week.select({"version": "2"})
    assert (newer.rows, newer.metrics["m"].mean) == (120, 0.6)
    assert newer.run == "live/shop@7d (version=2)"
    assert [row.number for row in newer.numbered_rows()][:2] == [301, 302]
    assert newer.worst("m", 1)[0].number == 319  # the first bad row of day 10: row 19 of its 30
    assert Result.load("shop@7d", tmp_path, where={"version": "2"}).rows == 120
    assert len(newer.errors) == 0
    found = compare(Result.load("shop@14d..7d", tmp_path), week, by="version")
    assert list(found.slices["version"]) == ["1"]  # no row of version 2 in the first week
    with pytest.raises(InputError, match="windows are compared as independent samples"):
        compare(week, newer, method="mcnemar")


def test_rows_that_are_in_both_are_no_independent_samples(tmp_path: Path) -> None:
    fill(tmp_path)
    week, both = (Result.load(f"shop@{window}", tmp_path) for window in ("7d", "14d"))
    for first, second in ((both, week), (week, week), (Result.load("shop", tmp_path), week)):
        with pytest.raises(InputError, match=r"210 rows are in .*compare windows that do not overlap"):
            compare(first, second)
    with pytest.raises(InputError, match="cluster: no row has the column 'nope'"):
        compare(Result.load("shop@14d..7d", tmp_path), week, cluster="nope")
    old, new = (Result.load("shop", tmp_path, where={"version": one}) for one in "12")  # parts of one run
    found = compare(old, new)
    assert (found.pairs, found.second_rows, found.metrics["m"].verdict) == (300, 120, "worse")


@pytest.mark.parametrize("where", ["x", 3, [("a", "b")], {1: "x"}, {"a": {1}}])
def test_conditions_that_are_none_are_named(tmp_path: Path, where: object) -> None:
    fill(tmp_path)
    with pytest.raises(InputError, match=r"^where: expected"):
        Result.load("shop", tmp_path, where=where)  # type: ignore[arg-type]


def test_an_empty_window_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    fill(tmp_path)
    assert Result.load("live/shop@2020-01-01", tmp_path).rows == 0
    with pytest.raises(InputError, match=r"window: expected 7d, 24h.*got '7x'"):
        Result.load("live/shop@7x", tmp_path)
    with pytest.raises(InputError, match="has no rows to compare"):
        compare(Result.load("live/shop@2020-01-01", tmp_path), Result.load("live/shop@7d", tmp_path))


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["assay", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().out


def test_commands_take_windows_and_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / ".assay")
    monkeypatch.chdir(tmp_path)
    code, said = run(capsys, monkeypatch, "compare", "shop@14d..7d", "shop@7d", "--json")
    assert (code, json.loads(said)["metrics"]["m"]["verdict"]) == (0, "worse")
    code, said = run(capsys, monkeypatch, "worst", "m", "shop@7d", "--where", "version=2", "-n", "1", "--json")
    assert (code, json.loads(said)[0]["row"]) == (0, 319)
    code, _ = run(capsys, monkeypatch, "gate", "shop@7d", "--fail-below", "m=0.8")
    assert code == 5
    code, _ = run(capsys, monkeypatch, "gate", "shop@14d..7d", "--fail-below", "m=0.8")
    assert code == 0
    code, said = run(capsys, monkeypatch, "show", "shop@7d", "--where", "version=2", "--json")
    assert json.loads(said)["rows"] == 120
