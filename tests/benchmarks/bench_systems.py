"""What all metrics of all systems ask about one sample with five contexts, together and each by itself.

    python -m tests.benchmarks.bench_systems

Every prompt but Similarity is one chat call of an LLM judge (where it fits the window). Together, what several ask
alike is asked once. Nothing here is time: the counts are exact and the same everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from assay.evaluation.score_sample import score_sample
from assay.judges.cache import JudgementCache
from assay.metrics import systems
from assay.metrics.names import resolve_metrics
from assay.prompts import Similarity
from assay.records import Context, Sample
from tests.metrics.systems.any_judge import AnyJudge
from tests.metrics.systems.rich import RICH

FIVE: Sample = replace(
    RICH,
    contexts=(
        *(RICH.contexts or ()),
        Context(text="The river is long.", id="e"),
        Context(text="It rains.", id="f"),
    ),
)


def calls(names: Sequence[str]) -> int:
    """Chat calls for these metrics together on the sample."""

    async def run() -> int:
        judge = AnyJudge()
        await score_sample(FIVE, resolve_metrics(list(names)), JudgementCache(judge))
        return sum(not isinstance(one, Similarity) for one in judge.asked)

    return asyncio.run(run())


def alone(names: Sequence[str]) -> int:
    """Chat calls for these metrics, each in a run of its own."""
    return sum(calls([name]) for name in names)


def of_family(family: str) -> list[str]:
    """The metrics of all systems that go by this name."""
    return [
        entry.make().name
        for system in systems.SYSTEMS
        for entry in systems.system_entries(system).values()
        if entry.family == family
    ]


def main() -> None:
    """Print the table."""
    print("| chat calls for one sample with five contexts | metrics | each alone | together | ratio |")
    print("|---|---|---|---|---|")
    groups = {system: list(systems.names(system)) for system in systems.SYSTEMS}
    groups["all systems"] = list(systems.names())
    for family in ("faithfulness", "context precision", "context recall"):
        groups[f"*{family}* of all systems"] = of_family(family)
    for title, names in groups.items():
        if not names:
            continue
        apart, together = alone(names), calls(names)
        ratio = f"{apart / together:.1f}" if together else "–"
        print(f"| {title} | {len(names)} | {apart} | {together} | {ratio} |")


if __name__ == "__main__":
    main()
