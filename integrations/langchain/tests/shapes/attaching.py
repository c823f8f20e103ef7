"""Ways to attach, to tell of documents by hand, and to say where things are."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import assay_langchain
from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda, chain
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import tool

import assay
from assay.capture import CaptureRules
from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.graphs import State, generate, line
from integrations.langchain.tests.shapes.parts import DOCUMENTS, PROMPT, Shelf, call, joined, model, rag

shape = Group("Attaching and telling")

UNSEEN = "no retriever run was seen"


@shape("`with_config`", Expected())
def with_config(handler: Any) -> None:
    rag().with_config(on(handler())).invoke(QUESTION)


@shape("`with assay_langchain.capture(handler)`", Expected())
def capture_block(handler: Any) -> None:
    with assay_langchain.capture(handler()):
        rag().invoke(QUESTION)


@shape("attached to a graph, and again to the chain that its node calls: one sample", Expected())
def attached_twice(handler: Any) -> None:
    one = handler()

    def answer(state: Any) -> Any:
        return {"answer": rag().invoke(state["question"], on(one))}

    line(State, answer).invoke({"question": QUESTION}, on(one))


@shape("`assay_langchain.install(handler)`, in a thread of its own", Expected())
def installed(handler: Any) -> None:
    assay_langchain.install(handler())
    try:
        thread = threading.Thread(target=lambda: rag().invoke(QUESTION))
        thread.start()
        thread.join()
    finally:
        assay_langchain.uninstall()


@shape("the handler on the model alone: the prompt is the question",
       Expected(question=PROMPT.format(context=CALM, question=QUESTION).removeprefix("Human: "), contexts=None,
                no_context=UNSEEN))  # fmt: skip
def on_the_model(handler: Any) -> None:
    llm = model()
    llm.callbacks = [handler()]
    rag(RunnableLambda(lambda question: CALM), llm).invoke(QUESTION)


@shape("a retriever in a thread pool of one's own: its events do not exist", Expected(contexts=None, no_context=UNSEEN))
def own_thread_pool(handler: Any) -> None:
    def find(question: str) -> str:
        with ThreadPoolExecutor() as pool:
            return joined(pool.submit(Shelf().invoke, question).result())

    rag(RunnableLambda(find)).invoke(QUESTION, on(handler()))


@shape("the same with `assay.carry_context`", Expected())
def carried_thread_pool(handler: Any) -> None:
    def find(question: str) -> str:
        with ThreadPoolExecutor() as pool:
            return joined(pool.submit(assay.carry_context(Shelf().invoke), question).result())

    rag(RunnableLambda(find)).invoke(QUESTION, on(handler()))


@shape("LangChain's own thread pool", Expected())
def langchain_thread_pool(handler: Any) -> None:
    def find(question: str) -> str:
        with ContextThreadPoolExecutor() as pool:
            return joined(pool.submit(Shelf().invoke, question).result())

    rag(RunnableLambda(find)).invoke(QUESTION, on(handler()))


@shape("`asyncio.gather` and `asyncio.to_thread`", Expected())
def tasks_and_threads(handler: Any) -> None:
    async def find(question: str) -> str:
        one, other = (Shelf(documents=(document,)) for document in DOCUMENTS)
        found = await asyncio.gather(one.ainvoke(question), asyncio.to_thread(other.invoke, question))
        return joined(found[0] + found[1])

    asyncio.run(rag(RunnableLambda(find)).ainvoke(QUESTION, on(handler())))


@shape("`assay.record_context` in a function", Expected())
def recorded_in_a_function(handler: Any) -> None:
    def find(question: str) -> str:
        assay.record_context([CALM, DOCUMENTS[1]])
        return f"{CALM} {HEAL}"

    rag(RunnableLambda(find)).invoke(QUESTION, on(handler()))


@shape("`assay.record_context` in a tool of an agent", Expected())
def recorded_in_a_tool(handler: Any) -> None:
    @tool
    def search(query: str) -> str:
        """Finds documents."""
        assay.record_context([CALM, HEAL])
        return f"{CALM} {HEAL}"

    create_agent(model(call("cats"), ANSWER), [search]).invoke({"messages": [("user", QUESTION)]}, on(handler()))


@shape("`assay.record_context` in an async tool", Expected())
def recorded_in_an_async_tool(handler: Any) -> None:
    @tool
    async def search(query: str) -> str:
        """Finds documents."""
        await asyncio.sleep(0)
        assay.record_context([CALM, HEAL])
        return f"{CALM} {HEAL}"

    agent = create_agent(model(call("cats"), ANSWER), [search])
    asyncio.run(agent.ainvoke({"messages": [("user", QUESTION)]}, on(handler())))


@shape("`assay.record_context` in a node", Expected())
def recorded_in_a_node(handler: Any) -> None:
    def search(state: Any) -> Any:
        assay.record_context(DOCUMENTS)
        return {"documents": list(DOCUMENTS)}

    line(State, search, generate).invoke({"question": QUESTION}, on(handler()))


@shape("`assay.record_context` in tasks, and in threads by `assay.carry_context`", Expected())
def recorded_in_tasks_and_threads(handler: Any) -> None:
    async def one() -> None:
        await asyncio.sleep(0)
        assay.record_context(CALM)

    async def find(question: str) -> str:
        await asyncio.gather(one())
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor() as pool:
            await loop.run_in_executor(pool, assay.carry_context(assay.record_context), HEAL)
            await loop.run_in_executor(pool, assay.record_context, "not carried: nobody hears of it")
        return f"{CALM} {HEAL}"

    asyncio.run(rag(RunnableLambda(find)).ainvoke(QUESTION, on(handler())))


@shape("`CaptureRules`: keys of input and output", Expected(contexts=((CALM, None), (HEAL, None))))
def rules_by_key(handler: Any) -> None:
    rules = CaptureRules(question_key="frage", answer_key="antwort", contexts_key="stellen")
    pipeline = RunnableLambda(lambda x: {"antwort": ANSWER, "stellen": [CALM, HEAL], "notiz": "x"})
    pipeline.invoke({"frage": QUESTION, "sprache": "de"}, on(handler(rules=rules)))


@shape("`CaptureRules`: names of runs", Expected(contexts=((CALM, True),)))
def rules_by_run(handler: Any) -> None:
    @chain
    def pick(found: Any) -> Any:
        return [found[0].page_content]

    @chain
    def ask(x: Any) -> Any:
        return x["body"]["q"]

    whole = RunnableLambda(lambda x: {"q": x["body"]["q"]}).with_config(run_name="ask") | (lambda x: x["q"])
    rules = CaptureRules(question_run="asked", contexts_run="pick")
    asked = RunnableLambda(lambda question: question).with_config(run_name="asked")
    (whole | asked | rag(Shelf() | pick)).invoke({"body": {"q": QUESTION}, "v": 1}, on(handler(rules=rules)))


@shape("`CaptureRules`: a function that has the last word", Expected(question="Purring?"))
def rules_by_function(handler: Any) -> None:
    rules = CaptureRules(adjust=lambda sample, trace: replace(sample, question="Purring?"))
    rag().invoke(QUESTION, on(handler(rules=rules)))
