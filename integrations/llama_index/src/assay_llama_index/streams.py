"""Listening to a stream without touching it: the reader gets each token, in order, when the model gives it."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assay.extension import Document, Run
from assay_llama_index.records import answer_text

G = TypeVar("G")

#: Called with each piece, and once at the end with the exception that ended the stream, if one did. Neither may raise.
Piece = Callable[[Any], None]
End = Callable[[BaseException | None], None]

#: The span whose answer is being read. What the model does meanwhile belongs to it, and LlamaIndex does not say so.
READING: ContextVar[str | None] = ContextVar("assay_llama_index_reading", default=None)


@dataclass(slots=True, eq=False)
class Stream:
    """An answer that is not complete when its call returns.

    Attributes:
        returned: The call has returned: `documents` are the sources of its response.
        heard: We listen to what the reader reads.
        ended: The writing of a chat stream has ended, with `error` if with one.
        model: The model's call whose text is the answer, where the stream itself is the reader's alone.
    """

    pieces: list[Any] = field(default_factory=list)
    documents: Sequence[Document] | None = None
    returned: bool = False
    heard: bool = False
    ended: bool = False
    error: BaseException | None = None
    answer: str | None = None
    model: Run | None = None

    def text(self) -> str | None:
        """The pieces so far: tokens are joined, of growing structured objects the last is the answer."""
        if all(isinstance(piece, str) for piece in self.pieces):
            return "".join(self.pieces) if self.pieces else None
        return answer_text(self.pieces[-1])


def is_of_library(stream: Any) -> bool:
    """Is this a generator of LlamaIndex itself, which passes on what a model writes?"""
    frame = getattr(stream, "gi_frame", None) or getattr(stream, "ag_frame", None)
    name = None if frame is None else frame.f_globals.get("__name__")
    return isinstance(name, str) and name.startswith("llama_index.")


def tee(stream: Iterable[Any], span_id: str, piece: Piece, end: End) -> Generator[Any, None, None]:
    """The same stream, heard by `piece` and `end`. A stream that is dropped unread ends with GeneratorExit."""
    return _watched(_tee(stream, span_id, piece, end), end)


def atee(stream: AsyncIterable[Any], span_id: str, piece: Piece, end: End) -> AsyncGenerator[Any, None]:
    """`tee` for async streams."""
    return _watched(_atee(stream, span_id, piece, end), end)


def _watched(generator: G, end: End) -> G:
    # a generator that was never started has no `finally` to run
    weakref.finalize(generator, end, GeneratorExit()).atexit = False
    return generator


def _tee(stream: Iterable[Any], span_id: str, piece: Piece, end: End) -> Generator[Any, None, None]:
    error: BaseException | None = None
    tokens = iter(stream)
    try:
        while True:
            reading = READING.set(span_id)
            try:
                token = next(tokens)
            except StopIteration:
                break
            finally:
                _forget(reading)
            piece(token)
            yield token
    except BaseException as caught:
        error = caught
        raise
    finally:
        end(error)
        close = getattr(stream, "close", None)
        if error is not None and close is not None:
            close()  # now, as without us, and not when the collector comes by


async def _atee(stream: AsyncIterable[Any], span_id: str, piece: Piece, end: End) -> AsyncGenerator[Any, None]:
    error: BaseException | None = None
    tokens = aiter(stream)
    try:
        while True:
            reading = READING.set(span_id)
            try:
                token = await anext(tokens)
            except StopAsyncIteration:
                break
            finally:
                _forget(reading)
            piece(token)
            yield token
    except BaseException as caught:
        error = caught
        raise
    finally:
        end(error)
        close = getattr(stream, "aclose", None)
        if error is not None and close is not None:
            await close()


def _forget(reading: Token[str | None]) -> None:
    with contextlib.suppress(ValueError):  # the generator went on in another context
        READING.reset(reading)
