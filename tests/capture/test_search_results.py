"""Blocks of the type `search_result` are passages, and what a model reads of them stands in its prompt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture.messages import search_results_in
from assay.records.messages import prompt_of


def block(*texts: str, **more: Any) -> dict[str, Any]:
    return {"type": "search_result", "content": [{"type": "text", "text": text} for text in texts], **more}


def test_a_passage_has_its_texts_its_title_and_its_source() -> None:
    found = search_results_in([block("one", "two", title="Cats", source="https://cats.example"), {"type": "text"}])
    assert found == [{"text": "one\ntwo", "metadata": {"title": "Cats", "source": "https://cats.example"}}]


@pytest.mark.parametrize("content", [None, "text", 7, [], ["text"], [{"type": "text", "text": "one"}], [None]])
def test_other_content_holds_none(content: Any) -> None:
    assert search_results_in(content) == []


@pytest.mark.parametrize("content", [None, "one", [None], [{"type": "text"}], {"type": "text", "text": "x"}])
def test_a_block_may_hold_anything(content: Any) -> None:
    odd = {"type": "search_result", "content": content, "title": 7}
    assert [set(found) for found in search_results_in([odd])] == [{"text", "metadata"}]
    assert isinstance(prompt_of([{"role": "tool", "content": [odd]}]), tuple)


@given(st.lists(st.lists(st.text())))
def test_every_text_stands_in_the_prompt(blocks: list[list[str]]) -> None:
    message = {"role": "tool", "content": [block(*texts) for texts in blocks]}
    assert list(prompt_of([message])) == [text for texts in blocks for text in texts]
