"""Cells in which Python printed a list: each print is read as its JSON, or refused; prose about prints is prose."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.data import open_data
from assay.data.printed_frames import is_printed_frame
from assay.data.rows import passages
from assay.errors import InputError

FIRST, SECOND = "The workshop, so they say, sells \"bells\" and 'lamps'.", "It's\nopen (from [ten] on)."


@dataclasses.dataclass
class Document:
    """Prints as LangChain's and others' do."""

    page_content: str
    metadata: dict[str, Any]
    id: str | None = None


@dataclasses.dataclass
class ScoredPoint:
    id: int
    score: float
    payload: dict[str, Any]
    vector: Any = None


@dataclasses.dataclass
class Node:
    id_: str
    relationships: dict[Any, Any]
    text: str


@dataclasses.dataclass
class NodeWithScore:
    node: Node
    score: float


PRINTS: dict[str, Callable[[list[str]], object]] = {
    "texts": list,
    "tuple": tuple,
    "dicts": lambda texts: [{"text": text, "n": None} for text in texts],
    "documents": lambda texts: [Document(text, {"page": 2, "at": {"x": [1.5]}}) for text in texts],
    "pairs": lambda texts: [(Document(text, {}), 0.5) for text in texts],
    "pairs of texts": lambda texts: [(text, 0.5) for text in texts],
    "hits": lambda texts: [ScoredPoint(n, 0.5, {"text": text, "file": "a.md"}) for n, text in enumerate(texts)],
    "nodes": lambda texts: [NodeWithScore(Node("a", {}, text), -1e-05) for text in texts],
    "one query": lambda texts: [list(texts)],
}


def printed(value: object) -> str:
    return repr(value).replace(f"{__name__}.", "")


def texts_of(cell: object) -> list[str]:
    return [context.text for context in passages(cell) or ()]


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("make", PRINTS.values(), ids=PRINTS)
@given(texts=st.lists(st.text("ab,'\"\\\n()[]{}=é ", min_size=1).filter(str.strip), min_size=2, max_size=4))
def test_a_print_is_the_list_that_was_printed(make: Callable[[list[str]], object], texts: list[str]) -> None:
    """Whatever stands in the texts: quotes, brackets, commas, ends of lines."""
    texts = [text for text in texts if text.strip() not in ("-", "--", "---")]
    assert texts_of(printed(make(texts))) == texts


@given(st.lists(st.text("ab'\"\n ", min_size=1).filter(str.strip), min_size=1, max_size=3))
def test_documents_that_langchain_wrote_with_str(texts: list[str]) -> None:
    """`str(document)` is "page_content='...' metadata={...}"; people join such with an empty line."""
    whole = "\n\n".join(f"page_content={text!r} metadata={{'source': 'a.md'}}" for text in texts)
    assert texts_of(whole) == texts


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("array(['a b', 'c d'], dtype=object)", ["a b", "c d"]),  # pandas prints a cell of numpy so
        ("[TextNode(id_='x', relationships={<NodeRelationship.SOURCE: '1'>: RelatedNodeInfo(node_id='s')}, "
         "at=datetime.datetime(2026, 1, 2, 3, 4), text='a b', score=nan)]", ["a b"]),
        ("OrderedDict({'text': 'a b'})", ["a b"]),
        ('["a\nb", "c"]', ["a\nb", "c"]),  # JSON whose texts break lines
        (json.dumps(json.dumps(["a b", "c"])), ["a b", "c"]),  # JSON of JSON
        ('[["a b", 0.5], ["c", 0.25]]', ["a b", "c"]),  # pairs as JSON
        ("('a b', 0.5)", ["a b"]),
        ("{'text': 'a b'}\n{'text': 'c'}", ["a b", "c"]),  # one print a line
        ("{'text': 'a b'}, {'text': 'c'}", ["a b", "c"]),
        ('{"text": "a b", "n": null, "ok": true}\n{"text": "c", "n": 1.5}\n', ["a b", "c"]),  # JSON lines
        ('{"text": "a \\ud83d\\ude00 b\\/c"}\n{"text": "c"}', ["a \U0001f600 b/c", "c"]),  # in JSON's own grammar
        ("Document(page_content='a b')\nDocument(page_content='c', metadata={})", ["a b", "c"]),
        ("Document(page_content='a b'), Document(page_content='c')", ["a b", "c"]),
        ("dict_keys(['a b', 'c'])", ["a b", "c"]),
        ("{'text': 'a \ud83d'}, {'text': 'c'}", ["a \ufffd", "c"]),  # half an emoji
        ("odict_values(['a b', 'c'])", ["a b", "c"]),
        ("Index(['a b', 'c'], dtype='object')", ["a b", "c"]),
        ("'a b', 'c'", ["a b", "c"]),
        ('"a b", "c"', ["a b", "c"]),
    ],
)  # fmt: skip
def test_other_prints(cell: str, expected: list[str]) -> None:
    assert texts_of(cell) == expected


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("['a' 'b']", "printed numpy array"),
        ("[Document(id=7f3a, content: 'a', meta: {}), Document(id=91cc, content: 'b')]", "where a passage ends"),
        ("[<x.Document object at 0x7f3a>, <x.Document object at 0x7f3b>]", "do not show their text"),
        ("[The workshop sells bells, The lens weighs two tonnes]", "where a passage ends"),
        ("['a', 'b', ...]", "cut at '...'"),
        ("['The workshop sells', 'The le", "cut off in the middle"),  # a spreadsheet keeps 32,767 characters
        ('["The workshop sells", "The le', "cut off in the middle"),
        ("[Document(page_content='The workshop sells', metadata={'a'", "cut off in the middle"),
        ("page_content='a' metadata={'a'", "printed documents"),
        ("{'a', 'b'}", "a printed set, which has no order"),
        ("[b'a', b'b']", "where a passage ends"),
        ("[['a'], ['b']]", "a passage must be a text"),
        ("0    The workshop sells\n1    The lens weighs\ndtype: object", "the print of an object"),
        ("a    The workshop\nb    The lens\nName: contexts, dtype: object", "the print of an object"),
        ("              text\n0  The workshop\n\n[2 rows x 1 columns]", "the print of an object"),
        ("shape: (2,)\nSeries: '' [str]\n[\n\t\"a\"\n]", "the print of an object"),
        ("<generator object f at 0x7f3a>", "the print of an object"),
        ("<map object at 0x7f3a>", "the print of an object"),
        ("<x.y.Document object at 0x7f3a>", "the print of an object"),
        ("Document(id=7f3a, content: 'a', meta: {})", "where a passage ends"),
        ("Document(page_content='a'), Document(id=7f3a, content: 'b')", "where a passage ends"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_with_the_remedy(cell: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("[", r"\[").replace(".", r"\.")) as error:
        passages(cell)
    assert "JSON" in str(error.value) or "must be a text" in message


@pytest.mark.parametrize(
    "prose",
    [
        "In the tutorial a retriever answers [Document(page_content='Hello'), Document(page_content='World')], so two.",
        "[Document 1] The workshop sells bells, lamps and tubes. [Document 2] The lens.",
        "[Opening hours](https://example.org), and [more](x)",
        "[edit]", "[1]", "[1] As Smith says, it is so [2].", "(see below)", "f(x) = g(x, y)", "min(a, b)",
        "{ return 1; }", '"Hello," she said.', "Document(s) of the co-op", "['a', 'b'] is a list", "- a\n- b",
        "'Tis the season.", "'Hello' 'again', he said.", '"Yes." "No."', "<p>Opening hours</p>",
        "<b>a</b> and <i>b</i>",
        "The column has dtype: object", "Documents (see below) are kept", "{'a': 1} is a dict, and {'b': 2} too",
        '"Well", ... he said.', '"Open", "Close", ... are labels.', '"Set A", {x} is it.', "'a', b and 'c'",
        "shape: (a, b) are its sides", '"Open", it says, "from ten".', "Document(s), all of them (signed)",
    ],
)  # fmt: skip
def test_prose_stays_one_passage(prose: str) -> None:
    assert texts_of(prose) == [prose]


@given(st.text("[](){}'\",:=.<>aA1 \n\\"))
def test_any_cell_is_read_or_refused(cell: str) -> None:
    try:
        found = passages(cell)
    except InputError:
        return
    assert found is None or all(context.text or context.image for context in found) or cell.strip()


FRAME = {"text": ["The bridge opened in 1889.", "Cats sleep most of the day."], "score": [0.9, 0.8]}
#: How pandas prints a frame of passages.
FRAMES: dict[str, Callable[[Any], str]] = {
    "with an index": lambda pd: str(pd.DataFrame(FRAME)),
    "without its margins": lambda pd: str(pd.DataFrame(FRAME)).strip(),
    "one column": lambda pd: str(pd.DataFrame(FRAME)[["text"]]),
    "one row": lambda pd: str(pd.DataFrame(FRAME)[:1]),
    "a row of a larger one": lambda pd: str(pd.DataFrame(FRAME)[1:]),
    "numbers first": lambda pd: str(pd.DataFrame(FRAME)[["score", "text"]]),
    "without an index": lambda pd: pd.DataFrame(FRAME).to_string(index=False),
    "an index of texts": lambda pd: pd.DataFrame(FRAME, index=["a1", "b22"]).to_string(),
    "an index with a name": lambda pd: pd.DataFrame(FRAME).rename_axis("id").to_string(),
    "an index that was set": lambda pd: pd.DataFrame(FRAME).set_index("score").to_string(),
    "texts that are cut": lambda pd: str(pd.DataFrame({"text": [FRAME["text"][0] * 3] * 3})),
    "rows that are left out": lambda pd: str(pd.DataFrame({"passage": FRAME["text"] * 50})),
    "missing texts": lambda pd: str(pd.DataFrame({"text": ["a b", None, ""], "n": ["", 2, 3]})),
    "another name": lambda pd: str(pd.DataFrame({"fact": FRAME["text"]})),
    "lines in texts": lambda pd: str(pd.DataFrame({"text": ["a\nb", "c"]})),
    "Chinese": lambda pd: str(pd.DataFrame({"text": ["桥于1889年开放。", "猫"]})),
    "in blocks": lambda pd: pd.DataFrame(FRAME | dict.fromkeys("abcdefgh", "a b c d")).to_string(line_width=80),
    "no rows": lambda pd: str(pd.DataFrame({"text": []})),
    "of Spark": lambda pd: "+-------+-----+\n|   text|score|\n+-------+-----+\n|The b..|  0.9|\n+-------+-----+\n",
    "of DuckDB": lambda pd: "┌─────────┐\n│  text   │\n│ varchar │\n├─────────┤\n│ a b     │\n└─────────┘",
    "of pyarrow": lambda pd: 'pyarrow.Table\ntext: string\n----\ntext: [["a b"]]',
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_a_printed_frame_of_passages_is_refused_with_the_remedy(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"print of a data frame.* write the texts as JSON"):
        passages(FRAMES[name](pandas))


TABLES: dict[str, Callable[[Any], str]] = {
    "numbers": lambda pd: str(pd.DataFrame({"a": [1, 2], "b": [3, 4]})),
    "names": lambda pd: str(pd.DataFrame({"name": ["Tom", "Ann"], "age": [3, 4]})),
    "Markdown": lambda pd: "| text | score |\n|:--|--:|\n| a b | 1 |",
    "a ruled table": lambda pd: "+---+---+\n| a | b |\n+---+---+",
    "code": lambda pd: "    def content(x):\n        return x",
    "a title": lambda pd: "Content\nThis is the content of the page.",
    "a table of contents": lambda pd: "Contents\n1 Introduction",
    "a paragraph": lambda pd: "    The first line of a paragraph.\nThe second, which goes on and on.",
    "a title in the middle": lambda pd: "      Context\nRoses are red",
    "steps": lambda pd: "Steps\n0 Do this\n1 Do that",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_document_stays_one_passage(name: str) -> None:
    table = TABLES[name](pytest.importorskip("pandas"))
    assert texts_of(table) == [table]


@pytest.mark.long
@given(st.data())
def test_any_printed_frame_of_passages_is_refused(data: st.DataObject) -> None:
    pandas = pytest.importorskip("pandas")
    words = st.text("abcé ", min_size=1, max_size=80).filter(str.strip)
    rows = data.draw(st.lists(st.tuples(words, st.integers(-5, 5), st.floats(0, 1)), min_size=2, max_size=80))
    order = data.draw(st.permutations(["content", "n", "score"]))
    frame = pandas.DataFrame(rows, columns=["content", "n", "score"])[order]
    with pytest.raises(InputError, match="print of a data frame"):
        passages(str(frame))


@given(st.text("text 01.\n\\|+-", max_size=80))
def test_any_text_is_a_frame_or_none(text: str) -> None:
    assert is_printed_frame(text) in (True, False)


def test_a_frame_of_documents_scores_as_its_json(tmp_path: Path) -> None:
    """The first of two passages is useless: context_precision is 0.5, and was 1.0 with both in one passage."""
    pandas = pytest.importorskip("pandas")
    texts = ["The shop sells bells and lamps.", "A cargo bike may be kept for two days."]
    row = {"question": "How long may a cargo bike be kept?", "answer": "Two days.", "reference": "Two days."}
    cells = [[Document(text, {}) for text in texts], json.dumps(texts)]
    pandas.DataFrame([{**row, "contexts": cell} for cell in cells]).to_csv(tmp_path / "r.csv", index=False)
    content = (tmp_path / "r.csv").read_text()
    (tmp_path / "r.csv").write_text(content.replace(f"{__name__}.", ""))
    result = evaluate(str(tmp_path / "r.csv"), "context_precision", store=None, progress=False)
    assert [scored.scores["context_precision"].value for scored in result] == [0.5, 0.5]


def test_a_row_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,contexts\nbad,\"['a' 'b']\"\ngood,\"['a', 'b']\"\n")
    bad, good = (item for _, item in open_data(tmp_path / "r.csv"))
    assert (bad.id, good.id, len(good.contexts)) == ("bad", "good", 2)
