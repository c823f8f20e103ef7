"""Data and results in an object store: a server of S3 on this machine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import assay_ray
import pytest
import s3fs

import assay
from assay.errors import InputError, StoreError
from assay.evaluation.sharded.job import evaluate_in_processes
from assay.evaluation.sharded.manifest import Folder
from assay.evaluation.sharded.shards import ShardedFiles
from assay.evaluation.sharded.storage import Objects
from tests.evaluation.sharded.work import judge, write

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(600)]


@pytest.fixture
def bucket(s3: str) -> s3fs.S3FileSystem:
    return s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)


def as_parquet(lines: Path, path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=7)
    return path


def test_results_in_a_bucket_are_gone_on_with_by_another_engine(tmp_path: Path, bucket: Any, s3: str) -> None:
    data = write(tmp_path / "a.jsonl", 40)
    how = {"out": f"{s3}/one", "shard_rows": 10}
    found = assay_ray.score(data, "faithfulness", judge, workers=2, store=tmp_path / "s", **how)  # type: ignore[arg-type]
    assert (found.rows, found.complete) == (40, True)
    assert [row.scored.sample.id for row in found.numbered_rows()] == [f"row-{n}" for n in range(40)]
    lines = [line for name in bucket.ls("traces/one/rows") for line in bucket.cat(name).splitlines()]
    assert sorted(json.loads(line)["row"] for line in lines) == list(range(1, 41))
    bucket.rm(bucket.ls("traces/one/done")[0])  # one shard is not done
    again = evaluate_in_processes(
        data,
        "faithfulness",
        judge,
        jobs=1,
        store=tmp_path / "other",
        lean=False,
        **how,  # type: ignore[arg-type]
    )
    assert (again.rows, again.complete) == (40, True)
    assert 0 < again.usage.calls <= 20  # of one shard, two calls a row


def test_the_second_of_two_workers_leaves_the_first_ones_entry(tmp_path: Path, s3: str) -> None:
    folder = Folder(f"{s3}/race")
    folder.begin({"metrics": "m"})
    (shard,) = ShardedFiles.of(write(tmp_path / "a.jsonl", 5)).plan()
    assert folder.finish(shard, [{"row": 1}], {"waiting": 0, "by": "one"})["by"] == "one"
    assert folder.finish(shard, [{"row": 2}], {"waiting": 0, "by": "two"})["by"] == "one"
    assert not Objects(f"{s3}/race").create(f"done/{shard.key}.json", ["{}"])
    assert list(folder.rows(shard)) == [{"row": 1}]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_files_of_a_bucket_are_read_by_ray_and_scored_as_here(tmp_path: Path, bucket: Any, s3: str, kind: str) -> None:
    local = []
    for n, count in enumerate((25, 13)):
        lines = write(tmp_path / f"{n}.jsonl", count, start=25 * n)
        if kind == "parquet":
            local.append(as_parquet(lines, tmp_path / f"{n}.parquet"))
        elif kind == "jsonl.gz":
            local.append(tmp_path / f"{n}.jsonl.gz")
            local[-1].write_bytes(gzip.compress(lines.read_bytes() + b"{broken\n\n"))
        else:
            lines.open("a").write("{broken\n\n")
            local.append(lines)
        bucket.put(str(local[-1]), f"traces/in/{kind}/{local[-1].name}")
    how = {"shard_rows": 10, "store": tmp_path / "s"}
    pattern = f"{s3}/in/{kind}/*.{kind}"
    found = assay_ray.score(pattern, "faithfulness", judge, workers=2, out=f"{s3}/out-{kind}", **how)  # type: ignore[arg-type]
    alone = assay.evaluate(local, "faithfulness", judge(), store=tmp_path / "alone")
    broken = 0 if kind == "parquet" else 2
    one, other = found.metrics["faithfulness"], alone.metrics["faithfulness"]
    assert (one.scored, one.total, one.causes) == (other.scored, 38 + broken, other.causes)
    assert one.mean == pytest.approx(other.mean, abs=1e-12)
    ids = [row.scored.sample.id for row in found.numbered_rows()]
    assert ids == [row.scored.sample.id for row in alone.numbered_rows()]
    again = assay_ray.score(pattern, "faithfulness", judge, workers=2, out=f"{s3}/out-{kind}", **how)  # type: ignore[arg-type]
    assert (again.rows, again.usage.calls) == (38 + broken, 0)
    if kind != "jsonl":  # of files of lines the shards are cut by bytes here, and by rows there: other names
        here = evaluate_in_processes(
            [*local],
            "faithfulness",
            judge,
            jobs=1,
            out=f"{s3}/out-{kind}",
            **how,  # type: ignore[arg-type]
        )
        assert (here.rows, here.usage.calls) == (38 + broken, 0)


def test_a_bucket_that_is_not_there_and_a_kind_that_is_not_read_are_errors_by_name(tmp_path: Path, s3: str) -> None:
    data = write(tmp_path / "a.jsonl", 3)
    with pytest.raises(StoreError, match="s3://no-such-bucket/x"):
        assay_ray.score(data, "faithfulness", judge, workers=1, out="s3://no-such-bucket/x", store=tmp_path / "s")
    with pytest.raises(InputError, match=r"all end in \.parquet"):
        assay_ray.score(f"{s3}/a.xlsx", "faithfulness", judge, workers=1, store=tmp_path / "s")
    with pytest.raises(InputError, match="Ray cannot read it"):
        assay_ray.score(f"{s3}/no-such.parquet", "faithfulness", judge, workers=1, store=tmp_path / "s")
