"""Nodes as records: what is taken from a plain text node by its fields is what its methods say."""

from __future__ import annotations

from typing import Any

import pytest
from assay_llama_index.records import (
    are_copies,
    content_of,
    copies_of,
    document_of,
    is_copy,
    is_intermediate_answer,
    text_in,
    texts_in,
)
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
    found = document_of(NodeWithScore(node=node, score=score))
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
    found = document_of(node)
    assert is_copy(found, node)
    change(node)
    assert not is_copy(found, node)
    assert (found.text, found.id, found.metadata) == ("Cats purr when calm.", "n1", {"page": 3})


def test_a_node_of_the_applications_own_class_is_asked() -> None:
    found = document_of(Shouting(id_="n1", text="Cats purr."))
    assert found.text == "CATS PURR."
    pictured = document_of(Named(id_="n2", text="A cat.", image_path="cat.png"))
    assert (pictured.text, pictured.image) == ("A cat.", "cat.png")


def node(form: str, text: str, metadata: dict[Any, Any], score: float | None) -> Any:
    """A node of one of the forms that searches deliver."""
    if form == "bare":
        return TextNode(id_="n", text=text, metadata=metadata)
    if form == "other keys":
        held = NodeWithScore(node=TextNode(id_="n", text=text, metadata=metadata), score=score)
        held.node.metadata[7] = "seven"  # which pydantic does not look at any more
        return held
    cls = {"plain": TextNode, "own class": Shouting, "picture": ImageNode}[form]
    return NodeWithScore(node=cls(id_="n", text=text, metadata=metadata), score=score)


FORMS = st.sampled_from(["plain", "bare", "other keys", "own class", "picture"])
TEXTS = st.sampled_from(
    ["Cats purr.", "", "  ", "Sub question: Why?\nResponse: Cats purr.", "\nQuestion: Q\nAnswer: A"]
)
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
NODES = st.lists(
    st.builds(
        node,
        FORMS,
        TEXTS,
        st.dictionaries(st.sampled_from(["page", "source", "score"]), VALUES, max_size=3),
        st.none() | st.sampled_from([0, 0.5, 1]),
    ),
    max_size=5,
)


@given(nodes=NODES)
def test_many_nodes_are_read_as_each_of_them_is(nodes: list[Any]) -> None:
    copies = copies_of(nodes)
    assert copies == [document_of(one) for one in nodes]
    assert are_copies(copies, nodes) == all(map(is_copy, copies, nodes))
    assert texts_in(nodes) == [text_in(one) for one in nodes if not is_intermediate_answer(one)]


@given(nodes=NODES.filter(bool), data=st.data())
def test_copies_stay_as_they_are_whatever_the_host_does_to_its_nodes(nodes: list[Any], data: st.DataObject) -> None:
    copies, before = copies_of(nodes), [document_of(one) for one in nodes]
    changed = data.draw(st.sampled_from(nodes))
    inner = getattr(changed, "node", changed)
    change = data.draw(st.sampled_from(["text", "id_", "metadata", "one value", "score"]))
    if change == "one value":
        for value in inner.metadata.values():
            if isinstance(value, list):
                value.append(0)
        inner.metadata["page"] = "another"
    elif change == "metadata":
        inner.metadata = {"other": 1}
    elif change == "score" and changed is not inner:
        changed.score = 0.25
    elif change != "score":
        setattr(inner, change, "Changed.")
    assert copies == before
    assert are_copies(copies, nodes) == all(map(is_copy, copies, nodes))
    if change != "score" or changed is not inner:
        assert not are_copies(copies, nodes)


def test_fewer_or_more_nodes_or_another_order_are_no_copies() -> None:
    nodes = [NodeWithScore(node=TextNode(id_=str(n), text=f"Cat {n}."), score=0.5) for n in range(3)]
    copies = copies_of(nodes)
    assert are_copies(copies, nodes)
    assert not are_copies(copies, nodes[:2])
    assert not are_copies(copies[:2], nodes)
    assert not are_copies(copies, nodes[::-1])


def test_lists_in_metadata_are_copied_too() -> None:
    found = NodeWithScore(node=TextNode(id_="n", text="Cats purr.", metadata={"tags": ["a"], "page": 1}), score=0.5)
    (copy,) = copies_of([found])
    found.node.metadata["tags"].append("b")
    assert copy.metadata == {"tags": ["a"], "page": 1, "score": 0.5}
    assert not are_copies([copy], [found])
