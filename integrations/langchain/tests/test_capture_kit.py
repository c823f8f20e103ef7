"""The handler keeps what `assay.testing.check_capture` asks of every integration."""

from __future__ import annotations

from assay_langchain import AssayCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from assay.live.protocol import Intake
from assay.testing import CapturedExchange, check_capture
from integrations.langchain.tests.shapes.parts import Shelf, rag


def play(exchange: CapturedExchange, intake: Intake) -> None:
    documents = tuple(Document(page_content=text) for text in exchange.passages)
    error = exchange.error

    def fail(_: object) -> None:
        assert error is not None
        raise error

    model = GenericFakeChatModel(messages=iter([AIMessage(exchange.answer)]))
    llm = RunnableLambda(fail) if error is not None else model
    handler = AssayCallbackHandler(scorer=intake)
    rag(Shelf(documents=documents), llm).invoke(exchange.question, config={"callbacks": [handler]})


def test_the_handler_keeps_what_captures_promise() -> None:
    check_capture(play)
