"""Streamed answers: read to the end, left, cancelled, forgotten."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine
from pydantic import BaseModel

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, TOKENS, FakeLLM, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Streams")

UNASKED = ((CALM, None), (HEAL, None))  # older releases asked the model at once


@shape("read to the end", Expected())
def stream(attach: Attach) -> None:
    attach()
    response: Any = engine(streaming=True).query(QUESTION)
    assert list(response.response_gen) == TOKENS


@shape("read through str()", Expected())
def stream_as_text(attach: Attach) -> None:
    attach()
    assert str(engine(streaming=True).query(QUESTION)) == ANSWER


@shape("async, read to the end", Expected())
def stream_async(attach: Attach) -> None:
    async def read() -> list[str]:
        response: Any = await engine(streaming=True).aquery(QUESTION)
        return [token async for token in response.response_gen]

    attach()
    assert asyncio.run(read()) == TOKENS


@shape(
    "refined while it is read: the call that answered comes after the engine has returned",
    Expected(answer=ANSWER, contexts=((CALM, False), (HEAL, True))),
)
def stream_refined(attach: Attach) -> None:
    attach()
    response: Any = engine(llm=FakeLLM(replies=["First."]), mode="refine", streaming=True).query(QUESTION)
    assert "".join(response.response_gen) == ANSWER


@shape("left after two tokens", Expected(answer="Cats purr ", status="abandoned"))
def stream_closed(attach: Attach) -> None:
    attach()
    response: Any = engine(streaming=True).query(QUESTION)
    tokens = response.response_gen
    assert [next(tokens), next(tokens)] == TOKENS[:2]
    tokens.close()


@shape("left after all tokens, before the end", Expected(status="abandoned"))
def stream_closed_at_the_end(attach: Attach) -> None:
    attach()
    response: Any = engine(streaming=True).query(QUESTION)
    tokens = response.response_gen
    assert [next(tokens) for _ in TOKENS] == TOKENS
    tokens.close()


@shape("left by a break, and forgotten", Expected(answer="Cats ", status="abandoned"))
def stream_forgotten(attach: Attach) -> None:
    attach()
    response: Any = engine(streaming=True).query(QUESTION)
    for _ in response.response_gen:
        break
    del response
    gc.collect()


@shape("never read", Expected(answer=None, status="abandoned", contexts=UNASKED), since="0.14.25")
def stream_never_read(attach: Attach) -> None:
    attach()
    engine(streaming=True).query(QUESTION)
    gc.collect()


@shape("async, left after one token", Expected(answer="Cats ", status="abandoned"))
def stream_async_closed(attach: Attach) -> None:
    async def read() -> None:
        response: Any = await engine(streaming=True).aquery(QUESTION)
        tokens = response.response_gen
        assert await anext(tokens) == "Cats "
        await tokens.aclose()

    attach()
    asyncio.run(read())


@shape("async, never read", Expected(answer=None, status="abandoned", contexts=UNASKED), since="0.14.25")
def stream_async_never_read(attach: Attach) -> None:
    async def leave() -> None:
        response = await engine(streaming=True).aquery(QUESTION)
        del response
        gc.collect()
        await asyncio.sleep(0)

    attach()
    asyncio.run(leave())


@shape("async, cancelled while the model is silent", Expected(answer="Cats ", status="cancelled"))
def stream_async_cancelled(attach: Attach) -> None:
    first = asyncio.Event()

    class Slow(FakeLLM):
        async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            async def generate() -> Any:
                chunks = self.stream_complete(prompt)
                yield next(chunks)
                first.set()
                await asyncio.Event().wait()

            return generate()

    async def read() -> None:
        response: Any = await engine(llm=Slow(), streaming=True).aquery(QUESTION)

        async def reader() -> None:
            async for _ in response.response_gen:
                pass

        task = asyncio.create_task(reader())
        await first.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    attach()
    asyncio.run(read())


@shape("broken in the middle", Expected(answer="Cats purr ", status="failed"))
def stream_broken(attach: Attach) -> None:
    attach()
    response: Any = engine(llm=FakeLLM(fail_after=2), streaming=True).query(QUESTION)
    try:
        list(response.response_gen)
    except ConnectionError:
        return
    raise AssertionError("the reader did not see the error")


@shape(
    "structured objects that grow: the last one",
    Expected(answer="ab", contexts=None, no_context="no retriever run was seen"),
)
def stream_of_objects(attach: Attach) -> None:
    class Partial(BaseModel):
        text: str

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return StreamingResponse(Partial(text=text) for text in ("a", "ab"))  # type: ignore[arg-type]

    attach()
    response: Any = Custom().query(QUESTION)
    assert len(list(response.response_gen)) == 2


@shape("inside another engine that reads it: one sample", Expected(answer=f"{ANSWER} Yes."))
def stream_inside(attach: Attach) -> None:
    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            return f"{engine(streaming=True).query(query_str)} Yes."

    attach()
    Custom().query(QUESTION)
