"""Long and damaged data: a bad row loses nothing else, and memory stays flat."""

import gzip
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import RowError, open_data
from assay.data.missing_words import is_missing
from assay.records import Context, Sample, Turn


def test_a_bad_row_loses_nothing_else(tmp_path: Path) -> None:
    """Each bad line gives a RowError in its place."""
    lines = [
        b'{"id": 1, "answer": "a"}',
        b"",
        b'{"id": 2, "answer": ',
        b"[1]",
        b'{"answer": "\xff"}',
        b'{"id": 5, "answer": {}}',
        b"[" * 100_000,
        b'{"n": ' + b"1" * 5000 + b"}",
        b'{"id": 6, "answer": "b"}',
    ]
    (tmp_path / "r.jsonl").write_bytes(b"\n".join(lines))
    found = dict(open_data(tmp_path / "r.jsonl"))
    assert list(found) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (found[1], found[8]) == (Sample(id="1", answer="a"), Sample(id="6", answer="b"))
    assert found[2] == RowError(number=2, id=None, message="row 2: line 3 is no JSON: Expecting value at character 20")
    assert "line 4: expected a JSON object, found list [1]" in found[3].message  # type: ignore[union-attr]
    assert "line 5 is not UTF-8" in found[4].message  # type: ignore[union-attr]
    assert found[5] == RowError(
        number=5, id="5", message="row 5 (id '5'): column 'answer': expected a text, found dict {}"
    )


def test_bad_csv_lines(tmp_path: Path) -> None:
    """A wrong number of cells, a wrong quote and a wrong encoding; lines are counted as an editor counts them."""
    (tmp_path / "r.csv").write_bytes(
        b'question,answer\r\na,"two\r\nlines"\r\nb\r\n\r\n"c"x,d\r\ne,\xe4\r\nf,g\r\n"h,i\r\nj,k\r\n'
    )
    found = [item for _, item in open_data(tmp_path / "r.csv")]
    assert [item for item in found if isinstance(item, Sample)] == [
        Sample(question="a", answer="two\r\nlines"),
        Sample(question="f", answer="g"),
    ]
    messages = [item.message for item in found if isinstance(item, RowError)]
    assert messages[0] == "row 2: line 4: expected 2 cells as in the header, found 1"
    assert messages[1].startswith("row 3: line 6 is no CSV: ")
    assert messages[2].startswith("row 4: line 7 is not UTF-8")
    assert messages[3].startswith("row 6: line 9 is no CSV: ")


def test_csv_cells_may_be_long(tmp_path: Path) -> None:
    """Python's own limit is 131,072 characters a cell."""
    (tmp_path / "r.csv").write_text("question,contexts\nq," + "x" * 300_000 + "\n")
    [(_, sample)] = open_data(tmp_path / "r.csv")
    assert isinstance(sample, Sample)
    assert len(sample.passages[0]) == 300_000


def test_damaged_gzip_ends_with_an_error_row(tmp_path: Path) -> None:
    """What could be read is kept, and the loss is said."""
    rows = (json.dumps({"question": str(random.random())}) for _ in range(5000))
    packed = gzip.compress("\n".join(rows).encode())
    (tmp_path / "r.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    found = [item for _, item in open_data(tmp_path / "r.jsonl.gz")]
    assert len(found) > 1000
    assert all(isinstance(item, Sample) for item in found[:-1])
    assert isinstance(found[-1], RowError)
    assert "what follows is lost" in found[-1].message


def test_duplicate_ids_are_kept() -> None:
    """Telling them apart is the caller's business."""
    found = [sample for _, sample in open_data([{"id": 1, "answer": "a"}, {"id": 1, "answer": "b"}])]
    assert [sample.id for sample in found if isinstance(sample, Sample)] == ["1", "1"]


def test_generators_are_read_lazily() -> None:
    """Opening takes one row, iterating one at a time."""
    taken: list[int] = []

    def rows() -> Any:
        for number in range(10):
            taken.append(number)
            yield {"question": str(number)}

    data = open_data(rows())
    assert taken == [0]
    assert next(iter(data))[1] == Sample(question="0")
    assert taken == [0]


def _peak(path: Path) -> int:
    tracemalloc.start()
    count = sum(isinstance(item, Sample) for _, item in open_data(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count in (2_000, 20_000)
    return peak


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_memory_does_not_grow_with_the_number_of_rows(suffix: str, tmp_path: Path) -> None:
    """18,000 rows more are at most 20 bytes more for each: not even its number is kept, which takes 28."""
    peaks = []
    for count in (2_000, 20_000):
        path = tmp_path / f"{count}.{suffix}"
        rows = [{"question": f"q{number}", "contexts": "a passage", "answer": "a"} for number in range(count)]
        if suffix == "jsonl":
            path.write_text("\n".join(map(json.dumps, rows)))
        elif suffix == "csv":
            path.write_text("question,contexts,answer\n" + "\n".join(",".join(row.values()) for row in rows))
        else:
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
        del rows
        peaks.append(_peak(path))
    assert peaks[1] - peaks[0] < 20 * 18_000


@pytest.mark.long
def test_parquet_is_read_page_by_page(tmp_path: Path) -> None:
    """Arrow's own memory, which Python does not see, stays far below the size of the one row group."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "r.parquet"
    answers = [f"{number} {'x' * 2000}" for number in range(15_000)]
    parquet.write_table(pyarrow.table({"answer": answers}), path, compression="none")
    before = pyarrow.total_allocated_bytes()
    most = max(pyarrow.total_allocated_bytes() for _ in open_data(path)) - before
    assert most < 0.25 * path.stat().st_size


#: Any text but one that stands for a missing value ("N/A").
TEXT = st.text(st.characters(codec="utf-8")).filter(lambda text: not is_missing("contexts", text))
METADATA = st.dictionaries(TEXT, st.integers() | TEXT | st.booleans() | st.lists(TEXT), max_size=2)
CONTEXTS = st.lists(
    st.builds(Context, text=TEXT, id=st.none() | TEXT.filter(bool), score=st.none() | st.floats(0, 1),
              metadata=METADATA), max_size=3,
).map(tuple)  # fmt: skip
SAMPLES = st.builds(
    Sample,
    question=TEXT,
    contexts=st.none() | CONTEXTS,
    answer=st.none() | TEXT,
    reference=st.none() | TEXT,
    reference_contexts=st.none() | CONTEXTS,
    history=st.lists(st.builds(Turn, question=TEXT, answer=TEXT, contexts=CONTEXTS), max_size=2).map(tuple),
    id=st.none() | TEXT,
    ids=st.dictionaries(TEXT, TEXT, max_size=2),
    language=st.sampled_from(["en", "tr", "ja"]),
    status=st.sampled_from(["complete", "abandoned", "cancelled", "failed"]),
    metadata=METADATA,
)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(samples=st.lists(SAMPLES, min_size=1, max_size=4))
def test_samples_survive_a_jsonl_file(samples: list[Sample], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any samples, written line by line and read again, are the same samples."""
    path = tmp_path_factory.mktemp("jsonl") / "r.jsonl"
    path.write_text("\n".join(json.dumps(sample.to_dict(), ensure_ascii=False) for sample in samples), "utf-8")
    assert [sample for _, sample in open_data(path)] == samples
