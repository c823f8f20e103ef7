"""Files that are damaged, garbage or bombs: clear errors, nothing else lost, and memory that stays bounded."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay._util import byte_limits as limits
from assay.data import RowError, arrow_rows, open_data
from assay.data.arrow_rows import row_sizes
from assay.data.exports import read_records
from assay.data.files import from_path
from assay.data.sources import UnreadableRow, unique
from assay.errors import Cause, InputError, MissingExtra
from assay.records import Sample
from tests._support import linear

ROWS = [{"id": str(n), "question": f"Ömer? {n}", "contexts": "a\nb", "answer": 'He said "so", he'} for n in range(40)]


def _csv(mark: str = ",", end: str = "\n") -> bytes:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    return end.join(mark.join(map(cell, row)) for row in [[*ROWS[0]], *(row.values() for row in ROWS)]).encode()


def _parquet() -> bytes:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), out)
    return out.getvalue()


SOUND = {
    "r.jsonl": "\n".join(map(json.dumps, ROWS)).encode(),
    "r.json": json.dumps(ROWS).encode(),
    "r.csv": _csv(),
    "r.tsv": _csv("\t"),
    "r.parquet": _parquet(),
}
SOUND |= {f"{name}.gz": gzip.compress(data) for name, data in SOUND.items() if name != "r.parquet"}
CUTS = st.floats(0, 1, exclude_max=True)
PIECES = st.sampled_from(
    [b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b'"', b"\n", b"\xed\xa0\xbd", b"{", b"["]
)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A name, and garbage, or a sound file that was cut, changed, written in another encoding, or zipped again."""
    name = draw(st.sampled_from(sorted(SOUND)))
    data = SOUND[name] if draw(st.integers(0, 4)) else draw(st.binary(max_size=200))
    zipped = name.endswith(".gz")
    inside = zipped and data[:2] == b"\x1f\x8b" and draw(st.booleans())  # damage the text, not the gzip file
    if inside:
        data = gzip.decompress(data)
    for at in draw(st.lists(CUTS, max_size=3)):
        place = int(at * len(data))
        piece = draw(PIECES | st.binary(max_size=4))
        data = data[:place] + piece + data[place + draw(st.integers(0, 8)) :]
    if draw(st.booleans()):
        data = data[: int(draw(CUTS) * len(data)) + 1]
    encoding = draw(st.sampled_from([None, None, None, "utf-16", "utf-8-sig", "latin-1"]))
    if encoding is not None and name != "r.parquet" and (inside or not zipped):
        data = data.decode("utf-8", "replace").encode(encoding, "replace")
    return name, gzip.compress(data) if inside else data


def _read(path: Path) -> list[Any]:
    return [item for _, item in open_data(path)]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files())
def test_only_input_errors_come_out_of_any_file(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[str, bytes]
) -> None:
    """Of a file that cannot be opened an InputError that names it; of any other samples and errors that say where."""
    name, data = file
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(data)
    for reader in (_read, read_records):
        found, refused = _tried(reader, path)
        assert refused is None or name in refused
        for item in found:
            assert isinstance(item, (Sample, RowError, dict))
            if isinstance(item, Sample):
                json.dumps(item.to_dict(), ensure_ascii=False).encode()  # what is read can be stored


def _tried(reader: Callable[[Path], Iterable[Any]], path: Path) -> tuple[list[Any], str | None]:
    """What a reader finds, or the message of the error that it may raise."""
    try:
        return list(reader(path)), None
    except (InputError, MissingExtra) as error:
        return [], str(error)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.csv.gz"])
def test_lines_may_end_in_any_way(tmp_path: Path, name: str, end: str) -> None:
    data = _csv("\t" if "tsv" in name else ",", end)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert [sample.id for sample in _read(tmp_path / name)] == [row["id"] for row in ROWS]


def _zipped(rows: int = 5_000) -> bytes:
    """A CSV file whose texts do not repeat, so that a half of it holds about a half of the rows."""
    source = random.Random(3)
    return gzip.compress(b"id,answer\n" + b"".join(f"{n},{source.random()}\n".encode() for n in range(rows)))


