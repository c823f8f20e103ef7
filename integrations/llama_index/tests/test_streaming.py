"""Streams: the reader gets every token in order, and the sample says how the stream ended."""

from __future__ import annotations

import asyncio
import gc

import pytest
from assay_llama_index import AssayInstrumentation
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine

QUESTION, ANSWER = "Why do cats purr?", "Cats purr when calm."
TOKENS = ["Cats ", "purr ", "when ", "calm."]
PASSAGES = ("Cats purr when calm.", "Cats also purr to heal.")


def test_stream_is_untouched(kit, heard):
    response = kit.engine(streaming=True).query(QUESTION)
    assert type(response) is StreamingResponse
    assert not heard
    assert list(response.response_gen) == TOKENS
    sample = heard.one
    assert (sample.question, sample.answer, sample.status) == (QUESTION, ANSWER, "complete")
    assert sample.passages == PASSAGES


@pytest.mark.parametrize("read", [str, lambda r: r.get_response().response, lambda r: "".join(r.response_gen)])
def test_every_way_to_read(kit, heard, read):
    assert read(kit.engine(streaming=True).query(QUESTION)) == ANSWER
    assert heard.one.answer == ANSWER


def test_print(kit, heard, capsys):
    kit.engine(streaming=True).query(QUESTION).print_response_stream()
    assert capsys.readouterr().out == ANSWER
    assert heard.one.answer == ANSWER


async def test_async_response_gen_attribute(kit, heard):
    response = await kit.engine(streaming=True).aquery(QUESTION)
    assert [token async for token in response.response_gen] == TOKENS
    assert heard.one.answer == ANSWER


@pytest.mark.parametrize("read", [1, 2, 3, 4])
def test_early_close_is_abandoned(kit, heard, read):
    response = kit.engine(streaming=True).query(QUESTION)
    stream = response.response_gen
    assert [next(stream) for _ in range(read)] == TOKENS[:read]
    stream.close()
    assert (heard.one.status, heard.one.answer) == ("abandoned", "".join(TOKENS[:read]))


@pytest.mark.long
async def test_cancelled_reader(kit, heard):
    response = await kit.engine(streaming=True).aquery(QUESTION)
    got = []

    async def read(stream):
        async for token in stream:
            got.append(token)
            await asyncio.sleep(60)

    task = asyncio.create_task(read(response.response_gen))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # the cancellation hit the reader, not the stream: the stream is given up when it is dropped
    del response, task
    gc.collect()
    await asyncio.sleep(0.01)
    assert got == ["Cats "]
    assert (heard.one.status, heard.one.answer) == ("abandoned", "Cats ")


def test_error_in_mid_stream(kit, heard):
    response = kit.engine(llm=kit.FakeLLM(fail_after=2), streaming=True).query(QUESTION)
    got = []
    with pytest.raises(ConnectionError, match="sk-123"):
        got.extend(response.response_gen)  # keeps what came before the error
    assert got == TOKENS[:2]
    assert (heard.one.status, heard.one.answer) == ("failed", "Cats purr ")
    assert heard.one.metadata["error"] == "ConnectionError"


async def test_error_in_mid_async_stream(kit, heard):
    response = await kit.engine(llm=kit.FakeLLM(fail_after=2), streaming=True).aquery(QUESTION)
    with pytest.raises(ConnectionError):
        _ = [token async for token in response.response_gen]
    assert (heard.one.status, heard.one.answer) == ("failed", "Cats purr ")


def test_closing_closes_the_models_stream_at_once(kit, heard):
    """As without us: the connection is freed when the reader closes, not when the collector comes by."""
    closed = []

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str):
            def generate():
                try:
                    yield "a"
                    yield "b"
                finally:
                    closed.append(True)

            return StreamingResponse(generate())

    stream = Custom().query(QUESTION).response_gen
    next(stream)
    stream.close()
    assert closed == [True]


def test_old_and_surplus_streams_are_given_up_and_counted(kit, heard):
    assay = AssayInstrumentation(scorer=(kept := kit.Kept()), max_open=3, ttl=60)
    with assay:
        responses = [kit.engine(streaming=True).query(f"q{n}") for n in range(5)]
        health = assay.health()
        assert (health.open, health.expired, health.exchanges) == (3, 2, 5)
        assert list(responses[0].response_gen) == TOKENS  # the reader does not notice
        assert not kept
        assert list(responses[4].response_gen) == TOKENS
        assert [sample.question for sample in kept] == ["q4"]
        for root in assay._capture.collector.open_roots():
            root.started -= 61
        health = assay.health()
        assert (health.open, health.open_spans, health.expired) == (0, 0, 4)
        assert not assay._capture.answers.streams
    assert not kept.errors
