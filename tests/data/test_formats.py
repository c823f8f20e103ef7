"""The same rows give the same samples, whatever they are written in."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay._util.install_hints import install_extra
from assay.data import open_data
from assay.errors import InputError, MissingExtra
from assay.records import Context, Sample

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "user_input": "Who built it?",
        "retrieved_contexts": ["Ömer, 1550.", 'He said "stone",\nthen wood.'],
        "response": "Ömer.",
        "ground_truth": "Ömer built it.",
        "topic": "mosques 🕌",
    },
    {
        "id": "b",
        "user_input": "When; exactly?",
        "retrieved_contexts": ["1551"],
        "response": None,
        "ground_truth": "In\t1551",
        "topic": "dates",
    },
]
EXPECTED = [
    Sample(
        id="a",
        question="Who built it?",
        contexts=(Context(text="Ömer, 1550."), Context(text='He said "stone",\nthen wood.')),
        answer="Ömer.",
        reference="Ömer built it.",
        metadata={"topic": "mosques 🕌"},
    ),
    Sample(
        id="b",
        question="When; exactly?",
        contexts=(Context(text="1551"),),
        answer=None,
        reference="In\t1551",
        metadata={"topic": "dates"},
    ),
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
FIELDS = {"id", "question", "contexts", "answer", "reference"}


def _pandas() -> Any:
    import pandas

    return pandas.DataFrame(ROWS)


def _lines() -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n"


def _write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _csv_frame() -> Any:
    frame = _pandas()
    frame["retrieved_contexts"] = frame["retrieved_contexts"].map(json.dumps)
    return frame


def _csv(path: Path, **options: Any) -> Path:
    return _write(path, _csv_frame().to_csv(index=False, **options), options.get("encoding", "utf-8"))


def _parquet(path: Path) -> Path:
    _pandas().to_parquet(path)
    return path


def _hugging_face() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list(ROWS)


def _polars(lazy: bool = False) -> Any:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    return frame.lazy() if lazy else frame


def _arrow() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.Table.from_pylist(ROWS)


def _arrow_dataset() -> Any:
    dataset = pytest.importorskip("pyarrow.dataset")
    return dataset.dataset(_arrow())


FORMATS: dict[str, Callable[[Path], Any]] = {
    "list": lambda _: ROWS,
    "generator": lambda _: (row for row in ROWS),
    "samples": lambda _: EXPECTED,
    "dict of lists": lambda _: COLUMNS,
    "jsonl": lambda d: _write(d / "r.jsonl", _lines()),
    "jsonl path as str": lambda d: str(_write(d / "r.jsonl", _lines())),
    "jsonl with blank lines, CRLF and BOM": lambda d: _write(
        d / "r.JSONL", "\n" + _lines().replace("\n", "\r\n\r\n"), "utf-8-sig"
    ),
    "ndjson.gz": lambda d: _write(d / "r.v2.ndjson.gz", _lines()),
    "json": lambda d: _write(d / "r.json", json.dumps(ROWS, indent=2)),
    "json of columns": lambda d: _write(d / "r.json", json.dumps(COLUMNS)),
    "json that is json lines": lambda d: _write(d / "r.json", _lines()),
    "json.gz": lambda d: _write(d / "r.json.gz", json.dumps(ROWS)),
    "csv": lambda d: _csv(d / "r.csv"),
    "csv with semicolons and BOM": lambda d: _csv(d / "r.csv", sep=";", encoding="utf-8-sig"),
    "csv.gz": lambda d: _csv(d / "r.csv.gz"),
    "tsv": lambda d: _csv(d / "r.tsv", sep="\t"),
    "csv of Python lists": lambda d: _write(d / "r.csv", _pandas().to_csv(index=False)),
    "parquet": lambda d: _parquet(d / "r.parquet"),
    "pandas": lambda _: _pandas(),
    "pandas with the id as index": lambda _: _pandas().set_index("id"),
    "polars": lambda _: _polars(),
    "polars lazy": lambda _: _polars(lazy=True),
    "hugging face": lambda _: _hugging_face(),
    "hugging face with format": lambda _: _hugging_face().with_format("numpy"),
    "hugging face stream": lambda _: _hugging_face().to_iterable_dataset(),
    "arrow table": lambda _: _arrow(),
    "arrow batch": lambda _: _arrow().to_batches()[0],
    "arrow reader": lambda _: _arrow().to_reader(),
    "arrow dataset": lambda _: _arrow_dataset(),
}
ONCE = {"generator", "arrow reader"}
TOTAL_UNKNOWN = {"generator", "arrow reader", "arrow dataset", "polars lazy", "hugging face stream"}


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_samples(name: str, tmp_path: Path) -> None:
    """Samples, columns, total and re-iteration agree across all formats."""
    data = open_data(FORMATS[name](tmp_path))
    assert data.columns == FIELDS
    assert data.total == (None if name in TOTAL_UNKNOWN else 2)
    assert list(data) == [(1, EXPECTED[0]), (2, EXPECTED[1])]
    if name in ONCE:
        with pytest.raises(InputError, match="read only once"):
            iter(data)
    else:
        assert [sample for _, sample in data] == EXPECTED


@pytest.mark.parametrize("name", FORMATS)
def test_limit_stops_early(name: str, tmp_path: Path) -> None:
    """`limit` bounds rows and total."""
    data = open_data(FORMATS[name](tmp_path), limit=1)
    assert list(data) == [(1, EXPECTED[0])]
    assert data.total in (1, None)


def test_a_single_row_needs_no_list() -> None:
    """One Sample or one dict is a data set of one."""
    assert list(open_data(EXPECTED[0])) == [(1, EXPECTED[0])]
    assert list(open_data(ROWS[0])) == [(1, EXPECTED[0])]


def test_samples_written_as_json_come_back_whole(tmp_path: Path) -> None:
    """`Sample.to_dict` in a JSONL file is read back as the same sample, status, ids and metadata included."""
    sample = Sample(
        question="q",
        contexts=(Context(text="t", id="c1", score=0.5, metadata={"page": 3}),),
        ids={"run": "r1"},
        status="abandoned",
        language="tr",
        metadata={"nested": {"a": [1, None]}},
    )
    path = _write(tmp_path / "s.jsonl", json.dumps(sample.to_dict()))
    assert list(open_data(path)) == [(1, sample)]


def test_dataset_dict_asks_for_a_split() -> None:
    """The splits are listed, and the way to choose one."""
    datasets = pytest.importorskip("datasets")
    with pytest.raises(InputError, match=r"'train', 'test'.*data\['train'\]"):
        open_data(datasets.DatasetDict(train=_hugging_face(), test=_hugging_face()))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.csv", None, r"there is no file"),
        ("r.xlsx", b"PK", r"'r.xlsx' is a spreadsheet; save the sheet as CSV"),
        ("r.docx", b"PK", r"unknown kind of file '.docx'; expected .jsonl"),
        ("r", b"x", r"no extension"),
        ("r.jsonl", b"", r"'r.jsonl' is empty"),
        ("r.jsonl", b"\n\n", r"has no rows"),
        ("r.jsonl", b'[\n{"question": "q"}\n]', r"holds one JSON list, not an object per line; name it r.json"),
        ("r.jsonl", b"question,answer\na,b\n", r"line 1 is no JSON"),
        ("r.jsonl", b'{"question": "q', r"line 1 is no JSON: Unterminated string starting at character 14$"),
        ("r.json", b'[{"question": "q', r"is no JSON: Unterminated string starting in line 1$"),
        ("r.json", b'[{"question": "q"}', r"is no JSON: .* in line 1"),
        ("r.json", b"[]", r"has no rows"),
        ("r.json", b'"q"', r"expected a list of objects, found str 'q'"),
        ("r.json", b'{"question": {"0": "q"}}', r'orient="records"'),
        ("r.csv", b"question,answer\n", r"has no rows"),
        ("r.csv", b"question,question\na,b\n", r"several columns of the same name: 'question'"),
        ("r.csv", "question\nä".encode("utf-16"), r"UTF-16; save it as UTF-8"),
        ("r.csv", b"Frage,Antwort\na,b\n", r"'Frage', 'Antwort'.*column_map"),
        ("r.csv.gz", b"question\na\n", r"no sound gzip file"),
        ("r.parquet", b"PAR0", r"no sound Parquet file"),
    ],
)
def test_unreadable_files_are_refused_with_the_way_out(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    """What is wrong with the whole file is an InputError on opening."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        open_data(tmp_path / name)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """The message names a file in it."""
    _write(tmp_path / "r.jsonl", _lines())
    with pytest.raises(InputError, match=r"is a folder; give one file in it, for example 'r.jsonl'"):
        open_data(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (42, "found int 42"),
        ([], "the list has no rows"),
        (iter([]), "the iterator has no rows"),
        (["a question"], "expected a dict or a Sample, found str 'a question'"),
        ({"question": ["a"], "answer": ["b", "c"]}, "'question' has 1, 'answer' has 2"),
        ({"question": ["a"], "answer": "b"}, "column 'answer': expected a list"),
        ("https://example.org/a.csv", "is an address"),
    ],
)
def test_other_objects_are_refused(data: object, message: str) -> None:
    """What holds no rows is an InputError that says what was found."""
    with pytest.raises(InputError, match=message):
        open_data(data)


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing library is named with the command that installs it."""
    path = _parquet(tmp_path / "r.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=re.escape(install_extra("parquet"))):
        open_data(path)


def test_no_data_library_is_imported(tmp_path: Path) -> None:
    """Importing assay.data, and reading lists, CSV and JSONL, imports no data library."""
    script = f"""
import sys
from assay.data import open_data
list(open_data([{{"question": "q"}}])); list(open_data({str(_write(tmp_path / "r.jsonl", _lines()))!r}))
list(open_data({str(_csv(tmp_path / "r.csv"))!r}))
print(sorted({{"pandas", "polars", "pyarrow", "datasets", "numpy", "pydantic"}} & sys.modules.keys()))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
