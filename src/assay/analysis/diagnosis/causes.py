"""The causes of a run: which rows failed, and why each did."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay._util.sync import run_sync
from assay.analysis.diagnosis import cause_model
from assay.analysis.diagnosis.answerability import Answerability
from assay.analysis.diagnosis.classify import TOP, CauseDecision, decide, not_read
from assay.analysis.diagnosis.context_health import ContextHealth
from assay.analysis.diagnosis.facts import UNSURE, Facts, facts_of
from assay.analysis.diagnosis.failed_rows import failed_by, is_measured, thresholds_for
from assay.analysis.diagnosis.missing_prompts import AT_ONCE, StoredJudge, prompts_for, read
from assay.analysis.diagnosis.records import Causes, RootCause
from assay.analysis.diagnosis.slices import CauseSlices
from assay.analysis.diagnosis.themes import MOST, Embed, find_themes
from assay.errors import InputError, MissingExtra
from assay.evaluation.groups import value_in
from assay.evaluation.result import Result
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, check_budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.resolve import resolve_judge
from assay.records import Sample, Score, Usage
from assay.store.store import Row

PAGE = 64  # failed rows that are read in one go
ROUNDS = 4  # readings that lead to another reading


def find_causes(
    result: Result,
    thresholds: Mapping[str, float] | None = None,
    *,
    by: str | Sequence[str] = (),
    answerable: str = "answerable",
    top: int = TOP,
    judge: JudgeSpec = None,
    read: bool = False,
    budget: Budget | None = None,
    seconds: float | None = None,
    themes: bool = False,
    limit: int | None = None,
) -> Causes:
    """Why each failed row of a run failed; whether refusals were right; the state of the retrieved passages.

    Raises InputError for thresholds that do not fit the run, for a judge that is not the run's, and `read` without one.

    Args:
        thresholds: What counts as failed, by metric: a measured value below it, or above it where less is better. None:
            the defaults (`assay.analysis.diagnosis.failed_rows.DEFAULTS`) of those that the run has; where a metric
            looked for the reference's claims in the answer, a row fails if the answer lacks one.
        by: Columns of the data. The causes are also counted by their values (`Causes.slices`).
        answerable: A column of the data that says of each question whether it can be answered.
        top: A passage after this rank is one that a generator may well overlook.
        judge: The run's judge; None: what the run's scores rest on is all that is known. With it, what the store has of
            it is looked up as well, which asks nothing.
        read: Ask the judge for what is missing, for failed rows alone; `Causes.usage` says what that took.
        budget: What the judge may be asked for at most.
        themes: Also group the failed rows by their questions, with the embedded judge's embedder where it is installed
            (`Causes.themes`).
        seconds: No row is begun to be read after so many; None: all are read.
        limit: Look at so many rows at most, spread evenly over the run; counts are of these. None: at all.
    """
    if top < 1:
        raise InputError(f"top: expected at least 1, got {top}")
    if seconds is not None and not (isinstance(seconds, (int, float)) and seconds >= 0):
        raise InputError(f"seconds: expected a number of 0 or more, got {seconds!r}")
    columns = (by,) if isinstance(by, str) else by
    if not isinstance(columns, Sequence) or not all(isinstance(one, str) for one in columns):
        raise InputError(f"by: expected a column or a list of columns, got {by!r}")
    limits = thresholds_for(result, thresholds)
    resolved = _judge_of(result, judge, read)
    if resolved is not None:
        check_budget(budget, resolved)
    unsure = (result.judge or "").startswith(UNSURE) or (resolved is not None and not resolved.detects_contradiction)
    work = _Work(result, limits, answerable, top, unsure, by_claims=thresholds is None)
    work.slices = CauseSlices(tuple(columns))
    if resolved is None:
        for row in _rows(result, limit):
            work.take(row)
        return work.causes(themes)
    return run_sync(lambda: _with_judge(work, resolved, read, budget, seconds, themes, limit))


def find_row_cause(result: Result, row: Row) -> RootCause | None:
    """Why one row failed, by its stored scores alone; None where it did not, or no metric of the run decides it."""
    try:
        work = _Work(result, thresholds_for(result), "answerable", TOP, (result.judge or "").startswith(UNSURE), True)
    except InputError:  # no metric of the run has a default threshold
        return None
    work.take(row)
    return work.found.get(row.number)


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
    by_claims: bool = False
    found: dict[int, RootCause] = field(default_factory=dict)
    rows: int = 0
    unmeasured: int = 0
    doubtful: int = 0
    answered: Answerability = field(default_factory=Answerability)
    health: ContextHealth = field(default_factory=ContextHealth)
    slices: CauseSlices = field(default_factory=CauseSlices)
    columns: set[str] = field(default_factory=set)  # those that some row has
    questions: dict[int, str] = field(default_factory=dict)  # of failed rows
    usage: Usage = field(default_factory=Usage)
    asked: int = 0

    def failed(self, row: Row) -> dict[str, float]:
        """By what a row failed; counts the row."""
        self.rows += 1
        self.unmeasured += not is_measured(row.scored, self.limits)
        return failed_by(row.scored, self.limits, by_claims=self.by_claims)

    def facts(self, sample: Sample, scores: Mapping[str, Score], failed: Mapping[str, float]) -> Facts:
        return facts_of(sample, scores, failed, self.answerable, unsure=self.unsure)

    def decide(self, sample: Sample, facts: Facts, tried: Collection[str] = ()) -> CauseDecision | None:
        """Why a row failed; None where it did not. `tried`: what was asked of the judge already."""
        if self.unsure and self.by_claims and cause_model.applies(sample, facts):
            missing = [name for name in cause_model.missing(facts) if name not in tried]
            if not missing:
                return cause_model.decide_by_model(sample, facts, self.top)
            return not_read(*missing) if facts.failed else None
        # a right refusal does not fail, unless thresholds were given
        right = self.by_claims and facts.answerable is False and (facts.abstained or facts.direct is False)
        return decide(facts, self.top) if facts.form is not None or (facts.failed and not right) else None

    def take(self, row: Row) -> None:
        """One row as its scores show it."""
        failed = self.failed(row)
        facts = self.facts(row.scored.sample, row.scored.scores, failed)
        decision = self.decide(row.scored.sample, facts)
        if decision is not None:
            self.end(row, facts, decision)
        self.count(row, facts)

    def count(self, row: Row, facts: Facts) -> None:
        """A row's part in the tables of answers and of passages."""
        self.answered.add(row.number, facts)
        self.health.add(row.number, facts)
        cause, sample = self.found.get(row.number), row.scored.sample
        self.doubtful += bool(facts.failed) and cause is None and self.unsure
        values = {column: value_in(sample, column) for column in self.slices.columns}
        self.columns.update(column for column, (there, _) in values.items() if there)
        self.slices.add(
            {column: value for column, (_, value) in values.items()}, None if cause is None else cause.label
        )
        if cause is not None and len(self.questions) < MOST:
            self.questions[row.number] = sample.question or ""

    def end(self, row: Row, facts: Facts, decision: CauseDecision, reply: str | None = None) -> None:
        """A failed row's cause; `reply` is what a judge said in place of what had to be read."""
        reads = prompts_for(decision.read, facts) if decision.label == "not read" else 0
        because = decision.because
        if reply is not None:
            because = f"{because}; the judge: {reply}"
        elif reads:
            because += f" ({reads} {'prompt' if reads == 1 else 'prompts'})"
        self.found[row.number] = RootCause(
            decision.label, because, row.number, row.scored.sample.id, dict(facts.failed or {}), reads, decision.also,
            decision.probability,
        )  # fmt: skip

    def causes(self, themes: bool) -> Causes:
        for column in self.slices.columns:
            if column not in self.columns:
                raise InputError(f"by: no row has the column {column!r}")
        labels = {number: cause.label for number, cause in self.found.items()}
        questions = dict(sorted(self.questions.items()))
        return Causes(
            run=self.result.run,
            per_row=dict(sorted(self.found.items())),
            rows=self.rows,
            unmeasured=self.unmeasured,
            doubtful=self.doubtful,
            thresholds=dict(self.limits),
            answered=self.answered,
            health=self.health,
            slices=self.slices,
            themes=find_themes(questions, labels, _embedder()) if themes else (),
            usage=self.usage,
            asked=self.asked,
        )


