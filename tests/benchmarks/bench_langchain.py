"""What the LangChain handler costs its host: CPU time per event, and memory over many invocations.

    python -m tests.benchmarks.bench_langchain [--invocations 100000]

CPU time is that of the host's thread alone, taken around each hook of the handler and of one that does nothing, in
alternating invocations of the same chain in one run, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psutil
from assay_langchain import AssayCallbackHandler
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from assay.judges.scripted_judge import ScriptedJudge

TEXT = ("Cats purr when they are calm, and also when they are hurt. " * 200)[:10_000]
HOOKS = (
    "on_chain_start", "on_chain_end", "on_retriever_start", "on_retriever_end", "on_chat_model_start", "on_llm_end",
)  # fmt: skip
TARGETS = {"median": 15.0, "p99": 50.0, "rss": 5.0}  # µs, µs, MB


class Shelf(BaseRetriever):
    """Ten documents of 1 kB."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(id=str(n), page_content=TEXT[n : n + 1000], metadata={"page": n, "source": "cats.txt"})
            for n in range(10)
        ]


class Model(SimpleChatModel):
    """Says the same 10 kB every time, in five chunks when it streams."""

    @property
    def _llm_type(self) -> str:
        return "fixed"

    def _call(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        return TEXT

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for start in range(0, len(TEXT), 2000):
            yield ChatGenerationChunk(message=AIMessageChunk(TEXT[start : start + 2000]))


def chain() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    source = {"context": Shelf(), "question": RunnablePassthrough()}
    return source | prompt | Model() | StrOutputParser()


def handler(**options: Any) -> AssayCallbackHandler:
    # a metric that splits no sentences: what is measured here is the handler, not the scoring behind it
    judge = ScriptedJudge(usefulness=lambda question, passage: True)
    return AssayCallbackHandler("context_utilization", judge, **options)


class Silent(BaseCallbackHandler):
    """Does nothing, inline."""

    run_inline = True

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:  # the inherited one raises
        return None


def timed(target: BaseCallbackHandler, into: list[int]) -> BaseCallbackHandler:
    """A handler that passes each event on to `target` and notes the CPU time that took."""

    def hook(name: str) -> Callable[..., None]:
        inner = getattr(target, name)

        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            started = time.thread_time_ns()
            inner(*args, **kwargs)
            into.append(time.thread_time_ns() - started)

        return run

    return type("Timed", (BaseCallbackHandler,), {"run_inline": True, **{name: hook(name) for name in HOOKS}})()


def cpu_per_event(invocations: int) -> dict[str, float]:
    """µs per event that our handler needs more than one that does nothing: median and 99th percentile."""
    ours, silent = [], []
    assay = handler()
    pipeline = chain()
    pair = timed(assay, ours), timed(Silent(), silent)
    for number in range(invocations + 100):
        if number == 100:  # warm
            ours.clear()
            silent.clear()
        for one in pair if number % 2 else pair[::-1]:
            pipeline.invoke(TEXT, config={"callbacks": [one]})
    assay.close()
    base = statistics.median(silent)
    assert len(ours) == len(silent)
    return {
        "events": len(ours),
        "median": (statistics.median(ours) - base) / 1000,
        "p99": (statistics.quantiles(ours, n=100)[98] - base) / 1000,
        "p99 of silent": (statistics.quantiles(silent, n=100)[98] - base) / 1000,
    }


def memory(invocations: int, warm: int = 1000) -> Iterator[tuple[int, float]]:
    """RSS in MB after the first thousand invocations and at ten points after; a fifth are streams left early."""
    process = psutil.Process()
    assay = handler()
    pipeline = chain()
    config: Any = {"callbacks": [assay]}
    for number in range(1, invocations + 1):
        question = f"{number} {TEXT[:1000]}"
        if number % 5:
            pipeline.invoke(question, config=config)
        else:
            stream = pipeline.stream(question, config=config)
            next(stream)
            stream.close()
        if number % 500 == 0:
            assay.flush(60)
        if number == warm or (number > warm and (number - warm) % ((invocations - warm) // 10) == 0):
            gc.collect()
            yield number, process.memory_info().rss / 2**20
    health = assay.close()
    assert health.open_traces == 0, health
    assert health.live.finished + health.live.dropped == invocations, health


def main(arguments: Sequence[str] = ()) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--invocations", type=int, default=100_000)
    options.add_argument("--timed", type=int, default=2000)
    chosen = options.parse_args(arguments)
    cpu = cpu_per_event(chosen.timed)
    print("| added CPU per event (10 kB texts) | measured | target |\n|---|---|---|")
    for name in ("median", "p99"):
        print(f"| {name} | {cpu[name]:.1f} µs | ≤ {TARGETS[name]:.0f} µs |")
    print(f"| p99 of the handler that does nothing | {cpu['p99 of silent']:.1f} µs | |")
    points = list(memory(chosen.invocations))
    print("\n| invocations | RSS | over the first |\n|---|---|---|")
    for number, size in points:
        print(f"| {number} | {size:.1f} MB | {size - points[0][1]:+.1f} MB |")
    print(f"| target | | ≤ +{TARGETS['rss']:.0f} MB |")


if __name__ == "__main__":
    main(sys.argv[1:])
