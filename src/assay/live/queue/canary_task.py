"""The canary rows of a queue worker: scored between its samples, one at a time, and never in their way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from assay.live.canaries.scoring import CanaryScorer, GivenUpError, ScoreRow
from assay.metrics.base import Metric

LOOK = 60.0  # seconds between looks for what is due
POLL = 0.1  # seconds between looks for a slot that is free
TURN = 5.0  # seconds that a row waits for a free slot; then it is scored beside the samples


class CanaryTask:
    """Scores canary rows where they are due, until it is cancelled.

    Args:
        canaries: The rows, and where their scorings are kept.
        metrics: What is measured.
        judge: Fingerprint of the judge.
        score_row: Scores one row, without judgements from a cache.
        is_free: Says whether the worker has room for another sample.
        pause: Seconds until the budget has room or the judge may be asked again.
        failed: Told of each error. The next look tries again.

    Attributes:
        idle: Whether it has looked, and nothing is under way.
    """

    def __init__(
        self,
        canaries: CanaryScorer,
        metrics: Sequence[Metric],
        judge: Callable[[], str],
        score_row: ScoreRow,
        *,
        is_free: Callable[[], bool],
        pause: Callable[[], float],
        failed: Callable[[BaseException, str], None],
    ) -> None:
        self._canaries, self._metrics, self._judge, self._score_row = canaries, metrics, judge, score_row
        self._is_free, self._pause, self._failed = is_free, pause, failed
        self.idle = False

    async def run(self) -> None:
        """Look again and again. Errors are told, and end nothing."""
        while True:
            try:
                await self._look()
            except GivenUpError:
                pass  # what the samples meet, too, and it is told there
            except Exception as error:
                self._failed(error, "canaries")
            self.idle = True
            await asyncio.sleep(LOOK)

    async def _look(self) -> None:
        claim = await asyncio.to_thread(lambda: self._canaries.claim(self._metrics, self._judge()))
        if claim is not None:
            self.idle = False
            await self._canaries.score(claim, self._metrics, self._score_row, turn=self._turn, pause=self._pause)

    async def _turn(self) -> None:
        until = time.monotonic() + TURN
        while not self._is_free() and time.monotonic() < until:  # noqa: ASYNC110  # no event tells of a free slot
            await asyncio.sleep(POLL)
