"""Handlers hear from LangGraph where a graph stops, and stay the handlers that they are."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from assay_langchain import AssayCallbackHandler, install, uninstall
from assay_langchain.graph_events import graph_aware, hears_graphs
from langgraph.callbacks import GraphCallbackHandler

from integrations.langchain.tests.shapes.base import ANSWER, QUESTION
from integrations.langchain.tests.shapes.interrupts import breakpoint_in, correct, generate, retrieve, thread


class Mine(AssayCallbackHandler):
    """An application's own."""


@pytest.mark.parametrize("kind", [AssayCallbackHandler, Mine])
def test_a_handler_is_one_of_langgraphs_where_that_is_loaded(kind: type[AssayCallbackHandler]) -> None:
    with kind(metrics=()) as handler:
        assert isinstance(handler, kind)
        assert isinstance(handler, GraphCallbackHandler)
        assert hears_graphs(handler)
        assert type(handler).__name__ == kind.__name__
        assert type(handler).__module__ == kind.__module__
        assert graph_aware(kind) is graph_aware(kind) is type(handler)
        assert graph_aware(type(handler)) is type(handler)
        assert pickle.loads(pickle.dumps(handler)) is copy.deepcopy(handler) is handler


@pytest.mark.long
def test_without_langgraph_it_is_a_handler_as_before() -> None:
    code = (
        "import sys; from assay_langchain import AssayCallbackHandler as H; h = H(metrics=()); "
        "assert 'langgraph' not in sys.modules, 'loaded'; assert type(h) is H; print(h)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_draft_at_a_breakpoint_waits() -> None:
    graph = breakpoint_in((retrieve, generate, correct), "correct")
    with AssayCallbackHandler(metrics=()) as handler:
        graph.invoke({"question": QUESTION}, thread(handler))
        assert (handler.health().interrupted, handler.samples()) == (1, [])
        graph.invoke(None, thread(handler))
        (sample,) = handler.samples()
        assert (sample.status, sample.answer) == ("complete", "They are calm.")


def test_a_handler_that_is_installed_does_not_hear_of_breakpoints() -> None:
    """LangGraph looks for its handlers in the config: what stands before a breakpoint is then taken as it is."""
    graph = breakpoint_in((retrieve, generate, correct), "correct")
    handler = AssayCallbackHandler(metrics=())
    install(handler)
    try:
        graph.invoke({"question": QUESTION}, {"configurable": {"thread_id": "t"}})
    finally:
        uninstall()
    assert [sample.answer for sample in handler.samples()] == [ANSWER]
    handler.close(5)
