"""Interrupted graphs in a service: handlers that come and go, counters, and scores."""

from __future__ import annotations

from typing import Any

from assay_langchain import AssayCallbackHandler
from langgraph.types import Command

from assay.judges.scripted_judge import ScriptedJudge
from assay.sinks import MemorySink
from integrations.langchain.tests.shapes.base import ANSWER, QUESTION
from integrations.langchain.tests.shapes.interrupts import generate, line, retrieve, review, thread
from integrations.llama_index.tests.fakes import Kept


def graph() -> Any:
    return line(retrieve, generate, review)


def test_a_handler_for_each_request_resumes_what_another_one_heard() -> None:
    kept, drafts = Kept(), graph()
    for given in ({"question": QUESTION}, Command(resume=ANSWER)):
        handler = AssayCallbackHandler(scorer=kept)
        drafts.invoke(given, thread(handler))
        handler.close()
    (sample,) = kept
    assert (sample.question, sample.answer, len(sample.contexts or ())) == (QUESTION, ANSWER, 2)


def test_health_counts_those_that_wait() -> None:
    handler, drafts = AssayCallbackHandler(metrics=()), graph()
    drafts.invoke({"question": QUESTION}, thread(handler))
    assert (handler.health().interrupted, handler.health().open_traces, handler.samples()) == (1, 0, [])
    drafts.invoke(Command(resume=ANSWER), thread(handler))
    assert handler.health().interrupted == 0
    assert [sample.status for sample in handler.samples()] == ["complete"]


def test_what_nobody_resumed_is_delivered_without_a_score_when_the_handler_closes() -> None:
    sink = MemorySink()
    judge = ScriptedJudge(usefulness=lambda question, passage: True)
    handler = AssayCallbackHandler("context_utilization", judge, sinks=[sink])
    graph().invoke({"question": QUESTION}, thread(handler))
    handler.flush(20)
    assert sink.written == []
    handler.close(20)
    (scored,) = sink.written
    (score,) = scored.scores.values()
    assert scored.sample.status == "interrupted"
    assert score.error is not None
    assert score.error.cause == "partial"
