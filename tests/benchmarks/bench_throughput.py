"""Throughput of an application at 50 parallel requests, with and without assay.

    python -m tests.benchmarks.bench_throughput

Fifty tasks send requests through the same chain, one after the other, each to a model that takes its time, between half
and one and a half of its latency, as it happens and the same for each variant. Rounds with and without assay alternate,
and what is compared is the median over pairs of neighbouring rounds. The last lines are the worst case: a model that
takes no time at all, so that the CPU is the limit and every microsecond counts; beside no handler at all, and beside
one that does nothing, which LangChain itself takes time for.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from assay_langchain import AssayCallbackHandler
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue

PARALLEL = 50
PAIRS = 6
PAIRS_WITHOUT_LATENCY = 24  # there pairs differ by more than what is measured
REQUESTS = 400  # of one round
TEXT = ("Cats purr when they are calm, and also when they are hurt. " * 20)[:1000]


def jitter() -> Iterator[float]:
    """What the latency is multiplied with: the same for each round."""
    random = Random(7)
    while True:
        yield 0.5 + random.random()


JITTER = jitter()


class Nothing(BaseCallbackHandler):
    """Does nothing, inline: what LangChain itself takes for having a handler at all."""

    run_inline = True

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:  # the inherited one raises
        return None

    def flush(self, timeout: float | None = None) -> bool:
        return True

    def close(self) -> None:
        return None


class Shelf(BaseRetriever):
    """Four documents of 1 kB."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(id=str(n), page_content=f"{n} {TEXT}") for n in range(4)]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self._get_relevant_documents(query, run_manager=run_manager)


class Model(SimpleChatModel):
    """Answers with 1 kB after `latency` seconds."""

    latency: float

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _call(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        return TEXT

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if self.latency:
            await asyncio.sleep(self.latency * next(JITTER))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(TEXT))])


def chain(latency: float) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    source = {"context": Shelf(), "question": RunnablePassthrough()}
    return source | prompt | Model(latency=latency) | StrOutputParser()


async def requests_per_second(pipeline: Runnable[Any, Any], callbacks: list[Any], requests: int) -> float:
    global JITTER
    JITTER = jitter()
    waiting = iter(range(requests))

    async def client() -> None:
        for _ in waiting:
            await pipeline.ainvoke("Why do cats purr?", config={"callbacks": callbacks})

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(PARALLEL)))
    return requests / (time.perf_counter() - started)


async def compare(
    latency: float, open_handler: Callable[[], Any], beside: Sequence[Any] = ()
) -> tuple[float, float, float, Any]:
    """Requests per second without (or `beside`) and with, the median loss over pairs, and the health at the end."""
    pipeline, handler = chain(latency), open_handler()
    await requests_per_second(pipeline, [handler], PARALLEL)
    without, with_assay, losses = [], [], []
    for pair in range(PAIRS if latency else PAIRS_WITHOUT_LATENCY):
        speeds: dict[bool, float] = {}
        for attached in (bool(pair % 2), not pair % 2):
            speeds[attached] = await requests_per_second(pipeline, [handler] if attached else [*beside], REQUESTS)
            await asyncio.to_thread(handler.flush, 30)
        without.append(speeds[False])
        with_assay.append(speeds[True])
        losses.append(1 - speeds[True] / speeds[False])
    health = await asyncio.to_thread(handler.close)
    return statistics.median(without), statistics.median(with_assay), statistics.median(losses), health


def main() -> None:
    # a metric that splits no sentences: what is measured is assay's own work beside the application, not a judge's
    judge = ScriptedJudge(usefulness=lambda question, passage: True)
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], Any]] = {
            "a handler that does nothing": Nothing,
            "scored in the process": lambda: AssayCallbackHandler("context_utilization", judge),
            "queued for a worker": lambda: AssayCallbackHandler(scorer=SampleQueue(Path(folder) / "spool.db")),
        }
        print("| 50 parallel requests | model's latency | without | with | loss | target |")
        print("|---|---|---|---|---|---|")
        jobs: list[tuple[str, float, list[Any]]] = [(name, latency, []) for latency in (0.5, 0.0) for name in ways]
        jobs += [(name, 0.0, [Nothing()]) for name in list(ways)[1:]]
        for name, latency, beside in jobs:
            without, with_assay, loss, _ = asyncio.run(compare(latency, ways[name], beside))
            target = "" if ways[name] is Nothing else "≤ 2%" if latency else "≤ 15%"
            named = f"{name}, beside a handler that does nothing" if beside else name
            speeds = f"{without:.0f}/s | {with_assay:.0f}/s"
            print(f"| {named} | {latency * 1000:.0f} ms | {speeds} | {loss:.1%} | {target} |")


if __name__ == "__main__":
    main()
