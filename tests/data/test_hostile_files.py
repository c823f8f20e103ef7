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
from assay.data import RowError, open_data
from assay.data.exports import read_records
from assay.data.sources import unique
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


@pytest.mark.long
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
