"""Rows that are large in memory, whatever they are in the file: each is an error of its own, and costs little."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay._util import byte_limits as limits
from assay.data import arrow_rows
from assay.data.arrow_rows import row_sizes
from assay.data.files import from_path
from assay.data.sources import UnreadableRow
from tests.data.test_hostile_files import PEAK

BIG = "Paris is a city. " * 1_000_000  # 17 MB
MIB = limits.MIB


def _table(**columns: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        made = {name: make(pyarrow) for name, make in columns.items()}
        parquet.write_table(pyarrow.table(made), path, compression="zstd")

    return write


def _shared(rows: int) -> Callable[[Any], Any]:
    """One text of 17 MB in `rows` rows, and a short one after them."""
    return lambda pa: pa.DictionaryArray.from_arrays(pa.array([0] * rows + [1], pa.int32()), [BIG, "after"])


def _mixed(path: Path) -> None:
    """The text of 17 MB in 2,000 rows, then texts that no two rows share: the dictionary ends, the rest is plain."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = random.Random(5)
    plain = [rng.randbytes(2000).hex() for _ in range(2000)] + ["after"]
    first = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2000, pyarrow.int32()), [BIG])
    rest = pyarrow.DictionaryArray.from_arrays(pyarrow.array(range(2001), pyarrow.int32()), plain)
    parquet.write_table(pyarrow.table({"answer": pyarrow.chunked_array([first, rest])}), path, compression="zstd")


def _shared_list(pa: Any) -> Any:
    """One list with the text 20,000 times, and one with a short text."""
    ends = pa.array([0, 20_000, 20_001], pa.int32())
    return pa.ListArray.from_arrays(ends, _shared(20_000)(pa))


NULLS = 20_000_000  # of a list of that many nothing but their number stands in the file


def _two(pa: Any, many: Any, after: Any) -> Any:
    """A list of many items, and one of the item after them."""
    ends = pa.array([0, len(many), len(many) + len(after)], pa.int32())
    return pa.ListArray.from_arrays(ends, pa.concat_arrays([many, after]))


def _nulls(pa: Any) -> Any:
    return _two(pa, pa.nulls(NULLS, pa.string()), pa.array(["after"]))


