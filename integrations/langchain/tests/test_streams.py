"""Streams that the reader leaves, cancels or loses are marked, not scored, and leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
PASSAGES = ["Cats purr when they are calm.", "Cats also purr to heal."]

CHUNKS = 7  # "Cats", " ", "purr", " ", "when", " ", "calm." as the fake model streams them


def left(it: Any) -> Any:
    scored = it.scored
    assert len(scored) == 1
    assert it.handler.health().open_traces == 0
    assert scored[0].scores["faithfulness"].error.cause == "partial"
    return scored[0].sample


async def ended(it: Any) -> None:
    """The loop closes generators that were left a little later: wait until the root has ended."""
    until = time.monotonic() + 20
    while it.handler.health().open_traces and time.monotonic() < until:
        await asyncio.sleep(0.005)


def test_the_whole_stream_has_as_many_chunks_as_these_tests_think(captured: Any, kit: Any) -> None:
    it = captured()
    assert len(list(kit.rag().stream(QUESTION, config=it.config))) == CHUNKS
    assert it.sample.status == "complete"


@pytest.mark.parametrize("position", range(1, CHUNKS))
def test_sync_stream_closed_at_every_position(captured: Any, kit: Any, position: int) -> None:
    it = captured()
    stream = kit.rag().stream(QUESTION, config=it.config)
    for _ in range(position):
        next(stream)
    stream.close()
    sample = left(it)
    assert (sample.status, sample.question, list(sample.passages)) == ("abandoned", QUESTION, PASSAGES)
    assert sample.answer is None or ANSWER.startswith(sample.answer)


@pytest.mark.long
def test_sync_stream_left_by_break_and_collected(captured: Any, kit: Any) -> None:
    it = captured()
    for _ in kit.rag().stream(QUESTION, config=it.config):
        break
    gc.collect()
    assert left(it).status == "abandoned"


@pytest.mark.parametrize("position", range(1, CHUNKS))
async def test_async_stream_closed_at_every_position(captured: Any, kit: Any, position: int) -> None:
    it = captured()
    stream = kit.rag().astream(QUESTION, config=it.config)
    for _ in range(position):
        await anext(stream)
    await stream.aclose()
    await ended(it)
    assert left(it).status == "abandoned"


async def test_async_stream_dropped(captured: Any, kit: Any) -> None:
    it = captured()
    stream = kit.rag().astream(QUESTION, config=it.config)
    await anext(stream)
    del stream
    gc.collect()
    await ended(it)
    assert left(it).status == "abandoned"


async def test_reader_cancelled(captured: Any, kit: Any) -> None:
    it = captured()

    reading = asyncio.Event()

    async def read() -> None:
        async for _ in kit.rag().astream(QUESTION, config=it.config):
            reading.set()
            await asyncio.sleep(3600)

    task = asyncio.create_task(read())
    await reading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gc.collect()
    await ended(it)
    assert left(it).status in ("abandoned", "cancelled")


async def test_invocation_cancelled(captured: Any, kit: Any) -> None:
    waiting = asyncio.Event()

    async def slow(question: str) -> str:
        waiting.set()
        await asyncio.sleep(3600)
        return "never"

    it = captured()
    task = asyncio.create_task(kit.rag(RunnableLambda(slow)).ainvoke(QUESTION, config=it.config))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    sample = left(it)
    assert (sample.status, sample.question) == ("cancelled", QUESTION)


async def test_events_left_early(captured: Any, kit: Any) -> None:
    it = captured()
    events = kit.rag().astream_events(QUESTION, version="v2", config=it.config)
    async for event in events:
        if event["event"] == "on_chat_model_stream":
            break
    await events.aclose()
    assert left(it).status in ("abandoned", "cancelled")


def test_partial_answers_are_scored_when_asked(captured: Any, kit: Any) -> None:
    it = captured(score_partial=True)
    stream = kit.rag().stream(QUESTION, config=it.config)
    for _ in range(3):
        next(stream)
    stream.close()
    scored = it.scored[0]
    assert scored.sample.status == "abandoned"
    assert scored.values == {"faithfulness": 1.0}


@pytest.mark.long
def test_fifth_of_the_streams_abandoned_and_nothing_left(captured: Any, kit: Any) -> None:
    it = captured()
    for number in range(100):
        stream = kit.rag(llm=kit.model(ANSWER)).stream(QUESTION, config=it.config)
        if number % 5:
            list(stream)
        else:
            next(stream)
            stream.close()
    statuses = [sample.status for sample in it.samples]
    assert (statuses.count("complete"), statuses.count("abandoned")) == (80, 20)
    assert it.handler.health().open_traces == 0
    assert it.handler.collector.open_runs == 0
