"""What the LlamaIndex instrumentation costs its host: CPU time per query, and memory over many queries.

    python -m tests.benchmarks.bench_llama_index [--queries 20000]

CPU time is that of the host's thread alone. Queries with our handlers attached alternate with queries that have a span
and an event handler which do nothing, on the same engine in one run, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
from assay_llama_index import AssayInstrumentation
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import NullEventHandler
from llama_index_instrumentation.span_handlers import NullSpanHandler

from assay import ScriptedJudge

TEXT = ("Cats purr when they are calm, and also when they are hurt. " * 200)[:10_000]


class Shelf(BaseRetriever):
    """Ten nodes of 1 kB."""

    def __init__(self) -> None:
        self._nodes = [
            TextNode(id_=str(n), text=TEXT[n : n + 1000], metadata={"page": n, "source": "cats.txt"}) for n in range(10)
        ]
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=0.5) for node in self._nodes]


def engine(streaming: bool = False) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(Shelf(), get_response_synthesizer(MockLLM(max_tokens=20), streaming=streaming))


def instrumentation() -> AssayInstrumentation:
    judge = ScriptedJudge(claims=lambda text: [text[:58]], support=lambda claim, passage: "supported")
    return AssayInstrumentation("faithfulness", judge)


class Silent:
    """A span and an event handler that do nothing. The event handler hears all events, as tracing tools do."""

    def __init__(self) -> None:
        self._spans, self._events = NullSpanHandler(), NullEventHandler()

    def attach(self) -> None:
        get_dispatcher().add_span_handler(self._spans)
        get_dispatcher().add_event_handler(self._events)

    def detach(self) -> None:
        root = get_dispatcher()
        root.span_handlers = [handler for handler in root.span_handlers if handler is not self._spans]
        root.event_handlers = [handler for handler in root.event_handlers if handler is not self._events]


def cpu(queries: int, run: Callable[[int], Any]) -> tuple[list[float], list[float], list[float]]:
    """µs of the host's thread per query: bare, with handlers that do nothing, with ours."""
    assay, silent = instrumentation(), Silent()
    variants: list[tuple[list[float], Any]] = [([], None), ([], silent), ([], assay)]
    for number in range(queries + 50):
        for position in range(3):
            into, handlers = variants[(number + position) % 3]
            if handlers is not None:
                handlers.attach()
            started = time.thread_time_ns()
            run(number)
            spent = (time.thread_time_ns() - started) / 1000
            if handlers is not None:
                handlers.detach()
            if number >= 50:  # warm
                into.append(spent)
        if number % 500 == 0:
            assay.flush(60)
    health = assay.close()
    assert health.exchanges == queries + 50, health
    assert not health.errors, health
    return variants[0][0], variants[1][0], variants[2][0]


def memory(queries: int, warm: int = 1000) -> Iterator[tuple[int, float]]:
    """RSS in MB after the first thousand queries and at five points after; a fifth are streams left early."""
    process = psutil.Process()
    assay = instrumentation().attach()
    for number in range(1, queries + 1):
        if number % 500 == 1:  # a callback manager of LlamaIndex keeps the id of every event it has seen
            whole, streaming = engine(), engine(streaming=True)
        question = f"{number} {TEXT[:1000]}"
        if number % 5:
            whole.query(question)
        else:
            response: Any = streaming.query(question)
            next(response.response_gen)
            response.response_gen.close()
        if number % 500 == 0:
            assay.flush(60)
        if number == warm or (number > warm and (number - warm) % max(1, (queries - warm) // 5) == 0):
            gc.collect()
            yield number, process.memory_info().rss / 2**20
    health = assay.close()
    assert (health.open, health.open_spans, health.expired) == (0, 0, 0), health
    assert health.live.finished + health.live.dropped == queries, health


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=20_000)
    options.add_argument("--timed", type=int, default=1000)
    chosen = options.parse_args()
    whole, streaming = engine(), engine(streaming=True)
    print("| CPU per query (10 nodes of 1 kB), median | bare | no-op handlers | assay | assay over no-op |")
    print("|---|---|---|---|---|")
    for name, run in (
        ("query", lambda number: whole.query(f"{number} {TEXT[:500]}")),
        ("streamed query", lambda number: str(streaming.query(f"{number} {TEXT[:500]}"))),
    ):
        bare, silent, ours = cpu(chosen.timed, run)
        added = statistics.median(a - b for a, b in zip(ours, silent, strict=True))
        cells = " | ".join(f"{statistics.median(times):.0f} µs" for times in (bare, silent, ours))
        print(f"| {name} | {cells} | {added:+.0f} µs |")
    points = list(memory(chosen.queries))
    print("\n| queries | RSS | over the first |\n|---|---|---|")
    for number, size in points:
        print(f"| {number} | {size:.1f} MB | {size - points[0][1]:+.1f} MB |")


if __name__ == "__main__":
    main()
