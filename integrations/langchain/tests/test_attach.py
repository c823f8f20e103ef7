"""Attaching without touching the chains, and contexts told by hand."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import assay_langchain
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
PASSAGES = ["Cats purr when they are calm.", "Cats also purr to heal."]


def test_capture_attaches_inside_the_block_only(captured: Any, kit: Any) -> None:
    it = captured()
    with assay_langchain.capture(it.handler) as handler:
        assert handler is it.handler
        kit.rag().invoke(QUESTION)
    kit.rag().invoke(QUESTION)
    assert list(it.sample.passages) == PASSAGES


def test_capture_and_config_together_count_once(captured: Any, kit: Any) -> None:
    it = captured()
    with assay_langchain.capture(it.handler):
        kit.rag().invoke(QUESTION, config=it.config)
    assert it.sample.answer == ANSWER


def test_install_reaches_new_threads_until_uninstalled(captured: Any, kit: Any) -> None:
    it = captured()
    assay_langchain.install(it.handler)
    try:
        thread = threading.Thread(target=lambda: kit.rag().invoke(QUESTION))
        thread.start()
        thread.join()
    finally:
        assay_langchain.uninstall()
    kit.rag().invoke(QUESTION)
    assert it.sample.answer == ANSWER


def test_contexts_found_by_a_plain_function_are_recorded(captured: Any, kit: Any) -> None:
    def find(question: str) -> str:
        assert assay_langchain.record_contexts(["found by hand", Document(id="x", page_content="and more")])
        return "found by hand, and more"

    it = captured()
    kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config)
    assert it.sample.passages == ("found by hand", "and more")
    assert "no_context" not in it.sample.metadata


async def test_contexts_are_recorded_in_async_functions_and_foreign_threads(captured: Any, kit: Any) -> None:
    async def find(question: str) -> str:
        await assay_langchain.arecord_contexts(["one"])
        assay_langchain.record_contexts(["two"])
        with ThreadPoolExecutor() as pool:  # no context variables there: nothing is recorded, and it says so
            assert pool.submit(assay_langchain.record_contexts, ["three"]).result() is False
        return "one two"

    it = captured()
    await kit.rag(RunnableLambda(find)).ainvoke(QUESTION, config=it.config)
    assert it.sample.passages == ("one", "two")


def test_recording_outside_of_a_chain_says_no() -> None:
    assert assay_langchain.record_contexts(["x"]) is False