def _nested_nulls(pa: Any) -> Any:
    """A list of lists, none of which is too large in itself."""
    ends = pa.array([*range(0, NULLS + 1, NULLS // 1000), NULLS + 1], pa.int32())
    lists = pa.ListArray.from_arrays(ends, pa.concat_arrays([pa.nulls(NULLS, pa.string()), pa.array(["after"])]))
    return pa.ListArray.from_arrays(pa.array([0, 1000, 1001], pa.int32()), lists)


def _null_objects(pa: Any) -> Any:
    count = NULLS // 5
    texts = pa.concat_arrays([pa.nulls(count, pa.string()), pa.array(["after"])])
    objects = pa.StructArray.from_arrays([*[pa.nulls(count + 1, pa.string())] * 4, texts], [*"abcd", "text"])
    return pa.ListArray.from_arrays(pa.array([0, count, count + 1], pa.int32()), objects)


def _fixed_lists(pa: Any) -> Any:
    """Two lists of a number of items that is part of their type."""
    return pa.FixedSizeListArray.from_arrays(pa.nulls(NULLS, pa.string()), NULLS // 2)


def _views(count: int) -> Callable[[Any], Any]:
    return lambda pa: pa.array([BIG[: 1 << 21]] * count + ["after"], pa.string_view())


def _answers(count: int) -> Callable[[Any], Any]:
    return lambda pa: pa.array(["before"] * count + ["after"])


def _binaries(count: int, width: int) -> Callable[[Any], Any]:
    """Values of a fixed width, all the same, and a missing one."""
    return lambda pa: pa.array([b"a" * width] * count + [None], pa.binary(width))


def _file(content: bytes) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(content), None)[1]


LARGE: dict[str, tuple[Callable[[Path], None], int, str]] = {
    # 256 MiB hold 15 texts of 17 MB
    "texts.parquet": (_table(answer=_shared(20_000)), 20_000 - 15, "the large rows of its row group may take 256 MiB"),
    "list.parquet": (_table(contexts=_shared_list), 1, "MiB in memory, more than 64 MiB; ASSAY_MAX_LINE_MIB"),
    # 100 times the 4.1 MB of the file, 389 MiB, hold 24
    "mixed.parquet": (_mixed, 2000 - 24, "the large rows of its row group may take 389 MiB"),
    "nulls.parquet": (_table(contexts=_nulls), 1, "it takes 1220 MiB in memory, more than 64 MiB"),
    "nested_nulls.parquet": (_table(contexts=_nested_nulls), 1, "MiB in memory, more than 64 MiB"),
    "null_objects.parquet": (_table(contexts=_null_objects), 1, "MiB in memory, more than 64 MiB"),
    # 256 MiB hold 255 of 1 MiB and what they need in memory
    "binaries.parquet": (
        _table(answer=_answers(1000), x=_binaries(1000, 1 << 20)), 1000 - 255, "may take 256 MiB together",
    ),
    "views.parquet": (_table(answer=_views(1000)), 1000 - 127, "may take 256 MiB together"),
    "cell.csv": (_file(b'answer,contexts\na,"[' + b"'a'," * 2_000_000 + b']"\na,after\n'), 1, "more than 64 MiB"),
    "cell_of_json.csv": (
        _file(b'answer,contexts\na,"[' + b'""a"",' * 2_000_000 + b'""a""]"\na,after\n'), 1, "more than 64 MiB",
    ),
    "line.jsonl": (
        _file(b'{"contexts": [' + b'"a",' * 2_000_000 + b'"a"]}\n{"contexts": ["after"]}\n'), 1, "more than 64 MiB",
    ),
    "empty_objects.jsonl": (
        _file(b'{"contexts": [' + b"{}," * 8_000_000 + b'{}]}\n{"contexts": ["after"]}\n'), 1, "more than 64 MiB",
    ),
    "list.json": (
        _file(b'[{"contexts": [' + b'"a",' * 2_000_000 + b'"a"]}, {"contexts": ["after"]}]'), 1, "more than 64 MiB",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux writes it")
@pytest.mark.parametrize("field", ["answer", "contexts"])
def test_the_rows_that_are_looked_at_first_take_little_memory(tmp_path: Path, field: str) -> None:
    """Names of columns are guessed from the first 1,000 rows, or from 16 MiB of them: here 6 of 100 rows of 3 MB."""
    text = "Paris is a city. " * 180_000
    with (tmp_path / "r.jsonl").open("w") as out:
        for number in range(100):
            out.write(json.dumps({"id": str(number), field: text if field == "answer" else [text]}) + "\n")
    script = (
        PEAK
        + "import sys\nfrom assay.data import open_data\nprint(sum(1 for _ in open_data(sys.argv[1])), round(peak()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "r.jsonl")], capture_output=True, text=True, check=True
    )
    rows, mebibytes = map(int, done.stdout.split())
    assert rows == 100
    assert mebibytes < 250  # all of them are 300 MB


LARGE_SCRIPT = """
import json, sys
from collections import Counter
from assay.data import RowError, open_data
last, errors, causes = None, [], Counter()
for number, item in open_data(sys.argv[1]):
    if isinstance(item, RowError):
        errors, causes = [item.message], causes + Counter([item.cause.value])
    else:
        last = item.answer if item.contexts is None else item.contexts[0].text
print(json.dumps([peak(), number, last, errors, causes]))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux writes it")
@pytest.mark.parametrize("name", LARGE)
def test_a_row_that_is_large_in_memory_is_an_error_and_the_others_are_read(tmp_path: Path, name: str) -> None:
    """Files of 3 kB to 24 MB took 0.4 to more than 4.8 GB; the whole process stays under 600 MB."""
    write, refused, message = LARGE[name]
    write(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", PEAK + LARGE_SCRIPT, str(tmp_path / name)], capture_output=True, text=True, check=True
    )
    mebibytes, rows, last, errors, causes = json.loads(done.stdout)
    assert mebibytes < 600
    assert last == "after"
    assert causes == {"too_large": refused}
    many = {"texts.parquet": 20_001, "mixed.parquet": 4001, "binaries.parquet": 1001, "views.parquet": 1001}
    assert rows == many.get(name, 2)
    assert message in errors[0]


#: Row groups of which the file says that nothing in them can be read: of all their rows, since nobody knows of which.
REFUSED: dict[str, tuple[dict[str, Callable[[Any], Any]], str]] = {
    "3 times the nulls": (
        {"contexts": lambda pa: _two(pa, pa.nulls(3 * NULLS, pa.string()), pa.array(["after"]))},
        "its row group unpacks to 457 MiB",
    ),
    "a list of binaries": (
        {"contexts": lambda pa: _two(pa, pa.array([b"a" * MIB] * 1000, pa.binary(MIB)), pa.nulls(1, pa.binary(MIB)))},
        "its row group unpacks to 1000 MiB",
    ),
    "a binary above the limit of a row": (
        {"answer": _answers(1), "x": _binaries(1, 100 * MIB)},
        "each value of the column 'x' takes 100 MiB, more than 64 MiB; ASSAY_MAX_LINE_MIB",
    ),
    "fixed lists": ({"answer": _answers(1), "contexts": _fixed_lists}, "it takes 610 MiB in memory, more than 64 MiB"),
}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux writes it")
@pytest.mark.parametrize("name", REFUSED)
def test_rows_of_which_the_file_says_that_they_are_large_are_errors(tmp_path: Path, name: str) -> None:
    columns, message = REFUSED[name]
    _table(**columns)(tmp_path / "r.parquet")
    done = subprocess.run(
        [sys.executable, "-c", PEAK + LARGE_SCRIPT, str(tmp_path / "r.parquet")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    mebibytes, rows, _, errors, causes = json.loads(done.stdout)
    assert mebibytes < 600
    assert (rows, causes) == (2, {"too_large": 2})
    assert message in errors[0]


@pytest.mark.long
@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parquet_rows_are_the_same_at_any_size(tmp_path: Path, data: st.DataObject) -> None:
    """Rows of all shapes, as dictionaries and plain, in batches that are cut by their size."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text = st.none() | st.text("ab\u00e4", max_size=5)
    values = {
        "answer": text, "contexts": st.none() | st.lists(text, max_size=4), "n": st.integers(0, 9),
        "o": st.none() | st.fixed_dictionaries({"t": text, "l": st.lists(st.lists(text, max_size=2), max_size=2)}),
    }  # fmt: skip
    rows = data.draw(st.lists(st.fixed_dictionaries(values), min_size=1, max_size=12))
    schema = pyarrow.schema(
        [("answer", pyarrow.string()), ("contexts", pyarrow.list_(pyarrow.string())), ("n", pyarrow.int64()),
         ("o", pyarrow.struct([("t", pyarrow.large_string()),
                               ("l", pyarrow.list_(pyarrow.list_(pyarrow.string())))]))]
    )  # fmt: skip
    table = pyarrow.Table.from_pylist(rows, schema)
    parquet.write_table(
        table,
        tmp_path / "r.parquet",
        use_dictionary=data.draw(st.booleans()),
        row_group_size=data.draw(st.integers(1, 9)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_rows, "AT_ONCE", data.draw(st.integers(0, 2_000)))
        patch.setattr(limits, "ROW", data.draw(st.integers(1, 2_000)))
        found = list(from_path(tmp_path / "r.parquet").open())
    assert len(found) == len(rows)
    for row, read, size in zip(rows, found, map(_python_size, rows), strict=True):
        assert read == row or (isinstance(read, UnreadableRow) and read.cause == "too_large" and size > 0)
    assert list(from_path(tmp_path / "r.parquet").open()) == rows


def _python_size(value: Any) -> int:
    """64 bytes for each value but the row itself, and those of its texts."""
    if isinstance(value, dict):
        return 64 + sum(map(_python_size, value.values()))
    if isinstance(value, list):
        return 64 + sum(map(_python_size, value))
    return 64 + (len(value.encode()) if isinstance(value, str) else 0)


@given(st.lists(st.none() | st.text("ab\u00e4"), max_size=5), st.lists(st.lists(st.text("ab")), max_size=3))
def test_the_size_of_a_row_is_what_its_values_take(texts: list[str | None], lists: list[list[str]]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.RecordBatch.from_pylist([{"a": texts, "b": lists}, {"a": ["x"], "b": []}])
    for part, row in ((batch, {"a": texts, "b": lists}), (batch.slice(1), {"a": ["x"], "b": []})):
        assert row_sizes(part)[0] == _python_size(row) - 64
    encoded = pyarrow.record_batch({"a": pyarrow.array(texts, pyarrow.string()).dictionary_encode()})
    assert row_sizes(encoded) == [_python_size(text) for text in texts]


def _shapes(pa: Any, lists: list[list[str | None] | None], pairs: list[list[str | None] | None]) -> dict[str, Any]:
    """Arrays of every shape that a list or a text can have, with the values that they stand for."""
    texts = [text for items in lists for text in items or ()]
    text = pa.string()
    return {
        "list": pa.array(lists, pa.list_(text)),
        "large_list": pa.array(lists, pa.large_list(text)),
        "fixed_size_list": pa.array(pairs, pa.list_(text, 2)),
        "list_view": pa.array(lists, pa.list_view(text)),
        "large_list_view": pa.array(lists, pa.large_list_view(text)),
        "nested": pa.array([lists, None, []], pa.list_(pa.list_(text))),
        "nested_fixed": pa.array([pairs, None, []], pa.list_(pa.list_(text, 2))),
        "string_view": pa.array([*texts, "longer than twelve bytes"], pa.string_view()),
        "binary": pa.array([b"abc", None], pa.binary(3)),
        "runs": pa.RunEndEncodedArray.from_arrays(
            pa.array([2 * n + 2 for n in range(len(texts))], pa.int32()), pa.array(texts, text)
        ),
    }


TEXTS = st.lists(st.none() | st.text("ab\u00e4", max_size=20), max_size=4)
PAIRS = st.lists(st.none() | st.text("ab", max_size=20), min_size=2, max_size=2)


@given(st.lists(st.none() | TEXTS, max_size=4), st.lists(st.none() | PAIRS, max_size=4), st.integers(1, 3), st.data())
def test_the_size_of_every_shape_is_what_its_values_take(
    lists: list[list[str | None] | None], pairs: list[list[str | None] | None], some: int, data: st.DataObject
) -> None:
    """Also of a part of it, and where its items are measured a few at a time."""
    pyarrow = pytest.importorskip("pyarrow")
    for name, array in _shapes(pyarrow, lists, pairs).items():
        first = data.draw(st.integers(0, len(array)))
        part = array.slice(first, data.draw(st.integers(0, len(array) - first)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrow_rows, "SLICE", some)
            sizes = row_sizes(pyarrow.record_batch({"a": part}))
        values = [value.decode() if isinstance(value, bytes) else value for value in part.to_pylist()]
        assert (name, sizes) == (name, [_python_size(value) for value in values])
