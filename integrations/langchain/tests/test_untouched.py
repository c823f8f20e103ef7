"""What a host and its other handlers see is the same with assay attached."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler, completions
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackHandler,
    CallbackManager,
)
from langchain_core.callbacks.manager import ahandle_event
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.sinks import MemorySink
from integrations.langchain.tests.shapes.parts import Shelf, joined

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
UNREAD = "what was retrieved came as an iterator"


# -- iterators ------------------------------------------------------------------------------------------------------


def filtered(documents: Any) -> Any:
    return filter(lambda document: "purr" in document.page_content, documents)


def generated(documents: Any) -> Any:
    yield from documents


class ReadOnce:
    """Iterable once, with a length that tells nothing of it."""

    def __init__(self, documents: Any) -> None:
        self._documents = list(documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        while self._documents:
            yield self._documents.pop(0)


@pytest.mark.parametrize("lazily", [filtered, generated, iter, ReadOnce])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_iterators_of_a_retriever_are_the_chains_to_read(
    captured: Any, kit: Any, lazily: Callable[[Any], Any], asynchronous: bool
) -> None:
    class Lazy(Shelf):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return lazily(self.documents)

    prompts: list[str] = []

    def model(prompt: Any) -> str:
        prompts.append(prompt.to_string())
        return ANSWER

    chain = kit.rag(Lazy() | joined, RunnableLambda(model))
    it = captured()
    for config in ({}, it.config):
        said = await chain.ainvoke(QUESTION, config) if asynchronous else chain.invoke(QUESTION, config)
        assert said == ANSWER
    assert prompts[0] == prompts[1]
    assert "Cats also purr to heal." in prompts[1]
    assert it.sample.contexts is None
    assert it.sample.metadata["no_context"].startswith(UNREAD)
    assert it.handler.health().errors == {}


def test_an_iterator_beside_a_list_leaves_the_contexts_unknown(captured: Any, kit: Any) -> None:
    class Lazy(Shelf):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return iter(self.documents)

    it = captured()
    both = {"one": Lazy() | joined, "two": Shelf()} | RunnableLambda(lambda found: f"{found['one']} {found['two']}")
    kit.rag(both).invoke(QUESTION, it.config)
    assert it.sample.contexts is None


# -- completion models in async code --------------------------------------------------------------------------------


class Counting(BaseCallbackHandler):
    """A user's own handler."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        self.heard.append("start")

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.heard.append("end")


