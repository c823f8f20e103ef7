"""Attributes are read the same, whether they came flat, nested or in part."""

from __future__ import annotations

from typing import Any

import pytest
from assay_opentelemetry.attributes import Attributes, flatten, from_json, lookup, nest
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
LEAVES = st.one_of(st.text(), st.integers(), st.booleans(), st.lists(st.text(), max_size=3))


def branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects, and lists of objects: what a span's attributes can spell without loss."""
    objects = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    return st.one_of(objects, st.lists(objects, min_size=1, max_size=3))


@pytest.mark.long
@given(st.dictionaries(NAMES, st.recursive(LEAVES, branches, max_leaves=12), max_size=4))
def test_flat_attributes_nest_to_what_they_were(nested: dict[str, Any]) -> None:
    flat = flatten(nested)
    assert nest(flat) == nested
    assert not any(isinstance(value, dict) for value in flat.values() if value)


@pytest.mark.long
@given(st.dictionaries(NAMES, st.recursive(LEAVES, branches, max_leaves=12), max_size=4))
def test_every_value_is_found_flat_and_nested(nested: dict[str, Any]) -> None:
    flat = flatten(nested)
    for attributes in (Attributes(nested), Attributes(flat)):
        for name, value in {**flat, **nested}.items():
            assert attributes.get(name) == value
            assert name in attributes


def test_items_come_in_the_order_of_their_numbers() -> None:
    flat = {f"documents.{number}.document.content": f"text {number}" for number in (10, 2, 0, 1)}
    found = [lookup(item, "document.content") for item in Attributes(flat).items("documents")]
    assert found == ["text 0", "text 1", "text 2", "text 10"]


def test_a_list_of_dicts_with_dotted_keys_is_read_like_flat_attributes() -> None:
    """The form of Phoenix' data frames."""
    attributes = Attributes({"llm.input_messages": [{"message.role": "user", "message.content": "Why?"}]})
    assert [lookup(item, "message.content") for item in attributes.items("llm.input_messages")] == ["Why?"]


def test_a_name_may_be_a_value_and_the_beginning_of_others() -> None:
    attributes = Attributes({"gen_ai.prompt": "whole", "gen_ai.prompt.0.content": "first"})
    assert attributes.get("gen_ai.prompt") == "whole"
    assert attributes.below("gen_ai.prompt") == [{"content": "first"}]


@given(st.text())
def test_only_json_objects_and_lists_are_read_as_json(text: str) -> None:
    found = from_json(text)
    assert found == text or (isinstance(found, (dict, list)) and text.lstrip()[0] in "{[")


def test_what_begins_like_json_and_is_none_stays_a_text() -> None:
    assert from_json("{question} [1]") == "{question} [1]"
    assert from_json("[" * 100_000) == "[" * 100_000
