"""Fields within cells: JSON in a text, objects in objects, and paths to them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.cli.error_terms import for_the_command_line
from assay.data import RowError, open_data
from assay.data.cell_paths import at_path, has_path
from assay.errors import InputError
from assay.records import Sample

QUESTION, ANSWER = "How long may a cargo bike be kept?", "A cargo bike may be kept for two days."
CONTEXTS = ["The shop sells bells and lamps.", "A cargo bike may be kept for two days."]


def one(data: Any, **options: Any) -> Sample:
    [(_, sample)] = open_data(data, **options)
    assert not isinstance(sample, RowError), sample
    return sample


def write(path: Path, row: dict[str, Any]) -> Path:
    """A file of one row: objects as JSON in the cells of CSV."""
    if path.suffix == ".jsonl":
        path.write_text(json.dumps(row))
    else:
        with path.open("w", newline="") as file:
            cells = [cell if isinstance(cell, str) else json.dumps(cell) for cell in row.values()]
            csv.writer(file).writerows([row.keys(), cells])
    return path


EXPORTS: dict[str, dict[str, Any]] = {
    "Langfuse's traces": {
        "id": "t", "timestamp": "2026-03-04", "input": {"query": QUESTION},
        "output": {"answer": ANSWER, "contexts": CONTEXTS}, "metadata": {"release": "b2"},
        "expectedOutput": {"answer": "Two days."},
    },
    "LangSmith's examples": {
        "id": "t", "inputs": {"question": QUESTION}, "outputs": {"answer": ANSWER, "documents": CONTEXTS},
        "reference_outputs": {"answer": "Two days."},
    },
    "MLflow's data sets": {
        "inputs": {"question": QUESTION}, "outputs": {"response": ANSWER, "retrieved_context": CONTEXTS},
        "expectations": {"expected_response": "Two days."},
    },
    "a text as reference": {
        "input": {"question": QUESTION}, "output": {"response": ANSWER, "retrieved_contexts": CONTEXTS},
        "expected": {"text": "Two days."},
    },
    "a response": {
        "question": QUESTION, "response": {"answer": ANSWER, "source_documents": CONTEXTS}, "ground_truth": "Two days.",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
@pytest.mark.parametrize("row", EXPORTS.values(), ids=EXPORTS)
def test_fields_in_objects_are_read_from_json_in_cells_as_well(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    data = open_data(write(tmp_path / name, row))
    assert {"question", "answer", "contexts", "reference"} <= data.columns
    sample = one(data)
    assert (sample.question, sample.answer, list(sample.passages)) == (QUESTION, ANSWER, CONTEXTS)
    assert sample.reference == "Two days."
    assert any("the JSON in" in note for note in data.doubts) == (name == "r.csv")


def test_the_judge_never_sees_the_braces(tmp_path: Path) -> None:
    """`answer_correctness` needs no contexts, and judged `{"answer": ...` before."""
    path = write(tmp_path / "r.csv", EXPORTS["Langfuse's traces"])
    (scored,) = evaluate(str(path), "answer_correctness", store=None, progress=False)
    assert (scored.sample.answer, scored.sample.reference) == (ANSWER, "Two days.")


@pytest.mark.parametrize(
    "cell", ['{"place": "Farrow", "opens": "ten"}', '{"tokens": 4}', "{ return 1; }", '["a", "b"]', '{"answer": ', "{}"]
)
def test_an_answer_that_is_json_stays(cell: str) -> None:
    """No key in it names a field."""
    assert one([{"input": "Give it as JSON.", "output": cell, "expected_output": cell}]).answer == cell


DEEP = {
    "id": "t", "input": {"query": QUESTION},
    "output": {"answer": ANSWER, "retrieval": {"contexts": CONTEXTS}, "hits": [{"a": "x y"}, {"a": "z"}, {}]},
    "metadata": {"found.by": {"contexts": CONTEXTS}},
}  # fmt: skip


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("output.retrieval.contexts", CONTEXTS),
        ("metadata.found.by.contexts", CONTEXTS),  # a key with a dot
        ("output.hits.a", ["x y", "z"]),  # in each item of a list
        ("output.hits.1.a", ["z"]),
    ],
)
def test_a_path_is_that_of_the_file(tmp_path: Path, name: str, path: str, expected: list[str]) -> None:
    data = open_data(write(tmp_path / name, DEEP), column_map={"contexts": path})
    assert "contexts" in data.columns
    assert list(one(data).passages) == expected
    assert one(data).answer == ANSWER


def test_several_paths_and_a_key_of_passages() -> None:
    row = {"question": "q", "contexts": [{"de": "Es brannte.", "en": "It was lit."}], "more": {"x": "and more"}}
    assert one([row], column_map={"contexts": "contexts.en"}).passages == ("It was lit.",)
    assert one([row], column_map={"contexts": ["contexts.de", "more.x"]}).passages == ("Es brannte.", "and more")


def test_a_path_that_leads_nowhere_is_no_column() -> None:
    with pytest.raises(InputError, match=r"there is no column 'output\.retrieval\.texts'"):
        open_data([DEEP], column_map={"contexts": "output.retrieval.texts"})


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
def test_the_message_has_the_path_to_paste(tmp_path: Path, name: str) -> None:
    row = {key: value for key, value in DEEP.items() if key != "metadata"}
    with pytest.raises(InputError) as error:
        evaluate(str(write(tmp_path / name, row)), "faithfulness", store=None)
    assert "--map 'contexts=output.retrieval.contexts'" in for_the_command_line(str(error.value))


def test_metadata_as_contexts_is_refused_with_the_path(tmp_path: Path) -> None:
    row = {"question": "q", "metadata": {"release": "b2", "contexts": CONTEXTS}}
    [(_, found)] = open_data(write(tmp_path / "r.csv", row), column_map={"contexts": "metadata"})
    assert isinstance(found, RowError)
    assert "a list under 'contexts'; if these are the passages, name the list" in found.message
    assert found.message.endswith("--map contexts=metadata.contexts")


keys = st.text("ab.", min_size=1, max_size=3)
values = st.recursive(st.integers() | st.text("ab"), lambda inner: st.dictionaries(keys, inner, max_size=3))


@given(st.dictionaries(keys, values, min_size=1, max_size=3))
def test_the_path_to_each_value_finds_it(row: dict[str, Any]) -> None:
    """Where no other key is a longer beginning of the path, and objects are not empty."""
    for key, value in row.items():
        assert has_path(row, key)
        assert at_path(row, key) == value
        inner = value if isinstance(value, dict) else {}
        for name, found in inner.items():
            path = f"{key}.{name}"
            if not any(path.startswith(other) and len(other) > len(key) for other in row):
                assert at_path(row, path) == found
                assert at_path({key: json.dumps(value)}, path) == found


# -- `reference` as the retrieved text ---------------------------------------------------------------------------------

SPAN = {"context.span_id": "a41c", "input": QUESTION, "output": ANSWER}


@pytest.mark.parametrize("reference", ["\n\n".join(CONTEXTS), CONTEXTS])
@pytest.mark.parametrize(
    "beside", [{"context.span_id": "a"}, {"context.trace_id": "t"}, {"document_position": 0, "document_score": 0.5}]
)
def test_phoenix_s_reference_is_the_retrieved_text(beside: dict[str, Any], reference: Any) -> None:
    data = open_data([{**beside, "input": QUESTION, "output": ANSWER, "reference": reference}])
    assert "reference" not in data.columns
    assert (one(data).reference, list(one(data).passages)) == (
        None, [reference] if isinstance(reference, str) else reference,
    )  # fmt: skip
    assert "says that Phoenix wrote this file" in data.doubts[0]


def test_phoenix_s_frame_has_the_span_as_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([{**SPAN, "reference": CONTEXTS[1]}]).set_index("context.span_id")
    assert one(frame).passages == (CONTEXTS[1],)


def test_a_metric_of_the_right_answer_is_refused_for_it() -> None:
    with pytest.raises(InputError, match=r"needs reference.*'reference' was read as the contexts"):
        evaluate([{**SPAN, "reference": CONTEXTS[1]}], "answer_correctness", store=None)


@pytest.mark.parametrize(
    ("more", "column_map"),
    [({"contexts": CONTEXTS}, None), ({}, {"reference": "reference"})],
    ids=["contexts beside it", "the user says so"],
)
def test_phoenix_s_reference_may_be_the_right_answer(more: Any, column_map: Any) -> None:
    data = open_data([{**SPAN, **more, "reference": "Two days."}], column_map=column_map)
    assert one(data).reference == "Two days."
    assert data.doubts == ()


@pytest.mark.parametrize("reference", [CONTEXTS, "The shop sells bells. " * 20])
def test_a_reference_that_looks_retrieved_is_doubted(reference: Any) -> None:
    """Two texts, or 440 characters for an answer of 38."""
    row = {"question": QUESTION, "answer": ANSWER, "reference": reference}
    (doubt,) = open_data([row]).doubts
    assert 'if it is the retrieved text, column_map={"contexts": "reference"} reads it so' in doubt
    with pytest.raises(InputError, match=r'needs contexts.*column_map=\{"contexts": "reference"\}'):
        evaluate([row], "faithfulness", store=None)


def test_a_long_right_answer_beside_contexts_is_not_doubted() -> None:
    row = {"question": "q", "answer": "a", "reference": "The shop sells bells. " * 20, "contexts": ["c"]}
    assert open_data([row]).doubts == ()
    assert open_data([{"question": "q", "answer": "Two days, she said.", "reference": "Two days."}]).doubts == ()


ASKED = {"role": "user", "content": "Where?"}
SAID = {"role": "assistant", "content": "In France."}
OUTPUTS: dict[str, Any] = {
    "one message": SAID,
    "a list of it": [SAID],
    "a completion": {"id": "x", "choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}], "usage": {}},
    "an old completion": {"choices": [{"text": "In France.", "index": 0}]},
    "generations": {"generations": [[{"text": "In France.", "message": {"lc": 1, "kwargs": {}}}]], "llm_output": None},
    "flat generations": {"generations": [{"text": "In France."}]},
}


@pytest.mark.parametrize("form", OUTPUTS)
@pytest.mark.parametrize(
    "question", [[{"role": "user", "content": "Where?"}], {"role": "user", "content": "Where?"}, "Where?"]
)
def test_what_a_model_gave_back_is_read_in_a_cell_and_as_an_object(tmp_path: Path, form: str, question: Any) -> None:
    """As exports of traces to CSV and JSONL have the input and the output of a call."""
    cells = [value if isinstance(value, str) else json.dumps(value) for value in (question, OUTPUTS[form])]
    with (tmp_path / "r.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["input", "output"], cells])
    for data in (str(tmp_path / "r.csv"), [{"input": question, "output": OUTPUTS[form]}]):
        ((_, sample),) = open_data(data)
        assert isinstance(sample, Sample), sample
        assert (sample.question, sample.answer) == ("Where?", "In France.")


@pytest.mark.parametrize(
    "answer",
    ['{"role": "admin"}', '{"choices": []}', '{"choices": [1]}', '{"generations": [[]]}', '{"choices": {"a": 1}}'],
)
def test_an_object_that_is_no_output_of_a_model_stays_a_text(answer: str) -> None:
    ((_, sample),) = open_data([{"question": "Where?", "answer": answer}])
    assert isinstance(sample, Sample)
    assert sample.answer == answer
