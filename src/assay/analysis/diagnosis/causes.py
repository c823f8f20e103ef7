"""The causes of a run: which rows failed, and why each did."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from assay._util.sync import run_sync
from assay.analysis.diagnosis.answerability import Answerability
from assay.analysis.diagnosis.classify import TOP, CauseDecision, decide
from assay.analysis.diagnosis.context_health import ContextHealth
from assay.analysis.diagnosis.facts import UNSURE, Facts, facts_of
from assay.analysis.diagnosis.failed_rows import failed_by, is_measured, thresholds_for
from assay.analysis.diagnosis.missing_prompts import AT_ONCE, StoredJudge, prompts_for, read
from assay.analysis.diagnosis.records import Causes, RootCause
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, check_budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.resolve import resolve_judge
from assay.records import Sample, Score, Usage
from assay.store.store import Row

PAGE = 64  # failed rows that are read in one go
ROUNDS = 4  # readings that lead to another reading


def find_causes(
    result: Result,
    thresholds: Mapping[str, float] | None = None,
    *,
    answerable: str = "answerable",
    top: int = TOP,
    judge: JudgeSpec = None,
    read: bool = False,
    budget: Budget | None = None,
) -> Causes:
    """Why each failed row of a run failed; whether refusals were right; the state of the retrieved passages.

    Raises InputError for thresholds that do not fit the run, for a judge that is not the run's, and `read` without one.

    Args:
        thresholds: What counts as failed, by metric: a measured value below it, or above it where less is better; None:
            the defaults (`assay.analysis.diagnosis.failed_rows.DEFAULTS`) of those that the run has.
        answerable: A column of the data that says of each question whether it can be answered.
        top: A passage after this rank is one that a generator may well overlook.
        judge: The run's judge; None: what the run's scores rest on is all that is known. With it, what the store has of
            it is looked up as well, which asks nothing.
        read: Ask the judge for what is missing, for failed rows alone; `Causes.usage` says what that took.
        budget: What the judge may be asked for at most.
    """
    if top < 1:
        raise InputError(f"top: expected at least 1, got {top}")
    limits = thresholds_for(result, thresholds)
    resolved = _judge_of(result, judge, read)
    if resolved is not None:
        check_budget(budget, resolved)
    unsure = (result.judge or "").startswith(UNSURE) or (resolved is not None and not resolved.detects_contradiction)
    work = _Work(result, limits, answerable, top, unsure)
    if resolved is None:
        for row in result.numbered_rows():
            work.take(row)
        return work.causes()
    return run_sync(lambda: _with_judge(work, resolved, read, budget))


def _judge_of(result: Result, judge: JudgeSpec, read: bool) -> BaseJudge | None:
    if judge is None:
        if read:
            raise InputError(f"read: say which judge reads, judge=...; the run is by {result.judge}")
        return None
    resolved = resolve_judge(judge)
    if resolved.fingerprint != result.judge:
        raise InputError(
            f"judge: the run is by {result.judge}, not by {resolved.fingerprint}; what two judges find is not mixed"
        )
    return resolved


@dataclass(slots=True)
class _Work:
    """One run under way: rows come in, in any order, and only what is shown of them stays."""

    result: Result
    limits: Mapping[str, float]
    answerable: str
    top: int
    unsure: bool
    found: dict[int, RootCause] = field(default_factory=dict)
    rows: int = 0
    unmeasured: int = 0
    answered: Answerability = field(default_factory=Answerability)
    health: ContextHealth = field(default_factory=ContextHealth)
    usage: Usage = field(default_factory=Usage)
    asked: int = 0

    def failed(self, row: Row) -> dict[str, float]:
        """By what a row failed; counts the row."""
        self.rows += 1
        self.unmeasured += not is_measured(row.scored, self.limits)
        return failed_by(row.scored, self.limits)

    def facts(self, sample: Sample, scores: Mapping[str, Score], failed: Mapping[str, float]) -> Facts:
        return facts_of(sample, scores, failed, self.answerable, unsure=self.unsure)

    def take(self, row: Row) -> None:
        """One row as its scores show it."""
        failed = self.failed(row)
        facts = self.facts(row.scored.sample, row.scored.scores, failed)
        if failed:
            self.end(row, facts, decide(facts, self.top))
        self.count(row, facts)

    def count(self, row: Row, facts: Facts) -> None:
        """A row's part in the tables of answers and of passages."""
        self.answered.add(row.number, facts)
        self.health.add(row.number, facts)

    def end(self, row: Row, facts: Facts, decision: CauseDecision, told: str | None = None) -> None:
        """A failed row's cause; `told` is what a judge said in place of what had to be read."""
        reads = prompts_for(decision.read, facts)
        because = decision.because
        if told is not None:
            because = f"{because}; the judge: {told}"
        elif reads:
            because += f" ({reads} {'prompt' if reads == 1 else 'prompts'})"
        self.found[row.number] = RootCause(
            decision.label, because, row.number, row.scored.sample.id, dict(facts.failed or {}), reads
        )

    def causes(self) -> Causes:
        return Causes(
            run=self.result.run,
            per_row=dict(sorted(self.found.items())),
            rows=self.rows,
            unmeasured=self.unmeasured,
            thresholds=dict(self.limits),
            answered=self.answered,
            health=self.health,
            usage=self.usage,
            asked=self.asked,
        )


async def _with_judge(work: _Work, judge: BaseJudge, ask: bool, budget: Budget | None) -> Causes:
    """The same with what the store has of the judge and, where it may be asked, with what it says."""
    judgements = work.result.store.judgements(work.result.run)
    stored = JudgementCache(StoredJudge(judge), judgements)
    asked = JudgementCache(judge, judgements)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(row: Row) -> None:
        async with slots:
            await _read_row(work, row, stored, asked if ask else None)

    try:
        with spending(budget):
            for page in _pages(work.result):
                await asyncio.gather(*map(one, page))
    finally:
        await judge.release()
    work.usage = asked.usage
    work.answered.sort()
    work.health.sort()
    return work.causes()


def _pages(result: Result) -> Iterator[list[Row]]:
    page: list[Row] = []
    for row in result.numbered_rows():
        page.append(row)
        if len(page) == PAGE:
            yield page
            page = []
    yield page


async def _read_row(work: _Work, row: Row, stored: JudgementCache, asked: JudgementCache | None) -> None:
    failed = work.failed(row)
    sample, scores = row.scored.sample, dict(row.scored.scores)
    facts = work.facts(sample, scores, failed)
    if not failed:
        work.count(row, facts)
        return
    decision, told = decide(facts, work.top), None
    for cache in (stored, asked):
        tried: set[str] = set()
        for _ in range(ROUNDS):
            missing = [name for name in decision.read if name not in tried]
            if cache is None or not missing:
                break
            new = await read(sample, missing, cache)
            if cache is asked:
                work.asked += prompts_for(missing, facts)
                told = next((one.error.message for one in new.values() if one.error is not None), None)
            tried.update(missing)
            scores |= {name: score for name, score in new.items() if score.error is None or name not in scores}
            facts = work.facts(sample, scores, failed)
            decision = decide(facts, work.top)
    if decision.read and asked is not None and told is None:
        decision = replace(decision, label="unexplained", because="what was read says nothing of it", read=())
    work.end(row, facts, decision, told if decision.read else None)
    work.count(row, facts)
