"""Listening to a stream without touching it: the reader gets each token, in order, when the model gives it."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from typing import Any, TypeVar

from assay.records import SampleStatus

G = TypeVar("G")

#: Called with each piece, and once at the end with the status and the type of the error. Neither may raise.
Piece = Callable[[Any], None]
End = Callable[[SampleStatus, str | None], None]


def status_of(error: BaseException | None) -> tuple[SampleStatus, str | None]:
    """What an exception says about the answer it ended, and its type. The message may hold secrets: it is not kept."""
    if error is None:
        return "complete", None
    if isinstance(error, GeneratorExit):
        return "abandoned", None
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt)):
        return "cancelled", type(error).__name__
    return "failed", type(error).__name__


def tee(stream: Iterable[Any], piece: Piece, end: End) -> Generator[Any, None, None]:
    """The same stream, heard by `piece` and `end`. A stream that is dropped unread ends as abandoned."""
    return _watched(_tee(stream, piece, end), end)


def atee(stream: AsyncIterable[Any], piece: Piece, end: End) -> AsyncGenerator[Any, None]:
    """`tee` for async streams."""
    return _watched(_atee(stream, piece, end), end)


def _watched(generator: G, end: End) -> G:
    # a generator that was never started has no `finally` to run
    weakref.finalize(generator, end, "abandoned", None).atexit = False
    return generator


def _tee(stream: Iterable[Any], piece: Piece, end: End) -> Generator[Any, None, None]:
    error: BaseException | None = None
    try:
        for token in stream:
            piece(token)
            yield token
    except BaseException as caught:
        error = caught
        raise
    finally:
        end(*status_of(error))
        close = getattr(stream, "close", None)
        if error is not None and close is not None:
            close()  # now, as without us, and not when the collector comes by


async def _atee(stream: AsyncIterable[Any], piece: Piece, end: End) -> AsyncGenerator[Any, None]:
    error: BaseException | None = None
    try:
        async for token in stream:
            piece(token)
            yield token
    except BaseException as caught:
        error = caught
        raise
    finally:
        end(*status_of(error))
        close = getattr(stream, "aclose", None)
        if error is not None and close is not None:
            await close()
