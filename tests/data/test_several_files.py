"""Several files, patterns, standard input, and files whose names say nothing."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.data import RowError, files, open_data
from assay.data.named_sources import without_secrets
from assay.errors import InputError
from assay.records import Sample

ROW = {"question": "q", "answer": "a"}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def samples(data: Any, **options: Any) -> list[Sample]:
    return [sample for _, sample in open_data(data, **options) if isinstance(sample, Sample)]


class Piped(io.TextIOWrapper):
    """Standard input with these bytes in it."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


def test_several_files_are_one_after_the_other_and_each_row_says_which(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jsonl", {**ROW, "id": "a"}, {**ROW, "id": "b"})
    two = tmp_path / "2.csv"
    two.write_text("user_input,response,id,file\nq,a,c,mine\n")
    data = open_data([one, str(two)])
    assert data.columns >= {"question", "answer", "id"}  # by other names in the second
    assert data.total_for_estimates() == 3
    found = [(number, sample.id, sample.metadata["file"]) for number, sample in data]
    assert found == [(1, "a", str(one)), (2, "b", str(one)), (3, "c", "mine")]
    assert [number for number, _ in open_data([one, two], limit=2)] == [1, 2]


def test_a_pattern_is_the_files_that_fit_it_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / f"{name}.jsonl", {**ROW, "id": name})
    assert [sample.id for sample in samples(str(tmp_path / "*.jsonl"))] == ["a", "b"]
    with pytest.raises(InputError, match=r"no file fits the pattern"):
        open_data(str(tmp_path / "*.csv"))
    odd = write(tmp_path / "c[1].jsonl", {**ROW, "id": "odd"})  # a name that looks like a pattern
    assert [sample.id for sample in samples(str(odd))] == ["odd"]


def test_a_bad_row_says_in_which_file_it_is(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jsonl", ROW)
    two = write(tmp_path / "2.jsonl", ROW)
    two.write_text(two.read_text() + "{broken\n")
    errors = [row for _, row in open_data([one, two]) if isinstance(row, RowError)]
    assert [(error.number, error.message.startswith(str(two))) for error in errors] == [(3, True)]


@pytest.mark.parametrize(
    "content",
    [
        b'{"question": "q", "answer": "a"}\n{"question": "q", "answer": "a"}\n',
        b'[{"question": "q", "answer": "a"}, {"question": "q", "answer": "a"}]',
        b"question;answer\nq;a\nq;a\n",
        b"question\tanswer\nq\ta\nq\ta\n",
        gzip.compress(b"question,answer\nq,a\nq,a\n", mtime=0),  # or every worker would collect another test
        gzip.compress(b'{"question": "q", "answer": "a"}\n' * 2, mtime=0),
        b"\xef\xbb\xbfquestion,answer\nq,a\nq,a\n",
    ],
)
def test_standard_input_is_read_whatever_it_holds(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(content))
    data = open_data("-")
    assert data.name == "standard input"
    for _ in range(2):  # it can be read again, as a file can
        assert [(number, sample.question, sample.answer) for number, sample in data] == [(1, "q", "a"), (2, "q", "a")]


def test_standard_input_can_be_told_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b'"question","answer"\n"{q","a"\n'))
    assert samples("-", format="csv")[0].question == "{q"
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(InputError, match="is empty"):
        open_data("-")


def test_the_format_of_a_file_without_a_telling_name(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text("question,answer\nq,a\n")
    assert samples(path, format="csv")[0].answer == "a"
    with pytest.raises(InputError, match="format: 'xml' is none of jsonl"):
        open_data(path, format="xml")
    with pytest.raises(InputError, match="format: goes with files"):
        open_data([ROW], format="csv")


def test_a_list_of_texts_that_are_no_files_is_no_list_of_files() -> None:
    with pytest.raises(InputError, match="expected a dict or a Sample, found str"):
        open_data(["What? *Really*?", "Yes."])


def test_the_name_of_what_was_read_keeps_no_secret(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", ROW)
    assert open_data(file).name == str(file)
    assert open_data([ROW]).name == "the list"
    assert without_secrets("phoenix:http://me:pw@host:6006/x?key=1") == "phoenix:http://host:6006/x"
    assert without_secrets("otel:spans.jsonl") == "otel:spans.jsonl"


# -- JSON of evaluation tools -----------------------------------------------------------------------------------------

MLFLOW = {
    "inputs": {"question": "q"},
    "outputs": {"response": "a", "contexts": ["c"]},
    "expectations": {"expected_response": "r"},
}
PROMPTFOO = {
    "evalId": "e",
    "results": {
        "version": 3,
        "results": [{"vars": {"question": "q", "context": "c"}, "response": {"output": "a", "tokenUsage": {}}}],
    },
}


@pytest.mark.parametrize("wrapper", ["rows", "data", "results", "examples", "samples"])
def test_rows_under_a_key(wrapper: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, wrapper: [{**ROW, "id": "1"}, {**ROW, "id": "2"}]}))
    assert [sample.id for sample in samples(path)] == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([MLFLOW], ("q", "a", "r", ("c",))),
        (PROMPTFOO, ("q", "a", None, ("c",))),
        ({"columns": ["question", "answer", "context"], "data": [["q", "a", "c"]]}, ("q", "a", None, ("c",))),
    ],
)
def test_nested_json_of_other_tools(content: Any, expected: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    (sample,) = samples(path)
    assert (sample.question, sample.answer, sample.reference, sample.passages) == expected


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": {"question": "q"}, "outputs": "a"},
        {"inputs": {"question": "q"}, "outputs": {"answer": "a", "steps": 3}},
        {"input": {"query": "q", "k": 4}, "output": {"response": "a"}},
    ],
)
def test_fields_within_inputs_and_outputs(row: dict[str, Any]) -> None:
    (sample,) = samples([row])
    assert (sample.question, sample.answer) == ("q", "a")


def test_what_brings_nothing_new_stays_in_the_metadata() -> None:
    (sample,) = samples([{**ROW, "inputs": {"query": "other", "k": 1}}])
    assert (sample.question, sample.metadata) == ("q", {"inputs": {"query": "other", "k": 1}})


def test_a_row_of_its_own_with_objects_in_it_stays_a_row() -> None:
    (sample,) = samples([{"question": "q", "answer": "a", "inputs": {"k": 1}, "results": [{"x": 1}]}])
    assert sample.metadata == {"inputs": {"k": 1}, "results": [{"x": 1}]}


def test_each_file_is_opened_once_for_its_columns_and_once_for_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = files.open_bytes
    monkeypatch.setattr(files, "open_bytes", lambda path: (opened.append(path.name), real(path))[1])
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text('{"question": "Why?"}\n')
    data = open_data([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    columns = opened[:]
    assert len(list(data)) == 2
    read = [sum(name.startswith(letter) for name in columns) for letter in "ab"]
    assert read[0] == read[1]  # the first file is not looked at again for the whole
    assert opened[len(columns) :] == ["a.jsonl", "b.jsonl"]
