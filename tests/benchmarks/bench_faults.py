"""A judge endpoint that fails at random: how many scores there are, which of them differ, and what they cost in calls.

    python -m tests.benchmarks.bench_faults

60 samples of the demo and four metrics, against the local fake endpoint; each attempt at a request fails by itself, so
that a request may fail again and again. "Three times" is 15% HTTP 500, 15% replies that are no JSON and 6% cut off.
"""

from __future__ import annotations

import tempfile
from typing import Any

from tests._support.servers.faults import Faults
from tests._support.servers.openai_server import OpenAIServer

METRICS = ["faithfulness", "context_precision", "context_recall", "answer_relevancy"]
SAMPLES = 60
SEEDS = (1, 2, 3, 4, 5)
MIXES = {
    "5% HTTP 500, 5% malformed, 2% cut off": (0.05, 0.05, 0.02),
    "three times that": (0.15, 0.15, 0.06),
}


def rows() -> list[dict[str, Any]]:
    from assay.data.demo import answers

    made = [row for row in answers() if row.get("answer") and row.get("reference")]
    return [{**made[n % len(made)], "id": str(n), "question": f"{made[n % len(made)]['question']} ({n})"}
            for n in range(SAMPLES)]  # fmt: skip


def failing(shares: tuple[float, float, float], seed: int) -> Faults:
    error_500, malformed, truncated = shares
    return Faults(seed=seed, independent=True, error_500=error_500, malformed=malformed, truncated=truncated)


def measure(faults: Faults | None = None) -> tuple[dict[tuple[str, str], float], int]:
    """The scores by row and metric, and the calls."""
    from assay import OpenAIJudge, evaluate

    with OpenAIServer(faults=faults or Faults()) as server, tempfile.TemporaryDirectory() as folder:
        judge = OpenAIJudge("fake", base_url=server.base_url, embedding_model="e")
        result = evaluate(rows(), METRICS, judge, store=folder, progress=False)
        values = {(str(row.sample.id), name): one.value for row in result for name, one in row.scores.items()}
        return {key: value for key, value in values.items() if value is not None}, len(server.calls)


def main() -> None:
    clean, calls = measure()
    wanted = SAMPLES * len(METRICS)
    print("| faults | seed | scores | that differ from those without faults | calls to those without |")
    print("|---|---|---|---|---|")
    print(f"| none | | {len(clean)} of {wanted} | | {calls} |")
    for name, shares in MIXES.items():
        for seed in SEEDS:
            scores, made = measure(failing(shares, seed))
            differ = sum(clean.get(key) != value for key, value in scores.items())
            print(f"| {name} | {seed} | {len(scores)} of {wanted} | {differ} | {made / calls:.2f} |", flush=True)


if __name__ == "__main__":
    main()
