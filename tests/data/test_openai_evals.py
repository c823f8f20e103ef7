"""`openai-evals:EXPORT`: what people save from OpenAI's hosted evals, in the shapes in which they save it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.evals.runs import OutputItemListResponse

from assay import evaluate
from assay.data import RowError, open_data
from assay.data.openai_evals.read import open_source
from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample


def output_item(number: int = 1, **changed: Any) -> dict[str, Any]:
    """One output item as the API gives it."""
    return {
        "object": "eval.run.output_item", "id": f"outputitem_{number}", "created_at": 1743092076,
        "run_id": "evalrun_1", "eval_id": "eval_1", "status": "fail", "datasource_item_id": number,
        "datasource_item": {
            "question": f"Who wrote book {number}?", "docs": [f"Ann wrote book {number}.", "Bob sells books."],
            "ground_truth": "Ann", "topic": "books",
        },
        "results": [
            {"name": "String check-a2486074", "type": "string_check", "passed": False, "score": 0.0,
             "sample": {"a whole": "conversation"}},
            {"name": "Model grader", "passed": True, "score": 0.8, "sample": None},
        ],
        "sample": {
            "input": [{"role": "developer", "content": "Be short."},
                      {"role": "user", "content": "Passages: ...\nQuestion: who wrote it?"}],
            "output": [{"role": "assistant", "content": f"Ann wrote book {number}."}],
            "finish_reason": "stop", "model": "gpt-x", "error": None, "max_completion_tokens": 256, "seed": 42,
            "temperature": 1.0, "top_p": 1.0,
            "usage": {"total_tokens": 3, "completion_tokens": 1, "prompt_tokens": 2, "cached_tokens": 0},
        },
        **changed,
    }  # fmt: skip


def page(*items: Any) -> dict[str, Any]:
    return {"object": "list", "data": list(items), "first_id": "a", "last_id": "b", "has_more": True}


def read(path: Path, **options: Any) -> list[Sample | RowError]:
    return [row for _, row in open_data(f"openai-evals:{path}", **options)]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def one(tmp_path: Path, record: object, **options: Any) -> Sample:
    (found,) = read(written(tmp_path, "one.jsonl", json.dumps(record) + "\n"), **options)
    assert isinstance(found, Sample), found
    return found


def test_an_output_item_is_a_sample_with_what_the_graders_said(tmp_path: Path) -> None:
    sample = one(tmp_path, output_item())
    assert sample.question == "Who wrote book 1?"  # the item's own, not the prompt that was made with it
    assert sample.passages == ("Ann wrote book 1.", "Bob sells books.")
    assert sample.answer == "Ann wrote book 1."
    assert sample.reference == "Ann"
    assert sample.id == "outputitem_1"
    assert sample.ids["openai_eval_id"] == "eval_1"
    assert sample.ids["openai_run_id"] == "evalrun_1"
    assert sample.metadata["topic"] == "books"
    kept = sample.metadata["openai_evals"]
    assert kept["results"] == [
        {"name": "String check-a2486074", "type": "string_check", "passed": False, "score": 0.0},
        {"name": "Model grader", "passed": True, "score": 0.8},
    ]
    assert (kept["status"], kept["model"], kept["usage"]["total_tokens"]) == ("fail", "gpt-x", 3)
    assert Sample.from_dict(sample.to_dict()) == sample


def test_what_the_client_of_today_hands_out_is_read(tmp_path: Path) -> None:
    made = OutputItemListResponse.construct(**output_item())
    assert one(tmp_path, made.to_dict(mode="json", warnings=False)).answer == "Ann wrote book 1."


ITEMS = [output_item(n) for n in range(3)]

SHAPES: dict[str, Callable[[], tuple[str, str]]] = {
    "list": lambda: ("run.json", json.dumps(ITEMS)),
    "pretty list": lambda: ("run.json", json.dumps(ITEMS, indent=2)),
    "lines": lambda: ("run.jsonl", "\n".join(map(json.dumps, ITEMS)) + "\n\n"),
    "lines in .json": lambda: ("run.json", "\n".join(map(json.dumps, ITEMS))),
    "list in .jsonl": lambda: ("run.jsonl", json.dumps(ITEMS)),
    "page": lambda: ("run.json", json.dumps(page(*ITEMS))),
    "pages one after the other": lambda: (
        "run.json", json.dumps(page(ITEMS[0]), indent=1) + "\n" + json.dumps(page(*ITEMS[1:]), indent=1),
    ),
    "pretty pages in .jsonl": lambda: (
        "run.jsonl", json.dumps(page(ITEMS[0]), indent=1) + "\n" + json.dumps(page(*ITEMS[1:]), indent=1),
    ),
    "pages in lines": lambda: ("run.jsonl", json.dumps(page(ITEMS[0])) + "\n" + json.dumps(page(*ITEMS[1:]))),
    "pages in a list": lambda: ("run.json", json.dumps([page(ITEMS[0]), page(), page(*ITEMS[1:])])),
    "overlapping pages": lambda: ("run.json", json.dumps([page(*ITEMS[:2]), page(*ITEMS[1:])])),
    "texts of JSON": lambda: ("run.json", json.dumps([json.dumps(one) for one in ITEMS])),
    "by run": lambda: ("run.json", json.dumps({"evalrun_1": ITEMS[:1], "evalrun_2": ITEMS[1:]})),
    "a script's bundle": lambda: (
        "run.json",
        json.dumps({
            "eval": {"object": "eval", "id": "eval_1", "testing_criteria": [{"name": "x"}],
                     "data_source_config": {"schema": {"properties": {"item": {"type": "object"}}}}},
            "runs": [{"run": {"object": "eval.run", "id": "evalrun_1"}, "output_items": ITEMS}],
        }),
    ),
    "a mark of order of bytes": lambda: ("run.json", "\ufeff" + json.dumps(ITEMS)),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_samples_in_order(tmp_path: Path, shape: str) -> None:
    name, text = SHAPES[shape]()
    found = read(written(tmp_path, name, text))
    assert [row.id if isinstance(row, Sample) else row.message for row in found] == [one["id"] for one in ITEMS]


def test_a_gzipped_file_and_a_folder_of_all_kinds(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write(json.dumps(output_item(1)))
    written(tmp_path, "deep/er/b.json", json.dumps(page(output_item(2))))
    written(tmp_path, "notes.txt", "not read")
    written(tmp_path, ".cache/c.json", json.dumps(output_item(9)))
    assert [row.id for row in read(tmp_path)] == ["outputitem_1", "outputitem_2"]


def test_a_table_with_names_that_have_dots(tmp_path: Path) -> None:
    cells = 'Why?,"[""So.""]",Because.,"[{""name"": ""g"", ""score"": 1}]"'
    path = written(tmp_path, "t.csv", f"item.question,item.docs,sample.output_text,results\n{cells}\n")
    (sample,) = read(path)
    assert isinstance(sample, Sample)
    assert (sample.question, sample.passages, sample.answer) == ("Why?", ("So.",), "Because.")
    assert sample.metadata["openai_evals"]["results"] == [{"name": "g", "score": 1}]


def test_data_files_with_item_and_sample(tmp_path: Path) -> None:
    row = {"item": {"id": 7, "input": "Why?", "context": "So."}, "sample": {"output_text": "Because."}}
    sample = one(tmp_path, row)
    assert (sample.id, sample.question, sample.passages, sample.answer) == ("7", "Why?", ("So.",), "Because.")


def test_a_stored_completion_is_read(tmp_path: Path) -> None:
    choices = [{"message": {"role": "assistant", "content": "Because."}, "finish_reason": "stop"}]
    assert one(tmp_path, {"item": {"input": "Why?"}, "sample": {"choices": choices}}).answer == "Because."


def test_azure_writes_the_answer_into_the_item(tmp_path: Path) -> None:
    item = {"query": "Why?", "context": "So.", "sample.output_text": "Because.", "sample.output_items": []}
    sample = one(tmp_path, {"object": "eval.run.output_item", "id": "1", "datasource_item": item, "results": []})
    assert (sample.question, sample.answer) == ("Why?", "Because.")


def test_an_answer_in_the_item_counts_only_where_nothing_was_sampled(tmp_path: Path) -> None:
    item = {"question": "Why?", "response": "From the item."}
    assert one(tmp_path, {"item": item}).answer == "From the item."
    assert one(tmp_path, {"item": item, "sample": {"output_text": "Sampled."}}).answer == "Sampled."
    sampled = {"output": [{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]}
    assert one(tmp_path, {"item": item, "sample": sampled}).answer is None  # it called a tool: nothing was said


def test_messages_give_the_last_question_and_the_turns_before(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Ann."},
        {"role": "user", "content": [{"type": "input_text", "text": "When?"}]},
    ]
    for record in (
        {"item": {"input": messages}, "sample": {"output_text": "In May."}},
        {"item": {"topic": "books"}, "sample": {"input": messages, "output_text": "In May."}},
    ):
        sample = one(tmp_path, record)
        assert sample.question == "When?"
        assert [(turn.question, turn.answer) for turn in sample.history] == [("Who?", "Ann.")]


def test_a_failed_generation_is_a_failed_sample(tmp_path: Path) -> None:
    sampled = {"output": [], "error": {"code": "rate_limit", "message": "too many"}}
    sample = one(tmp_path, {**output_item(), "sample": sampled})
    assert (sample.status, sample.answer) == ("failed", None)
    assert sample.metadata["openai_evals"]["error"]["code"] == "rate_limit"
    assert one(tmp_path, {**output_item(), "sample": {"error": {"code": "", "message": ""}}}).status == "complete"


def test_a_column_map_takes_names_of_the_item_and_paths(tmp_path: Path) -> None:
    record = output_item(datasource_item={"frage": "Warum?", "found": {"texts": ["So."]}, "gold": "Darum."})
    mapped = {"question": "frage", "contexts": "item.found.texts", "reference": "datasource_item.gold",
              "answer": "sample.model", "id": "datasource_item_id"}  # fmt: skip
    sample = one(tmp_path, record, column_map=mapped)
    assert (sample.question, sample.passages, sample.reference) == ("Warum?", ("So.",), "Darum.")
    assert (sample.answer, sample.id) == ("gpt-x", "1")


def test_two_names_for_one_field_are_asked_about(tmp_path: Path) -> None:
    record = {"item": {"query": "Why?", "input": "x"}, "sample": {"output_text": "So."}}
    path = written(tmp_path, "one.jsonl", json.dumps(record))
    with pytest.raises(InputError, match=r"'one.jsonl', line 1: columns 'query' and 'input' can all be the question"):
        read(path)
    assert one(tmp_path, record, column_map={"question": "query"}).question == "Why?"  # as the message advises


@pytest.mark.parametrize("mapped", [{"contexts": "item.docz"}, {"contexts": "sample.docs"}, {"context_list": "docs"}])
def test_a_column_map_that_fits_nothing_is_an_error_before_anything_is_scored(tmp_path: Path, mapped: Any) -> None:
    path = written(tmp_path, "one.jsonl", json.dumps(output_item()))
    with pytest.raises(InputError, match="column_map"):
        open_data(f"openai-evals:{path}", column_map=mapped)


def test_a_run_counts_where_its_items_are_not_there(tmp_path: Path) -> None:
    content = [{"item": {"question": "Why?"}, "sample": {"output_text": "So."}}]
    source = {"type": "jsonl", "source": {"type": "file_content", "content": content}}
    runs = [{"object": "eval.run", "id": f"evalrun_{n}", "data_source": source} for n in (1, 2)]
    written(tmp_path, "a_runs.json", json.dumps(page(*runs)))
    assert [row.ids["openai_run_id"] for row in read(tmp_path) if isinstance(row, Sample)] == ["evalrun_1", "evalrun_2"]
    written(tmp_path, "b_items.json", json.dumps([output_item(1, run_id="evalrun_1")]))
    found = read(tmp_path)
    assert [row.ids["openai_run_id"] for row in found if isinstance(row, Sample)] == ["evalrun_1", "evalrun_2"]
    assert [row.id for row in found] == ["outputitem_1", None]  # the item of run 1, the inside of run 2


def test_an_item_that_comes_twice_with_other_content_is_told(tmp_path: Path) -> None:
    other = output_item(1, datasource_item={"question": "Another?"})
    found = read(written(tmp_path, "run.json", json.dumps([output_item(1), other, output_item(1)])))
    assert [type(row) for row in found] == [Sample, RowError]


BROKEN = [
    ("x.jsonl", json.dumps(output_item()) + "\n{cut", "line 2 is no JSON"),
    ("x.jsonl", json.dumps(output_item()) + "\n[1]\n", "line 2: expected a JSON object, found list"),
    ("x.json", json.dumps([output_item(), 3]), "item 2: expected an output item, found int 3"),
    ("x.json", json.dumps([output_item()]) + "\n[{", "line 2: is no JSON"),
    ("x.json", json.dumps([output_item()]) + '\n[{"a": "cut of', "line 2: is no JSON: Unterminated string"),
    ("x.json", json.dumps([output_item(), {"question": "a", "contexts": []}]), "item 2: expected an output item (data"),
    ("x.json", json.dumps([output_item(), {"spec": {}, "final_report": {}}]), "open-source `evals` package"),
    (
        "x.json",
        json.dumps([output_item(2, datasource_item={"question": {"a": 1}}), output_item()]),
        "column 'question'",
    ),
    ("x.json", json.dumps([output_item(2, datasource_item={"docs": [{"a": 1}]}), output_item()]), "passage 1 of 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_what_cannot_be_read_says_where_and_loses_nothing_else(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    found = read(written(tmp_path, name, text))
    (error,) = [row for row in found if isinstance(row, RowError)]
    assert "'x.json" in error.message
    assert message in error.message
    assert [row.id for row in found if isinstance(row, Sample)] == ["outputitem_1"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "", "empty"),
        ("x.json", "  \n", "empty"),
        ("x.json", json.dumps([output_item()], indent=1)[:-400], r"line \d+: is no JSON: .*the file ends"),
        ("x.json", "\udcff", "not UTF-8"),
        ("x.json", "[" * 100_000, "cannot be read as JSON"),
        ("x.json", json.dumps({"question": "a", "contexts": []}), "keys 'question', 'contexts'"),
        ("x.json", json.dumps(page()), "no rows"),
        ("x.jsonl", '{"spec": {"eval_name": "a"}}\n' * 3, "open-source"),
        ("x.txt", "a", "unknown kind of file"),
        ("folder/readme.md", "a", "folder without a file"),
    ],
)
def test_what_holds_nothing_is_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=message):
        read(path.parent if "/" in name else path)


@pytest.mark.parametrize("address", ["", "nowhere.jsonl", "nowhere", "a\0b", "~nobody/x"])
def test_a_wrong_address_is_an_error_at_once(address: str) -> None:
    with pytest.raises(InputError):
        open_source(address)


def test_a_source_without_columns_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no option 'column_map'"):
        open_data("otel:spans.jsonl", column_map={"question": "q"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["object", "data", "item", "sample", "datasource_item", "id", "results", "output", "input",
                         "runs", "data_source", "source", "content", "question", "docs", "role", "error", "choices"]),
        inner, max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.long
@given(junk=st.lists(json_values, max_size=4))
def test_no_json_at_all_breaks_the_reading(tmp_path_factory: pytest.TempPathFactory, junk: list[Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.json"
    path.write_text(json.dumps([*junk, output_item(1)]), encoding="utf-8")
    found = list(open_source(str(path)))
    assert all(isinstance(row, (Sample, RowError)) for row in found)
    assert "outputitem_1" in [row.id for row in found if isinstance(row, Sample)]


@given(cuts=st.lists(st.integers(0, 6), max_size=3), lines=st.booleans())
def test_items_are_found_however_they_are_put_in_pages(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], lines: bool
) -> None:
    items = [output_item(n) for n in range(6)]
    borders = [0, *sorted(cuts), 6]
    pages = [page(*items[a:b]) for a, b in pairwise(borders)]
    path = tmp_path_factory.getbasetemp() / "pages.jsonl"
    path.write_text("\n".join(map(json.dumps, pages)) if lines else json.dumps(pages), encoding="utf-8")
    found = list(open_source(str(path)))
    assert [row.id for row in found] == [one["id"] for one in items]


def test_it_is_scored(tmp_path: Path) -> None:
    path = written(tmp_path, "run.json", json.dumps(page(*ITEMS, {"item": 3})))
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if passage.startswith("Ann") else "not_mentioned")
    result = evaluate(f"openai-evals:{path}", ["faithfulness"], judge, store=tmp_path / "store", progress=False)
    assert result.metrics["faithfulness"].mean == 1.0  # 3 answers, each said by its first passage
    assert [failure.cause for failure in result.errors] == [Cause.BAD_ROW]
    result.store.close()
