"""A handler in the constructor of a component hears that alone: the log says so, once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler, components, install, uninstall
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool

from integrations.langchain.tests.shapes.base import QUESTION, on
from integrations.langchain.tests.shapes.parts import Shelf, model, rag


@pytest.fixture(autouse=True)
def nothing_told() -> Iterator[None]:
    components._told.clear()
    yield
    components._told.clear()


@pytest.fixture
def handler() -> Iterator[AssayCallbackHandler]:
    made = AssayCallbackHandler(metrics=())
    yield made
    made.close(5)


def heard(handler: AssayCallbackHandler, caplog: pytest.LogCaptureFixture) -> list[str]:
    handler.samples()
    return [record.getMessage() for record in caplog.records if "alone" in record.getMessage()]


def with_callbacks(made: Any, handler: Any) -> Any:
    made.callbacks = [handler]
    return made


def look_up(query: str) -> str:
    """Looks it up."""
    return "Calm."


FORMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a chat model": (lambda handler: rag(llm=with_callbacks(model(), handler)), "the model alone"),
    "a retriever": (lambda handler: rag(Shelf().with_config(callbacks=[handler])), "the retriever 'Shelf' alone"),
    "a tool": (
        lambda handler: with_callbacks(StructuredTool.from_function(look_up), handler) | RunnableLambda(str),
        "the tool 'look_up' alone",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_it_is_logged_once(form: str, handler: AssayCallbackHandler, caplog: pytest.LogCaptureFixture) -> None:
    make, words = FORMS[form]
    caplog.set_level(logging.WARNING, "assay.capture")
    chain = make(handler)
    for _ in range(2):
        chain.invoke({"query": QUESTION} if form == "a tool" else QUESTION)
    (message,) = heard(handler, caplog)
    assert words in message
    assert 'config={"callbacks": [handler]}' in message


@pytest.mark.parametrize("form", ["on the chain", "on the model's own call", "on both", "installed"])
def test_nothing_is_logged_where_the_handler_is_right(
    form: str, handler: AssayCallbackHandler, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "assay.capture")
    if form == "on the chain":
        rag().invoke(QUESTION, on(handler))
    elif form == "on the model's own call":
        model().invoke(QUESTION, on(handler))
    elif form == "on both":
        rag(llm=with_callbacks(model(), handler)).invoke(QUESTION, on(handler))
    else:
        install(handler)
        try:
            rag().invoke(QUESTION)
        finally:
            uninstall()
    assert handler.last is not None
    assert heard(handler, caplog) == []
