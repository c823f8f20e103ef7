"""One run of `evaluate` under way: rows in flight, each on disk once scored, and when there is no use in going on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay._util.forks import own_lock
from assay._util.loop_threads import LATE, run_apart
from assay.data import Data, RowError
from assay.errors import AssayError, Cause, JudgeFailure, StoreError
from assay.evaluation.completeness import run_end_of
from assay.evaluation.overview import OverviewFacts, overview_facts
from assay.evaluation.progress import progress_for
from assay.evaluation.result import Result
from assay.evaluation.score_sample import score_sample, skipped_sample, storable
from assay.judges import BaseJudge
from assay.judges.budget.budget import Budget
from assay.judges.cache import JudgementCache
from assay.judges.protocol import WAITS, BatchedQuestions, Waits
from assay.metrics import Metric
from assay.records import Sample, Score, ScoredSample
from assay.sinks.base import Sink
from assay.sinks.writing import SinkWriter
from assay.store.group_writer import GroupWriter

#: Nothing can be scored while these stand: the first one ends the run, unless something was scored before.
HOPELESS = frozenset({Cause.AUTH, Cause.NO_MODEL})
#: The judge's causes: a row of which nothing but these comes had no usable reply. What lies in the sample (SETTLED, a
#: text that does not fit), a budget or a row that cannot be read says nothing about the judge.
JUDGES = HOPELESS | {
    *(Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.REFUSED, Cause.CONTENT_FILTER, Cause.RATE_LIMITED),
    *(Cause.TIMEOUT, Cause.CONNECTION, Cause.BAD_REQUEST, Cause.PROMPT_TRUNCATED, Cause.BUG),
    Cause.TOO_LARGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run goes about it; see `aevaluate`."""

    concurrency: int
    sample_deadline: float | None
    deadline: float | None
    score_partial: bool
    progress: bool | None
    on_score: Callable[[ScoredSample], None] | None
    sinks: Sequence[Sink]
    budget: Budget | None
    stop_after: int | None
    reading: int = 1
    batched_questions: BatchedQuestions | None = None
    detach: bool = False
    until: Callable[[int, ScoredSample], str | None] | None = None


class JudgeMonitor:
    """Counts the rows in a row that had no usable reply of the judge, and says when to stop asking."""

    def __init__(self, metrics: Sequence[Metric], stop_after: int | None) -> None:
        self._asking = frozenset(metric.label for metric in metrics if metric.consults)
        self._stop_after = stop_after
        self._any_scored = False
        self._in_a_row = 0

    def look(self, scored: ScoredSample) -> JudgeFailure | None:
        """Take in one more row. The failure that ends the run, if it is to end here."""
        if any(score.value is not None and self._asked(name, score) for name, score in scored.scores.items()):
            self._any_scored, self._in_a_row = True, 0
            return None
        reasons = [
            score.error
            for name, score in scored.scores.items()
            if score.error is not None and self._is_the_judges(name, score, score.error.cause)
        ]
        if not reasons:
            return None
        self._in_a_row += 1
        last = next((reason for reason in reasons if reason.cause in HOPELESS), reasons[0])
        if last.cause in HOPELESS and not self._any_scored:
            return JudgeFailure(last.cause, last.message, raw=last.raw)
        if self._stop_after is None or self._in_a_row < self._stop_after:
            return None
        message = (
            f"no usable reply of the judge for {self._in_a_row} rows in a row, the last one {last.cause}: "
            f"{last.message}. A rerun goes on from here; stop_after=None asks on whatever comes"
        )
        return JudgeFailure(last.cause, message, raw=last.raw)

    def _is_the_judges(self, name: str, score: Score, cause: Cause) -> bool:
        if cause in (Cause.BUG, Cause.TOO_LARGE):  # those that no judge had a hand in are the metric's, or the row's
            return score.judge is not None
        return cause in JUDGES and (self._asked(name, score) or score.judge is not None)

    def _asked(self, name: str, score: Score) -> bool:
        """Whether a judge had a part in this score. One that is computed alone says nothing about the judge."""
        return name in self._asking or score.usage.calls > 0


class _WrittenRow(NamedTuple):
    """A row that was handed over to be written, as it is kept."""

    scored: ScoredSample
    facts: OverviewFacts
    committed: Future[None]


