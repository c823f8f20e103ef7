"""Query engines whose retrievers deliver pictures: contexts carry them as the application named them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from assay_llama_index.records import contexts_of
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import (
    ImageDocument,
    ImageNode,
    MediaResource,
    Node,
    NodeWithScore,
    QueryBundle,
    TextNode,
)

from assay.records import Context
from assay.records.images import data_uri
from integrations.llama_index.tests.fakes import Shelf
from tests._support.servers.sight import drawn

BRIDGE = drawn("The bridge opened in 1931.", 40)
BARE = base64.b64encode(BRIDGE).decode()
URI = data_uri(BRIDGE)
PLACE = "https://x.test/a.png"

NODES = [
    (lambda: ImageNode(id_="p", image=BARE, image_mimetype="image/png"), "", URI),
    (lambda: ImageNode(id_="p", image=URI), "", URI),
    (lambda: ImageNode(id_="p", image_path="/charts/a.png"), "", "/charts/a.png"),
    (lambda: ImageNode(id_="p", image_url=PLACE), "", PLACE),
    (lambda: ImageNode(id_="p", image=BARE, image_path="/charts/a.png", text="A bridge."), "A bridge.", URI),
    (lambda: ImageDocument(id_="p", image=BARE), "", URI),
    (lambda: Node(id_="p", image_resource=MediaResource(data=BRIDGE)), "", URI),
    (lambda: Node(id_="p", image_resource=MediaResource(path=Path("/charts/a.png"))), "", "/charts/a.png"),
    (lambda: Node(id_="p", image_resource=MediaResource(url=PLACE)), "", PLACE),
    (lambda: TextNode(id_="p", text="", metadata={"image_path": "/charts/a.png"}), "", "/charts/a.png"),
    (lambda: TextNode(id_="p", text="A bridge.", metadata={"image_path": "/charts/a.png"}), "A bridge.", None),
]


class Engine(CustomQueryEngine):
    shelf: Any

    def custom_query(self, query_str: str) -> str:
        self.shelf.retrieve(QueryBundle(query_str))
        return "It opened in 1931."


@pytest.mark.parametrize(("make", "text", "image"), NODES)
def test_a_node_that_is_a_picture(heard: Any, make: Any, text: str, image: str | None) -> None:
    Engine(shelf=Shelf(make())).query("When did the bridge open?")
    (context,) = heard.one.contexts
    assert (context.text, context.image, context.id) == (text, image, "p")


@pytest.mark.parametrize(("make", "text", "image"), NODES)
def test_evaluators_get_the_same_pictures(make: Any, text: str, image: str | None) -> None:
    (context,) = contexts_of([NodeWithScore(node=make(), score=0.5)])
    assert (context.text, context.image, context.score) == (text, image, 0.5)
    assert isinstance(context, Context)


def test_the_same_picture_of_ten_nodes_is_one_context(heard: Any) -> None:
    nodes = [ImageNode(id_=f"p{n}", image=BARE) for n in range(10)]
    Engine(shelf=Shelf(*nodes)).query("When did the bridge open?")
    assert [context.image for context in heard.one.contexts] == [URI]