class CountingInLoop(AsyncCallbackHandler):
    """The same, async."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        self.heard.append("start")

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.heard.append("end")


def completing() -> Any:
    prompt = PromptTemplate.from_template("{context}\n{question}")
    source = {"context": Shelf() | joined, "question": RunnablePassthrough()}
    return source | prompt | FakeListLLM(responses=[ANSWER] * 9) | StrOutputParser()


async def test_other_handlers_hear_of_completion_models(captured: Any, caplog: Any) -> None:
    own, in_loop, tree = Counting(), CountingInLoop(), RunCollectorCallbackHandler()
    it, second = captured(), captured()
    callbacks = [own, it.handler, in_loop, tree, second.handler]
    assert await completing().ainvoke(QUESTION, config={"callbacks": callbacks}) == ANSWER
    assert own.heard == in_loop.heard == ["start", "end"]
    [root] = tree.traced_runs
    assert [run.run_type for run in root.child_runs].count("llm") == 1
    assert not [record for record in caplog.records if "langchain" in record.name]
    for one in (it, second):
        assert [context.in_prompt for context in one.sample.contexts] == [True, True]


async def test_events_of_completion_models_are_streamed(captured: Any) -> None:
    async def kinds(config: Any) -> list[str]:
        events = completing().astream_events(QUESTION, config, version="v2")
        return [event["event"] async for event in events if "llm" in event["event"]]

    it = captured()
    assert await kinds(it.config) == await kinds({})
    assert it.sample.answer == ANSWER


async def test_several_prompts_at_once(captured: Any) -> None:
    own, it = Counting(), captured()
    await FakeListLLM(responses=["a", "b"]).agenerate(["one", "two"], callbacks=[own, it.handler])
    assert sorted(own.heard) == ["end", "end", "start", "start"]
    assert sorted(sample.answer for sample in it.samples) == ["a", "b"]


@pytest.mark.parametrize("prompts", [[], ["one"], ["one", "two", "\ud83d" * 1000]], ids=len)
async def test_several_prompts_in_one_call_of_the_manager(captured: Any, prompts: list[str]) -> None:
    own, in_loop, it, second = Counting(), CountingInLoop(), captured(), captured()
    manager = AsyncCallbackManager([own, it.handler, in_loop, second.handler])
    assert len(await manager.on_llm_start({}, prompts)) == len(prompts)
    assert own.heard == in_loop.heard == ["start"] * len(prompts)
    assert it.handler.health().errors == {}


async def test_a_handler_that_raises_is_heard_of_as_without_us(captured: Any) -> None:
    class Raising(Counting):
        raise_error = True

        def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
            raise ValueError("theirs")

    for ours in ([], [captured().handler]):
        with pytest.raises(ValueError, match="theirs"):
            await FakeListLLM(responses=["a"]).ainvoke("one", config={"callbacks": [Raising(), *ours]})


async def test_beside_an_inline_handler_of_another_we_hear_what_it_hears(captured: Any) -> None:
    class Inline(Counting):
        run_inline = True

    other, it = Inline(), captured()
    await completing().ainvoke(QUESTION, config={"callbacks": [it.handler, other]})
    assert other.heard == ["start", "end"]
    assert [context.in_prompt for context in it.sample.contexts] == [True, True]


async def built_first(self: Any, serialized: Any, prompts: Any, run_id: Any = None, **kwargs: Any) -> Any:
    """As a release may be that tells all: the calls are made first, and awaited then."""
    inline, rest = ([one for one in self.handlers if one.run_inline is which] for which in (True, False))
    inline_tasks, non_inline_tasks, managers = [], [], []
    for prompt in prompts:
        run_id_, run_id = run_id or uuid.uuid4(), None
        about = {"run_id": run_id_, "parent_run_id": self.parent_run_id, "tags": self.tags, "metadata": self.metadata}
        inline_tasks.append(ahandle_event(inline, "on_llm_start", "ignore_llm", serialized, [prompt], **about))
        non_inline_tasks.append(ahandle_event(rest, "on_llm_start", "ignore_llm", serialized, [prompt], **about))
        run = {"run_id": run_id_, "handlers": self.handlers, "inheritable_handlers": self.inheritable_handlers}
        managers.append(AsyncCallbackManagerForLLMRun(**run, parent_run_id=self.parent_run_id))
    for task in inline_tasks:
        await task
    await asyncio.gather(*non_inline_tasks)
    return managers


async def one_by_one(self: Any, serialized: Any, prompts: Any, run_id: Any = None, **kwargs: Any) -> Any:
    """The same, but each prompt's are awaited before the next."""
    non_inline_tasks: list[Any] = []
    managers: list[Any] = []
    for prompt in prompts:
        managers += await built_first(self, serialized, [prompt], run_id, **kwargs)
        run_id = None
    await asyncio.gather(*non_inline_tasks)
    return managers


@pytest.mark.parametrize("way", [built_first, one_by_one])
async def test_a_release_that_tells_all_is_left_alone(captured: Any, monkeypatch: Any, way: Any) -> None:
    for place, name, value in (
        (AsyncCallbackManager, "on_llm_start", way), (completions, "_METHOD", way.__code__),
    ):  # fmt: skip
        monkeypatch.setattr(place, name, value)
    own, it = Counting(), captured()
    await FakeListLLM(responses=["a", "b"]).agenerate(["one", "two"], callbacks=[own, it.handler])
    assert sorted(own.heard) == ["end", "end", "start", "start"]
    assert sorted(sample.answer for sample in it.samples) == ["a", "b"]
    assert it.handler.health().errors == {}