class EvaluationRun:
    """One run under way. To its judge it is the `assay.judges.protocol.Host`."""

    def __init__(
        self,
        result: Result,
        metrics: Sequence[Metric],
        judge: BaseJudge,
        cache: JudgementCache,
        options: RunOptions,
        group: GroupWriter | None = None,
    ) -> None:
        self._group = group
        self._written: dict[int, _WrittenRow] = {}  # rows handed over to be written, and not recorded yet
        self.result = result
        self.metrics = metrics
        self.judge = judge
        self.cache = cache
        self.options = options
        self.writer = SinkWriter(options.sinks)
        result.deliveries = self.writer.deliveries
        held = max(options.concurrency, judge.rows_in_flight or 0)
        self.slots = asyncio.Semaphore(held)
        self.asking = asyncio.Semaphore(judge.samples_at_once or held)
        self.rows: dict[asyncio.Task[None], Waits] = {}
        self.watch = JudgeMonitor(metrics, options.stop_after)
        self.fatal: BaseException | None = None
        self.ended: str | None = None  # why before all rows were scored, where that was wanted
        self._order: deque[int] = deque()  # numbers of rows that `until` has not seen, as they were begun
        self._seen_next: dict[int, ScoredSample] = {}
        self._recording = own_lock(self, "_recording")
        self._over = False  # rows that a thread brings which was left behind are not taken any more

    # -- what the judge is told

    @property
    def name(self) -> str:
        """See `Host`."""
        return self.result.run

    @property
    def folder(self) -> Path:
        """See `Host`."""
        return self.result.store.folder

    @property
    def reading(self) -> int:
        """See `Host`."""
        return self.options.reading

    @property
    def detach(self) -> bool:
        """See `Host`."""
        return self.options.detach

    def all_wait(self) -> bool:
        """See `Host`. Rows are begun until their number or the data end, without a turn of the loop in between."""
        return all(waits.count for waits in self.rows.values())

    def note(self, text: str) -> None:
        """See `Host`."""
        self.result.notes.append(text)

    def stop(self, error: Exception) -> None:
        """See `Host`."""
        self.fatal = self.fatal or error
        for task in self.rows:
            task.cancel()

    # -- the rows

    async def run(self, source: Data) -> None:
        """Score every row. Raises what ended the run before its time; `result.stopped` then says it as well."""
        began = time.perf_counter()
        self.result.end("interrupted")  # until proven otherwise
        try:
            with progress_for(self.options.progress, source.total_for_estimates) as self.bar:
                await self._score_all(source)
            self.result.end(None if self.ended is None else "sequential", self.ended)
        except TimeoutError:
            self.result.end("limit", f"the deadline of {self.options.deadline} s passed")
        except AssayError as error:
            self.result.end(run_end_of(error), str(error))
            raise
        except Exception as error:
            self.result.end("interrupted", f"{type(error).__name__}: {error}")
            raise
        finally:
            self.result.seconds = time.perf_counter() - began
            with self._recording:
                self._over = True
            await self._end()

    async def _score_all(self, source: Data) -> None:
        """On a thread of its own where there is a deadline: a judge that blocks its event loop is left behind there."""
        if self.options.deadline is None:
            await self._session(source)
        else:
            await run_apart(lambda: self._released_session(source), "assay-evaluate", self.options.deadline + LATE)

    async def _released_session(self, source: Data) -> None:
        try:
            await self._session(source)
        finally:
            await self.judge.release()

    async def _session(self, source: Data) -> None:
        async with asyncio.timeout(self.options.deadline), self.judge.session_for(self):
            await self._rows(source)

    async def _end(self) -> None:
        try:
            await self.writer.close()
            await asyncio.to_thread(self._take_in_rest)
            self._count()
            self.result.count_missing()
            self._note_unsaved()
            self._note_duplicate_ids()
            with self._store_errors():
                self.result.save()
        finally:
            if self.options.deadline is None:  # else it is released on the loop that it worked on
                await self.judge.release()

    async def _rows(self, source: Data) -> None:
        tasks = self.rows
        try:
            for number, row in source:
                await self.slots.acquire()
                if self.fatal is not None or self.ended is not None:
                    break
                if self.options.until is not None:
                    self._order.append(number)
                waits = Waits()
                task = asyncio.create_task(self._row(number, row, waits))
                tasks[task] = waits
                task.add_done_callback(tasks.pop)
            while tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if self.fatal is not None or self.ended is not None:
                    break
        finally:
            pending = list(tasks)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
        if self.fatal is not None:
            raise self.fatal

    async def _row(self, number: int, row: Sample | RowError, waits: Waits) -> None:
        WAITS.set(waits)
        try:
            scored = self._unreadable(row) if isinstance(row, RowError) else await self._score(row)
            kept = await self._save(number, scored)
            if kept is not None:
                await self.writer.write(kept)
        except Exception as error:  # the store or the user's on_score broke: the run cannot go on, and says so
            self.fatal = self.fatal or error
        finally:
            self.slots.release()

    async def _score(self, sample: Sample) -> ScoredSample:
        partial = self.options.score_partial
        deadline = None if self.judge.rows_in_flight is not None else self.options.sample_deadline
        async with self.asking:  # not while its scores are delivered, which may take long
            return await score_sample(sample, self.metrics, self.cache, deadline=deadline, score_partial=partial)

    def _unreadable(self, row: RowError) -> ScoredSample:
        return skipped_sample(row.sample or Sample(id=row.id), self.metrics, row.cause, row.message)

    async def _save(self, number: int, scored: ScoredSample) -> ScoredSample | None:
        """Write a row, and take it in once it is committed; None where the run is over."""
        with self._recording:
            if self._over:
                return None
            row = self._written[number] = self._keep(number, scored)
        cancelled: BaseException | None = None
        with self._store_errors():
            try:
                if not row.committed.done():
                    await asyncio.shield(asyncio.wrap_future(row.committed))
            except asyncio.CancelledError as error:  # it is in the store all the same, or soon
                cancelled = error
            row.committed.result()
        kept = self._record(number, row)
        if cancelled is not None:
            raise cancelled
        return kept

    def _record(self, number: int, row: _WrittenRow) -> ScoredSample | None:
        """Take in a row that is committed; None where the run is over, and did so itself."""
        with self._recording:
            if self._written.pop(number, None) is None:
                return None
            scored = row.scored
            self.result.add(scored, number, row.facts)
            self._count()
        self.bar.update(self.result)
        if self.options.on_score is not None:
            self.options.on_score(scored)
        self.fatal = self.fatal or self.watch.look(scored)
        if self.options.until is not None:
            self._look(self.options.until, number, scored)
        return scored

    def _look(self, until: Callable[[int, ScoredSample], str | None], number: int, scored: ScoredSample) -> None:
        """Show rows to `until` as they were begun, whichever are done first: quick ones may be of a kind."""
        self._seen_next[number] = scored
        while self.ended is None and self._order and self._order[0] in self._seen_next:
            first = self._order.popleft()
            self.ended = until(first, self._seen_next.pop(first))

    def _keep(self, number: int, scored: ScoredSample) -> _WrittenRow:
        """Put the row on disk. A score that cannot be written (a metric of the user's own) is skipped instead."""
        with self._store_errors():
            facts = overview_facts(scored)
            try:
                done = self._put(number, scored, facts)
            except (ValueError, TypeError, RecursionError):
                scored = storable(scored)
                facts = overview_facts(scored)
                done = self._put(number, scored, facts)
        return _WrittenRow(scored, facts, done)

    def _put(self, number: int, scored: ScoredSample, facts: OverviewFacts) -> Future[None]:
        if self._group is not None:
            return self._group.put_row(number, scored, facts.to_text())
        run, started = self.result.run, self.result.started
        self.result.store.put_row(run, number, scored, started=started, facts=facts.to_text())
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _take_in_rest(self) -> None:
        """Rows that were committed, and whose tasks were left behind before they could say so, belong to the run."""
        if self._group is not None:
            self._group.flush()
        with self._recording:
            rest, self._written = self._written, {}
            for number, row in rest.items():
                if row.committed.exception() is None:
                    self.result.add(row.scored, number, row.facts)

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        """What the store says when it can write no more, with what is kept all the same."""
        try:
            yield
        except (StoreError, sqlite3.Error, OSError) as error:
            name, kept = self.result.store.name, self.result.rows
            said = str(error) if name in str(error) else f"store {name!r}: {error}"
            message = f"{said}; the {kept} rows scored before are in run {self.result.run}, and a rerun goes on"
            raise StoreError(message) from error

    def _note_unsaved(self) -> None:
        """What was paid for, and is not in the store."""
        if self.cache.store_error is not None:
            self.note(f"judgements could not be kept, and a rerun pays for them again: {self.cache.store_error}")

    def _note_duplicate_ids(self) -> None:
        """Rows that cannot be asked for by their id, because an earlier one has the same."""
        with contextlib.suppress(StoreError):  # the next write says it
            for name, numbers in self.result.store.ids_of_several(self.result.run):
                listed = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
                last = f"row:{numbers[-1]}"
                self.result.notes.append(
                    f"the id {name!r} stands on rows {listed}; it means the first, {last!r} the last"
                )

    def _count(self) -> None:
        self.result.usage, self.result.cache_hits = self.cache.usage, self.cache.cache_hits
