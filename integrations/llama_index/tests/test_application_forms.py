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

#: Shapes in which no engine is asked outside of a loop, so that there is no call to await: all of a group, or some.
ALL = None
IN_A_LOOP: dict[str, set[str] | None] = {
    "Agents": ALL,
    "Workflows": ALL,
    "Applications: agents and workflows": ALL,
    "Query engines": {"retriever_query_engine_async", "gathered", "sub_questions_async"},
    "Response modes": {
        "multi_modal_async", "engine_synthesize", "engine_synthesize_async", "synthesizer_alone",
        "synthesizer_with_more", "synthesizer_streaming", "synthesizer_without_nodes", "synthesizer_that_fails",
    },
    "Retrievers and post-processors": {"fusion_of_queries", "retriever_alone"},
    "Chat engines": {
        "simple_achat", "context_achat", "condense_question_achat", "condense_plus_context_achat", "stream_chat_left",
    },
    "Look-ups of tools": {
        "function_agent", "react_agent", "agent_workflow", "no_tool_called", "multi_document_agents",
        "tools_in_a_form_of_ones_own", "agent_that_searches",
    },
    "Told by the application": {"in_an_async_tool", "in_a_tool", "in_a_step", "by_rules"},
    "Evaluators and indices": {"batch", "evaluators_alone", "own_evaluator", "evaluates_itself"},
    "Errors": {"in_the_model_async", "cancelled_query"},
    "Applications: engines": {"streamed_citations", "two_users"},
}  # fmt: skip


def in_a_loop(shape: Shape) -> bool:
    names = IN_A_LOOP.get(shape.group, set())
    return names is ALL or shape.name in names


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
    """Every shape that is captured right and asks an engine outside of a loop, but streams, which are read in another
    way when awaited: the applications always, the others in long runs."""
    return [
        pytest.param(shape, id=f"{shape.group}-{shape.name}", marks=[] if shape.why else [pytest.mark.long])
        for shape in SHAPES
        if not (shape.wrong or in_a_loop(shape)) and shape.group != "Streams" and not shape.name.endswith("stream_chat")
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
    assert made, "no engine is asked here outside of a loop: the shape belongs into IN_A_LOOP"
    assert not kept.errors, kept.where
    found, expected = compared(shape, kept)
    assert found == expected


def test_what_is_asked_in_a_loop_is_a_shape() -> None:
    names: dict[str, set[str]] = {}
    for shape in SHAPES:
        names.setdefault(shape.group, set()).add(shape.name)
    assert IN_A_LOOP.keys() <= names.keys()
    assert all(some <= names[group] for group, some in IN_A_LOOP.items() if some is not ALL)
