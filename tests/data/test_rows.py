"""Cells of all shapes, rows that cannot be read, and columns under other names."""

import json
import math
import tracemalloc
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import RowError, missing_columns, open_data
from assay.errors import InputError
from assay.records import Context, Sample, Turn


def one(row: dict[str, Any], **options: Any) -> Sample:
    [(_, sample)] = open_data([row], **options)
    assert isinstance(sample, Sample), sample
    return sample


def error(row: dict[str, Any]) -> str:
    [(_, found)] = open_data([row])
    assert isinstance(found, RowError), found
    return found.message


def texts(*found: str) -> tuple[Context, ...]:
    return tuple(Context(text=text) for text in found)


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_missing_cells_are_none(nothing: object) -> None:
    """None and NaN are "not known" in every field."""
    row = dict.fromkeys(("question", "contexts", "answer", "reference", "id", "language", "history", "x"), nothing)
    assert one({**row, "query": "kept"}) == Sample(metadata={"query": "kept"})


def test_pandas_missing_values_are_none() -> None:
    """pd.NA, NaT, and the NaN that pandas puts into columns with gaps."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"question": ["q", None], "answer": pandas.array([pandas.NA, "a"], dtype="string"),
         "at": [pandas.NaT, pandas.Timestamp("2026-01-02")], "n": pandas.array([1, None], dtype="Int64")}
    )  # fmt: skip
    first, second = (sample for _, sample in open_data(frame))
    assert first == Sample(question="q", metadata={"n": 1})
    assert second == Sample(answer="a", metadata={"at": "2026-01-02T00:00:00"})


def test_empty_text_is_an_empty_text_except_in_csv(tmp_path: Path) -> None:
    """A system that said nothing is not a system whose answer is unknown; CSV cannot tell the two apart."""
    assert one({"question": "q", "answer": ""}).answer == ""
    (tmp_path / "r.csv").write_text("question,answer\nq,\n")
    [(_, sample)] = open_data(tmp_path / "r.csv")
    assert sample == Sample(question="q")


def test_empty_contexts_are_not_missing_contexts() -> None:
    """An empty list means that nothing was retrieved."""
    assert one({"question": "q", "contexts": []}).contexts == ()
    assert one({"question": "q", "contexts": "[]"}).contexts == ()
    assert one({"question": "q", "contexts": None}).contexts is None


Pair = namedtuple("Pair", "question answer")
NODE = SimpleNamespace(get_content=lambda: "t", node_id="n1", metadata={"page": 1})
FULL = Context(text="t", id="n1", score=0.5, metadata={"page": 1})


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("one passage", texts("one passage")),
        ("[1] Smith 2020", texts("[1] Smith 2020")),
        ("[1]", texts("[1]")),
        ("[Music]", texts("[Music]")),
        ('["a", "b"]', texts("a", "b")),
        ("['it''s', \"b\\n\"]".replace("''", "\\'"), texts("it's", "b\n")),
        (("a", "b"), texts("a", "b")),
        ([Context(text="a")], texts("a")),
        ({"page_content": "t", "metadata": {"page": 1}, "id": "n1", "score": 0.5}, (FULL,)),
        ([{"content": "t", "meta": {"page": 1}, "id": "n1", "score": 0.5}], (FULL,)),
        ('[{"text": "t", "metadata": {"page": 1}, "id": "n1", "score": 0.5}]', (FULL,)),
        ([{"node": {"text": "t", "id_": "n1", "metadata": {"page": 1}}, "score": 0.5}], (FULL,)),
        ({"text": ["a", "b"]}, texts("a", "b")),
        ([(SimpleNamespace(page_content="t", id="n1", metadata={"page": 1}), 0.5)], (FULL,)),
        ([SimpleNamespace(get_content=lambda: "t", score=0.5, node_id="n1", metadata={"page": 1}, node=NODE)], (FULL,)),
        ([{"lc": 1, "id": ["langchain", "Document"], "kwargs": {"page_content": "a"}}], texts("a")),
    ],
)
def test_shapes_of_contexts(cell: object, expected: tuple[Context, ...]) -> None:
    """Everything that frameworks and files call a list of passages."""
    assert one({"question": "q", "contexts": cell}).contexts == expected


def test_arrays_of_contexts() -> None:
    """numpy arrays, as pandas returns them from Parquet."""
    numpy = pytest.importorskip("numpy")
    assert one({"question": "q", "contexts": numpy.array(["a", "b"], dtype=object)}).contexts == texts("a", "b")


def test_real_documents_and_nodes() -> None:
    """The classes that are imitated above, where they are installed."""
    documents = pytest.importorskip("langchain_core.documents")
    schema = pytest.importorskip("llama_index.core.schema")
    document = documents.Document(page_content="t", id="n1", metadata={"page": 1})
    node = schema.NodeWithScore(node=schema.TextNode(text="t", id_="n1", metadata={"page": 1}), score=0.5)
    assert one({"query": "q", "source_documents": [(document, 0.5)]}).contexts == (FULL,)
    assert one({"query": "q", "source_nodes": [node]}).contexts == (FULL,)
    assert one({"query": "q", "source_nodes": [node.node.model_dump()]}).contexts == (
        Context(text="t", id="n1", metadata={"page": 1}),
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"ground_truths": ["one"]}, "one"),
        ({"ground_truths": ["one", "two"]}, "one\ntwo"),
        ({"ground_truths": "['one']"}, "one"),
        ({"ground_truth": '["kept"]'}, '["kept"]'),
        ({"Expected Output": 42}, "42"),
        ({"groundTruth": "one"}, "one"),
    ],
)
def test_references(row: dict[str, Any], expected: str) -> None:
    """Lists of references are joined; a text in a column with a singular name is taken as it stands."""
    assert one(row).reference == expected


@pytest.mark.parametrize(
    "cell",
    [
        [{"question": "a", "answer": "b"}],
        '[{"question": "a", "answer": "b"}]',
        [("a", "b")],
        [Turn(question="a", answer="b")],
        [{"role": "system", "content": "x"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        [SimpleNamespace(type="human", content="a"), SimpleNamespace(type="ai", content="b")],
    ],
)
def test_shapes_of_history(cell: object) -> None:
    """Turns, pairs and chat messages."""
    assert one({"question": "q", "chat_history": cell}).history == (Turn(question="a", answer="b"),)


def test_other_columns_become_metadata_as_far_as_json_goes() -> None:
    """Live objects and bytes are left out; the metadata column wins where names collide."""
    row = {"question": "q", "model": "m", "blob": b"x", "live": object(), "tags": ("a", 1), "status": "ok",
           "metadata": '{"model": "n"}'}  # fmt: skip
    assert one(row).metadata == {"model": "n", "tags": ["a", 1], "status": "ok"}


def test_rows_may_be_objects() -> None:
    """Named tuples, as `DataFrame.itertuples` yields them."""
    assert [sample for _, sample in open_data([Pair("q", "a")])] == [Sample(question="q", answer="a")]


def test_lone_surrogates_are_replaced_one_for_one(tmp_path: Path) -> None:
    """Half an emoji cannot be stored as UTF-8; offsets stay as they are."""
    (tmp_path / "r.jsonl").write_text('{"question": "cut \\ud83d", "contexts": ["\\ud83d\\ude00 \\ude00."]}')
    [(_, sample)] = open_data(tmp_path / "r.jsonl")
    assert sample == Sample(question="cut \ufffd", contexts=texts("😀 \ufffd."))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": ["a"]}, "row 1 (id 'x'): column 'answer': expected a text, found list ['a']"),
        ({"output": 1.0}, "row 1 (id 'x'): column 'output' (the answer): expected a text, found float 1.0"),
        ({"answer": True}, "row 1 (id 'x'): column 'answer': expected a text, found bool True"),
        ({"contexts": 7}, "row 1 (id 'x'): column 'contexts': expected a list of passages or one text, found int 7"),
        (
            {"contexts": ["a", None]},
            "row 1 (id 'x'): column 'contexts': passage 2 of 2: a passage must be a text, a dict with text, "
            "page_content, content, or a document or node object; found NoneType",
        ),
        (
            {"contexts": [{"body": "b"}]},
            "row 1 (id 'x'): column 'contexts': passage 1 of 1: a passage given as a dict needs a text under text, "
            "page_content, content; found the keys 'body'",
        ),
        (
            {"reference": []},
            "row 1 (id 'x'): column 'reference': expected a text or a list of texts, found an empty list",
        ),
        (
            {"answer": "a", "history": [1]},
            "row 1 (id 'x'): column 'history': turn 1 of 1: expected question and answer or role and content, "
            "found int 1",
        ),
    ],
)
def test_errors_name_row_id_column_and_expectation(row: dict[str, Any], message: str) -> None:
    """Enough to find the cell."""
    assert error({"id": "x", **row}) == message


def test_printed_numpy_arrays_are_refused() -> None:
    """Python would read `['a' 'b']` as one passage `ab`."""
    assert "printed numpy array" in error({"contexts": "['a' 'b']"})
    assert "printed numpy array" in error({"contexts": "['a'\n 'b']"})


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
    import gzip
    import random

    rows = (json.dumps({"question": str(random.random())}) for _ in range(5000))
    packed = gzip.compress("\n".join(rows).encode())
    (tmp_path / "r.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    found = [item for _, item in open_data(tmp_path / "r.jsonl.gz")]
    assert len(found) > 1000
    assert all(isinstance(item, Sample) for item in found[:-1])
    assert isinstance(found[-1], RowError)
    assert "what follows is lost" in found[-1].message


def test_column_map_decides() -> None:
    """The map wins over accepted names; what it passes over is metadata."""
    sample = one({"Frage": "q", "question": "other"}, column_map={"question": "Frage"})
    assert sample == Sample(question="q", metadata={"question": "other"})


@pytest.mark.parametrize(
    ("column_map", "message"),
    [
        ({"question": "Frag"}, "there is no column 'Frag'; the columns are 'Frage', 'answer'"),
        ({"Frage": "question"}, 'did you mean {"question": "Frage"}?'),
        ({"colour": "Frage"}, "'colour' is no field of a sample"),
        ({"question": "Frage", "query": "answer"}, "'question' is given twice"),
    ],
)
def test_wrong_column_maps_are_refused(column_map: dict[str, str], message: str) -> None:
    """A map that does nothing would otherwise go unnoticed."""
    with pytest.raises(InputError, match=message.replace("{", r"\{").replace("?", r"\?")):
        open_data([{"Frage": "q", "answer": "a"}], column_map=column_map)


def test_ambiguous_names_are_refused() -> None:
    """Two accepted names, neither the field's own: the caller must say."""
    with pytest.raises(InputError, match=r"columns 'query' and 'input' can all be the question.*column_map="):
        open_data([{"query": "a", "input": "b"}])
    assert one({"query": "a", "question": "b"}) == Sample(question="b", metadata={"query": "a"})
    assert one({"query": "a", "input": "b"}, column_map={"question": "input"}).question == "b"


