"""Sources by name: `otel:spans.jsonl` in the place of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay._util.install_hints import install_extra
from assay.data import RowError, open_data
from assay.data import named_sources as named
from assay.data.named_sources import is_source_name, open_named_source
from assay.errors import InputError, MissingExtra
from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Context, Sample

asked: list[dict[str, Any]] = []


def open_here(address: str, *, since: Any = None, limit: int | None = None) -> Iterator[Sample | RowError]:
    """A source for these tests."""
    asked.append({"address": address, "since": since, "limit": limit})
    yield Sample(id="a", question="Why?", answer="So.", contexts=(Context(text="So."),))
    yield RowError(number=7, id=None, message="line 7 is no JSON")
    yield Sample(id="b", question="Why?", answer="So, cut", contexts=(Context(text="So."),), status="abandoned")
    yield Sample(id="c", question="Why not?", answer="So.", contexts=(Context(text="So."),))


@pytest.fixture(autouse=True)
def sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sources are installed: one works, one lacks a library of its own."""
    points = [
        EntryPoint("here", "tests.data.test_named:open_here", named.GROUP),
        EntryPoint("langfuse", "no_such_library:open_source", named.GROUP),
    ]
    monkeypatch.setattr(named, "entry_points", lambda group: points if group == named.GROUP else [])
    asked.clear()


def test_samples_and_errors_come_with_the_number_of_their_row() -> None:
    data = open_data("here:somewhere/x:y")
    assert asked == [{"address": "somewhere/x:y", "since": None, "limit": None}]
    rows = list(data)
    assert [number for number, _ in rows] == [1, 2, 3, 4]
    assert rows[1][1] == RowError(number=2, id=None, message="line 7 is no JSON")
    assert [row.id for _, row in rows if isinstance(row, Sample)] == ["a", "b", "c"]
    assert data.columns >= {"question", "answer", "contexts"}


def test_the_limit_is_handed_on() -> None:
    data = open_data("here:", limit=2)
    assert asked[0]["limit"] == 2
    assert len(list(data)) == 2


def test_answers_that_were_cut_off_are_not_scored(tmp_path: Path) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate("here:x", "faithfulness", judge, store=tmp_path)
    causes = {row.sample.id: row.scores["faithfulness"].error for row in result}
    assert [name for name, error in causes.items() if error is None] == ["a", "c"]
    assert {str(error.cause) for error in causes.values() if error is not None} == {"partial", "bad_row"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("here:x", True),
        ("phoenix:http://localhost:6006", True),
        ("otel:C:\\spans.jsonl", True),
        ("mlflow:", True),
        ("C:\\answers.jsonl", False),
        ("c:answers.jsonl", False),
        ("http://example.com/answers.jsonl", False),
        ("s3://bucket/answers.parquet", False),
        ("answers.jsonl", False),
        ("./here:x", False),
        ("Here:x", False),
    ],
)
def test_what_is_a_name_and_what_is_a_path(text: str, expected: bool) -> None:
    assert is_source_name(text) is expected


def test_a_file_of_that_very_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here:x.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So."}))
    assert not is_source_name("here:x.jsonl")
    assert [row.question for _, row in open_data("here:x.jsonl") if isinstance(row, Sample)] == ["Why?"]


def test_a_name_that_nobody_has() -> None:
    expected = "there is no file 'traces:x', and no source 'traces'; the sources are here, langfuse"
    with pytest.raises(InputError, match=expected):
        open_data("traces:x")


@pytest.mark.parametrize("name", ["phoenix", "langfuse"])
def test_a_package_that_is_missing(name: str) -> None:
    """Not installed at all, or without the library that it needs."""
    with pytest.raises(MissingExtra, match=re.escape(install_extra(name))):
        open_data(f"{name}:x")


def test_options_that_a_source_does_not_have() -> None:
    with pytest.raises(InputError, match="source 'here' has no option 'project'"):
        open_named_source("here:x", project="p", since=3)
    assert asked == []
    next(open_named_source("here:x", project=None, since=3))
    assert asked == [{"address": "x", "since": 3, "limit": None}]


def test_a_source_is_read_once() -> None:
    data = open_data("here:x")
    assert len(list(data)) == 4
    with pytest.raises(InputError, match="'here:x' can be read only once"):
        iter(data)
