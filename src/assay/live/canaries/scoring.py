"""Scoring canary rows: once a day, and when another judge begins; whoever shares the store scores them once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from assay.errors import Cause, InputError, StoreError
from assay.judges.budget.budget import waits_for_budget
from assay.live.application import resolve_application
from assay.live.canaries.rows import CanaryRows, load_canaries
from assay.metrics.base import Metric
from assay.records import Sample, ScoredSample, fingerprint
from assay.store.canary_scorings import DAY, CanaryClaim, CanaryScorings
from assay.store.store import Store

LEASE = 120.0  # seconds for which a claim holds; renewed four times as often
TRIES = 3  # for a row whose judge is out of reach
AGAIN = 600.0  # seconds after which a scoring that was given up is begun anew
PATIENT = 120.0  # seconds that a row waits for a budget; for longer the scoring is given up

#: The judge is out of reach: it says nothing of what it would say.
PASSING = frozenset({Cause.CONNECTION, Cause.RATE_LIMITED, Cause.AUTH, Cause.NO_MODEL})

ScoreRow = Callable[[Sample], Awaitable[ScoredSample]]


class GivenUpError(Exception):
    """A scoring cannot be ended now.

    Attributes:
        wait: Seconds after which somebody may begin it anew.
        counted: Whether it counts as an attempt.
    """

    def __init__(self, message: str, wait: float, *, counted: bool) -> None:
        super().__init__(message)
        self.wait, self.counted = wait, counted


class CanaryScorer:
    """Scores canary rows where they are due.

    Args:
        store: Folder, file or database of the store that keeps the scorings.
        rows: The rows, or the file that they are in: see `assay.live.canaries.rows.load_canaries`.
        application: Name of the application that the judge scores. None: that of the environment.
        every: Seconds between two scorings by one judge, above 0.
        lease: Seconds after which a process that scores and does not renew its claim counts as lost, above 0.
        clock: Time in seconds since 1970.

    Raises:
        InputError: The rows cannot be read, or a number is out of range.
    """

    def __init__(
        self,
        store: str | Path,
        rows: CanaryRows | str | os.PathLike[str],
        *,
        application: str | None = None,
        every: float = DAY,
        lease: float = LEASE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        for name, seconds in {"every": every, "lease": lease}.items():
            if not seconds > 0:
                raise InputError(f"{name}: expected a positive number of seconds, got {seconds}")
        self.rows = rows if isinstance(rows, CanaryRows) else load_canaries(rows)
        self.application = resolve_application(application).name or ""
        self._address, self._every, self._lease, self._clock = store, every, lease, clock
        self._opened: tuple[Store, CanaryScorings] | None = None

    @property
    def store(self) -> Store:
        """The store, opened when it is first used."""
        return self._parts()[0]

    def claim(self, metrics: Sequence[Metric], judge: str, *, at_once: bool = False) -> CanaryClaim | None:
        """Take the scoring that is due, and keep the stored verdicts.

        Args:
            metrics: What is measured.
            judge: Fingerprint of the judge.
            at_once: Take one also where none is due.

        Returns:
            The claim; None where nothing is due, or somebody else is at work on it.

        Raises:
            StoreError: The store cannot be read or written.
        """
        _, scorings = self._parts()
        now, rows = self._clock(), self.rows
        measured = sorted((metric.label, metric.version) for metric in metrics)
        work = fingerprint([sorted(rows.samples), rows.values, measured, judge])
        claim = scorings.claim(work, judge, now, self._lease, every=self._every, at_once=at_once)
        if claim is not None:
            # they come before what is measured, also where the file was copied just now
            written = now if rows.written is None else rows.written
            scorings.put_stored(rows.judge, min(written, now - 1.0), rows.values, rows.ranges)
        return claim

    async def score(
        self,
        claim: CanaryClaim,
        metrics: Sequence[Metric],
        score_row: ScoreRow,
        *,
        turn: Callable[[], Awaitable[None]] | None = None,
        pause: Callable[[], float] = lambda: 0.0,
        concurrency: int = 1,
    ) -> bool:
        """Score all rows and keep the values. Where it is cancelled or fails, it gives its claim back.

        Args:
            claim: The claim.
            metrics: What is measured.
            score_row: Scores one row, without judgements from a cache.
            turn: Waits until the next row may be scored.
            pause: Seconds until the budget has room or the judge may be asked again.
            concurrency: Rows scored at the same time, at least 1.

        Returns:
            False where somebody else took the claim meanwhile: nothing is kept then.

        Raises:
            GivenUpError: The budget is spent, or the judge is out of reach.
            StoreError: The store cannot be written.
        """
        values: dict[str, dict[str, float]] = {metric.label: {} for metric in metrics}
        slots = asyncio.Semaphore(concurrency)
        spent_on = 0

        async def one(row: str, sample: Sample) -> None:
            nonlocal spent_on
            async with slots:
                if turn is not None:
                    await turn()
                scored = await self._row(sample, score_row, pause, lambda: spent_on > 0)
                spent_on += 1
                for label, score in scored.scores.items():
                    if score.value is not None:
                        values[label][row] = float(score.value)

        try:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(self._keep(claim))
                await asyncio.wait([group.create_task(one(*row)) for row in self.rows.samples.items()])
                keeping.cancel()
            ranges = {metric.label: (metric.low, metric.high) for metric in metrics}
            return await asyncio.to_thread(self._parts()[1].finish, claim, self._clock(), values, ranges)
        except asyncio.CancelledError:  # by whoever stops: the next one may begin at once
            self._give_back(claim, 0.0, counted=False)
            raise
        except Exception as error:
            reason = _first(error)
            given_up = reason if isinstance(reason, GivenUpError) else GivenUpError("", AGAIN, counted=True)
            await asyncio.to_thread(self._give_back, claim, given_up.wait, counted=given_up.counted)
            raise reason from None

    async def _row(
        self, sample: Sample, score_row: ScoreRow, pause: Callable[[], float], counts: Callable[[], bool]
    ) -> ScoredSample:
        """Score a row, and wait for a budget and a judge that is out of reach, for a while."""
        tries = 0
        while True:
            scored = await score_row(sample)
            spent = waits_for_budget(scored.scores)
            causes = {score.error.cause for score in scored.scores.values() if score.error is not None}
            if not spent and not causes & PASSING:
                return scored
            tries += not spent
            wait = max(pause(), 0.5 * 2.0**tries)
            if spent and wait > PATIENT:
                raise GivenUpError("the budget is spent", min(wait, DAY / 4), counted=counts())
            if tries >= TRIES:
                raise GivenUpError("the judge is out of reach", AGAIN, counted=False)
            await asyncio.sleep(wait)

    async def _keep(self, claim: CanaryClaim) -> None:
        """Renew a claim until this is cancelled."""
        scorings = self._parts()[1]
        while True:
            await asyncio.sleep(self._lease / 4)
            try:
                mine = await asyncio.to_thread(scorings.renew, claim, self._clock() + self._lease)
            except StoreError:  # busy, or full for a while: the outcome is refused where the claim expired meanwhile
                continue
            if not mine:
                raise GivenUpError("somebody else took it over", 0.0, counted=False)

    def _give_back(self, claim: CanaryClaim, wait: float, *, counted: bool) -> None:
        self._parts()[1].give_back(claim, self._clock() + wait, counted=counted)

    def close(self) -> None:
        """Let go of the store."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def _parts(self) -> tuple[Store, CanaryScorings]:
        if self._opened is None:
            store = Store(self._address)
            self._opened = store, CanaryScorings(store, self.application)
        return self._opened


def _first(error: Exception) -> Exception:
    """The first error of a group; any other error itself."""
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error
