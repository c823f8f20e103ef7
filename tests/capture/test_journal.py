"""A journal says, when a trace is over, what a collector would have built of the same events."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.capture import RunCollector, Trace
from assay.capture.journal import Journal, TraceNotes

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
recorded = st.fixed_dictionaries({"what": st.just("record"), "id": st.sampled_from(RUNS)})


def play(events: list[Mapping[str, Any]], into: Any, asked: set[int]) -> list[Any]:
    """The finished traces. `asked`: the events at which a journal asked for ids; a collector is told of no others."""
    over = []
    for at, event in enumerate(events):
        about = {name: value for name, value in event.items() if name != "what"}
        if event["what"] == "record":
            into.add_documents(event["id"], [SHARED[2]])
        elif event["what"] == "start":
            ids = about.pop("ids")
            if isinstance(into, Journal):

                def look(id: Any, parent: Any, kind: Any, above: Any, at: int = at, ids: Any = ids) -> Any:
                    asked.add(at)
                    return parent, ids

                into.start(**about, look_around=look)
            else:
                into.start(**about, ids=ids if at in asked else None)
        else:
            if about["documents"] == "once":
                about["documents"] = iter(SHARED)
            over.append(into.end(**about))
    return [one for one in over if one is not None]


def told(trace: Trace) -> Any:
    """All that a trace says, but for the moments."""
    return trace.cut_short, [
        (
            run.id, run.parent, run.kind, run.name, run.inputs, run.outputs, run.prompt, run.documents,
            dict(run.given or {}), run.unread, run.recorded, run.offered, run.error, tuple(run.tags),
            dict(run.metadata), run.below_retriever, run.ended is not None,
        )
        for run in trace.members
    ]  # fmt: skip


def ids_of(trace: Trace) -> Any:
    return [dict(run.ids) for run in trace.members]


@settings(max_examples=800, deadline=None)
@given(st.lists(st.one_of(starts, starts, ends, ends, recorded), max_size=30))
def test_the_same_traces_as_a_collector(events: list[Any]) -> None:
    collector, journal = RunCollector(keep=("kept",)), Journal(keep=("kept",))
    asked: set[int] = set()
    heard = play(events, journal, asked)
    expected = play(events, collector, asked)

    traces = [one.trace() for one in heard]
    assert [one.adopted for one in heard] == [one.adopted for one in expected]
    known = [(trace, one) for trace, one in zip(traces, expected, strict=True) if not one.adopted]
    assert [told(trace) for trace, _ in known] == [told(one) for _, one in known]
    assert [ids_of(trace) for trace, _ in known] == [ids_of(one) for _, one in known]
    assert (len(journal), journal.open_runs, journal.events) == (len(collector), collector.open_runs, collector.events)
    assert journal._gone == collector._gone


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(starts, ends), max_size=40), st.integers(1, 3), st.sampled_from([2, 1000]))
def test_bounds_and_what_is_held(events: list[Any], traces: int, size: int) -> None:
    journal = Journal(max_traces=traces, max_bytes=size, max_runs=4)
    play(events, journal, set())
    assert len(journal) <= traces
    assert journal._held == sum(heard.size for heard in journal._traces.values())
    assert journal._held <= size or not len(journal)
    assert set(journal._runs) <= {key for heard in journal._traces.values() for key in heard.known}
    assert all(heard is journal._traces.get(heard.key) for heard in journal._runs.values())


def test_a_trace_given_up_in_the_middle_of_an_event_is_held_no_more() -> None:
    for followed in (Journal(max_bytes=2), RunCollector(max_bytes=2)):
        followed.start(RUNS[0], None, "chain", inputs="q")
        followed.start(RUNS[1], RUNS[0], "tool", inputs="")
        followed.end(RUNS[1], "a long text", documents=[document("another")])  # each alone is too much
        assert (len(followed), followed._held, followed.expired) == (0, 0, 1)


def test_parents_in_a_circle_end_where_they_began() -> None:
    for followed in (Journal(), RunCollector()):
        followed.start(RUNS[0], RUNS[1], "chain", inputs="q")
        followed.start(RUNS[1], RUNS[0], "chain", inputs="q")  # the parent that was waited for, and a child
        assert (len(followed), followed.open_runs) == (1, 2)
        over = followed.end(RUNS[0], "a")
        trace = over.trace() if isinstance(over, TraceNotes) else over
        assert trace is not None
        assert list(trace.runs) == [RUNS[0], RUNS[1]]


def test_runs_of_which_each_is_heard_of_before_its_parent() -> None:
    runs = [uuid.UUID(int=number) for number in range(1, 1501)]  # more than Python's frames may be deep
    for followed in (Journal(), RunCollector()):
        for run, above in zip(runs, [*runs[1:], None], strict=True):
            followed.start(run, above, "chain", inputs="q")
        assert len(followed) == 1
        over = followed.end(runs[-1], "a")
        trace = over.trace() if isinstance(over, TraceNotes) else over
        assert trace is not None
        assert trace.runs.keys() == set(runs)


def test_a_run_that_was_over_before_its_parent_was_heard_of_does_not_start_again() -> None:
    for followed in (Journal(), RunCollector()):
        child, root = RUNS[:2]
        followed.start(child, root, "chain", inputs="q")
        followed.end(child, "a")
        followed.start(root, None, "chain", inputs="q")  # takes it in
        followed.start(child, root, "chain", inputs="q")
        over = followed.end(root, "a")
        trace = over.trace() if isinstance(over, TraceNotes) else over
        assert trace is not None
        assert (list(trace.runs), followed.ignored) == ([root, child], 1)


def test_an_end_that_comes_twice_counts_as_ignored() -> None:
    journal = Journal()
    root, child = RUNS[:2]
    journal.start(root, None, "chain", inputs="q")
    journal.start(child, root, "llm", prompt=("q",))
    journal.end(child, "said")
    journal.end(child, "said again")
    heard = journal.end(root, "a")
    assert heard is not None
    assert heard.trace().runs[child].outputs == "said"
    assert (journal.events, journal.ignored) == (5, 1)


def test_a_text_in_place_of_documents_is_one_passage() -> None:
    for followed in (Journal(), RunCollector()):
        root, retriever = RUNS[:2]
        followed.start(root, None, "chain", inputs="q")
        followed.start(retriever, root, "retriever", inputs="q")
        followed.end(retriever, documents="cats purr")
        over = followed.end(root, "a")
        trace = over.trace() if isinstance(over, TraceNotes) else over
        assert trace is not None
        assert [found.text for found in trace.runs[retriever].documents or ()] == ["cats purr"]


def test_nothing_of_the_hosts_objects_is_read_later_or_held() -> None:
    documents, outputs, messages = [document("a")], {"docs": [document("b")]}, {"question": "q", "list": ["x"]}
    journal = Journal()
    root, retriever, step = RUNS[:3]
    journal.start(root, None, "chain", inputs=messages, metadata=(metadata := {"user": 1}), tags=(tags := ["t"]))
    journal.start(retriever, root, "retriever", inputs="q")
    journal.end(retriever, documents=documents)
    journal.start(step, root, "chain", inputs={"docs": documents})
    journal.end(step, outputs)
    found, passed = documents[0], outputs["docs"][0]
    found.page_content = passed.page_content = "changed"
    found.metadata["page"] = passed.metadata["page"] = 7
    documents.clear()
    outputs.clear()
    metadata["user"] = 2
    tags.append("later")
    heard = journal.end(root, "a")
    messages["question"] = "changed"
    assert heard is not None
    hosts = (found, passed, documents, outputs, messages, metadata, tags)
    assert not [one for one in heard.notes if any(one is mine for mine in hosts)]
    trace = heard.trace()
    assert heard.notes == []
    assert [one.text for one in trace.runs[retriever].documents or ()] == ["a"]
    assert [(one.text, one.metadata) for one in trace.runs[step].documents or ()] == [("b", {"page": 1})]
    assert trace.runs[step].given == {"docs": ("a",)}
    assert (trace.root.inputs["question"], trace.root.metadata, trace.root.tags) == ("q", {"user": 1}, ("t",))
    assert trace is heard.trace()


class Hostile:
    """A document that raises when it is read."""

    @property
    def page_content(self) -> str:
        raise RuntimeError("mine")


def test_where_the_hosts_objects_raise_the_run_is_followed_all_the_same() -> None:
    journal = Journal()
    root, retriever, below, tool = RUNS[:4]
    journal.start(root, None, "chain", inputs="q")
    journal.start(retriever, root, "retriever", inputs="q")
    with pytest.raises(RuntimeError):
        journal.start(tool, root, "tool", inputs=[Hostile()])
    journal.end(tool, "said")
    with pytest.raises(RuntimeError):
        journal.end(retriever, documents=[Hostile()])
    with pytest.raises(RuntimeError):
        journal.start(below, root, "chain", inputs=[Hostile()])
    journal.end(below, "x")
    heard = journal.end(root, "a")
    assert heard is not None
    trace = heard.trace()
    assert list(trace.runs) == [root, retriever, tool, below]
    assert trace.runs[tool].outputs == "said"
    assert all(run.ended for run in trace.members)
    assert trace.runs[retriever].documents is None


def test_a_root_that_cannot_be_read_is_over() -> None:
    journal = Journal()
    journal.start(RUNS[0], None, "chain", inputs="q")
    with pytest.raises(RuntimeError):
        journal.end(RUNS[0], documents=[Hostile()])
    assert (len(journal), journal.open_runs, journal._held) == (0, 0, 0)


def test_an_open_trace_has_no_tree() -> None:
    journal = Journal()
    journal.start(RUNS[0], None, "chain", inputs="q")
    heard: TraceNotes | None = journal.notes_of(RUNS[0])
    assert heard is not None
    with pytest.raises(ValueError, match="not ended"):
        heard.trace()
