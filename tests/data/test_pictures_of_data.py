"""Data name pictures below their own folder, and no others of this machine: not by links, `..`, addresses or texts."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay._util.origins import ALLOW_PICTURES, is_below
from assay.data import RowError, open_data
from assay.data.images import placed
from assay.errors import Cause, InputError
from assay.evaluation.external_runs import load_external_run
from assay.records import Context, Sample
from assay.records.images import data_uri, load
from tests._support.servers.sight import drawn

PNG = drawn("a secret")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data beside a private picture; the process runs in a third folder."""
    for name in ("data/sub", "data-private", "here"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("data/own.png", "data/sub/own.png", "data/a b.png", "data-private/secret.png", "here/secret.png"):
        (tmp_path / name).write_bytes(PNG)
    (tmp_path / "data" / "link.png").symlink_to(tmp_path / "data-private" / "secret.png")
    (tmp_path / "data" / "folder").symlink_to(tmp_path / "data-private")
    (tmp_path / "data" / "inner.png").symlink_to("sub/own.png")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv(ALLOW_PICTURES, raising=False)
    return tmp_path


def read(machine: Path, row: dict[str, Any], name: str = "data/rows.jsonl") -> Sample | RowError:
    (machine / name).write_text(json.dumps({"question": "q", "answer": "a", **row}))
    ((_, found),) = list(open_data(machine / name))
    return found


OUTSIDE = [
    "{m}/data-private/secret.png",
    "../data-private/secret.png",
    "sub/../../data-private/secret.png",
    "file://{m}/data-private/secret.png",
    "FILE://{m}/data-private/secret.png",
    "File://localhost{m}/data-private/secret.png",
    "file://{m}/data/%2e%2e/data-private/secret.png",
    "{m}/data/../data-private/secret.png",
    "link.png",
    "folder/secret.png",
    "{m}/data/folder/secret.png",
    "../data-private/none.png",  # whether it is there is not said
    "a\0b.png",
    r"\\host\share\a.png",
    "/dev/zero.png",
    "/proc/self/environ.png",
]


@pytest.mark.parametrize("column", ["contexts", "reference_contexts", "retrieved_contexts", "image_paths"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_picture_that_lies_elsewhere_costs_the_row(machine: Path, name: str, column: str) -> None:
    source = name.format(m=machine)
    passages = [source] if column == "image_paths" else [{"text": "Seen.", "image": source}]
    found = read(machine, {"id": "r1", column: passages})
    assert isinstance(found, RowError)
    assert (found.id, found.cause) == ("r1", Cause.BAD_ROW)
    assert "lies outside of the folder of the data" in found.message
    assert f"{ALLOW_PICTURES}=FOLDER" in found.message


@pytest.mark.parametrize(
    "name", ["own.png", "./sub/own.png", "sub/../own.png", "inner.png", "{m}/data/own.png", "file://{m}/data/a%20b.png"]
)
def test_a_picture_below_the_folder_is_read(machine: Path, name: str) -> None:
    found = read(machine, {"contexts": [{"image": name.format(m=machine)}]})
    assert isinstance(found, Sample)
    assert found.contexts is not None
    assert load(found.contexts[0].image or "").data == PNG


def test_pictures_that_are_no_files_are_left_as_they_are(machine: Path) -> None:
    images = [data_uri(PNG), "https://example.com/a.png", "HTTP://example.com/b.png"]
    found = read(machine, {"contexts": [{"image": image} for image in images]})
    assert isinstance(found, Sample)
    assert [context.image for context in found.contexts or ()] == images


@pytest.mark.parametrize("field", ["question", "answer"])
@pytest.mark.parametrize(
    "named", ["{m}/data-private/secret.png", "secret.png", "./secret.png", "<{m}/here/secret.png>", "file://{m}/here/x"]
)
def test_texts_name_no_pictures_of_this_machine(machine: Path, field: str, named: str) -> None:
    """A relative one would be read from where the process runs, which is no folder of the data."""
    found = read(machine, {field: f"See ![a]({named.format(m=machine)}) here."})
    assert isinstance(found, RowError)
    assert "lies outside of the folder of the data" in found.message


@pytest.mark.parametrize("named", ["{m}/data/own.png", "https://e.org/a.png", "none.png", "secret.png and more"])
def test_texts_may_name_what_is_theirs_or_nowhere(machine: Path, named: str) -> None:
    assert isinstance(read(machine, {"answer": f"See ![a]({named.format(m=machine)}) here."}), Sample)


def test_a_folder_is_allowed_by_the_environment(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"contexts": [{"image": str(machine / "data-private" / "secret.png")}]}
    monkeypatch.setenv(ALLOW_PICTURES, os.pathsep.join([str(machine / "none"), "", str(machine / "data-private")]))
    assert isinstance(read(machine, row), Sample)
    monkeypatch.setenv(ALLOW_PICTURES, "")
    assert isinstance(read(machine, row), RowError)


def test_standard_input_and_traces_begin_where_the_process_runs(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"question": "q", "answer": "a", "contexts": [{"image": "../data/own.png"}, {"image": "secret.png"}]}
    both = [json.dumps(row), json.dumps({**row, "contexts": row["contexts"][1:]})]
    stdin = io.TextIOWrapper(io.BytesIO("\n".join(both).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    refused, taken = (found for _, found in open_data("-"))
    assert isinstance(refused, RowError)
    assert isinstance(taken, Sample)
    sample = Sample(
        question="q", contexts=(Context(text="", image="../data/own.png"),)
    )  # as a source of traces gives it
    with pytest.raises(InputError, match="outside of the folder"):
        placed(sample, Path())


def test_scores_of_another_system_bring_no_pictures_into_a_report(machine: Path) -> None:
    row = {"user_input": "q", "response": "a", "faithfulness": 1.0,
           "retrieved_contexts": [{"image": "../data-private/secret.png"}]}  # fmt: skip
    (machine / "here" / "scores.jsonl").write_text(
        json.dumps(row) + "\n" + json.dumps({**row, "retrieved_contexts": ["x"]})
    )
    result = load_external_run("ragas:scores.jsonl")
    assert [context.image for scored in result for context in scored.sample.contexts or ()] == [None]


def test_rows_that_the_caller_made_may_name_any_file(machine: Path) -> None:
    rows = [{"question": "q", "answer": "a", "contexts": [{"image": str(machine / "data-private" / "secret.png")}]}]
    ((_, found),) = list(open_data(rows))
    assert isinstance(found, Sample)


def test_a_report_of_foreign_data_shows_no_picture_of_this_machine(machine: Path) -> None:
    rows = [
        {
            "question": "q",
            "answer": "Paris.",
            "reference": "Paris.",
            "contexts": [{"image": name.format(m=machine)}, "Paris is a city."],
        }
        for name in OUTSIDE
    ]
    (machine / "data" / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = assay.evaluate(machine / "data" / "rows.jsonl", "ragas:exact_match", store=None, progress=False)
    assert {str(score.error and score.error.cause) for row in result for score in row.scores.values()} == {"bad_row"}


@given(st.lists(st.sampled_from(["a", "b", "..", ".", ""]), max_size=8))
def test_below_is_what_the_parts_of_a_path_say(parts: list[str]) -> None:
    """Without links: the folder is left exactly where `..` outnumber the names before them."""
    depth, left = 0, False
    for part in parts:
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        left = left or depth < 0
    root = "/none-such-root/data"
    path = "/".join([root, *parts])
    if not left:
        assert is_below(path, [root])
    elif depth < 0 or os.path.normpath(path) == "/":
        assert not is_below(path, [root])


def test_a_sibling_with_the_same_beginning_is_elsewhere(tmp_path: Path) -> None:
    assert not is_below(tmp_path / "data-private" / "x", [tmp_path / "data"])
    assert is_below(tmp_path / "data" / "x", [tmp_path / "none", tmp_path / "data"])
