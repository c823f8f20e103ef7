"""Cells of all shapes, and what is said of those that cannot be read."""

import math
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.data import RowError, open_data
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
        ({"ground_truths": ["one", "two"]}, "one | two"),  # of a few words: spellings of one answer
        ({"reference": ["It is one.", "It is two."]}, "It is one.\nIt is two."),
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
            {"contexts": ["a", 7]},
            "row 1 (id 'x'): column 'contexts': passage 2 of 2: a passage must be a text, a dict with text, "
            "page_content, content, or a document or node object; found int 7",
        ),
        (
            {"contexts": [{"title": "b"}]},
            "row 1 (id 'x'): column 'contexts': passage 1 of 1: a passage given as a dict needs a text under text, "
            "page_content, content, or one text alone; found the keys 'title'",
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