def test_names_that_appear_late_are_read() -> None:
    """The columns are those of the first 1,000 rows; a field that comes later is not lost."""
    rows = [{"question": "q"}] * 1000 + [{"question": "q", "output": "a"}, {"query": "r"}]
    data = open_data(rows)
    samples = [sample for _, sample in data]
    assert data.columns == {"question"}
    assert samples[-2:] == [Sample(question="q", answer="a"), Sample(question="r")]


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


def test_missing_columns_of_all_metrics_at_once() -> None:
    """One answer for all metrics; fields that every sample has are never missing."""
    metrics = [
        SimpleNamespace(label="faithfulness", needs=("answer", "contexts")),
        SimpleNamespace(label="context_recall", needs=("reference", "contexts", "history")),
        SimpleNamespace(label="relevance", needs=("question", "answer")),
    ]
    assert missing_columns({"question", "answer"}, metrics) == {
        "faithfulness": ("contexts",),
        "context_recall": ("reference", "contexts"),
    }


def _peak(path: Path) -> int:
    tracemalloc.start()
    count = sum(isinstance(item, Sample) for _, item in open_data(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count in (10_000, 100_000)
    return peak


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_memory_does_not_grow_with_the_number_of_rows(suffix: str, tmp_path: Path) -> None:
    """Ten times the rows, at most 1.2 times the memory."""
    peaks = []
    for count in (10_000, 100_000):
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
    assert peaks[1] < 1.2 * peaks[0]


TEXT = st.text(st.characters(codec="utf-8"))
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


@settings(max_examples=150, deadline=None)
@given(samples=st.lists(SAMPLES, min_size=1, max_size=4))
def test_samples_survive_a_jsonl_file(samples: list[Sample], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any samples, written line by line and read again, are the same samples."""
    path = tmp_path_factory.mktemp("jsonl") / "r.jsonl"
    path.write_text("\n".join(json.dumps(sample.to_dict(), ensure_ascii=False) for sample in samples), "utf-8")
    assert [sample for _, sample in open_data(path)] == samples
