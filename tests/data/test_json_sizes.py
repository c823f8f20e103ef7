"""JSON within the texts of data counts towards the limit of a row before it is parsed, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay._util import byte_limits
from assay._util.byte_limits import TooLargeError
from assay.capture.tool_results import documents_in_result
from assay.data import RowError, open_data
from assay.data.cell_paths import object_in
from assay.data.exports import json_of
from assay.errors import JudgeFailure
from assay.metrics.openevals.json_match import _read
from assay.records.messages import messages_of, tool_call_of

MANY = {
    "a list": '["a"' + ', "a"' * 3000 + "]",
    "empty lists": '{"a": [' + "[], " * 3000 + "[]]}",
    "an object": "{" + ", ".join(f'"{n}": 1' for n in range(3000)) + "}",
    "broken off": '{"a": [' + "1, " * 3000,
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts take some 20 kB, and 200 kB once they are parsed."""
    monkeypatch.setattr(byte_limits, "ROW", 100_000)


def _call(text: str) -> Any:
    return tool_call_of({"name": "search", "arguments": text})


def _messages(text: str) -> Any:
    calls = [{"function": {"name": "search", "arguments": text}}]
    return messages_of([{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": calls}])


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
@pytest.mark.parametrize("read", [json_of, _call, _messages], ids=["json_of", "call", "messages"])
def test_a_text_that_is_large_once_it_is_parsed(read: Callable[[str], Any], text: str) -> None:
    with pytest.raises(TooLargeError, match=r"its values take about 0 MiB in memory.*ASSAY_MAX_LINE_MIB"):
        read(text)


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_the_reference_of_a_metric(text: str) -> None:
    with pytest.raises(JudgeFailure, match="the reference: its values take about") as raised:
        _read(text, "reference")
    assert raised.value.cause == "too_large"


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_what_may_be_json_and_need_not_is_left_as_it_is(text: str) -> None:
    """A hook that captures raises nothing."""
    assert object_in(text) is None
    assert not documents_in_result(text)


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_a_row_with_a_tool_call_is_an_error_and_the_others_are_read(tmp_path: Path, text: str) -> None:
    calls = [{"function": {"name": "search", "arguments": text}}]
    rows = [
        {"question": "q", "answer": "a", "trajectory": [{"role": "assistant", "content": "", "tool_calls": calls}]},
        {"question": "q", "answer": "after"},
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (_, first), (_, second) = open_data(tmp_path / "r.jsonl")
    assert isinstance(first, RowError)
    assert first.cause == "too_large"
    assert "tool call 'search': arguments: its values take about" in first.message
    assert second.answer == "after"


def test_a_text_within_the_limit_is_parsed() -> None:
    assert json_of('{"a": [1, 2]}') == {"a": [1, 2]}
    assert _call('{"a": [1, 2]}').arguments == {"a": [1, 2]}
