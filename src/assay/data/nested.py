"""JSON of evaluation tools in which rows or their fields lie one level deeper, brought to plain rows.

- an object with the list of rows under a key such as `rows`, `data` or `results`, one below the other where need be
- pandas' "split" orientation, `{"columns": [...], "data": [[...], ...]}`, in which MLflow stores evaluation tables
- rows of MLflow's evaluation data sets, with `inputs`, `outputs` and `expectations`
- results of promptfoo, with `vars`, `response.output` and the test's own variables
- rows of Amazon Bedrock's evaluation jobs: see `assay.data.bedrock.read`
- rows of RAGChecker, whose `query_id` is that of the row

What is none of these stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.data.bedrock.read import bedrock_row
from assay.data.cell_paths import object_in
from assay.records.field_names import REFERENCE_MESSAGES, field_of

#: Where tools put the list of rows.
WRAPPERS = ("rows", "data", "results", "examples", "records", "samples", "items", "test_cases", "entries")
#: Objects within a row whose keys are fields, in the order in which they count.
_REFERENCES = (
    "expectations", "reference_outputs", "referenceOutputs", "expected_output", "expectedOutput", "expected_outputs",
    "expected", "reference",
)  # fmt: skip
_PARTS = ("inputs", "input", "vars", "outputs", "output", "response", "answer", *_REFERENCES)
#: Keys of what a model's call gave back: it is one value, and its id is not the row's.
_MODEL_OUTPUTS = frozenset(("choices", "generations"))
#: Fields that a text of JSON under one of these names may hold.
_HELD = ("question", "answer", "contexts", "reference", "reference_contexts", "messages")


def rows_within(data: Mapping[str, Any], depth: int = 2) -> list[Any] | None:
    """The rows of an object that holds a list of objects under one of `WRAPPERS`; None where it holds none."""
    names, values = data.get("columns"), data.get("data")
    if _are_texts(names) and isinstance(values, list) and values and all(isinstance(row, list) for row in values):
        assert isinstance(names, list)
        return [dict(zip(names, row, strict=False)) for row in values]
    for name in WRAPPERS:
        inner = data.get(name)
        if isinstance(inner, list) and inner and all(isinstance(row, Mapping) for row in inner):
            if any(field_of(key) in ("question", "answer") for key in data if key != name):
                return None  # one row, with a list of objects in it
            return list(inner)
        if isinstance(inner, Mapping) and depth:
            found = rows_within(inner, depth - 1)
            if found is not None:
                return found
    return None


def flattened(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row whose fields lie within `inputs`, `outputs`, `expectations` or `vars`, with them beside the others.

    Only where they bring a field of a sample that the row itself has not.
    """
    if (found := bedrock_row(row)) is not None:
        return found
    if "gt_answer" in row and "query_id" in row and "id" not in row:  # RAGChecker
        row = {"id" if key == "query_id" else key: value for key, value in row.items()}
    row = _opened(row)
    if not any(isinstance(row.get(part), Mapping) for part in _PARTS):
        return row
    own = {field_of(str(key)) for key, value in row.items() if not isinstance(value, Mapping)} | {None}
    parts = [
        part
        for part in _PARTS
        if isinstance(inner := row.get(part), Mapping)
        and _fields_in(inner, part) - own
        and not inner.keys() & _MODEL_OUTPUTS
    ]
    if not parts:
        return row
    flat: dict[str, Any] = {key: value for key, value in row.items() if key not in parts}
    answered = any("messages" in _fields_in(row[part], part) for part in parts if part in ("outputs", "output"))
    for part in parts:
        for key, value in row[part].items():
            name = _renamed(str(key), part)
            if not (answered and part in ("inputs", "input") and field_of(name) == "messages"):
                flat.setdefault(name, value)  # of the messages put in and those that came out, the latter are all
    response = flat.get("response")
    if "vars" in parts and isinstance(response, Mapping) and isinstance(response.get("output"), str):
        flat["response"] = response["output"]  # promptfoo
    return flat


def _opened(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with objects in place of texts of JSON whose keys are fields, as exports of traces to CSV have them."""
    opened = {
        part: inner
        for part in _PARTS
        if isinstance(row.get(part), str)
        and (inner := object_in(row[part])) is not None
        and _fields_in(inner, part).intersection(_HELD)
    }
    return {**row, **opened} if opened else row


def _fields_in(inner: Mapping[Any, Any], part: str) -> set[str | None]:
    return {field_of(_renamed(str(key), part)) for key in inner}


def _renamed(key: str, part: str) -> str:
    """MLflow calls the reference answer `expected_response`, among the expectations.

    What LangSmith and openevals have as the reference's messages is not the conversation.
    """
    if part in _REFERENCES and field_of(key) == "messages":
        return REFERENCE_MESSAGES
    if part in _REFERENCES and (key in ("text", "content", "value") or field_of(key) in ("answer", "reference")):
        return "reference"
    if part in _REFERENCES and field_of(key) == "contexts":
        return "reference_contexts"
    return key


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
