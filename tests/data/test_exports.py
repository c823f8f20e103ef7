"""Records of exports: found in files of any kind, put together by trace, whatever their order and number."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util.timestamps import seconds_at
from assay.data import RowError
from assay.data.exports import by_trace, in_time_range, json_of, read_records
from assay.errors import InputError
from assay.records import Sample


def grouped(records: Any, in_memory: int) -> list[Any]:
    return list(by_trace(records, lambda one: str(one["trace"]), lambda one: float(one["start"]), in_memory=in_memory))


@given(
    st.lists(st.fixed_dictionaries({"trace": st.sampled_from("abc"), "start": st.integers(0, 9), "text": st.text()})),
    st.integers(1, 20),
)
def test_memory_and_file_give_the_same(records: list[dict[str, Any]], in_memory: int) -> None:
    traces = {one["trace"] for one in records}
    order = sorted(traces, key=lambda t: (min(one["start"] for one in records if one["trace"] == t), t))
    wanted = [[one for one in records if one["trace"] == trace] for trace in order]
    for item in wanted:
        for one in item:  # what UTF-8 cannot hold is refused before, where files are read
            one["text"] = one["text"].encode("utf-8", "replace").decode()
    assert grouped(records, in_memory) == wanted


@pytest.mark.long
def test_many_records_do_not_fill_the_memory() -> None:
    """20,000 records of 2,000 characters are 40 MB; 500 of them are 1 MB."""

    def records() -> Iterator[dict[str, Any]]:
        for n in range(20_000):
            yield {"trace": n % 5_000, "start": n, "text": f"{n:02000d}"}

    tracemalloc.start()
    try:
        found = by_trace(records(), lambda one: str(one["trace"]), lambda one: float(one["start"]), in_memory=500)
        assert sum(len(trace) for trace in found) == 20_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12_000_000


def test_what_is_refused_is_said_and_loses_nothing() -> None:
    def trace_of(one: dict[str, Any]) -> str:
        if "trace" not in one:
            raise InputError("expected a trace")
        return str(one["trace"])

    records: list[Any] = [{"trace": "a"}, {}, RowError(number=3, id=None, message="torn"), {"trace": "a"}]
    for in_memory in (1, 10):
        errors, traces = [], []
        for item in by_trace(records, trace_of, lambda one: 0.0, in_memory=in_memory):
            (errors if isinstance(item, RowError) else traces).append(item)
        assert [error.message for error in errors] == ["record 2: expected a trace", "torn"]
        assert traces == [[{"trace": "a"}, {"trace": "a"}]]


def test_pages_and_single_objects(tmp_path: Path) -> None:
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"data": [{"id": 1}, 7, {"id": 2}], "meta": {"page": 1}}, indent=1))
    first, bad, second = read_records(path)
    assert (first, second) == ({"id": 1}, {"id": 2})
    assert isinstance(bad, RowError)
    assert "item 2" in bad.message
    (tmp_path / "one.json").write_text(json.dumps({"id": 1, "data": [1]}, indent=1))
    assert list(read_records(tmp_path / "one.json")) == [{"id": 1, "data": [1]}]
    (tmp_path / "pages.jsonl").write_text('{"data": [{"id": 1}]}\n{"data": [{"id": 2}]}\n')
    assert list(read_records(tmp_path / "pages.jsonl")) == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize("name", ["nothing.json", "folder", "text.docx"])
def test_what_cannot_be_opened_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.docx").write_text("x")
    with pytest.raises(InputError):
        read_records(tmp_path / name)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        (12, 12.0),
        ("2026-03-01T12:00:00Z", 1772366400.0),
        ("2026-03-01 13:00:00+01:00", 1772366400.0),
        ("2026-03-01T12:00:00", 1772366400.0),  # without a zone: UTC
        (datetime(2026, 3, 1, 12, tzinfo=UTC), 1772366400.0),
    ],
)
def test_times(value: Any, seconds: float | None) -> None:
    assert seconds_at(value or None, "time") == seconds  # an empty text is how tables say that there is none


@pytest.mark.parametrize("value", ["noon", True, float("nan"), float("inf"), [1]])
def test_what_is_no_time_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=r"^start: "):
        seconds_at(value, "start")


@pytest.mark.parametrize(
    ("value", "found"), [('{"a": 1}', {"a": 1}), ("[1]", [1]), ('"x"', "x"), ("{torn", "{torn"), ("12", "12"), (3, 3)]
)
def test_texts_of_json(value: Any, found: Any) -> None:
    assert json_of(value) == found


def test_a_limit_counts_samples_not_errors() -> None:
    bad = RowError(number=1, id=None, message="torn")
    items = [bad, Sample(id="a", metadata={"ended": 1.0}), bad, Sample(id="b", metadata={"ended": 2.0}), Sample(id="c")]
    assert list(in_time_range(items, limit=2)) == items[:4]
    assert list(in_time_range(items, since=2.0)) == [bad, bad, items[3]]
    assert list(in_time_range(items, until=2.0)) == [bad, items[1], bad]
