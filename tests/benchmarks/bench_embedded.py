"""Speed of the embedded judge: pairs per second, and against a plain one-by-one loop on the same model.

Run: python -m tests.benchmarks.bench_embedded
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product

import assay_embedded

from assay.demo import answers


def rate(work: Callable[[], object], pairs: int, rounds: int = 3) -> float:
    """Pairs per second of wall time, best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return pairs / best


def main() -> None:
    models = assay_embedded.load()
    rows = answers()
    passages = [passage for row in rows for passage in row["contexts"]]
    relevance = [(row["question"], passage) for row, passage in product(rows[:6], passages)][:120]
    support = [(passage, row["answer"]) for row, passage in product(rows, passages)][:400]
    texts = [row["answer"] for row in rows] + passages
    models.relevance(relevance[:4])  # the first call loads the files

    together = rate(lambda: models.relevance(relevance), len(relevance))
    alone = rate(lambda: [models.relevance([pair]) for pair in relevance], len(relevance))
    print("| what | pairs per second | against one by one |")
    print("|---|---|---|")
    print(f"| usefulness: question and passage | {together:.0f} | {together / alone:.2f}x |")
    together = rate(lambda: models.support(support), len(support))
    alone = rate(lambda: [models.support([pair]) for pair in support], len(support))
    print(f"| support: passage and claim | {together:.0f} | {together / alone:.2f}x |")
    together = rate(lambda: models.embed(texts), len(texts))
    alone = rate(lambda: [models.embed([text]) for text in texts], len(texts))
    print(f"| similarity: texts embedded | {together:.0f} | {together / alone:.2f}x |")


if __name__ == "__main__":
    main()