async def test_a_method_of_other_names_is_left_alone(captured: Any, monkeypatch: Any) -> None:
    async def renamed(manager: Any, serialized: Any, prompts: Any, run_id: Any = None, **kwargs: Any) -> Any:
        return await built_first(manager, serialized, prompts, run_id, **kwargs)

    monkeypatch.setattr(AsyncCallbackManager, "on_llm_start", renamed)
    monkeypatch.setattr(completions, "_METHOD", renamed.__code__)
    own, it = Counting(), captured()
    await FakeListLLM(responses=["a"]).agenerate(["one"], callbacks=[own, it.handler])
    assert own.heard == ["start", "end"]
    assert it.handler.health().errors == {}


async def test_hooks_run_in_the_hosts_own_thread(captured: Any, monkeypatch: Any) -> None:
    import threading

    it = captured()
    threads = set()
    start = it.handler.collector.start

    def note(*args: Any, **kwargs: Any) -> None:
        threads.add(threading.current_thread())
        start(*args, **kwargs)

    monkeypatch.setattr(it.handler.collector, "start", note)
    await FakeListLLM(responses=["a"]).ainvoke("one", config=it.config)
    assert threads == {threading.main_thread()}


# -- metadata that breaks -------------------------------------------------------------------------------------------


class Detached:
    """As an object of a database whose session is over."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError("session is closed")


@pytest.mark.parametrize(
    "wrap", [lambda it: it, lambda it: [it], lambda it: {"deep": it}], ids=["as is", "list", "dict"]
)
def test_a_metadata_value_that_raises_loses_only_itself(captured: Any, kit: Any, wrap: Any) -> None:
    document = Document(page_content="Cats purr.", metadata={"page": 3, "row": wrap(Detached())})
    it = captured()
    assert kit.rag(kit.Shelf(documents=(document,))).invoke(QUESTION, it.config) == ANSWER
    [context] = it.sample.contexts
    assert (context.text, context.metadata["page"]) == ("Cats purr.", 3)
    assert it.handler.health().errors == {"ValueError": 1}


def test_metadata_of_the_request_that_raises_loses_only_itself(captured: Any, kit: Any) -> None:
    it = captured()
    kit.rag().invoke(QUESTION, {**it.config, "metadata": {"user": "u", "row": Detached()}})
    assert it.sample.metadata["user"] == "u"
    assert it.handler.health().errors == {"ValueError": 1}


def test_documents_that_cannot_be_compared_pass_on(captured: Any, kit: Any) -> None:
    class Array:
        def __eq__(self, other: object) -> Any:
            raise ValueError("ambiguous")

        __hash__ = None  # type: ignore[assignment]

    it = captured()
    shelf = kit.Shelf(documents=(Document(page_content="Cats purr.", metadata={"vector": Array()}),))
    kit.rag(shelf | RunnableLambda(lambda documents: documents[:1])).invoke(QUESTION, it.config)
    assert it.sample.passages == ("Cats purr.",)
    assert it.handler.health().errors == {}


# -- several handlers -----------------------------------------------------------------------------------------------


def pair() -> tuple[AssayCallbackHandler, AssayCallbackHandler, MemorySink]:
    sink = MemorySink()
    scorer = LiveScorer("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"), sinks=[sink])
    return AssayCallbackHandler(scorer=scorer), AssayCallbackHandler(scorer=scorer), sink


def test_two_handlers_of_one_scorer_on_one_request_are_one_sample(kit: Any) -> None:
    first, second, sink = pair()
    for _ in range(3):
        kit.rag().invoke(QUESTION, config={"callbacks": [first, second]})
    assert first.flush(20)
    assert len(sink.written) == 3
    left = [dict(handler.health().left_out) for handler in (first, second)]
    assert sorted(left, key=len) == [{}, {"captured_twice": 3}]
    first.scorer.close(5)


def test_one_on_the_whole_and_one_on_a_part_are_one_sample(kit: Any) -> None:
    first, second, sink = pair()
    inner = kit.rag().with_config(callbacks=[second])
    outer = RunnableLambda(lambda question: inner.invoke(question))
    assert outer.invoke(QUESTION, config={"callbacks": [first]}) == ANSWER
    assert first.flush(20)
    [scored] = sink.written
    assert scored.sample.metadata["name"] == "RunnableLambda"
    assert second.health().left_out == {"part_of_another": 1}
    first.scorer.close(5)


def test_handlers_of_two_scorers_have_a_sample_each(captured: Any, kit: Any) -> None:
    one, other = captured(), captured()
    kit.rag().invoke(QUESTION, config={"callbacks": [one.handler, other.handler]})
    assert (len(one.samples), len(other.samples)) == (1, 1)


# -- history --------------------------------------------------------------------------------------------------------


def test_the_history_is_what_the_graph_still_knows(captured: Any, kit: Any) -> None:
    says = kit.model("One.", "Two.", "Three.")
    builder = StateGraph(MessagesState)
    builder.add_node("say", lambda state: {"messages": [says.invoke(state["messages"])]})
    builder.add_edge(START, "say")
    saver = InMemorySaver()
    graph = builder.compile(checkpointer=saver)
    it = captured(concurrency=1)
    config = {**it.config, "configurable": {"thread_id": "t"}}
    for question in ("first?", "second?"):
        graph.invoke({"messages": [("user", question)]}, config)
    saver.delete_thread("t")
    graph.invoke({"messages": [("user", "third?")]}, config)
    turns = [[turn.question for turn in sample.history] for sample in it.samples]
    assert turns == [[], ["first?"], []]


class Library:
    """Runs a chain with callbacks of its own, in the forms that libraries have."""

    def __init__(self, chain: Any, handler: Any) -> None:
        self.chain, self.handler = chain, handler

    def in_its_config(self, question: str) -> Any:
        return self.chain.invoke(question, config={"callbacks": [self.handler]})

    def in_a_manager(self, question: str) -> Any:
        around = var_child_runnable_config.get() or {}
        manager = CallbackManager([self.handler], [self.handler], parent_run_id=around["callbacks"].parent_run_id)
        return self.chain.invoke(question, config={"callbacks": manager})

    def streamed(self, question: str) -> Any:
        return "".join(self.chain.stream(question, config={"callbacks": [self.handler]}))

    def in_a_loop(self, question: str) -> Any:
        return asyncio.run(self.chain.ainvoke(question, config={"callbacks": [self.handler]}))


@pytest.mark.parametrize("form", ["in_its_config", "in_a_manager", "streamed", "in_a_loop"])
def test_what_a_handler_hears_inside_belongs_to_the_exchange_around_it(kit: Any, form: str) -> None:
    """The outer handler cannot hear the inside: a library gives callbacks of its own there."""
    first, second, sink = pair()
    inside = RunnableLambda(getattr(Library(kit.rag(), second), form))
    assert (inside | RunnableLambda(lambda said: said)).invoke(QUESTION, config={"callbacks": [first]}) == ANSWER
    assert first.flush(20)
    [scored] = sink.written
    assert len(scored.sample.contexts or ()) == 2
    assert scored.sample.metadata["name"] == "RunnableSequence"
    first.scorer.close(5)


def test_what_both_hear_is_there_once(kit: Any) -> None:
    first, second, sink = pair()
    inside = RunnableLambda(Library(kit.rag(), second).in_its_config) | RunnableLambda(lambda said: said)
    outer = inside.with_config(callbacks=[second])
    outer.invoke(QUESTION, config={"callbacks": [first]})
    assert first.flush(20)
    assert [len(scored.sample.contexts or ()) for scored in sink.written] == [2]
    first.scorer.close(5)
