"""Chains whose retrievers and tools deliver pictures: the contexts carry them, and no hook looks at a file."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool

from assay.errors import Cause, InputError
from assay.records.images import data_uri, load
from tests._support.servers.sight import drawn

BRIDGE = drawn("The bridge opened in 1931.", 40)
BARE = base64.b64encode(BRIDGE).decode()
URI = data_uri(BRIDGE)
SUMMARY = "A picture of a bridge."


class Album(BaseRetriever):
    found: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.found


def asked(captured: Any, *found: Document) -> Any:
    """The contexts of a chain over these documents."""
    made = captured(metrics="faithfulness")
    answer = RunnableLambda(lambda given: "It opened in 1931.")
    chain = {"context": Album(found=list(found)), "question": RunnablePassthrough()} | answer
    chain.invoke("When did the bridge open?", made.config)
    return made.sample.contexts


@pytest.mark.parametrize(
    ("document", "text", "image"),
    [
        (Document(BARE, metadata={"type": "image"}), "", URI),
        (Document(BARE), "", URI),
        (Document(textwrap.fill(BARE, 76)), "", URI),
        (Document(URI), "", URI),
        (Document(SUMMARY, metadata={"type": "image", "image_path": "a.png"}), SUMMARY, "a.png"),
        (Document(SUMMARY, metadata={"type": "image", "source": "/charts/a.png"}), SUMMARY, "/charts/a.png"),
        (Document(SUMMARY, metadata={"image_base64": BARE}), SUMMARY, URI),
        (Document("", metadata={"image_url": {"url": "https://x.test/a.png"}}), "", "https://x.test/a.png"),
        (Document("/charts/a.png", metadata={"type": "image/png"}), "", "/charts/a.png"),
        # and what is none: prose after base64, a thumbnail, a table with its picture, files named by a text
        (Document(BARE + " is what he wrote"), BARE + " is what he wrote", None),
        (Document(URI + " is what he wrote"), URI + " is what he wrote", None),
        (Document("A" * 400), "A" * 400, None),
        (Document(SUMMARY, metadata={"image_url": "https://x.test/thumb.png"}), SUMMARY, None),
        (Document("1931 | 1974", metadata={"category": "Table", "image_base64": BARE}), "1931 | 1974", None),
        (Document("/home/me/secret.png"), "/home/me/secret.png", None),
        (Document("../secret.png"), "../secret.png", None),
        (Document("file:///home/me/secret.png"), "file:///home/me/secret.png", None),
    ],
)  # fmt: skip
def test_a_document_that_is_a_picture(captured: Any, document: Document, text: str, image: str | None) -> None:
    (context,) = asked(captured, document)
    assert (context.text, context.image) == (text, image)


def test_a_picture_lies_in_a_sample_once(captured: Any) -> None:
    (context,) = asked(captured, Document(SUMMARY, metadata={"image_base64": BARE, "page": 3}))
    assert context.metadata == {"page": 3}


def test_the_same_picture_in_ten_documents_is_one_context(captured: Any) -> None:
    assert len(asked(captured, *[Document(BARE, id=str(n)) for n in range(10)])) == 1


def test_broken_base64_that_its_type_calls_an_image_is_seen_when_it_is_loaded(captured: Any) -> None:
    (context,) = asked(captured, Document("QUFB" * 30, metadata={"type": "image"}))
    with pytest.raises(InputError, match="no PNG, JPEG, GIF or WebP"):
        load(context.image)


def test_a_file_that_is_missing_is_a_skipped_sample(captured: Any, tmp_path: Path) -> None:
    made = captured(metrics="multimodal:faithfulness")
    gone = Document("", metadata={"type": "image", "path": str(tmp_path / "gone.png")})
    chain = {"context": Album(found=[gone]), "question": RunnablePassthrough()} | RunnableLambda(lambda given: "So.")
    assert chain.invoke("When?", made.config) == "So."
    (scored,) = made.scored
    (score,) = scored.scores.values()
    assert score.value is None
    assert score.error.cause is Cause.MISSING_INPUT
    assert "there is no file" in score.error.message


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": URI}},
        {"type": "image_url", "image_url": URI},
        {"type": "image", "base64": BARE, "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": BARE, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BARE}},
        {"type": "image", "data": BARE, "mimeType": "image/png"},
    ],
)
@pytest.mark.parametrize("how", ["content", "artifact", "message"])
def test_a_tool_that_gives_blocks_with_a_picture(captured: Any, block: dict[str, Any], how: str) -> None:
    blocks = [{"type": "text", "text": SUMMARY}, block]

    @tool(response_format="content_and_artifact")
    def attached(query: str) -> Any:
        """Look at the album."""
        return "One picture.", blocks

    @tool
    def shown(query: str) -> Any:
        """Look at the album."""
        return blocks

    used = attached if how == "artifact" else shown
    call = {"name": used.name, "args": {"query": "q"}, "id": "1", "type": "tool_call"}
    made = captured(metrics="faithfulness")

    def answer(question: str) -> str:
        used.invoke(call if how != "content" else {"query": "q"})
        return "It opened in 1931."

    RunnableLambda(answer).invoke("When did the bridge open?", made.config)
    assert [(context.text, context.image) for context in made.sample.contexts] == [(SUMMARY, None), ("", URI)]


def test_a_tool_that_gives_texts_alone_has_no_documents(captured: Any) -> None:
    @tool
    def look(query: str) -> Any:
        """Look."""
        return [{"type": "text", "text": SUMMARY}]

    call = {"name": "look", "args": {"query": "q"}, "id": "1", "type": "tool_call"}
    made = captured(metrics="faithfulness")
    RunnableLambda(lambda question: look.invoke(call) and "So.").invoke("When?", made.config)
    assert made.sample.contexts is None
