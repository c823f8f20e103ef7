"""An application is captured alike, however it is used: invoked, awaited, streamed, or streamed and awaited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler

from assay.judges.scripted_judge import ScriptedJudge
from assay.sinks import MemorySink
from integrations.langchain.tests.forms import FORMS, used_as
from integrations.langchain.tests.shapes import SHAPES, Expected, Shape, compared

#: What is another application in these forms, for LangChain itself.
OTHERWISE = {
    ("rephrase_query", "ainvoke"): "this retriever has no async form",
    ("rephrase_query", "astream"): "this retriever has no async form",
    ("parser_fails", "stream"): "a parser of JSON that streams does not fail: nothing comes",
    ("parser_fails", "astream"): "a parser of JSON that streams does not fail: nothing comes",
    ("retried", "stream"): "streams are not tried again",
    ("retried", "astream"): "streams are not tried again",
}

#: Shapes that are awaited, streamed or used in batches as they stand: nothing is invoked that could be used otherwise.
OWN_FORM = set(
    """
    lcel_dict_async two_chains_in_parallel router batch abatch batch_with_exceptions async_agent stream astream
    astream_events graph_stream_modes agent_events agent_events_v3 stream_closed stream_broken_off astream_closed
    astream_collected cancelled graph_stream_closed stream_fails capture_block installed on_the_model
    tasks_and_threads recorded_in_an_async_tool recorded_in_tasks_and_threads streamed_with_sources service
    plan_and_execute streamed_agent two_shelves_in_events agents_as_completed
    """.split()  # noqa: SIM905
)

#: Where LangChain hands on documents in an order of chance (it iterates over a set of ended tasks), and so do we.
ANY_ORDER = {("two_retrievers_in_parallel", "astream")}


def cases() -> list[Any]:
    """Every shape that is captured right, in every form: the applications always, the others in long runs."""
    return [
        pytest.param(shape, form, id=f"{shape.name}-{form}", marks=[] if shape.why else [pytest.mark.long])
        for shape in SHAPES
        if not shape.wrong and shape.name not in OWN_FORM
        for form in FORMS
        if (shape.name, form) not in OTHERWISE
    ]


@pytest.mark.parametrize(("shape", "form"), cases())
def test_application_in_another_form(shape: Shape, form: str) -> None:
    sink = MemorySink()
    handlers = []

    def attach(**options: Any) -> AssayCallbackHandler:
        judge = ScriptedJudge(usefulness=lambda question, passage: True)
        handlers.append(AssayCallbackHandler("context_utilization", judge, sinks=[sink], concurrency=1, **options))
        return handlers[-1]

    with used_as(FORMS[form]) as made:
        shape.run(attach)
    assert made, "nothing is invoked here: the shape has a form of its own, and belongs into OWN_FORM"
    for handler in handlers:
        assert handler.flush(20)
        health = handler.health()
        assert (health.open_traces, dict(health.errors), health.live.pending) == (0, {}, 0)
        handler.close(5)
    found, expected = compared(shape, [scored.sample for scored in sink.written])
    if (shape.name, form) in ANY_ORDER:
        found, expected = _without_order(found), _without_order(expected)
    assert found == expected


def test_what_has_a_form_of_its_own_is_a_shape() -> None:
    assert {shape.name for shape in SHAPES} >= OWN_FORM


def _without_order(applications: list[Expected]) -> list[Expected]:
    return [replace(application, contexts=tuple(sorted(application.contexts or ()))) for application in applications]
