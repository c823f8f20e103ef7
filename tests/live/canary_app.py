"""A worker to kill in the middle of a scoring of canary rows: python -m tests.live.canary_app QUEUE STORE CANARIES

It says "scoring" when it has scored four of the rows, and hangs at the fifth.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import Worker
from assay.live.canaries.scoring import CanaryScorer
from assay.metrics.base import Metric
from assay.records import Sample, Score

_NUMBERS = count(1)


@dataclass(frozen=True)
class Hanging(Metric):
    """Hangs at the fifth sample."""

    name: ClassVar[str] = "probe"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if next(_NUMBERS) == 5:
            print("scoring", flush=True)
            await asyncio.sleep(3600)
        return self.make_score(1.0)


def main(queue: str, store: str, canaries: str) -> None:
    Worker(queue, [Hanging()], ScriptedJudge(), canaries=CanaryScorer(store, canaries)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
