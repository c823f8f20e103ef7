"""Where jobs put their files: on a disk, and in an object store (here one in memory; S3 is in integrations/ray)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import InputError, MissingExtra, StoreError
from assay.evaluation.sharded.manifest import Folder
from assay.evaluation.sharded.shards import Shard, ShardedFiles
from assay.evaluation.sharded.storage import Disk, Objects, Place, expand_pattern, place_of
from tests.evaluation.sharded.work import write

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def url() -> Iterator[str]:
    files = fsspec.filesystem("memory")
    yield "memory://bucket/job"
    files.rm("/bucket", recursive=True) if files.exists("/bucket") else None


@pytest.fixture(params=["disk", "objects"])
def place(request: pytest.FixtureRequest, tmp_path: Path, url: str) -> Place:
    found = place_of(tmp_path / "job" if request.param == "disk" else url)
    assert isinstance(found, Disk if request.param == "disk" else Objects)
    found.begin(["rows"])
    return found


def test_what_was_written_is_read_and_what_was_not_is_none(place: Place) -> None:
    assert place.read("rows/a.jsonl") is None
    place.write("rows/a.jsonl", ["é\n", "😀\n"])
    assert place.read("rows/a.jsonl") == "é\n😀\n".encode()
    place.write("rows/a.jsonl", [])
    assert place.read("rows/a.jsonl") == b""


def test_of_two_that_create_an_object_the_second_is_told(url: str) -> None:
    one, other = Objects(url), Objects(url)
    assert one.create("done/a.json", ["1"])
    assert not other.create("done/a.json", ["2"])
    assert other.read("done/a.json") == b"1"


def shards(tmp_path: Path) -> list[Shard]:
    return list(ShardedFiles.of(write(tmp_path / "a.jsonl", 16)).plan())


def entry(waiting: int, said: str) -> dict[str, object]:
    return {"rows": 8, "waiting": waiting, "said": said}


@pytest.mark.parametrize("kind", ["disk", "objects"])
def test_an_entry_that_is_final_is_not_replaced_and_one_that_waits_is(tmp_path: Path, url: str, kind: str) -> None:
    folder = Folder(tmp_path / "job" if kind == "disk" else url)
    folder.begin({"metrics": "m"})
    first, second = shards(tmp_path)
    assert folder.finish(first, [{"row": 1}], entry(0, "first")) == entry(0, "first")
    assert folder.finish(first, [{"row": 2}], entry(0, "late")) == entry(0, "first")
    assert list(folder.rows(first)) == [{"row": 1}]
    folder.finish(second, [{"row": 9}], entry(1, "waits"))
    folder.finish(second, [{"row": 10}], entry(0, "again"))
    assert folder.entry(second) == entry(0, "again")
    assert list(folder.rows(second)) == [{"row": 10}]


def test_an_address_holds_one_question(url: str) -> None:
    Folder(url).begin({"metrics": "m"})
    Folder(url).begin({"metrics": "m"})
    with pytest.raises(InputError, match="holds a job of other metrics"):
        Folder(url).begin({"metrics": "other"})


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not seen on"):
        Folder(tmp_path / "elsewhere").check()


def test_rows_that_are_gone_are_named(url: str, tmp_path: Path) -> None:
    folder = Folder(url)
    with pytest.raises(StoreError, match="is gone"):
        list(folder.rows(shards(tmp_path)[0]))


def test_patterns_of_addresses(url: str) -> None:
    files = fsspec.filesystem("memory")
    for name in ("b", "a", "c.txt"):
        files.pipe_file(f"/bucket/{name}", b"x")
    assert expand_pattern("memory://bucket/[ab]") == ["memory:///bucket/a", "memory:///bucket/b"]
    assert expand_pattern("s3://bucket/plain") == ["s3://bucket/plain"]
    with pytest.raises(InputError, match="no file fits"):
        expand_pattern("memory://bucket/*.parquet")


def test_addresses_that_nothing_serves_are_errors_by_name() -> None:
    with pytest.raises(StoreError, match="'nothing://x' cannot be opened"):
        place_of("nothing://x")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", gone)
    with pytest.raises(MissingExtra, match=r"pip install .*s3fs"):
        place_of("s3://bucket/job")
