"""Speed and memory of the embedded judge, against a plain loop over the same models.

Run: python -m tests.benchmarks.bench_embedded

The plain loop is what one writes first: tokenise a pair, cut it at 512 tokens, run the session, next pair; sessions
with the default options of onnxruntime, which use every core for one pair.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import assay_embedded
import numpy as np
import onnxruntime
from assay_embedded.files import FILES, verified
from tokenizers import Tokenizer

from assay.data.demo import answers
from assay.judges.claim_rules import sentence_claims

Pair = tuple[str, str]


class PlainLoop:
    """The same graphs, one pair after the other."""

    def __init__(self) -> None:
        content = verified(FILES)
        self.sessions = {
            name: onnxruntime.InferenceSession(
                content.packed[f"{name}.onnx"].unpacked(), providers=["CPUExecutionProvider"]
            )
            for name in ("trunk", "support", "relevance")
        }
        self.tokenizer = Tokenizer.from_str(content.whole["tokenizer.json"].decode())
        self.tokenizer.enable_truncation(512, strategy="only_second")

    def read(self, head: str, pairs: list[Pair]) -> list[Any]:
        return [self._one(head, first, second) for first, second in pairs]

    def _one(self, head: str, first: str, second: str) -> Any:
        found = self.tokenizer.encode(first, second)
        mask = np.array([found.attention_mask], np.int64)
        feed = {
            "input_ids": np.array([found.ids], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([found.type_ids], np.int64),
        }
        hidden = self.sessions["trunk"].run(None, feed)[0]
        return self.sessions[head].run(None, {"hidden": hidden, "attention_mask": mask})[0]


def rate(work: Callable[[], object], pairs: int, rounds: int = 3) -> float:
    """Pairs per second of wall time, best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return pairs / best


def workloads() -> dict[str, list[Pair]]:
    """(passage, claim): short passages of the demo, long ones made of many of them, and both mixed."""
    rows = answers()
    claims = [claim.text for row in rows for claim in sentence_claims(row["answer"])]
    passages = [passage for row in rows for passage in row["contexts"]]
    short = [(passage, claim) for passage, claim in product(passages, claims)][:: len(claims)][:60]
    long = [("\n".join(passages[i:] + passages[:i]), claim) for i, claim in enumerate(claims[:30])]
    return {"short passages": short, "long passages": long, "mixed": short + long}


_MEMORY = """
import json, time
def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1000
import assay, numpy, onnxruntime, tokenizers
before = memory('VmRSS')
start = time.perf_counter()
import assay_embedded
models = assay_embedded.load()
loaded = time.perf_counter() - start
rest = memory('VmRSS')
models.support([("The tower is in Paris, they say. " * 400, f"The tower {i} is in Paris.") for i in range(40)])
peak = memory('VmHWM')  # of this process alone: what getrusage says begins with the parent's
print(json.dumps({"load": loaded, "before": before, "rest": rest, "peak": peak}))
"""


def main() -> None:
    models, plain = assay_embedded.load(), PlainLoop()
    models.support([("Rome is old.", "Rome is old.")])  # the first call loads the files
    print("| support: passage and claim | pairs per second | plain loop | ratio |")
    print("|---|---|---|---|")
    for name, pairs in workloads().items():
        ours = rate(lambda pairs=pairs: models.support(pairs), len(pairs))  # type: ignore[misc]
        turned = [(claim, passage) for passage, claim in pairs]
        theirs = rate(lambda turned=turned: plain.read("support", turned), len(pairs))  # type: ignore[misc]
        print(f"| {name} ({len(pairs)}) | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f}x |")
    rows = answers()
    pairs = [(row["question"], p) for row, p in product(rows[:6], [p for r in rows for p in r["contexts"]])][:100]
    ours = rate(lambda: models.relevance(pairs), len(pairs))
    theirs = rate(lambda: plain.read("relevance", pairs), len(pairs))
    print(f"| usefulness: question and passage ({len(pairs)}) | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f}x |")
    texts = [row["answer"] for row in rows] + [p for row in rows for p in row["contexts"]]
    together = rate(lambda: models.embed(texts), len(texts))
    alone = rate(lambda: [models.embed([text]) for text in texts], len(texts))
    print(f"| similarity: texts ({len(texts)}), against one call each | {together:.0f} | {alone:.0f} "
          f"| {together / alone:.2f}x |")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=True)
    memory = json.loads(done.stdout)
    before, rest, peak = memory["before"], memory["rest"], memory["peak"]
    print(f"\nLoading takes {memory['load']:.1f} s and {rest - before:.0f} MB.")
    print(f"At its peak the process had {peak:.0f} MB, {before:.0f} MB of them before loading.")


if __name__ == "__main__":
    main()
