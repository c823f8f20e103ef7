"""The host is never harmed: not by what we keep, not by a full queue, not by a slow sink."""

from __future__ import annotations

import copy
import pickle
import time
import uuid
from typing import Any

import pytest
from langchain_core.documents import Document

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."


def test_a_fault_in_include_loses_one_trace_and_is_counted(captured: Any, kit: Any) -> None:
    it = captured(include=lambda root: 1 / 0)
    assert kit.rag().invoke(QUESTION, config=it.config) == ANSWER
    assert it.samples == []
    assert it.handler.health().errors == {"ZeroDivisionError": 1}


class Raises:
    """Whatever is done with it raises."""

    def _raise(self, *arguments: Any) -> Any:
        raise RuntimeError("nothing can be done with this")

    __getattr__ = __eq__ = __str__ = __repr__ = __len__ = __iter__ = __bool__ = __contains__ = __getitem__ = _raise  # type: ignore[assignment]
    __hash__ = object.__hash__


GIVEN = {
    "object": lambda: Raises(),
    "list": lambda: [Raises()],
    "dict": lambda: {"documents": [Raises()], "a": Raises()},
    "batch": lambda: [[Raises()]],
}


@pytest.mark.parametrize("form", GIVEN)
@pytest.mark.parametrize(
    ("start", "end"),
    [("chain", "chain"), ("retriever", "retriever"), ("tool", "tool"), ("llm", "llm"), ("chat_model", "llm")],
)
def test_no_hook_raises_whatever_it_is_given(form: str, start: str, end: str, captured: Any, kit: Any) -> None:
    it, given = captured(), GIVEN[form]()
    more = {"tool": {"inputs": given}, "chat_model": {"invocation_params": given}}.get(start, {})
    root, run = uuid.uuid4(), uuid.uuid4()
    for id, parent in ((root, None), (run, root)):
        getattr(it.handler, f"on_{start}_start")(
            given, given, run_id=id, parent_run_id=parent, tags=given, metadata=given, **more
        )
    getattr(it.handler, f"on_{end}_end")(given, run_id=run)
    it.handler.on_chain_end(given, run_id=root)
    assert it.handler.health().open_traces == 0
    assert kit.rag().invoke(QUESTION, config=it.config) == ANSWER
    assert it.samples[-1].answer == ANSWER


def test_documents_that_are_none_are_counted_not_raised(captured: Any) -> None:
    it = captured()
    root, child = uuid.uuid4(), uuid.uuid4()
    it.handler.on_chain_start({}, "q", run_id=root)
    it.handler.on_retriever_start({}, "q", run_id=child, parent_run_id=root)
    it.handler.on_retriever_end([object()], run_id=child)
    it.handler.on_chain_end("a", run_id=root)
    assert it.sample.contexts is None
    assert it.handler.health().errors == {"InputError": 1}


def test_the_hosts_documents_stay_as_they_are_and_later_changes_do_not_reach_us(captured: Any, kit: Any) -> None:
    documents = tuple(document.model_copy(deep=True) for document in kit.DOCUMENTS)
    before = copy.deepcopy(documents)
    it = captured()
    root, child = uuid.uuid4(), uuid.uuid4()
    inputs = {"question": QUESTION}
    it.handler.on_chain_start({}, inputs, run_id=root)
    it.handler.on_retriever_start({}, "q", run_id=child, parent_run_id=root)
    it.handler.on_retriever_end(list(documents), run_id=child)
    assert documents == before
    documents[0].metadata["page"] = 99
    documents[0].page_content = "changed"
    inputs["question"] = "changed"
    it.handler.on_chain_end(ANSWER, run_id=root)
    sample = it.sample
    assert sample.question == QUESTION
    assert sample.contexts[0].text == before[0].page_content
    assert sample.contexts[0].metadata["page"] == 3


def test_full_queue_drops_and_counts_and_does_not_block(captured: Any, kit: Any) -> None:
    def slow(claim: str, passage: str) -> str:
        time.sleep(0.2)
        return "supported"

    it = captured(judge=ScriptedJudge(support=slow), max_queue=2, concurrency=1)
    started = time.monotonic()
    for _ in range(30):
        assert kit.rag().invoke(QUESTION, config=it.config) == ANSWER
    assert time.monotonic() - started < 5
    live = it.handler.health().live
    assert live.dropped > 0
    assert live.dropped + live.submitted == 30
    assert it.handler.flush(20)
    assert it.handler.health().live.finished == live.submitted


@pytest.mark.long
def test_a_slow_sink_does_not_stop_the_scoring(captured: Any, kit: Any) -> None:
    class Slow:
        def write(self, scored: Any) -> None:
            time.sleep(0.3)

        def close(self) -> None: ...

    from assay_langchain import AssayCallbackHandler

    handler = AssayCallbackHandler("faithfulness", ScriptedJudge(support=lambda c, p: "supported"), sinks=[Slow()])
    for _ in range(5):
        kit.rag().invoke(QUESTION, config={"callbacks": [handler]})
    until = time.monotonic() + 1.0
    while handler.health().live.finished < 5 and time.monotonic() < until:
        time.sleep(0.01)
    live = handler.health().live
    assert (live.finished, live.delivered < 5) == (5, True)
    assert handler.close(10).live.delivered == 5


def test_copies_are_the_handler_itself(captured: Any) -> None:
    handler = captured().handler
    assert copy.copy(handler) is handler
    assert copy.deepcopy({"callbacks": [handler]})["callbacks"][0] is handler
    assert pickle.loads(pickle.dumps(handler)) is handler


def test_wrong_names_raise_at_once() -> None:
    from assay_langchain import AssayCallbackHandler

    with pytest.raises(InputError, match="faithfullness"):
        AssayCallbackHandler("faithfullness", ScriptedJudge())
    with pytest.raises(InputError, match="judge"):
        AssayCallbackHandler("faithfulness", "nonsense")


def test_closed_handler_lets_chains_run(captured: Any, kit: Any) -> None:
    it = captured()
    it.handler.close()
    assert kit.rag().invoke(QUESTION, config=it.config) == ANSWER
    assert it.handler.health().live.dropped == 1


def test_memory_of_the_collector_is_bounded(captured: Any) -> None:
    it = captured(max_traces=10)
    for _ in range(50):  # roots that never end
        it.handler.on_chain_start({}, "q", run_id=uuid.uuid4())
    health = it.handler.health()
    assert (health.open_traces, health.expired) == (10, 40)
    assert it.handler.collector.open_runs == 10


def test_documents_with_large_metadata_are_read_shallowly(captured: Any, kit: Any) -> None:
    class Unreadable:
        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError("copied deeply")

    document = Document("text", metadata={"live": Unreadable(), "page": 1})
    it = captured()
    kit.rag(kit.Shelf(documents=(document,))).invoke(QUESTION, config=it.config)
    assert it.sample.contexts[0].metadata == {"page": 1}