def test_a_csv_file_that_was_cut_keeps_what_was_there(tmp_path: Path) -> None:
    data = _zipped()
    path = tmp_path / "r.csv.gz"
    path.write_bytes(data[: len(data) // 2])
    found = _read(path)
    assert len(found) > 1_000
    assert [item.id for item in found[:-1]] == [str(n) for n in range(len(found) - 1)]
    assert isinstance(found[-1], RowError)
    assert "from line" in found[-1].message
    assert "gzip file is damaged, and what follows is lost" in found[-1].message


@pytest.mark.parametrize("name", ["r.csv.gz", "r.jsonl.gz", "r.json.gz"])
@pytest.mark.parametrize("kept", [2, 12, 20])
def test_a_gzip_file_that_breaks_at_once_is_named(tmp_path: Path, name: str, kept: int) -> None:
    path = tmp_path / name
    path.write_bytes(_zipped()[:kept])
    with pytest.raises(InputError, match=rf"'{name}'"):
        _read(path)


def test_a_gzip_file_with_a_damaged_header_line(tmp_path: Path) -> None:
    """The first line itself cannot be unpacked."""
    source = random.Random(3)
    header = ",".join(["answer", *(str(source.random()) for _ in range(20_000))])
    data = gzip.compress(header.encode())
    (tmp_path / "r.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"'r.csv.gz': the first line is no CSV header: Compressed file ended"):
        open_data(tmp_path / "r.csv.gz")


def test_a_quote_that_is_never_closed_says_what_went_with_it(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b'question,answer\na,b\n"c,d\ne,f\ng,h\n')
    first, last = _read(tmp_path / "r.csv")
    assert first == Sample(question="a", answer="b")
    assert last.message.startswith("row 2: line 3 is no CSV: unexpected end of data; a quote is opened there")
    assert last.message.endswith("the lines up to 5 are lost with it")


def test_a_header_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b'"question\n\xe4",answer\na,b\n')
    with pytest.raises(InputError, match=r"'r\.csv' is not UTF-8"):
        open_data(tmp_path / "r.csv")


@pytest.mark.parametrize("path", ["~no_such_user_here/r.csv", "x" * 5_000 + ".csv", "r\0.csv"])
def test_paths_that_no_system_takes(path: str) -> None:
    with pytest.raises(InputError):
        open_data(path)


def test_a_value_that_python_cannot_hold_costs_one_row(tmp_path: Path) -> None:
    """A Parquet file whose third text is no UTF-8, as writers in C++ make them."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    raw = pyarrow.array([b"a", b"b", b"\xff\xfe", b"d"], pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 4, raw.buffers())
    parquet.write_table(pyarrow.table({"answer": texts}), tmp_path / "r.parquet")
    found = _read(tmp_path / "r.parquet")
    assert [item.answer if isinstance(item, Sample) else None for item in found] == ["a", "b", None, "d"]
    assert found[2].message.startswith("row 3: a value cannot be read: ")


# -- bombs ------------------------------------------------------------------------------------------------------------


def _bomb(start: bytes, middle: bytes, mib: int, end: bytes) -> bytes:
    """`mib` MiB of `middle`, packed without being held."""
    packer = zlib.compressobj(9, wbits=31)
    chunk = middle * ((1 << 20) // len(middle))
    parts: Iterator[bytes] = (packer.compress(chunk) for _ in range(mib))
    return b"".join([packer.compress(start), *parts, packer.compress(end), packer.flush()])


BOMBS = {
    "one.jsonl.gz": (b'{"question": "', b"a", b'"}\n{"question": "after"}\n'),
    "lists.jsonl.gz": (b'{"question": "before"}\n', b"[", b"\n"),
    "blank.jsonl.gz": (b"", b" " * 1023 + b"\n", b'{"question": "after"}\n'),
    "spaces.jsonl.gz": (b"", b" ", b'\n{"question": "after"}\n'),
    "whole.json.gz": (b'[{"question": "', b"a", b'"}]'),
    "cell.csv.gz": (b'question,answer\nb,"', b"a", b'"\nafter,c\n'),
    "lines.csv.gz": (b'question,answer\nb,"', b"a" * 1023 + b"\n", b"after,c\n"),
    "header.csv.gz": (b"", b"a", b"\na,b\n"),
}
# the peak of getrusage would be at least that of the process that started this one
PEAK = """
from pathlib import Path
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
"""
SCRIPT = """
import json, sys
from assay._util import byte_limits as limits
from assay.data import open_data
from assay.errors import InputError
limits.ROW, limits.FILE = 4 << 20, int(sys.argv[2]) << 20
before = peak()
try:
    found = [getattr(item, "message", None) or item.question for _, item in open_data(sys.argv[1])]
except InputError as error:
    found = "InputError: " + str(error)
print(json.dumps([peak() - before, found]))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux writes it")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory_and_is_named(tmp_path: Path, name: str) -> None:
    """A tenth of a megabyte that unpacks to 80: a line may have 4 MiB here, and a file may unpack to 1,000."""
    start, middle, end = BOMBS[name]
    (tmp_path / name).write_bytes(_bomb(start, middle, 80, end))
    assert (tmp_path / name).stat().st_size < 200_000
    found = subprocess.run(
        [sys.executable, "-c", PEAK + SCRIPT, str(tmp_path / name), "1000"], capture_output=True, text=True, check=True
    )
    mebibytes, items = json.loads(found.stdout)
    assert mebibytes < 50
    match name.partition(".")[0]:
        case "one" | "spaces":
            assert items == [
                "row 1: line 1 is longer than 4 MiB; ASSAY_MAX_LINE_MIB in the environment raises the limit", "after"
            ]  # fmt: skip
        case "lists":
            assert items[0] == "before"
            assert "line 2 is longer than 4 MiB" in items[1]
        case "blank":
            assert items == ["after"]
        case "whole":
            assert items.startswith("InputError: 'whole.json.gz' cannot be read as JSON: it unpacks to more than")
        case "cell":
            assert "line 2: the row is longer than 4 MiB" in items[0]
            assert items[1:] == ["after"]
        case "lines":
            assert "line 2: the row is longer than 4 MiB" in items[0]
            assert items[-1] == "after"
        case "header":
            assert items.startswith("InputError: 'header.csv.gz': the first line is no CSV header: longer than 4 MiB")


@pytest.mark.long
def test_a_file_that_unpacks_to_too_much_ends_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that came before are kept; texts of the usual kind, which shrink 3 to 30 times, never come near."""
    monkeypatch.setattr(limits, "FILE", 1 << 20)
    row = b'{"question": "before"}\n'
    (tmp_path / "r.jsonl.gz").write_bytes(_bomb(row, row * 1000, 40, b""))
    found = _read(tmp_path / "r.jsonl.gz")
    assert len(found) > 10_000
    assert "it unpacks to more than" in found[-1].message
    assert "unpack it and give the file that comes out" in found[-1].message
    assert "what follows is lost" in found[-1].message


def test_a_line_of_its_full_length_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is one byte more than a row may have, not less; and the line behind a longer one is not skipped."""
    monkeypatch.setattr(limits, "ROW", 1000)
    monkeypatch.setattr(limits, "VALUE", 0)

    def line(size: int) -> bytes:
        return b'{"answer": "' + b"a" * (size - 15) + b'"}\n'

    (tmp_path / "r.jsonl").write_bytes(line(1000) + line(1001) + line(1002) + line(20))
    found = _read(tmp_path / "r.jsonl")
    assert [isinstance(item, Sample) for item in found] == [True, False, False, True]


def test_the_environment_raises_the_limit() -> None:
    code = "from assay._util import byte_limits; print(byte_limits.ROW >> 20)"
    for value, expected in (("256", "256"), ("0", "64"), ("much", "64"), (None, "64")):
        env = {name: text for name, text in os.environ.items() if name != "ASSAY_MAX_LINE_MIB"}
        if value is not None:
            env["ASSAY_MAX_LINE_MIB"] = value
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        assert done.stdout.strip() == expected


# -- rows that are large once they are read ----------------------------------------------------------------------------

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


@pytest.mark.parametrize("text", ['["a, b", "c"]', '["a", "b"]', '{"a": [1, 2]}', r'["\\", "b"]'])
def test_commas_within_texts_are_no_values(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A value more than there are commas, brackets and braces outside the texts; the limit is exactly that."""
    outside = sum(text.count(mark) for mark in ",[{") - (text == '["a, b", "c"]')
    monkeypatch.setattr(limits, "ROW", len(text) + 64 * outside)
    limits.check_json(text)
    monkeypatch.setattr(limits, "ROW", len(text) + 64 * outside - 1)
    with pytest.raises(limits.TooLargeError, match="raises the limit"):
        limits.check_json(text)


@pytest.mark.parametrize("column", ["a{n},", "a,", ",", '"",'])
def test_a_line_of_very_many_columns_is_read_in_linear_time(column: str, tmp_path: Path) -> None:
    def header(text: str) -> None:
        path = tmp_path / f"{len(text)}.csv"
        path.write_text("question," + "".join(column.format(n=n) for n in range(len(text))) + "answer\nq\n")
        with suppress(InputError):  # names that stand there twice
            _read(path)

    assert linear.fault(header, "x" * 3_000, "x" * 30_000) is None


@pytest.mark.parametrize("name", ["a{n}", "a"])
def test_a_table_of_very_many_columns_is_checked_in_linear_time(name: str) -> None:
    def names(text: str) -> None:
        with suppress(InputError):
            unique(name.format(n=n) for n in range(len(text)))

    assert linear.fault(names, "x" * 3_000, "x" * 30_000) is None


@pytest.mark.parametrize("field", ["question", "answer", "metadata", "history", "messages", "ids", "context_ids"])
@pytest.mark.parametrize(
    "text", ["[" + "[]," * 50_000 + "[]]", "[" + "{}," * 50_000 + "{}]", '{"a":[' + "1," * 99_999 + "1]}"]
)
def test_json_in_a_text_is_counted_before_it_is_parsed(field: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """150 kB of text take some 5 MB as lists; a row may take 1 MiB here. The row beside it is read."""
    monkeypatch.setattr(limits, "ROW", 1 << 20)
    row = {"question": "Q", "answer": "A", "contexts": ["c"]}
    found = [item for _, item in open_data([{**row, field: text}, row])]
    assert isinstance(found[0], RowError)
    assert found[0].cause is Cause.TOO_LARGE
    assert isinstance(found[1], Sample)
