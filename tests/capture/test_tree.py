"""The collector: bounded, tolerant of doubles and late events, and no keeper of the host's objects."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from assay.capture import RunCollector, sample_of


def document(text: str = "p", **metadata: Any) -> Any:
    return SimpleNamespace(page_content=text, id=None, metadata=metadata)


def test_a_trace_is_returned_at_the_end_of_its_root_with_its_runs_in_order_of_start() -> None:
    collector = RunCollector()
    collector.start("root", None, "chain", "rag", {"q": "x"}, ["t"], {"user": "u"})
    collector.start("r", "root", "retriever")
    collector.start("l", "root", "llm")
    assert collector.end("r", documents=[document("p1")]) is None
    assert collector.end("l") is None
    trace = collector.end("root", "answer")
    assert trace is not None
    assert list(trace.runs) == ["root", "r", "l"]
    assert [run.id for run in trace.runs.values() if run is not trace.root] == ["r", "l"]
    assert (trace.root.name, trace.root.inputs, trace.root.outputs) == ("rag", {"q": "x"}, "answer")
    assert (trace.root.tags, trace.root.metadata) == (("t",), {"user": "u"})
    assert [found.text for found in trace.runs["r"].documents or ()] == ["p1"]
    assert trace.root.started <= (trace.root.ended or 0)
    assert (len(collector), collector.events, collector.ignored) == (0, 6, 0)


def test_documents_of_retrievers_below_retrievers_are_not_kept() -> None:
    collector = RunCollector()
    collector.start("root", None, "chain")
    collector.start("outer", "root", "retriever")
    collector.start("chain", "outer", "chain")
    collector.start("inner", "chain", "retriever")
    collector.end("inner", documents=[document()])
    collector.end("outer", documents=[document("kept")])
    trace = collector.end("root")
    assert trace is not None
    assert {run.id for run in trace.runs.values() if run.documents} == {"outer"}


def test_doubles_and_late_events_are_ignored_and_counted() -> None:
    collector = RunCollector()
    collector.start("root", None, "chain")
    collector.start("root", None, "chain")
    collector.start("open", "root", "llm")
    assert collector.end("root", "first") is not None
    assert collector.end("root", "second") is None
    collector.end("open")
    collector.start("late", "open", "chain")
    collector.start("later", "late", "retriever")
    collector.end("later", documents=[document()])
    collector.start("root", None, "chain")
    assert (len(collector), collector.ignored) == (0, 7)


def test_an_unknown_parent_makes_a_root() -> None:
    collector = RunCollector()
    collector.start("model", "never seen", "llm", inputs="q")
    trace = collector.end("model", "a")
    assert trace is not None
    assert trace.root.parent == "never seen"


def test_a_stream_is_cut_short_only_while_children_are_open() -> None:
    for child_ends, streamed, cut in [(True, True, False), (False, True, True), (False, False, False)]:
        collector = RunCollector()
        collector.start("root", None, "chain", inputs={"input": ""})
        collector.start("llm", "root", "llm")
        if child_ends:
            collector.end("llm")
        trace = collector.end("root", "partial", inputs="the question", streamed=streamed)
        assert trace is not None
        assert (trace.cut_short, trace.root.inputs) == (cut, "the question")


def test_bounded_by_count_runs_and_age(monkeypatch: Any) -> None:
    collector = RunCollector(max_traces=3)
    for n in range(10):
        collector.start(n, None, "chain")
    assert (len(collector), collector.expired) == (3, 7)
    assert collector.end(0) is None
    assert collector.end(9) is not None

    many = RunCollector(max_runs=10)
    many.start("old", None, "chain")
    for n in range(20):
        many.start(f"child {n}", "old", "chain")
    many.start("new", None, "chain")
    assert (len(many), many.expired, len(many._runs)) == (1, 1, 1)

    aging = RunCollector(ttl=60)
    aging.start("old", None, "chain")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    aging.start("new", None, "chain")
    assert (len(aging), aging.expired) == (1, 1)


def test_what_is_remembered_of_the_gone_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.capture.open_traces.GONE", 100)
    collector = RunCollector()
    for n in range(1000):
        collector.start(n, None, "chain")
        collector.start(-1 - n, n, "llm")
        collector.end(n, "a")
    assert len(collector._gone) <= 100
    assert not collector._runs
    assert not collector._traces


def test_the_hosts_objects_are_not_kept() -> None:
    class Live:
        page_content, id, metadata = "p", None, {"page": 1}

    collector = RunCollector()
    held = Live()
    gone = weakref.ref(held)
    collector.start("root", None, "chain", inputs={"documents": [held]})
    collector.start("r", "root", "retriever")
    collector.end("r", documents=[held])
    collector.end("unknown", outputs=held)
    del held
    gc.collect()
    assert gone() is None
    trace = collector.end("root")
    assert trace is not None
    assert trace.runs["r"].documents == (("p", None, {"page": 1}, None),)


def test_hooks_that_run_while_the_lock_is_held_do_not_deadlock() -> None:
    """A stream collected as garbage in the middle of a hook fires its own end event in the same thread."""
    collector = RunCollector()
    collector.start("stream", None, "chain")

    class Collected:
        id, page_content = None, "p"

        @property
        def metadata(self) -> dict[str, Any]:
            assert collector.end("stream", "partial") is not None
            return {}

    collector.start("root", None, "chain")
    collector.start("r", "root", "retriever")
    done = threading.Event()

    def hook() -> None:
        collector.end("r", documents=[Collected()])
        done.set()

    threading.Thread(target=hook, daemon=True).start()
    assert done.wait(5)
    assert collector.end("root") is not None


@pytest.mark.long
def test_memory_is_flat() -> None:
    collector = RunCollector()

    def traces(first: int, count: int) -> int:
        for n in range(first, first + count):
            collector.start(("root", n), None, "chain", inputs="q" * 100)
            collector.start(("r", n), ("root", n), "retriever")
            collector.end(("r", n), documents=[document("p" * 100)])
            collector.end(("root", n), "a" * 100)
        gc.collect()
        return sys.getallocatedblocks()

    warm = traces(0, 10_000)
    assert traces(10_000, 10_000) - warm < 2_000  # 20,000 runs later: fewer blocks than a tenth of them


def test_a_parent_that_is_heard_of_after_its_children_takes_them_in() -> None:
    collector = RunCollector()
    collector.start("done", "chain", "retriever")
    early = collector.end("done", documents=[document("p1")])
    collector.start("open", "chain", "chain")
    collector.start("below", "open", "retriever")
    assert early is not None
    assert not early.adopted
    collector.start("chain", "root", "chain")
    collector.start("root", None, "chain", inputs="q")
    collector.end("below", documents=[document("p2")])
    collector.end("open")
    collector.end("chain")
    trace = collector.end("root", "a")
    assert early.adopted  # whoever was handed it must not make a sample of it
    assert trace is not None
    assert set(trace.runs) == {"root", "chain", "done", "open", "below"}
    assert (trace.running, trace.cut_short, len(collector)) == (0, False, 0)
    sample = sample_of(trace)
    assert sample is not None
    assert [context.text for context in sample.contexts or ()] == ["p1", "p2"]


def test_what_is_remembered_of_unknown_parents_is_forgotten(monkeypatch: Any) -> None:
    collector = RunCollector()
    for n in range(3):
        collector.start(n, f"unknown {n}", "llm", inputs="q")
        collector.end(n, "a")
    assert len(collector._orphans) == 3
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 11)
    collector.sweep()
    assert not collector._orphans
    monkeypatch.setattr("assay.capture.open_traces.ORPHANS", 10)
    for n in range(10, 40):
        collector.start(n, f"unknown {n}", "llm", inputs="q")
    assert len(collector._orphans) <= 11


def test_bounded_by_bytes() -> None:
    collector = RunCollector(max_bytes=10_000)
    for n in range(5):
        collector.start(n, None, "chain", inputs="x" * 1000)
        collector.start(f"llm {n}", n, "llm", prompt=("y" * 1000,))
        collector.start(f"r {n}", n, "retriever")
        collector.end(f"r {n}", documents=[document("z" * 1000)])
    # each trace holds 1000 + 1000 + 1000 characters: three fit
    assert (len(collector), collector.expired) == (3, 2)
    for n in range(2, 5):
        assert collector.end(n, "a") is not None
    assert collector._held == 0


def test_documents_that_pass_on_are_held_once() -> None:
    collector = RunCollector(max_bytes=5_000)
    documents = [document("z" * 1000), document("y" * 1000)]
    collector.start("root", None, "chain", inputs="q")
    collector.start("r", "root", "retriever", inputs="q")
    collector.end("r", documents=documents)
    for n in range(5):
        collector.start(n, "root", "chain", inputs="q")
        collector.end(n, {"docs": documents})
    # 2 * 1000 characters and two of one letter are held, however often the documents pass on
    assert (len(collector), collector.expired, collector._held) == (1, 0, 2002)
    trace = collector.end("root", "a")
    assert trace is not None
    assert trace.runs["r"].documents == trace.runs[4].documents
    assert collector._held == 0


def test_sweeping_gives_up_what_never_ended(monkeypatch: Any) -> None:
    collector = RunCollector(ttl=60)
    collector.start("old", None, "chain", inputs="q")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    collector.sweep()
    assert (len(collector), collector.expired, collector._runs, collector._held) == (0, 1, {}, 0)


def test_lists_of_documents_that_a_step_passes_through_are_not_its_own() -> None:
    collector = RunCollector()
    collector.start("root", None, "chain", inputs="q")
    collector.start("step", "root", "chain", inputs={"docs": [document("a"), document("b")], "k": 1})
    collector.end("step", {"docs": [document("a"), document("b")], "chosen": [document("b")]})
    collector.start("same", "root", "chain", inputs={"docs": [document("a")]})
    collector.end("same", {"docs": [document("a")], "answer": "x"})
    trace = collector.end("root", "a")
    assert trace is not None
    assert [found.text for found in trace.runs["step"].documents or ()] == ["b"]
    assert trace.runs["step"].given == {"docs": ("a", "b")}
    assert trace.runs["same"].documents is None


def test_outputs_that_cannot_be_copied_end_their_trace_all_the_same() -> None:
    class Hostile(list[int]):
        def __iter__(self) -> Any:
            raise ValueError("x")

    collector = RunCollector()
    collector.start("root", None, "chain", inputs="q")
    with pytest.raises(ValueError, match="x"):
        collector.end("root", Hostile([1]))
    assert (len(collector), collector.open_runs) == (0, 0)
