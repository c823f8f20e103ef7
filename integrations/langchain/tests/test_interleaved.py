"""One handler, a thousand requests at once: each record is its own."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import uuid
from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

REQUESTS = 1000


def events_of(handler: Any, number: int, rng: random.Random) -> list[Callable[[], None]]:
    """The events of one request in a random order that keeps causality alone, with doubles, and some after the end.

    A run starts before it ends and before its children start; the root ends when the answer is there.
    """
    root, mapped, outer, inner, llm, late = (uuid.UUID(int=rng.getrandbits(128), version=4) for _ in range(6))
    docs = [Document(id=f"{number}-{n}", page_content=f"passage {n} of {number}") for n in range(2)]
    h = handler
    h_end, h_error = h.on_chain_end, h.on_chain_error
    # event -> the events it waits for
    events: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {
        "root": (lambda: h.on_chain_start({}, {"question": f"question {number}"}, run_id=root, tags=["t"]), ()),
        "map": (lambda: h.on_chain_start({}, "x", run_id=mapped, parent_run_id=root), ("root",)),
        "outer": (lambda: h.on_retriever_start({}, "x", run_id=outer, parent_run_id=mapped), ("map",)),
        "inner": (lambda: h.on_retriever_start({}, "x", run_id=inner, parent_run_id=outer), ("outer",)),
        "inner end": (lambda: h.on_retriever_end(docs[:1], run_id=inner, parent_run_id=outer), ("inner",)),
        "outer end": (lambda: h.on_retriever_end(docs, run_id=outer, parent_run_id=mapped), ("outer",)),
        "map end": (lambda: h_end({"context": docs}, run_id=mapped, parent_run_id=root), ("map",)),
        "llm": (lambda: h.on_chat_model_start({}, [[]], run_id=llm, parent_run_id=root), ("root",)),
        "llm end": (lambda: h.on_llm_end(None, run_id=llm, parent_run_id=root), ("llm",)),
        "root end": (lambda: h_end(f"answer {number}", run_id=root), ("outer end", "llm")),
        "late": (lambda: h.on_chain_start({}, "late", run_id=late, parent_run_id=llm), ("root end",)),
        "late end": (lambda: h_error(ValueError(), run_id=late, parent_run_id=llm), ("late",)),
    }
    order: list[str] = []
    while len(order) < len(events):
        ready = [name for name, (_, after) in events.items() if name not in order and set(after) <= set(order)]
        order.append(rng.choice(ready))
    for name in rng.sample(order, 4):  # doubles, any time after the first
        order.insert(rng.randint(order.index(name) + 1, len(order)), name)
    return [events[name][0] for name in order]


def right(samples: Any) -> None:
    assert len(samples) == REQUESTS
    assert len({sample.id for sample in samples}) == REQUESTS
    for sample in samples:
        number = sample.question.removeprefix("question ")
        assert sample.answer == f"answer {number}"
        assert sample.passages == (f"passage 0 of {number}", f"passage 1 of {number}")
        assert sample.status == "complete"


async def test_shuffled_and_doubled_events_of_interleaved_requests(captured: Any) -> None:
    it = captured(max_queue=REQUESTS)

    async def request(number: int) -> None:
        rng = random.Random(number)
        for event in events_of(it.handler, number, rng):
            event()
            await asyncio.sleep(0 if rng.random() < 0.7 else rng.random() / 100)

    await asyncio.gather(*(request(number) for number in range(REQUESTS)))
    right(it.samples)
    health = it.handler.health()
    assert (health.open_traces, health.expired, dict(health.errors)) == (0, 0, {})
    assert not it.handler.collector._runs


def test_the_same_from_many_threads(captured: Any) -> None:
    it = captured(max_queue=REQUESTS)

    def requests(first: int) -> None:
        rng = random.Random(first)
        pending = [events_of(it.handler, number, rng) for number in range(first, first + REQUESTS // 10)]
        while pending:
            events = rng.choice(pending)
            events.pop(0)()
            if not events:
                pending.remove(events)

    threads = [threading.Thread(target=requests, args=(n * REQUESTS // 10,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    right(it.samples)


async def test_real_chains_at_once(captured: Any, kit: Any, caplog: Any) -> None:
    async def find(x: dict[str, str]) -> list[Document]:
        await asyncio.sleep(random.random() / 50)
        number = x["question"].removeprefix("question ")
        documents = tuple(Document(f"passage {n} of {number}") for n in range(2))
        return await kit.Shelf(documents=documents).ainvoke(x["question"])

    def answer(x: dict[str, Any]) -> str:
        return x["question"].replace("question", "answer")

    chain = RunnablePassthrough.assign(context=RunnableLambda(find)).assign(answer=RunnableLambda(answer))
    it = captured(max_queue=REQUESTS)
    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(chain.ainvoke({"question": f"question {n}"}, config=it.config) for n in range(REQUESTS)))
    right(it.samples)
    # the client of another test may still be talking to its address
    assert not [record for record in caplog.records if not record.name.startswith("langsmith")]
