"""One handler, a thousand requests at once: each record is its own."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from assay.judges.scripted_judge import ScriptedJudge
from assay.live.disabled_intake import DisabledIntake
from assay.records import Sample

REQUESTS = 1000


class Held(DisabledIntake):
    """An intake that makes its samples at the end, when no event is outstanding any more."""

    def __init__(self) -> None:
        super().__init__("a test")
        self.submissions: list[Any] = []
        self.errors: list[BaseException] = []

    def submit(self, sample: Any) -> bool:
        self.submissions.append(sample)
        return True

    def samples(self) -> list[Sample]:
        made = [sample() for sample in self.submissions]
        return [sample for sample in made if sample is not None]

    def count_error(self, error: BaseException, where: str) -> None:
        self.errors.append(error)


def events_of(handler: Any, number: int, rng: random.Random) -> list[Callable[[], None]]:
    """The events of one request in a random order, with doubles, and some after the end.

    What is kept: a run starts before it ends, and ends after its children have. But children may be heard of before
    their parents, and may even have ended by then.
    """
    root, mapped, outer, inner, llm, late = (uuid.UUID(int=rng.getrandbits(128), version=4) for _ in range(6))
    docs = [Document(id=f"{number}-{n}", page_content=f"passage {n} of {number}") for n in range(2)]
    h = handler
    h_end, h_error = h.on_chain_end, h.on_chain_error
    # event -> the events it waits for
    events: dict[str, tuple[Callable[[], None], tuple[str, ...]]] = {
        "root": (lambda: h.on_chain_start({}, {"question": f"question {number}"}, run_id=root, tags=["t"]), ()),
        "map": (lambda: h.on_chain_start({}, "x", run_id=mapped, parent_run_id=root), ()),
        "outer": (lambda: h.on_retriever_start({}, "x", run_id=outer, parent_run_id=mapped), ()),
        "inner": (lambda: h.on_retriever_start({}, "x", run_id=inner, parent_run_id=outer), ()),
        "inner end": (lambda: h.on_retriever_end(docs[:1], run_id=inner, parent_run_id=outer), ("inner",)),
        "outer end": (lambda: h.on_retriever_end(docs, run_id=outer, parent_run_id=mapped), ("outer", "inner end")),
        "map end": (lambda: h_end({"context": docs}, run_id=mapped, parent_run_id=root), ("map", "outer end")),
        "llm": (lambda: h.on_chat_model_start({}, [[]], run_id=llm, parent_run_id=root), ()),
        "llm end": (lambda: h.on_llm_end(None, run_id=llm, parent_run_id=root), ("llm",)),
        "root end": (lambda: h_end(f"answer {number}", run_id=root), ("root", "map end", "llm")),
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


def idle(handler: Any) -> None:
    health = handler.health()
    assert (health.open_traces, health.expired, handler.collector.open_runs) == (0, 0, 0)


async def test_shuffled_and_doubled_events_of_interleaved_requests() -> None:
    intake = Held()
    handler = AssayCallbackHandler(scorer=intake, max_traces=6 * REQUESTS)  # each run may be a root at first

    async def request(number: int) -> None:
        rng = random.Random(number)
        for event in events_of(handler, number, rng):
            event()
            await asyncio.sleep(0 if rng.random() < 0.7 else rng.random() / 100)

    await asyncio.gather(*(request(number) for number in range(REQUESTS)))
    right(intake.samples())
    idle(handler)
    assert intake.errors == []


@pytest.mark.long
def test_the_same_from_many_threads() -> None:
    intake = Held()
    handler = AssayCallbackHandler(scorer=intake, max_traces=6 * REQUESTS)  # each run may be a root at first

    def requests(first: int) -> None:
        rng = random.Random(first)
        pending = [events_of(handler, number, rng) for number in range(first, first + REQUESTS // 10)]
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
    right(intake.samples())
    idle(handler)
    assert intake.errors == []


@pytest.fixture
def instrumented() -> Iterator[None]:
    """OpenInference's instrumentor at work beside us, as it is in many applications."""
    instrumentation = pytest.importorskip("openinference.instrumentation.langchain")
    from opentelemetry.sdk.trace import TracerProvider

    instrumentor = instrumentation.LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=TracerProvider())
    yield
    instrumentor.uninstrument()


@pytest.mark.long
async def test_real_chains_at_once(captured: Any, kit: Any, caplog: Any, instrumented: None) -> None:
    async def find(x: dict[str, str]) -> list[Document]:
        await asyncio.sleep(random.random() / 50)
        number = x["question"].removeprefix("question ")
        documents = tuple(Document(f"passage {n} of {number}") for n in range(2))
        return await kit.Shelf(documents=documents).ainvoke(x["question"])

    def answer(x: dict[str, Any]) -> str:
        return x["question"].replace("question", "answer")

    chain = RunnablePassthrough.assign(context=RunnableLambda(find)).assign(answer=RunnableLambda(answer))
    judge = ScriptedJudge(usefulness=lambda question, passage: True)
    it = captured(metrics="context_utilization", judge=judge, max_queue=REQUESTS)
    with caplog.at_level(logging.DEBUG, logger="opentelemetry.context"), caplog.at_level(logging.WARNING):
        await asyncio.gather(*(chain.ainvoke({"question": f"question {n}"}, config=it.config) for n in range(REQUESTS)))
    right(it.samples)
    idle(it.handler)
    assert it.handler.health().errors == {}
    ids = {sample.ids["otel_span_id"] for sample in it.samples}
    assert len(ids) == REQUESTS  # each its own span
    # the client of another test may still be talking to its address
    assert not [record for record in caplog.records if not record.name.startswith("langsmith")]
