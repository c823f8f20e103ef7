"""Nodes as records: what is taken from a plain text node by its fields is what its methods say."""

from __future__ import annotations

from typing import Any

import pytest
from assay_llama_index.records import content_of, found_of, is_copy, text_in
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import ImageNode, NodeWithScore, TextNode


class Shouting(TextNode):
    """A node of an application, which makes its text when asked."""

    def get_content(self, *args: Any, **kwargs: Any) -> str:
        return self.text.upper()


#: A node of an application whose class has the name of LlamaIndex' own, and more.
Named = type("TextNode", (ImageNode,), {"__module__": "application.nodes"})


@given(text=st.text(), id=st.text(min_size=1), score=st.none() | st.floats(0, 1), page=st.integers())
def test_fields_of_a_plain_node_are_what_its_methods_say(text: str, id: str, score: float | None, page: int) -> None:
    node = TextNode(id_=id, text=text, metadata={"page": page})
    found = found_of(NodeWithScore(node=node, score=score))
    assert (found.text, found.id, found.image) == (node.get_content(), node.node_id, None)
    assert found.metadata == {"page": page} | ({} if score is None else {"score": score})
    assert is_copy(found, NodeWithScore(node=node, score=score))
    assert content_of(node) == text_in(node) == text


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.set_content("Cats purr when hurt."),
        lambda node: setattr(node, "id_", "n2"),
        lambda node: node.metadata.update(page=4),
        lambda node: node.metadata.pop("page"),
    ],
)
def test_a_node_that_was_changed_is_no_copy(change: Any) -> None:
    node = TextNode(id_="n1", text="Cats purr when calm.", metadata={"page": 3})
    found = found_of(node)
    assert is_copy(found, node)
    change(node)
    assert not is_copy(found, node)
    assert (found.text, found.id, found.metadata) == ("Cats purr when calm.", "n1", {"page": 3})


def test_a_node_of_the_applications_own_class_is_asked() -> None:
    found = found_of(Shouting(id_="n1", text="Cats purr."))
    assert found.text == "CATS PURR."
    pictured = found_of(Named(id_="n2", text="A cat.", image_path="cat.png"))
    assert (pictured.text, pictured.image) == ("A cat.", "cat.png")
