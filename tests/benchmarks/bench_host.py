"""CPU that live scoring takes of its host beyond capture: this checkout beside another one, in turns.

    python -m tests.benchmarks.bench_host OTHER_CHECKOUT [--rounds 40] [--only NAME,NAME]

One process for each checkout, both warm, one of them at work at a time: in each round every way to score has its turn
in either process, 100 requests each. A handler of LangChain or LlamaIndex captures them; what it would have submitted
is kept, and then submitted while the CPU time of the whole process is taken, until everything is scored or written:
the sample is made in it as well. `sample` submits finished samples.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
REQUESTS = 100
PASSAGES = 5
PASSAGE = ("Cats purr when they are calm, and also when they are hurt. " * 20)[:1000]
ANSWER = (
    "{} Cats purr when they are calm. They also purr when they are hurt, as vets have seen. Nobody knows all reasons."
)

WAYS = (
    "sample, lexical metrics", "sample, judge", "sample, queue",
    "langchain, judge", "langchain, queue", "llama_index, judge", "llama_index, queue",
)  # fmt: skip
TARGET = 0.55


class Work:
    """The ways to score, in the process of one checkout."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._number = 0
        self._ways: dict[str, Callable[[], float]] = {}

    def measure(self, name: str) -> float:
        """µs of CPU a request."""
        if name not in self._ways:
            kind, how = name.split(", ")
            self._ways[name] = getattr(self, f"_{kind}")(how)
            self._ways[name]()  # warm
        return self._ways[name]()

    def _intake(self, how: str) -> Any:
        from assay import ScriptedJudge
        from assay.live import LiveScorer

        judge = ScriptedJudge(support=lambda claim, passage: "supported", usefulness=lambda question, passage: True)
        if how == "queue":
            try:
                from assay.live import SampleQueue as Queue
            except ImportError:  # its name at d6834d3
                from assay.live import Spool as Queue  # type: ignore[attr-defined,no-redef]

            self._number += 1
            return Queue(Path(self._folder) / str(self._number))
        metrics = "ragas:exact_match,ragas:string_presence" if how == "lexical metrics" else None
        return LiveScorer(metrics, judge)

    def _run(self, how: str, capture: Callable[[], list[Any]]) -> Callable[[], float]:
        intake = self._intake(how)

        def run() -> float:
            self._number += 1
            submissions = capture()
            assert len(submissions) == REQUESTS, len(submissions)
            began = time.process_time()
            for one in submissions:
                intake.submit(one)
            assert intake.flush(60)
            spent = time.process_time() - began
            if how != "queue":
                health = intake.health()
                assert health.scored >= health.finished > 0, health
                assert not health.errors, health
            return spent / REQUESTS * 1e6

        return run

    def _question(self, n: int) -> str:
        return f"{n} {self._number} Why do cats purr?"

    def _sample(self, how: str) -> Callable[[], float]:
        from assay import Context, Sample

        def one(n: int) -> Sample:
            answer = ANSWER.format(self._question(n))
            contexts = tuple(Context(text=f"{k} {PASSAGE}", id=str(k)) for k in range(PASSAGES))
            return Sample(
                id=f"{self._number}-{n}", question=self._question(n), contexts=contexts, answer=answer, reference=answer
            )

        return self._run(how, lambda: [one(n) for n in range(REQUESTS)])

    def _langchain(self, how: str) -> Callable[[], float]:
        from assay_langchain import AssayCallbackHandler
        from langchain_core.documents import Document
        from langchain_core.language_models import SimpleChatModel
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.retrievers import BaseRetriever
        from langchain_core.runnables import RunnablePassthrough

        class Shelf(BaseRetriever):
            def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
                return [Document(id=str(n), page_content=f"{n} {PASSAGE}") for n in range(PASSAGES)]

        class Model(SimpleChatModel):
            _llm_type = "fixed"

            def _call(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
                return ANSWER.format(messages[0].content[-40:])

        prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
        source = {"context": Shelf(), "question": RunnablePassthrough()}
        chain = source | prompt | Model() | StrOutputParser()
        kept = Kept()
        config: Any = {"callbacks": [AssayCallbackHandler(scorer=kept)]}

        def capture() -> list[Any]:
            for n in range(REQUESTS):
                chain.invoke(self._question(n), config=config)
            return kept.empty()

        return self._run(how, capture)

    def _llama_index(self, how: str) -> Callable[[], float]:
        from assay_llama_index import AssayInstrumentation
        from llama_index.core.llms import MockLLM
        from llama_index.core.query_engine import RetrieverQueryEngine
        from llama_index.core.response_synthesizers import get_response_synthesizer
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

        class Shelf(BaseRetriever):
            def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
                nodes = [TextNode(id_=str(n), text=f"{n} {PASSAGE}") for n in range(PASSAGES)]
                return [NodeWithScore(node=node, score=0.5) for node in nodes]

        queries = RetrieverQueryEngine(Shelf(), get_response_synthesizer(MockLLM(max_tokens=20)))
        kept = Kept()
        handler = AssayInstrumentation(scorer=kept)

        def capture() -> list[Any]:
            handler.attach()
            for n in range(REQUESTS):
                queries.query(self._question(n))
            handler.detach()
            return kept.empty()

        return self._run(how, capture)


class Kept:
    """An intake that only keeps what it is given."""

    def __init__(self) -> None:
        self._submissions: list[Any] = []

    def submit(self, sample: Any) -> bool:
        self._submissions.append(sample)
        return True

    def empty(self) -> list[Any]:
        """What was submitted since the last call."""
        kept, self._submissions = self._submissions, []
        return kept

    def flush(self, timeout: float | None = None) -> bool:
        return True

    def count_error(self, error: BaseException, where: str) -> None:
        raise error

    def health(self) -> Any:
        from assay.live import Health

        return Health()

    def close(self, timeout: float | None = 30) -> Any:
        return self.health()

    def result(self, key: str, timeout: float | None = 0) -> None:
        return None

    def feedback(self, key: str, value: Any, comment: str | None = None) -> bool:
        return False


def work() -> None:
    """In the process of a checkout: a name comes in, µs go out."""
    with tempfile.TemporaryDirectory() as folder:
        one = Work(folder)
        for line in sys.stdin:
            print(json.dumps(one.measure(line.strip())), flush=True)
    os._exit(0)


class Checkout:
    """A process that works with the code of a checkout."""

    def __init__(self, path: Path) -> None:
        members = ["", "integrations/langchain/", "integrations/llama_index/"]
        code = [str(path / f"{member}src") for member in members]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.bench_host", "--work"],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(code)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def measure(self, name: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def rounds_of(checkouts: Sequence[Checkout], names: Sequence[str], rounds: int) -> dict[str, list[list[float]]]:
    """µs by way: of each checkout, of each round."""
    found: dict[str, list[list[float]]] = {name: [[] for _ in checkouts] for name in names}
    for number in range(rounds):
        for name, times in found.items():
            for position in range(len(checkouts)):
                which = (number + position) % len(checkouts)
                times[which].append(checkouts[which].measure(name))
    return found


def main(arguments: Sequence[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("other", nargs="?", type=Path)
    options.add_argument("--rounds", type=int, default=40)
    options.add_argument("--only", default="")
    options.add_argument("--work", action="store_true")
    chosen = options.parse_args(arguments)
    if chosen.work:
        work()
        return
    names = [name for name in WAYS if not chosen.only or any(part in name for part in chosen.only.split(","))]
    checkouts = [Checkout(HERE), Checkout(chosen.other)]
    try:
        found = rounds_of(checkouts, names, chosen.rounds)
    finally:
        for one in checkouts:
            one.close()
    print("| µs of CPU a request, median (p10) | this checkout | the other | ratio | target |\n|---|---|---|---|---|")
    for name in names:
        this, that = found[name]
        low = [statistics.quantiles(times, n=10)[0] for times in (this, that)]
        middle = [statistics.median(this), statistics.median(that)]
        cells = " | ".join(f"{m:.0f} ({p:.0f})" for m, p in zip(middle, low, strict=True))
        print(f"| {name} | {cells} | {middle[0] / middle[1]:.2f} ({low[0] / low[1]:.2f}) | ≤ {TARGET} |")


if __name__ == "__main__":
    main(sys.argv[1:])
