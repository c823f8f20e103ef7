"""The forms in which an application may hand its passages to `record_context`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from assay.capture import Document as CapturedDocument
from assay.capture import record_context as recording
from assay.records import Context


class Document(BaseModel):
    """Like LangChain's: iterating it gives its fields."""

    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = {}


@pytest.mark.parametrize(
    "given",
    [
        "one",
        Document(page_content="one"),
        {"text": "one"},
        ("one", 0.5),
        Context(text="one"),
        CapturedDocument("one", None, {}),
        ["one"],
        (Document(page_content="one"),),
        [("one", 0.5)],
    ],
    ids=lambda given: type(given).__name__,
)
def test_one_passage_alone_or_in_a_list(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[CapturedDocument] = []
    monkeypatch.setattr(recording, "_RECORDERS", [lambda found: bool(heard.extend(found)) or True])
    assert recording.record_context(given) is True
    assert [found.text for found in heard] == ["one"]


def test_what_is_read_of_a_generator_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[CapturedDocument] = []
    monkeypatch.setattr(recording, "_RECORDERS", [lambda found: bool(heard.extend(found)) or True])
    documents = [Document(page_content="one"), Document(page_content="two")]
    assert recording.record_context(document for document in documents) == documents
    assert [found.text for found in heard] == ["one", "two"]


def test_what_is_read_of_a_generator_is_given_back_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_RECORDERS", [])
    assert recording.record_context(iter(["one", "two"])) == ["one", "two"]
    assert recording.record_context(text for text in ()) == []


def test_several(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[CapturedDocument] = []
    monkeypatch.setattr(recording, "_RECORDERS", [lambda found: bool(heard.extend(found)) or True])
    recording.record_context(["one", "two"])
    recording.record_context(("three", "four"))
    assert [found.text for found in heard] == ["one", "two", "three", "four"]
