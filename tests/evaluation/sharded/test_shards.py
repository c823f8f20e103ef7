"""Shards: the same data gives the same ones, every row is in one, and what is appended changes the last alone."""

from __future__ import annotations

import csv
import itertools
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import open_data
from assay.errors import InputError
from assay.evaluation.sharded.shards import ShardedFiles, ShardReader
from assay.evaluation.summary import Summary
from assay.records import Score, ScoreError
from tests.evaluation.sharded.work import write


def test_an_appended_file_changes_its_last_shard_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", 25)
    files = ShardedFiles.of(path, rows=10)
    before = [shard.key for shard in files.plan()]
    write(path, 10, start=25)
    after = list(files.plan())
    assert [shard.rows for shard in after] == [8, 8, 8, 8, 3]  # 25 were 8, 8, 8, 1
    assert [shard.key for shard in after][:3] == before[:3]
    assert before[3] not in {shard.key for shard in after}


def test_the_same_data_elsewhere_has_the_same_shards(tmp_path: Path) -> None:
    keys = []
    for folder in ("one", "other/deep"):
        (tmp_path / folder).mkdir(parents=True)
        write(tmp_path / folder / "a.jsonl", 25)
        keys.append([shard.key for shard in ShardedFiles.of(tmp_path / folder / "a.jsonl", rows=10).plan()])
    assert keys[0] == keys[1]


def test_a_changed_row_is_another_shard(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", 30)
    before = [shard.key for shard in ShardedFiles.of(path, rows=10).plan()]
    path.write_text(path.read_text("utf-8").replace("thing 12?", "thing 13?"), "utf-8")
    after = [shard.key for shard in ShardedFiles.of(path, rows=10).plan()]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True, True]


def test_small_data_has_shards_for_several_processes_and_large_data_large_ones(tmp_path: Path) -> None:
    files = ShardedFiles.of(write(tmp_path / "a.jsonl", 3000))
    sizes = [shard.rows for shard in files.plan()]
    assert sizes[:17] == [8] * 17  # a sixteenth of the 136 rows of 17 shards is still 8, of 144 it is 9
    assert sizes[17:20] == [8, 9, 9]
    firsts = list(itertools.accumulate(sizes, initial=0))
    assert all(size <= max(8, first // 16) for size, first in zip(sizes, firsts, strict=False))
    assert sizes[-5:-1] == [100] * 4
    assert len(sizes) < 3000 // 100 + 60


LINES = st.lists(
    st.sampled_from(['{"question": "q", "answer": "é"}', "", "  ", "{", "[1]", "\ufeff{}", '{"answer": ["😀"]}'])
)


@given(LINES, st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_the_rows_of_all_shards_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], rows: int, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("shards") / "a.jsonl"
    path.write_text("\n".join(['{"question": "first", "answer": "a"}', *lines]) + "\n" * ended, "utf-8")
    files = ShardedFiles.of(path, rows=rows)
    reader = ShardReader(files)
    found = [row for shard in files.plan() for row in reader.rows(shard)]
    assert found == list(open_data(path))


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl.gz", "parquet"])
def test_other_kinds_of_files_are_cut_by_rows(tmp_path: Path, kind: str) -> None:
    rows = [{"id": str(n), "question": f"q\n{n}", "answer": f"Answer {n}."} for n in range(7)]
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif kind == "json":
        path.write_text(json.dumps(rows), "utf-8")
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
    else:
        import gzip

        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    files = ShardedFiles.of(path, rows=3)
    shards = list(files.plan())
    assert [shard.rows for shard in shards] == [3, 3, 1]
    reader = ShardReader(files)
    in_order = [row for shard in shards for row in reader.rows(shard)]
    assert in_order == list(open_data(path))
    assert reader.rows(shards[1]) == in_order[3:6]  # back again


@pytest.mark.long
@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 15), st.integers(1, 9), st.data())
def test_shards_of_a_parquet_file_are_read_in_any_order(count: int, group: int, size: int, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _table([{"id": f"q{n}", "question": f"What is {n}?"} for n in range(count)], Path(folder), group)
        files = ShardedFiles.of(path, rows=size)
        whole, reader = list(open_data(path)), ShardReader(files)
        for shard in data.draw(st.permutations(list(files.plan()))):
            assert reader.rows(shard) == whole[shard.first : shard.first + shard.rows]


def test_of_a_parquet_file_what_lies_groups_before_a_shard_is_not_read(tmp_path: Path) -> None:
    path = _table([{"id": f"q{n}", "question": f"What is {n}? " * 50} for n in range(30)], tmp_path, 10)
    files = ShardedFiles.of(path, rows=5)
    shards = list(files.plan())
    assert [shard.first for shard in shards] == [0, 5, 10, 15, 20, 25]
    held = bytearray(path.read_bytes())
    held[4:44] = b"x" * 40  # the first group's: none of its rows can be read
    path.write_bytes(held)
    assert [row.id for _, row in ShardReader(files).rows(shards[5])] == ["q25", "q26", "q27", "q28", "q29"]
    with pytest.raises(InputError, match="was changed while it was read"):
        ShardReader(files).rows(shards[1])


def _table(rows: list[dict[str, str]], folder: Path, group: int) -> Path:
    pa = pytest.importorskip("pyarrow")
    path = folder / "a.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


def test_a_file_that_changed_after_it_was_planned_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", 5)
    files = ShardedFiles.of(path)
    (shard,) = files.plan()
    path.write_text(path.read_text("utf-8").replace("thing 2?", "thing 3?"), "utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl' was changed while it was read"):
        ShardReader(files).rows(shard)


def test_what_is_no_file_is_refused() -> None:
    with pytest.raises(InputError, match="give paths or a pattern"):
        ShardedFiles.of([{"question": "q"}])
    with pytest.raises(InputError, match="give paths or a pattern"):
        ShardedFiles.of("-")


VALUES = st.lists(st.none() | st.floats(0, 1), max_size=60)


@given(VALUES, st.lists(st.integers(0, 60), max_size=6), st.randoms())
def test_merged_summaries_are_those_of_one_process(values: list[float | None], cuts: list[int], random: object) -> None:
    from assay.errors import Cause

    missing = ScoreError(cause=Cause.PARSE, message="none")
    scores = [Score(metric="m", value=value, error=None if value is not None else missing) for value in values]
    whole = Summary("m")
    for score in scores:
        whole.add(score)
    edges = [0, *sorted(min(cut, len(scores)) for cut in cuts), len(scores)]
    parts = [scores[a:b] for a, b in itertools.pairwise(edges)]
    random.shuffle(parts)  # type: ignore[attr-defined]
    merged = Summary("m")
    for part in parts:
        one = Summary("m")
        for score in part:
            one.add(score)
        merged.merge(Summary.from_state("m", json.loads(json.dumps(one.state()))))
    assert (merged.scored, merged.total, merged.causes) == (whole.scored, whole.total, whole.causes)
    if whole.mean is None:
        assert merged.mean is None
        assert merged.interval is None
        return
    assert merged.mean == pytest.approx(whole.mean, abs=1e-12)
    found, expected = merged.interval, whole.interval
    assert found is not None
    assert expected is not None
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9))
