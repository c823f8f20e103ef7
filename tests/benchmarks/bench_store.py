"""What a row takes on disk: `python -m tests.benchmarks.bench_store`.

An LLM judge that answers at once, whose reasons and quotes are as long as those of real ones, scores 1,000 samples with
five contexts each by four metrics.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from assay import Context, Sample, evaluate
from assay.judges.llm.openai import OpenAIJudge
from tests._support.servers.openai_server import Call, OpenAIServer

SAMPLES = 1000
METRICS = "faithfulness, answer_relevancy, context_precision, context_recall"
REASON_WORDS = 28  # about 37 tokens
TARGET = 8.0  # kB a row

# words drawn at random compress worse than prose of the same ones
WORDS = (
    *("bridge", "river", "engineer", "deck", "pier", "arch", "cable", "tower", "opened", "measured", "widened"),
    *("repaired", "traffic", "railway", "walkers", "stone", "steel", "flood", "council", "plan", "survey", "tender"),
    *("contract", "vessel", "clearance", "anchor", "girder", "rivet", "paint", "lamp", "toll", "station", "valley"),
    *("north", "south", "winter", "summer", "century", "report", "archive", "photograph", "model", "wind", "load"),
    *("bearing", "drainage", "concrete"),
)


def samples(count: int, seed: int = 0) -> list[Sample]:
    """Exchanges of about 3.5 kB: five contexts of five sentences, an answer and a reference of four."""
    chance = random.Random(seed)

    def sentence(name: str) -> str:
        return f"The {name} {' '.join(chance.choices(WORDS, k=14))} in {chance.randint(1800, 2020)}."

    made = []
    for n in range(count):
        facts = [[sentence(f"bridge of town {n}-{c}") for _ in range(5)] for c in range(5)]
        answer = " ".join([facts[0][0], facts[1][2], facts[2][1], sentence("mayor")])
        reference = " ".join([facts[0][0], facts[1][2], facts[3][3], facts[4][0]])
        contexts = tuple(Context(text=" ".join(one), id=f"c{n}-{k}") for k, one in enumerate(facts))
        question = f"What is known of the bridge of town {n}, and when was it {chance.choice(WORDS)}?"
        made.append(Sample(id=f"s{n}", question=question, contexts=contexts, answer=answer, reference=reference))
    return made


class Wordy:
    """Makes an honest reply of the fake endpoint as long as a real model's."""

    def __init__(self) -> None:
        self._chance = random.Random(1)

    def __call__(self, call: Call) -> str | None:
        return json.dumps(self._wordy(json.loads(call.honest))) if call.reading else None

    def _wordy(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._reason() if name == "reason" else self._wordy(one) for name, one in value.items()}
        return [self._wordy(one) for one in value] if isinstance(value, list) else value

    def _reason(self) -> str:
        return " ".join(self._chance.choices(WORDS, k=REASON_WORDS))


def sizes(folder: Path, data: list[Sample]) -> dict[str, float]:
    """kB a row: of the whole file, and of what each table and index holds."""
    with OpenAIServer(plan=Wordy()) as server:
        judge = OpenAIJudge("fake", base_url=server.base_url, embedding_model="fake")
        result = evaluate(data, METRICS, judge, store=folder)
    assert all(summary.scored == len(data) for summary in result.metrics.values()), str(result)
    result.store.close()
    path = Path(result.store.address)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with contextlib.suppress(sqlite3.OperationalError):  # not every SQLite tells
            tables = db.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name").fetchall()
            return {"whole": path.stat().st_size / 1000 / len(data), **{n: b / 1000 / len(data) for n, b in tables}}
    return {"whole": path.stat().st_size / 1000 / len(data)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = sizes(Path(folder), samples(SAMPLES))
    print(f"| on disk, kB a row ({SAMPLES} rows, four metrics, an LLM judge) | | target |\n|---|---|---|")
    print(f"| the whole file | {found.pop('whole'):.1f} | ≤ {TARGET:g} |")
    for name, size in sorted(found.items(), key=lambda one: -one[1]):
        if size >= 0.05:
            print(f"| `{name}` | {size:.1f} |  |")


if __name__ == "__main__":
    main()
