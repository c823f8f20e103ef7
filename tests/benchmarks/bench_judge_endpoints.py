"""What an application notices of a judge's endpoint that is dead, slow or answers nonsense: its latency with each.

    python -m tests.benchmarks.bench_judge_endpoints

The same chain, whose model takes 20 ms, without a handler and with one for each kind of endpoint, in alternating
rounds of one run. Endpoints run in processes of their own.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from assay_langchain import AssayCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from assay.judges.llm.openai import OpenAIJudge
from tests._support.servers.openai_server import Behaviour, Faults, OpenAIServer
from tests.benchmarks.bench_langchain import Model, Shelf

ROUNDS = 12
REQUESTS = 20  # of one round
THINKING = 0.02  # seconds that the application's own model takes

KINDS: dict[str, Behaviour | None] = {
    "answers": Behaviour(),
    "refuses connections": None,
    "never answers": Behaviour(faults=Faults(silent=1.0, repeat=None)),
    "answers after 5 s": Behaviour(delay=5.0),
    "fails with HTTP 500": Behaviour(faults=Faults(error_500=1.0, repeat=None)),
    "answers nonsense": Behaviour(faults=Faults(malformed=1.0, repeat=None)),
}


class Thinking(Model):
    """Takes its time, as a model does."""

    def _call(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        time.sleep(THINKING)
        return "Cats purr when they are calm."


def chain() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    return {"context": Shelf(), "question": RunnablePassthrough()} | prompt | Thinking() | StrOutputParser()


def _serve(behaviour: Behaviour, said: Any) -> None:
    with OpenAIServer(behaviour) as server:
        said.send(server.base_url)
        said.recv()  # until the other end goes away or speaks


@contextmanager
def endpoint(behaviour: Behaviour | None) -> Iterator[str]:
    if behaviour is None:
        yield "http://127.0.0.1:9/v1"
        return
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(behaviour, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        process.join(5)
        if process.is_alive():
            process.terminate()


def round_of(pipeline: Runnable[Any, Any], config: Any) -> float:
    """Median milliseconds of a request."""
    took = []
    for number in range(REQUESTS):
        started = time.perf_counter()
        pipeline.invoke(f"Why do cats purr? {number}", config=config)
        took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000


def main(arguments: object = ()) -> None:
    with ExitStack() as stack:
        handlers: dict[str, AssayCallbackHandler] = {}
        for kind, behaviour in KINDS.items():
            address = stack.enter_context(endpoint(behaviour))
            judge = OpenAIJudge("any", base_url=address, api_key="k", timeout=2.0, max_attempts=2, retry_base=0.1)
            handlers[kind] = AssayCallbackHandler("faithfulness", judge, deadline=5.0, max_queue=10_000)
        pipeline = chain()
        runs: dict[str, Callable[[], float]] = {"no handler": lambda: round_of(pipeline, {})}
        for kind, handler in handlers.items():
            runs[kind] = lambda handler=handler: round_of(pipeline, {"callbacks": [handler]})  # type: ignore[misc]
        found: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(ROUNDS + 1):
            for name in runs if number % 2 else reversed(list(runs)):
                took = runs[name]()
                if number:  # the first warms up
                    found[name].append(took)
        alone = statistics.median(found["no handler"])
        print("| the judge's endpoint | median latency of a request | ratio |\n|---|---|---|")
        for name, times in found.items():
            middle = statistics.median(times)
            print(f"| {name} | {middle:.1f} ms | {middle / alone:.2f}x |")
        for handler in handlers.values():
            handler.close(0)


if __name__ == "__main__":
    main()