async def _with_judge(
    work: _Work, judge: BaseJudge, ask: bool, budget: Budget | None, seconds: float | None, themes: bool,
    limit: int | None,
) -> Causes:  # fmt: skip
    """The same with what the store has of the judge and, where it may be asked, with what it says."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    judgements = work.result.store.judgements(work.result.stored_run)
    stored = JudgementCache(StoredJudge(judge), judgements)
    asked = JudgementCache(judge, judgements)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(row: Row) -> None:
        async with slots:
            await _read_row(work, row, stored, asked if ask and time.monotonic() < end else None)

    try:
        with spending(budget):
            for page in _pages(work.result, limit):
                await asyncio.gather(*map(one, page))
    finally:
        await judge.release()
    work.usage = asked.usage
    work.answered.sort()
    work.health.sort()
    return work.causes(themes)


def _embedder() -> Embed | None:
    """The embedder in the box; None where it is not installed."""
    try:
        return EmbeddedJudge().models.embed
    except MissingExtra:
        return None


def _rows(result: Result, limit: int | None) -> Iterator[Row]:
    """The rows that are looked at."""
    if limit is None or result.rows <= limit:
        return result.numbered_rows()
    numbers = result.score_columns().numbers
    places = [place * len(numbers) // limit for place in range(limit)]
    return result.store.rows_of(result.stored_run, numbers[places].tolist())


def _pages(result: Result, limit: int | None) -> Iterator[list[Row]]:
    page: list[Row] = []
    for row in _rows(result, limit):
        page.append(row)
        if len(page) == PAGE:
            yield page
            page = []
    yield page


async def _read_row(work: _Work, row: Row, stored: JudgementCache, asked: JudgementCache | None) -> None:
    failed = work.failed(row)
    sample, scores = row.scored.sample, dict(row.scored.scores)
    facts = work.facts(sample, scores, failed)
    decision, reply = work.decide(sample, facts), None
    for cache in (stored, asked):
        tried: set[str] = set()
        for _ in range(ROUNDS):
            missing = [name for name in (() if decision is None else decision.read) if name not in tried]
            if cache is None or not missing:
                break
            new = await read(sample, missing, cache)
            if cache is asked:
                work.asked += prompts_for(missing, facts)
                reply = next((one.error.message for one in new.values() if one.error is not None), None)
            tried.update(missing)
            scores |= {name: score for name, score in new.items() if score.error is None or name not in scores}
            facts = work.facts(sample, scores, failed)
            decision = work.decide(sample, facts, tried if cache is asked else ())
    if decision is not None:
        unread = decision.label == "not read"
        if unread and asked is not None and reply is None:
            decision = replace(decision, label="unclear", because="what was read says nothing of it", read=())
        work.end(row, facts, decision, reply if unread else None)
    work.count(row, facts)
