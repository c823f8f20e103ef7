"""An application is captured alike, whether it is asked or awaited."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from assay_llama_index import AssayInstrumentation
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine

from integrations.llama_index.tests.fakes import Kept, settled
from integrations.llama_index.tests.shapes import SHAPES, Shape, compared

#: Method -> its awaited form, on whatever class of these has its own.
AWAITED = {"query": "aquery", "chat": "achat"}


def classes(base: type) -> Iterator[type]:
    yield base
    for one in base.__subclasses__():
        yield from classes(one)


@contextlib.contextmanager
def awaited() -> Iterator[list[str]]:
    """In the block, the outermost call of an engine is made in its awaited form. Gives the calls made so."""
    made: list[str] = []
    inside = False

    def patched(original: Any, name: str) -> Any:
        def call(self: Any, *given: Any, **more: Any) -> Any:
            nonlocal inside
            if inside or _in_a_loop():
                return original(self, *given, **more)
            inside = True
            try:
                made.append(type(self).__name__)
                return asyncio.run(getattr(self, AWAITED[name])(*given, **more))
            finally:
                inside = False

        return call

    with contextlib.ExitStack() as stack:
        for kind in dict.fromkeys((*classes(BaseQueryEngine), *classes(BaseChatEngine))):
            for name in AWAITED.keys() & vars(kind).keys():
                stack.enter_context(mock.patch.object(kind, name, patched(vars(kind)[name], name)))
        yield made


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def cases() -> list[Any]:
    """Every shape that is captured right, but streams, which are read in another way when awaited: the applications
    always, the others in long runs."""
    return [
        pytest.param(shape, id=f"{shape.group}-{shape.name}", marks=[] if shape.why else [pytest.mark.long])
        for shape in SHAPES
        if not shape.wrong and shape.group != "Streams" and not shape.name.endswith("stream_chat")
    ]


@pytest.mark.parametrize("shape", cases())
def test_application_awaited(shape: Shape) -> None:
    kept = Kept()
    attached: list[AssayInstrumentation] = []

    def attach(**options: Any) -> AssayInstrumentation:
        attached.append(AssayInstrumentation(scorer=kept, **options).attach())
        return attached[-1]

    try:
        with awaited() as made:
            shape.run(attach)
        for assay in attached:
            assert settled(lambda assay=assay: assay.health().open)
    finally:
        for assay in attached:
            assay.close()
    if not made:
        pytest.skip("no engine is asked here outside of a loop")
    assert not kept.errors, kept.where
    found, expected = compared(shape, kept)
    assert found == expected
