"""Graphs that stop to ask a human: their traces wait for the one that resumes them."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import Document, Run, Trace, sample_of, samples_of
from assay.capture.interrupts import InterruptedTraces, is_interrupted

ids = count()


def trace(
    inputs: Any = None, *, asks: bool = False, found: str | None = None, thread: str | None = "t", name: str = "graph",
    answer: str = "So.",
) -> Trace:  # fmt: skip
    """A run of a graph: it may search, and may stop to ask."""
    metadata = {} if thread is None else {"thread_id": thread}
    number = next(ids)
    root = Run(
        f"r{number}", None, "chain", name, inputs=inputs, outputs={"answer": answer}, metadata=metadata, ended=9e9
    )
    made = Trace(root)
    if found is not None:
        made.add(Run(f"s{number}", root.id, "retriever", "s", made, documents=[Document(found, None, {})]), root)
    if asks:
        made.add(Run(f"a{number}", root.id, "chain", "ask", made, error="GraphInterrupt"), root)
    return made


def told(found: list[Trace]) -> list[tuple[str | None, str | None, str, list[str]]]:
    """Of each trace: question, answer, status, contexts."""
    samples = [sample for sample in map(sample_of, found) if sample is not None]
    return [(one.question, one.answer, one.status, [c.text for c in one.contexts or ()]) for one in samples]


def test_a_trace_waits_for_the_one_that_resumes_it() -> None:
    waiting = InterruptedTraces()
    assert waiting.accept(trace("Why?", asks=True, found="calm")) == []
    assert len(waiting) == 1
    assert told(waiting.accept(trace(found="heal"))) == [("Why?", "So.", "complete", ["calm", "heal"])]
    assert len(waiting) == 0 == len(waiting.give_up())


def test_the_joined_trace_is_a_tree_with_the_root_that_answered() -> None:
    waiting = InterruptedTraces()
    waiting.accept(trace("Why?", asks=True, found="calm"))
    after = trace(found="heal")
    (joined,) = waiting.accept(after)
    assert joined.root is after.root
    assert all(run.trace is joined and list(joined.above(run))[-1] is joined.root for run in joined.members[1:])
    assert not is_interrupted(joined)


@pytest.mark.parametrize(
    "later",
    [trace("And why?"), trace("And why?", asks=True)],
    ids=["answers", "asks"],
)
def test_a_new_question_gives_the_old_one_up(later: Trace) -> None:
    waiting = InterruptedTraces()
    waiting.accept(trace("Why?", asks=True, found="calm"))
    assert told(waiting.accept(later))[0] == ("Why?", None, "interrupted", ["calm"])


def test_other_threads_and_graphs_resume_nothing() -> None:
    waiting = InterruptedTraces()
    waiting.accept(trace("Why?", asks=True))
    for other in (trace(thread="u"), trace(thread=None), trace(name="another graph")):
        assert waiting.accept(other) == [other]
    assert len(waiting) == 1


def test_without_the_name_of_a_conversation_nobody_can_resume() -> None:
    assert told(InterruptedTraces().accept(trace("Why?", asks=True, thread=None))) == [
        ("Why?", None, "interrupted", [])
    ]


def test_who_waits_too_long_or_is_one_too_many_is_given_up() -> None:
    now = [0.0]
    waiting = InterruptedTraces(wait=60, most=2, clock=lambda: now[0])
    assert waiting.accept(trace("1", asks=True, thread="1")) == []
    now[0] = 61.0
    assert told(waiting.accept(trace("2", asks=True, thread="2"))) == [("1", None, "interrupted", [])]
    waiting.accept(trace("3", asks=True, thread="3"))
    assert told(waiting.accept(trace("4", asks=True, thread="4"))) == [("2", None, "interrupted", [])]
    assert told(waiting.give_up()) == [("3", None, "interrupted", []), ("4", None, "interrupted", [])]


def test_the_draft_in_the_state_is_no_answer() -> None:
    (sample,) = samples_of(trace("Why?", asks=True, answer="A draft."))
    assert (sample.answer, sample.status) == (None, "interrupted")


def test_what_langgraph_puts_out_tells_it_too() -> None:
    asked = trace("Why?")
    asked.root.outputs = {"question": "Why?", "__interrupt__": ["Which animal?"]}
    assert told([asked]) == [("Why?", None, "interrupted", [])]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans()), max_size=12))
def test_each_trace_comes_out_once(events: list[tuple[str, bool, bool]]) -> None:
    """Whatever stops and goes on: each run is in one trace that was handed out, or was made again."""
    waiting = InterruptedTraces(most=3)
    handed: list[Trace] = []
    searches = set()
    for thread, new, asks in events:
        one = trace("Why?" if new else None, asks=asks, found=f"{next(ids)}", thread=thread)
        searches |= {run.id for run in one.members if run.kind == "retriever"}
        handed += waiting.accept(one)
    handed += waiting.give_up()
    seen = [run.id for one in handed for run in one.members if run.kind == "retriever"]
    assert sorted(map(str, seen)) == sorted(map(str, searches))
    assert len(waiting) == 0
