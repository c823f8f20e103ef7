"""Bounds of a collector, events in any order, and hosts whose objects change or raise."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.capture import RunCollector

KINDS = ("chain", "retriever", "llm", "tool", "agent", "prompt", "parser", "reranker")
NAMES = (None, "kept", "other")
RUNS = tuple(uuid.UUID(int=number) for number in range(1, 8))
UNKNOWN = uuid.UUID(int=99)  # a parent of which nobody hears


def document(text: str, page: int = 1) -> Any:
    return SimpleNamespace(page_content=text, id=f"id of {text}", metadata={"page": page})


SHARED = [document("a"), document("b"), document("c")]

values = st.one_of(
    st.none(), st.just("a text"), st.just({"question": "q", "n": 3}), st.just(["texts", "only"]),
    st.sampled_from([SHARED, SHARED[:2], [SHARED[0]], [], (SHARED[1],), [document("a", 2)]]),
    st.sampled_from([{"docs": SHARED}, {"docs": SHARED[1:], "more": SHARED[:1]}, {"context": [], "x": SHARED}]),
    st.just([("not", "documents")]), st.just([(SHARED[0], 0.5)]), st.just({"found": [{"text": "t", "source": "s"}]}),
)  # fmt: skip
starts = st.fixed_dictionaries(
    {
        "what": st.just("start"), "id": st.sampled_from(RUNS), "parent": st.sampled_from([None, UNKNOWN, *RUNS]),
        "kind": st.sampled_from(KINDS), "name": st.sampled_from(NAMES), "inputs": values,
        "prompt": st.sampled_from([None, None, ("a prompt", "of two")]), "ids": st.sampled_from([None, {"span": "7"}]),
        "offered": st.sampled_from([(), ("a tool",)]), "tags": st.sampled_from([None, ["t"]]),
        "metadata": st.sampled_from([None, {"k": 1}]),
    }
)  # fmt: skip
ends = st.fixed_dictionaries(
    {
        "what": st.just("end"), "id": st.sampled_from(RUNS), "outputs": values,
        "error": st.sampled_from([None, None, ValueError("secret"), GeneratorExit()]),
        "documents": st.sampled_from([None, None, SHARED, SHARED[:1], [], "once"]),
        "inputs": st.one_of(st.none(), values), "streamed": st.booleans(), "ids": st.sampled_from([None, {"end": "8"}]),
    }
)  # fmt: skip


def play(events: list[Mapping[str, Any]], into: RunCollector) -> None:
    for event in events:
        about = {name: value for name, value in event.items() if name != "what"}
        if event["what"] == "start":
            into.start(**about)
            continue
        if about["documents"] == "once":
            about["documents"] = iter(SHARED)
        into.end(**about)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(starts, ends), max_size=40), st.integers(1, 3), st.sampled_from([2, 1000]))
def test_bounds_and_what_is_held(events: list[Any], traces: int, size: int) -> None:
    collector = RunCollector(max_traces=traces, max_bytes=size, max_runs=4)
    play(events, collector)
    assert len(collector) <= traces
    assert collector._held == sum(trace.size for trace in collector._traces.values())
    assert collector._held <= size or not len(collector)
    assert set(collector._runs) <= {key for trace in collector._traces.values() for key in trace.keys}
    assert all(run.trace is collector._traces.get(run.trace.key) for run in collector._runs.values())


def test_a_trace_given_up_in_the_middle_of_an_event_is_held_no_more() -> None:
    followed = RunCollector(max_bytes=2)
    followed.start(RUNS[0], None, "chain", inputs="q")
    followed.start(RUNS[1], RUNS[0], "tool", inputs="")
    followed.end(RUNS[1], "a long text", documents=[document("another")])  # each alone is too much
    assert (len(followed), followed._held, followed.expired) == (0, 0, 1)


def test_parents_in_a_circle_end_where_they_began() -> None:
    followed = RunCollector()
    followed.start(RUNS[0], RUNS[1], "chain", inputs="q")
    followed.start(RUNS[1], RUNS[0], "chain", inputs="q")  # the parent that was waited for, and a child
    assert (len(followed), followed.open_runs) == (1, 2)
    trace = followed.end(RUNS[0], "a")
    assert trace is not None
    assert list(trace.runs) == [RUNS[0], RUNS[1]]


def test_runs_of_which_each_is_heard_of_before_its_parent() -> None:
    runs = [uuid.UUID(int=number) for number in range(1, 1501)]  # more than Python's frames may be deep
    followed = RunCollector()
    for run, above in zip(runs, [*runs[1:], None], strict=True):
        followed.start(run, above, "chain", inputs="q")
    assert len(followed) == 1
    trace = followed.end(runs[-1], "a")
    assert trace is not None
    assert trace.runs.keys() == set(runs)


def test_a_run_that_was_over_before_its_parent_was_heard_of_does_not_start_again() -> None:
    followed = RunCollector()
    child, root = RUNS[:2]
    followed.start(child, root, "chain", inputs="q")
    followed.end(child, "a")
    followed.start(root, None, "chain", inputs="q")  # takes it in
    followed.start(child, root, "chain", inputs="q")
    trace = followed.end(root, "a")
    assert trace is not None
    assert (list(trace.runs), followed.ignored) == ([root, child], 1)


def test_an_end_that_comes_twice_counts_as_ignored() -> None:
    collector = RunCollector()
    root, child = RUNS[:2]
    collector.start(root, None, "chain", inputs="q")
    collector.start(child, root, "llm", prompt=("q",))
    collector.end(child, "said")
    collector.end(child, "said again")
    trace = collector.end(root, "a")
    assert trace is not None
    assert trace.runs[child].outputs == "said"
    assert (collector.events, collector.ignored) == (5, 1)


def test_a_text_in_place_of_documents_is_one_passage() -> None:
    followed = RunCollector()
    root, retriever = RUNS[:2]
    followed.start(root, None, "chain", inputs="q")
    followed.start(retriever, root, "retriever", inputs="q")
    followed.end(retriever, documents="cats purr")
    trace = followed.end(root, "a")
    assert trace is not None
    assert [found.text for found in trace.runs[retriever].documents or ()] == ["cats purr"]


def test_nothing_of_the_hosts_objects_is_read_later_or_held() -> None:
    documents, outputs, messages = [document("a")], {"docs": [document("b")]}, {"question": "q", "list": ["x"]}
    collector = RunCollector()
    root, retriever, step = RUNS[:3]
    collector.start(root, None, "chain", inputs=messages, metadata=(metadata := {"user": 1}), tags=(tags := ["t"]))
    collector.start(retriever, root, "retriever", inputs="q")
    collector.end(retriever, documents=documents)
    collector.start(step, root, "chain", inputs={"docs": documents})
    collector.end(step, outputs)
    found, passed = documents[0], outputs["docs"][0]
    found.page_content = passed.page_content = "changed"
    found.metadata["page"] = passed.metadata["page"] = 7
    documents.clear()
    outputs.clear()
    metadata["user"] = 2
    tags.append("later")
    trace = collector.end(root, "a")
    messages["question"] = "changed"
    assert trace is not None
    hosts = (found, passed, documents, outputs, messages, metadata, tags)
    kept = [value for run in trace.members for value in vars(run).values()]
    assert not [one for one in kept if any(one is mine for mine in hosts)]
    assert [one.text for one in trace.runs[retriever].documents or ()] == ["a"]
    assert [(one.text, one.metadata) for one in trace.runs[step].documents or ()] == [("b", {"page": 1})]
    assert trace.runs[step].given == {"docs": ("a",)}
    assert (trace.root.inputs["question"], trace.root.metadata, trace.root.tags) == ("q", {"user": 1}, ("t",))


class Hostile:
    """A document that raises when it is read."""

    @property
    def page_content(self) -> str:
        raise RuntimeError("mine")


def test_where_the_hosts_objects_raise_the_run_is_followed_all_the_same() -> None:
    collector = RunCollector()
    root, retriever, below, tool = RUNS[:4]
    collector.start(root, None, "chain", inputs="q")
    collector.start(retriever, root, "retriever", inputs="q")
    with pytest.raises(RuntimeError):
        collector.start(tool, root, "tool", inputs=[Hostile()])
    collector.end(tool, "said")
    with pytest.raises(RuntimeError):
        collector.end(retriever, documents=[Hostile()])
    with pytest.raises(RuntimeError):
        collector.start(below, root, "chain", inputs=[Hostile()])
    collector.end(below, "x")
    trace = collector.end(root, "a")
    assert trace is not None
    assert list(trace.runs) == [root, retriever, tool, below]
    assert trace.runs[tool].outputs == "said"
    assert all(run.ended for run in trace.members)
    assert trace.runs[retriever].documents is None


def test_a_root_that_cannot_be_read_is_over() -> None:
    collector = RunCollector()
    collector.start(RUNS[0], None, "chain", inputs="q")
    with pytest.raises(RuntimeError):
        collector.end(RUNS[0], documents=[Hostile()])
    assert (len(collector), collector.open_runs, collector._held) == (0, 0, 0)
