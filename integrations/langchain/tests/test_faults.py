"""Whatever fails in our own code, in every place: the host's result is unchanged, and the fault is counted once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import assay_langchain.ids
import assay_langchain.listener
import pytest
from langchain.agents import create_agent
from langchain_core.outputs import Generation, LLMResult
from langchain_core.tools import create_retriever_tool

from assay.capture import CaptureRules

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."


class Fatal(BaseException):
    """What even `except Exception` lets through."""


FAULTS = [RuntimeError("x"), Fatal("x"), asyncio.CancelledError(), GeneratorExit(), SystemExit(1), MemoryError()]
NAMES = [type(fault).__name__ for fault in FAULTS]

HOOKS: dict[str, tuple[Any, ...]] = {
    "on_chain_start": ({}, "q"),
    "on_chain_end": ("a",),
    "on_chain_error": (ValueError(),),
    "on_retriever_start": ({}, "q"),
    "on_retriever_end": ([],),
    "on_retriever_error": (ValueError(),),
    "on_tool_start": ({}, "q"),
    "on_tool_end": ("a",),
    "on_tool_error": (ValueError(),),
    "on_chat_model_start": ({}, [[]]),
    "on_llm_start": ({}, ["q"]),
    "on_llm_end": (LLMResult(generations=[[Generation(text="a")]]),),
    "on_llm_error": (ValueError(),),
}


@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_fault_in_a_hook_is_counted_once_and_goes_no_further(
    captured: Any, monkeypatch: Any, hook: str, fault: BaseException
) -> None:
    it = captured()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise fault

    for name in ("start", "end"):
        monkeypatch.setattr(it.handler.collector, name, fail)
    getattr(it.handler, hook)(*HOOKS[hook], run_id=uuid.uuid4())
    assert it.handler.health().errors == {type(fault).__name__: 1}


@pytest.mark.parametrize("hook", HOOKS)
def test_payloads_that_are_not_what_they_should_be_never_raise(captured: Any, hook: str) -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise Fatal(name)

        def __bool__(self) -> bool:
            raise Fatal("bool")

    it = captured()
    for payload in (Hostile(), None, object(), [None], {"documents": [Hostile()]}, [[Hostile()]]):
        arguments = ({}, payload) if hook.endswith("_start") else (payload,)
        run_id = uuid.uuid4()
        if not hook.endswith("_start"):
            it.handler.on_chain_start({}, "q", run_id=run_id)
        getattr(it.handler, hook)(*arguments, run_id=run_id)
    assert it.handler.health().events > 0


def test_every_start_end_and_error_event_is_implemented(captured: Any) -> None:
    handler = captured().handler
    names = [name for name in dir(handler) if name.startswith("on_") and name.endswith(("_start", "_end", "_error"))]
    assert sorted(names) == sorted(HOOKS)
    assert all(name in vars(assay_langchain.AssayCallbackHandler) for name in names)


#: Everything of ours, and of the user's, that runs behind a hook.
PLACES: dict[str, Callable[[Any], tuple[Any, str]]] = {
    "collector.start": lambda it: (it.handler.collector, "start"),
    "collector.end": lambda it: (it.handler.collector, "end"),
    "scorer.submit": lambda it: (it.handler.scorer, "submit"),
    "include": lambda it: (it.handler.listener, "_include"),
    "ids at start": lambda it: (assay_langchain.ids, "ids_at_start"),
    "ids at end": lambda it: (assay_langchain.ids, "ids_at_end"),
    "whether to ask": lambda it: (assay_langchain.ids, "followed"),
    "ids of LangSmith": lambda it: (assay_langchain.ids, "langsmith_ids"),
    "ids of spans": lambda it: (assay_langchain.ids, "span_ids"),
    "surroundings": lambda it: (assay_langchain.listener, "conversation"),
    "parent around": lambda it: (assay_langchain.listener, "run_around"),
    "payloads": lambda it: (assay_langchain.listener, "plain"),
    "prompts": lambda it: (assay_langchain.listener, "prompt_of"),
    "assembly": lambda it: (assay_langchain.listener, "sample_of"),
    "conversations": lambda it: (it.handler.listener._submitter._conversations, "complete"),
}


def results(kit: Any, config: Any) -> list[Any]:
    """What the host gets of a chain in each form, and of an agent; of a failing chain, the type of its exception."""
    search = create_retriever_tool(kit.Shelf(), "search", "finds documents")
    agent = create_agent(kit.model(kit.call("cats"), ANSWER), [search])

    async def streamed() -> list[Any]:
        return [chunk async for chunk in kit.rag().astream(QUESTION, config=config)]

    def left() -> Any:
        stream = kit.rag().stream(QUESTION, config=config)
        first = next(stream)
        stream.close()
        return first

    def failing() -> Any:
        try:
            return kit.rag(kit.Broken()).invoke(QUESTION, config=config)
        except Exception as error:
            return type(error)

    return [
        kit.rag().invoke(QUESTION, config=config),
        asyncio.run(kit.rag().ainvoke(QUESTION, config=config)),
        list(kit.rag().stream(QUESTION, config=config)),
        asyncio.run(streamed()),
        left(),
        kit.rag().batch([QUESTION, QUESTION], config=config),
        agent.invoke({"messages": [("user", QUESTION)]}, config=config)["messages"][-1].content,
        failing(),
    ]


@pytest.mark.short_cases(20)
@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
@pytest.mark.parametrize("place", PLACES)
def test_the_hosts_results_are_unchanged_and_each_fault_is_counted_once(
    captured: Any, kit: Any, monkeypatch: Any, place: str, fault: BaseException
) -> None:
    it = captured(include=lambda root: True, max_queue=1000)
    monkeypatch.setattr(assay_langchain.ids, "followed", lambda: True)  # as if another system were at work
    raised: list[None] = []

    def fail(*args: Any, **kwargs: Any) -> None:
        raised.append(None)
        raise type(fault)("x")

    owner, name = PLACES[place](it)
    monkeypatch.setattr(owner, name, fail)
    assert results(kit, it.config) == results(kit, {})
    assert it.handler.flush(20)
    assert len(raised) > 0
    assert it.handler.health().errors == {type(fault).__name__: len(raised)}


@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_a_rule_of_the_users_that_fails_loses_its_sample_alone(captured: Any, kit: Any, fault: BaseException) -> None:
    def adjust(sample: Any, trace: Any) -> Any:
        if sample.question == "bad":
            raise type(fault)("x")
        return sample

    it = captured(rules=CaptureRules(adjust=adjust))
    for question in ("good", "bad", "good as well"):
        assert kit.rag().invoke(question, config=it.config) == ANSWER
    assert sorted(sample.question for sample in it.samples) == ["good", "good as well"]
    health = it.handler.health()
    assert health.errors == {type(fault).__name__: 1}
    assert (health.live.skipped, health.live.pending) == (1, 0)


def test_where_even_counting_fails_the_host_goes_on(captured: Any, kit: Any, monkeypatch: Any) -> None:
    it = captured()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise Fatal("x")

    monkeypatch.setattr(it.handler.collector, "start", fail)
    monkeypatch.setattr(it.handler.scorer, "count_error", fail)
    assert results(kit, it.config) == results(kit, {})
    assert it.handler.health().left_out["uncounted_errors"] > 0


def test_the_users_interrupt_passes_through(captured: Any, monkeypatch: Any) -> None:
    it = captured()

    def interrupt(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(it.handler.collector, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        it.handler.on_chain_start({}, "q", run_id=uuid.uuid4())


def test_recording_that_fails_says_no_and_is_counted(captured: Any, kit: Any, monkeypatch: Any) -> None:
    from langchain_core.runnables import RunnableLambda

    import assay

    it = captured()
    said = SimpleNamespace(no=None)

    def find(question: str) -> str:
        said.no = assay.record_context("x")
        return "x"

    def fail(*args: Any, **kwargs: Any) -> None:
        raise Fatal("x")

    monkeypatch.setattr(it.handler.collector, "add_documents", fail)
    assert kit.rag(RunnableLambda(find)).invoke(QUESTION, config=it.config) == ANSWER
    assert said.no is False
    assert it.handler.health().errors == {"Fatal": 1}


class Detached:
    """The state of a graph whose fields cannot be read any more, as a row of a database whose session is over."""

    __dataclass_fields__ = {"question": None}  # noqa: RUF012

    @property
    def question(self) -> str:
        raise LookupError("detached")


class Unreadable(dict[str, str]):
    """A dict of its own make, which raises when it is gone through."""

    def items(self) -> Any:
        raise LookupError("detached")


@pytest.mark.parametrize("given", [Detached(), Unreadable(question=QUESTION)], ids=["fields", "items"])
@pytest.mark.parametrize("where", ["root", "below"])
def test_inputs_that_cannot_be_read_do_not_make_applications_of_the_parts(
    captured: Any, kit: Any, where: str, given: Any
) -> None:
    it = captured()
    hooks, root, middle, model = it.handler, uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    hooks.on_chain_start({}, given if where == "root" else QUESTION, run_id=root)
    hooks.on_chain_start({}, given if where == "below" else QUESTION, run_id=middle, parent_run_id=root)
    hooks.on_llm_start({}, ["Draft!"], run_id=model, parent_run_id=middle)
    hooks.on_llm_end(LLMResult(generations=[[Generation(text="A draft.")]]), run_id=model)
    hooks.on_chain_end("A draft.", run_id=middle)
    hooks.on_chain_end(ANSWER, run_id=root)
    assert [sample.answer for sample in hooks.samples()] == [ANSWER]
    assert hooks.last.question == (None if where == "root" else QUESTION)
    assert hooks.health().open_traces == 0
    assert hooks.health().errors == {"LookupError": 1}


@pytest.mark.parametrize("given", [Detached(), Unreadable(answer=ANSWER)], ids=["fields", "items"])
def test_outputs_that_cannot_be_read_end_their_trace(captured: Any, kit: Any, given: Any) -> None:
    it = captured()
    root = uuid.uuid4()
    it.handler.on_chain_start({}, QUESTION, run_id=root)
    it.handler.on_chain_end(given, run_id=root)
    assert it.handler.samples() == []
    assert it.handler.health().open_traces == 0
    assert it.handler.health().errors == {"LookupError": 1}


def test_a_step_whose_outputs_cannot_be_read_leaves_no_stream_abandoned(captured: Any, kit: Any) -> None:
    it = captured()
    root, step = uuid.uuid4(), uuid.uuid4()
    it.handler.on_chain_start({}, QUESTION, run_id=root)
    it.handler.on_chain_start({}, QUESTION, run_id=step, parent_run_id=root)
    it.handler.on_chain_end(Detached(), run_id=step)
    it.handler.on_chain_end(ANSWER, run_id=root, inputs=QUESTION)  # LangChain tells the inputs of streams at their end
    assert it.handler.last.status == "complete"
