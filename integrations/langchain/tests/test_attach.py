"""Attaching without touching the chains, and documents of which the application tells by itself."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import assay_langchain
import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import assay
from assay.capture import record_context as recording
from assay.errors import InputError

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."


def test_capture_attaches_inside_the_block_only(captured: Any, kit: Any) -> None:
    it = captured()
    with assay_langchain.capture(it.handler) as handler:
        assert handler is it.handler
        kit.rag().invoke(QUESTION)
    kit.rag().invoke(QUESTION)
    assert it.sample.answer == ANSWER


def test_capture_and_config_together_count_once(captured: Any, kit: Any) -> None:
    it = captured()
    with assay_langchain.capture(it.handler):
        kit.rag().invoke(QUESTION, config=it.config)
    assert it.sample.answer == ANSWER


def test_two_handlers_on_one_chain_each_see_it_once(captured: Any, kit: Any) -> None:
    one, other = captured(), captured()
    found = RunnableLambda(lambda question: assay.record_context("told") and "told")
    kit.rag(found).invoke(QUESTION, config={"callbacks": [one.handler, other.handler]})
    assert [it.sample.passages for it in (one, other)] == [("told",), ("told",)]


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


def test_recorded_documents_keep_id_score_and_metadata(captured: Any, kit: Any) -> None:
    def find(question: str) -> str:
        assert assay.record_context(Document(id="x", page_content="one", metadata={"page": 3}))
        assert assay.record_context([("two", 0.5), {"text": "three", "id": "t"}])
        return "one two three"

    it = captured()
    kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config)
    contexts = [(context.text, context.id, context.score) for context in it.sample.contexts]
    assert contexts == [("one", "x", None), ("two", None, 0.5), ("three", "t", None)]
    assert it.sample.contexts[0].metadata == {"page": 3}
    assert "no_context" not in it.sample.metadata


def test_a_retriever_and_what_is_recorded_besides_are_both_contexts(captured: Any, kit: Any) -> None:
    def find(question: str) -> str:
        assay.record_context("from the web")
        return str(kit.Shelf().invoke(question)) + "from the web"

    it = captured()
    kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config)
    assert sorted(it.sample.passages) == ["Cats also purr to heal.", "Cats purr when they are calm.", "from the web"]


def test_what_is_no_passage_raises_where_it_is_recorded_and_loses_nothing_else(captured: Any, kit: Any) -> None:
    def find(question: str) -> str:
        with pytest.raises(InputError, match="passage"):
            assay.record_context(object())
        assay.record_context("one")
        return "one"

    it = captured()
    kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config)
    assert it.sample.passages == ("one",)


def test_recording_says_no_where_nothing_is_going_on_or_nobody_listens(kit: Any, monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setattr(recording, "_warned", False)
    said: list[bool] = []
    with caplog.at_level(logging.WARNING, logger="assay.capture"):
        said.append(assay.record_context("x"))
        kit.rag(RunnableLambda(lambda question: said.append(assay.record_context("x")) or "x")).invoke(QUESTION)
    assert said == [False, False]
    assert len(caplog.records) == 1  # said once, not on every request


def test_threads_without_the_context_are_not_heard_and_hurt_nobody(captured: Any, kit: Any) -> None:
    def find(question: str) -> str:
        with ThreadPoolExecutor() as pool:
            assert pool.submit(assay.record_context, "lost").result() is False
            assert pool.submit(assay.carry_context(assay.record_context), "found").result() is True
        return "found"

    it = captured()
    kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config)
    assert it.sample.passages == ("found",)


async def test_a_hundred_requests_at_once_do_not_mix_what_they_record(captured: Any, kit: Any) -> None:
    async def find(question: str) -> str:
        await asyncio.sleep(0)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(assay.carry_context(assay.record_context), f"passage for {question}").result()
        return question

    it = captured(max_queue=100)
    chain = kit.rag(RunnableLambda(find))
    await asyncio.gather(*(chain.ainvoke(f"question {n}", config=it.config) for n in range(50)))
    assert {sample.question: sample.passages for sample in it.samples} == {
        f"question {n}": (f"passage for question {n}",) for n in range(50)
    }
