"""The ear on a stream: whatever is said, the reader gets the same tokens, and we hear what the reader got."""

from __future__ import annotations

import asyncio

import pytest
from assay_llama_index.streams import READING, atee, tee
from hypothesis import given
from hypothesis import strategies as st


class Ear:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.ends: list[str | None] = []
        self.going_on: list[str | None] = []

    def end(self, error: BaseException | None) -> None:
        self.ends.append(None if error is None else type(error).__name__)


def said(tokens: list[str], ear: Ear, fails: bool = False):
    for token in tokens:
        ear.going_on.append(READING.get())
        yield token
    if fails:
        raise OSError


async def asaid(tokens: list[str], ear: Ear, fails: bool = False):
    for token in said(tokens, ear, fails):
        await asyncio.sleep(0)
        yield token


@given(st.lists(st.text(max_size=3), max_size=6), st.integers(0, 7), st.booleans())
def test_a_reader_who_leaves_anywhere(tokens: list[str], read: int, fails: bool) -> None:
    ear, got = Ear(), []
    stream = tee(said(tokens, ear, fails), "span", ear.pieces.append, ear.end)
    try:
        for _ in range(read):
            got.append(next(stream))
    except (StopIteration, OSError):
        pass
    stream.close()
    del stream  # one that was never begun ends now
    assert got == ear.pieces == tokens[:read]
    whole = read > len(tokens)
    assert ear.ends[:1] == [("OSError" if fails else None) if whole else "GeneratorExit"]
    assert set(ear.going_on) <= {"span"}
    assert READING.get() is None


@given(st.lists(st.text(max_size=3), max_size=6), st.integers(0, 7), st.booleans())
def test_an_async_reader_who_leaves_anywhere(tokens: list[str], read: int, fails: bool) -> None:
    ear, got = Ear(), []

    async def main() -> None:
        stream = atee(asaid(tokens, ear, fails), "span", ear.pieces.append, ear.end)
        try:
            for _ in range(read):
                got.append(await anext(stream))
        except (StopAsyncIteration, OSError):
            pass
        await stream.aclose()
        assert READING.get() is None

    asyncio.run(main())
    assert got == ear.pieces == tokens[:read]
    whole = read > len(tokens)
    assert ear.ends[:1] == [("OSError" if fails else None) if whole else "GeneratorExit"]
    assert set(ear.going_on) <= {"span"}


async def test_a_stream_that_other_tasks_read_on() -> None:
    ear = Ear()
    stream = atee(asaid(["a", "b", "c"], ear), "span", ear.pieces.append, ear.end)
    got = [await asyncio.create_task(anext(stream)) for _ in range(3)]
    with pytest.raises(StopAsyncIteration):
        await asyncio.create_task(anext(stream))
    assert (got, ear.pieces, ear.ends) == (["a", "b", "c"], ["a", "b", "c"], [None])
