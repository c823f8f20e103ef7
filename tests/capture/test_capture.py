"""Run trees and what is made of them, with no framework in sight."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.capture import Keys, RunCollector, sample_of


@dataclass
class Doc:
    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def rag(collector: RunCollector, *documents: Doc, question: Any = "Why?", answer: Any = "So.", root: str = "r") -> Any:
    """A chain with a retriever and a model; gives the finished trace."""
    collector.start(root, None, "chain", "rag", question)
    collector.start(f"{root}/found", root, "retriever", "shelf", "why")
    collector.end(f"{root}/found", documents=documents)
    collector.start(f"{root}/model", root, "llm")
    collector.end(f"{root}/model")
    return collector.end(root, answer)


def test_question_contexts_and_answer_of_a_plain_chain():
    trace = rag(RunCollector(), Doc("one", "d1", {"page": 3}), Doc("two"))
    sample = sample_of(trace, id_name="my_run")
    assert (sample.question, sample.passages, sample.answer) == ("Why?", ("one", "two"), "So.")
    assert (sample.id, dict(sample.ids), sample.status) == ("r", {"my_run": "r"}, "complete")
    assert (sample.contexts[0].id, dict(sample.contexts[0].metadata)) == ("d1", {"page": 3})
    assert sample.metadata["name"] == "rag"


@pytest.mark.parametrize(
    ("inputs", "question"),
    [
        ("Why?", "Why?"),
        ({"question": "Why?"}, "Why?"),
        ({"input": {"query": "Why?"}, "chat_history": []}, "Why?"),
        ({"topic": "Why?"}, "Why?"),
        ({"topic": "Why?", "style": "short"}, None),
        ({"messages": [("user", "Before"), ("ai", "Then."), ("user", "Why?")]}, "Why?"),
        ({"messages": [{"role": "user", "content": "Why?"}]}, "Why?"),
        (42, None),
    ],
)
def test_the_question_is_what_the_user_asked(inputs, question):
    assert sample_of(rag(RunCollector(), question=inputs)).question == question


def test_documents_of_inner_retrievers_do_not_count_twice():
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", "Why?")
    collector.start("ensemble", "r", "retriever")
    for inner in ("a", "b"):
        collector.start(inner, "ensemble", "retriever")
        collector.end(inner, documents=[Doc("one"), Doc("two")])
    collector.end("ensemble", documents=[Doc("two"), Doc("one")])
    assert sample_of(collector.end("r", "So.")).passages == ("two", "one")


def test_equal_passages_count_once_whatever_their_ids():
    trace = rag(RunCollector(), Doc("one", "store-1/7"), Doc("two"), Doc("one", "store-2/7"))
    assert sample_of(trace).passages == ("one", "two")


def test_two_retrievers_side_by_side_both_count_in_order_of_start():
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", "Why?")
    collector.start("first", "r", "retriever")
    collector.start("second", "r", "retriever")
    collector.end("second", documents=[Doc("of the second")])
    collector.end("first", documents=[Doc("of the first")])
    assert sample_of(collector.end("r", "So.")).passages == ("of the first", "of the second")


def test_an_empty_retrieval_is_empty_and_no_retrieval_is_unknown():
    empty = sample_of(rag(RunCollector()))
    assert empty.contexts == ()
    collector = RunCollector()
    collector.start("r", None, "chain", "chat", "Why?")
    none = sample_of(collector.end("r", "So."))
    assert none.contexts is None
    assert none.metadata["no_context"] == "no retriever run was seen"


def test_a_retriever_that_failed_is_said():
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", "Why?")
    collector.start("f", "r", "retriever")
    collector.end("f", error=ConnectionError("secret host"))
    sample = sample_of(collector.end("r", "So."))
    assert sample.metadata["no_context"] == "the retriever failed"


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("x"), "failed"), (GeneratorExit(), "abandoned"), (asyncio.CancelledError(), "cancelled")],
)
def test_how_it_ended(error, status):
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", "Why?")
    sample = sample_of(collector.end("r", error=error))
    assert (sample.status, sample.answer) == (status, None)


def test_a_stream_that_ends_before_its_children_was_left():
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", {"input": ""})
    collector.start("m", "r", "llm")
    trace = collector.end("r", "So f", inputs="Why?", streamed=True)
    assert collector.end("m") is None
    assert (sample_of(trace).status, sample_of(trace).question) == ("abandoned", "Why?")


def test_keys_of_the_users_own():
    keys = Keys(question="frage", answer="antwort", contexts="stellen")
    collector = RunCollector()
    collector.start("r", None, "chain", "rag", {"frage": "Warum?", "sprache": "de"})
    trace = collector.end("r", {"antwort": "Darum.", "stellen": ["eins", "zwei"]})
    sample = sample_of(trace, keys)
    assert (sample.question, sample.passages, sample.answer) == ("Warum?", ("eins", "zwei"), "Darum.")


def test_a_chain_without_an_answer_and_a_bare_retriever_are_no_exchanges():
    collector = RunCollector()
    collector.start("r", None, "chain", "index", ["doc"])
    assert sample_of(collector.end("r", {"count": 3})) is None
    collector.start("q", None, "retriever", "shelf", "why")
    assert sample_of(collector.end("q", documents=[Doc("one")])) is None


def test_the_host_may_change_its_objects_afterwards():
    document, question, answer = Doc("one", metadata={"page": 1}), {"question": "Why?"}, {"answer": "So."}
    trace = rag(RunCollector(), document, question=question, answer=answer)
    document.page_content, document.metadata["page"] = "changed", 2
    question["question"] = answer["answer"] = "changed"
    sample = sample_of(trace)
    assert (sample.question, sample.passages, sample.answer) == ("Why?", ("one",), "So.")
    assert dict(sample.contexts[0].metadata) == {"page": 1}


def test_bounded_by_count_and_age(monkeypatch):
    collector = RunCollector(max_traces=3)
    for n in range(10):
        collector.start(n, None, "chain")
    assert (len(collector), collector.expired) == (3, 7)
    assert collector.end(0, "late") is None  # given up
    assert collector.end(9, "So.") is not None
    now = [1000.0]
    monkeypatch.setattr("assay.capture.tree.time", SimpleNamespace(time=lambda: now[0]))
    aging = RunCollector(ttl=60)
    aging.start("old", None, "chain")
    now[0] += 61
    aging.start("new", None, "chain")
    assert (len(aging), aging.expired) == (1, 1)


def events(root: str) -> list[tuple[str, ...]]:
    """The events of one request, each after what causes it."""
    return [
        ("start", root, "", "chain"),
        ("start", f"{root}/a", root, "retriever"),
        ("start", f"{root}/b", f"{root}/a", "retriever"),
        ("end", f"{root}/b"),
        ("end", f"{root}/a"),
        ("start", f"{root}/m", root, "llm"),
        ("end", f"{root}/m"),
        ("end", root),
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.booleans())
def test_interleaved_and_repeated_events_give_separate_records(count, seed, repeat):
    chance = random.Random(seed)
    waiting = {f"r{n}": events(f"r{n}") for n in range(count)}
    collector, found = RunCollector(), {}
    while waiting:
        root = chance.choice(sorted(waiting))
        event = waiting[root].pop(0)
        for _ in range(1 + (repeat and chance.random() < 0.3)):
            if event[0] == "start":
                collector.start(event[1], event[2] or None, event[3], inputs=f"question of {root}")  # type: ignore[arg-type]
            else:
                trace = collector.end(event[1], f"answer of {root}", documents=[Doc(f"passage of {root}")])
                if trace is not None:
                    found[root] = sample_of(trace)
        if not waiting[root]:
            del waiting[root]
    assert len(found) == count
    for root, sample in found.items():
        assert (sample.question, sample.answer) == (f"question of {root}", f"answer of {root}")
        assert sample.passages == (f"passage of {root}",)
    assert (len(collector), collector._runs) == (0, {})
