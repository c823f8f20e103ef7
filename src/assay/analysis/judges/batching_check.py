"""Whether a judge finds the same when it is asked in one request what is otherwise asked in several.

    found = check_batching("answers.jsonl", judge="openai:MODEL")
    print(found)

Each group (see `assay.metrics.joint_prompts`) of each row is asked together, and one by one in two readings; what
a group is said to be is kept in the store, for this judge and the wording of its prompts. From then on
`batched_questions="auto"` obeys it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from assay._util.sync import facade
from assay._util.tabular import Tabular, keyed
from assay.data import ColumnMap, Data, Rows, open_data
from assay.errors import InputError, JudgeFailure, printable
from assay.evaluation.display.table import judge_in_words
from assay.evaluation.run import HOPELESS
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.budget.budget import Budget, check_budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.protocol import GROUPS, METER, Group, Meter
from assay.judges.question_batching import store_check
from assay.judges.resolve import resolve_judge
from assay.metrics.joint_prompts import OF_THE_REPLY, members_of
from assay.metrics.shared_prompts import ask, claims_of
from assay.prompts import JudgePrompt, QuestionBatch
from assay.prompts.question_batch import Member
from assay.records import Sample, Usage
from assay.stats.alike import Alike, Likeness, alike
from assay.store.store import Store
from assay.store.temporary import TemporaryStore

T = TypeVar("T")

#: Points, of 100, by which a batched reading may differ from a separate one.
MARGIN = 2.0
FORMAT = 1


@dataclass(frozen=True, slots=True)
class GroupCheck(Tabular):
    """What was found of one group.

    Attributes:
        parts: Of each member what it differs by, by its place and the name of its prompt: "1 support".
        requests: How many groups were asked together and compared.
        unusable: How many could not be answered together and would have been asked one by one.
    """

    _columns = "verdict requests unusable parts"

    verdict: Likeness
    parts: Mapping[str, Alike]
    requests: int
    unusable: int = 0


@dataclass(frozen=True, slots=True)
class BatchingReport(Tabular):
    """What asking together changes, for one judge on these rows.

    verdict   "differs" where a group does, "agrees" where all do, else "inconclusive"; `groups` holds each, and those
              that agree are asked together from now on
    margin    points, of 100
    batched, separate what the groups cost, asked together and one by one; what was known already is not in it
    failures  rows that could not be compared, by cause
    """

    _item_type = GroupCheck

    def _items(self) -> list[dict[str, Any]]:
        return keyed(self.groups, "group")

    judge: str
    margin: float
    verdict: Likeness
    rows: int
    groups: Mapping[Group, GroupCheck] = field(default_factory=dict)
    batched: Usage = field(default_factory=Usage)
    separate: Usage = field(default_factory=Usage)
    failures: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {"assay_batching_check": FORMAT, **asdict(self)}

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.rows} rows, margin {self.margin:g} points"]
        for group, found in self.groups.items():
            lines.append(f"  {group}: {found.verdict}" + (f", {found.unusable} unusable" if found.unusable else ""))
            lines += [f"    {name:<14} {_line(part)}" for name, part in found.parts.items()]
        lines.append(f"  asked together: {_cost(self.batched)}; one by one: {_cost(self.separate)}")
        lines += [f"  not compared: {count} ({cause})" for cause, count in self.failures.items()]
        return printable("\n".join([*lines, judge_in_words(self.judge)]))


async def acheck_batching(
    data: Rows,
    judge: JudgeSpec = None,
    *,
    store: Store | str | Path | None = ".assay",
    margin: float = MARGIN,
    column_map: ColumnMap | None = None,
    language: str | None = None,
    limit: int | None = None,
    concurrency: int = 16,
    budget: Budget | None = None,
) -> BatchingReport:
    """Ask on these rows together and one by one, one by one twice, and say whether that differs.

    The other arguments are those of `assay.evaluate`. Judgements are kept, and a rerun asks for what is missing.
    Rows in which nothing belongs together are counted and asked about nothing. Raises InputError for a judge that
    does not write or answers in batches, for a margin that is none, and where no row has anything that belongs
    together; JudgeFailure where the endpoint refuses the key or does not know the model.

    Args:
        margin: Points, of 100, above 0: by how much verdicts asked together may differ from those asked one by one,
            beyond what two readings of these differ by.
    """
    if not 0.0 < margin < 100.0:  # nor is NaN
        raise InputError(f"margin: expected points between 0 and 100, got {margin}")
    if concurrency < 1:
        raise InputError(f"concurrency: expected at least 1, got {concurrency}")
    asked = resolve_judge(judge).with_batched_questions("yes")
    if asked.rows_in_flight is not None:
        raise InputError("judge: a judge that answers in batches cannot be checked; check the model by its other name, "
                         "and ask with batched_questions='yes'")  # fmt: skip
    check_budget(budget, asked)
    source = open_data(data, column_map=column_map, limit=limit, language=language)
    kept = store if isinstance(store, Store) else Store(store) if store is not None else TemporaryStore()
    check = _GroupCheck(asked, kept)
    with spending(budget):
        try:
            await check.run(source, concurrency)
        finally:
            await asked.release()
    report = check.report(margin)
    for group, found in report.groups.items():
        if found.parts:
            store_check(asked, kept, group, {**asdict(found), "margin": margin, "rows": report.rows})
    return report


check_batching = facade("check_batching", acheck_batching)


class _GroupCheck:
    """One check under way: the labels of every verdict in three readings, by group and member."""

    def __init__(self, judge: BaseJudge, store: Store) -> None:
        self.judge = judge
        self.first, self.again = (JudgementCache(judge.with_store(store), store, reading) for reading in (1, 2))
        self.seen: dict[Group, dict[str, list[tuple[str, str, str, int]]]] = {group: {} for group in GROUPS}
        self.affirmative: dict[str, str] = {}
        self.requests: Counter[Group] = Counter()
        self.unusable: Counter[Group] = Counter()
        self.failures: Counter[str] = Counter()
        self.batched, self.separate = Usage(), Usage()
        self.rows = 0

    async def run(self, source: Data, concurrency: int) -> None:
        slots = asyncio.Semaphore(min(concurrency, self.judge.samples_at_once or concurrency))
        try:
            async with asyncio.TaskGroup() as group:
                for number, row in source:
                    await slots.acquire()
                    task = group.create_task(self._row(number, row))
                    task.add_done_callback(lambda _: slots.release())
        except BaseExceptionGroup as several:  # what ended it comes first
            raise several.exceptions[0] from None

    async def _row(self, number: int, row: Any) -> None:
        self.rows += 1
        if not isinstance(row, Sample):
            self.failures["bad_row"] += 1
            return
        try:
            for field_ in ("answer", "reference"):  # said here: a group without claims is no group
                if (getattr(row, field_) or "").strip():
                    await self.first.find(claims_of(row, field_))
        except JudgeFailure as failure:
            self._failed(failure)
            return
        await asyncio.gather(*(self._group(number, row, group) for group in GROUPS))

    async def _group(self, number: int, sample: Sample, group: Group) -> None:
        members = await members_of(sample, group, self.first)
        if not members:
            return
        batch: JudgePrompt[Any] = QuestionBatch(members)
        outcomes = await asyncio.gather(
            _metered(self.first.find(batch)),
            _metered(ask(self.first, *members)),
            _metered(ask(self.again, *members)),
        )
        (together, spent), (one, alone), (two, _) = outcomes
        self.batched += spent
        self.separate += alone
        for other in (one, two, together):
            if not isinstance(other, JudgeFailure):
                continue
            if other is together and other.cause in OF_THE_REPLY:
                self.unusable[group] += 1
            else:
                self._failed(other)
            return
        self.requests[group] += 1
        self._compare(number, group, members, one, two, together)

    def _compare(self, number: int, group: Group, members: Sequence[Member], one: Any, two: Any, together: Any) -> None:
        for place, member in enumerate(members):
            name = f"{place + 1} {member.name}"
            self.affirmative[name] = member.labels()[0]
            labels = ([verdict.label for verdict in found[place]] for found in (one, two, together))
            self.seen[group].setdefault(name, []).extend((*three, number) for three in zip(*labels, strict=True))

    def _failed(self, failure: JudgeFailure) -> None:
        if failure.cause in HOPELESS:
            raise failure
        self.failures[str(failure.cause)] += 1

    def report(self, margin: float) -> BatchingReport:
        looks = sum(map(len, self.seen.values()))
        if not looks and not self.failures and not self.unusable:
            raise InputError("data: no row has an answer or a reference whose verdicts belong together: see the groups "
                             "that `assay judge batching --help` names")  # fmt: skip
        groups: dict[Group, GroupCheck] = {}
        for group, parts in self.seen.items():
            found = {name: self._alike(name, parts[name], margin, looks) for name in sorted(parts)}
            if found or self.unusable[group]:
                verdict = overall([part.verdict for part in found.values()])
                groups[group] = GroupCheck(verdict, found, self.requests[group], self.unusable[group])
        verdict = overall([found.verdict for found in groups.values()])
        failures = dict(self.failures.most_common())
        name = self.judge.fingerprint
        return BatchingReport(name, margin, verdict, self.rows, groups, self.batched, self.separate, failures)

    def _alike(self, name: str, seen: Sequence[tuple[str, str, str, int]], margin: float, looks: int) -> Alike:
        first, again, together, rows = zip(*sorted(seen, key=lambda one: one[3]), strict=True)
        found = alike(first, again, together, self.affirmative[name], rows=rows, margin=margin / 100.0, looks=looks)
        assert found is not None  # a part is there with its first verdict
        return found


def overall(verdicts: Sequence[Likeness]) -> Likeness:
    """That of several together: one that differs decides, and all must agree. Nothing cannot tell."""
    if "differs" in verdicts:
        return "differs"
    return "agrees" if verdicts and all(verdict == "agrees" for verdict in verdicts) else "inconclusive"


async def _metered(work: Awaitable[T]) -> tuple[T | JudgeFailure, Usage]:
    """What came of it, and what it cost. Run in a task of its own."""
    meter = Meter()
    METER.set(meter)
    try:
        return await work, meter.usage
    except JudgeFailure as failure:
        return failure, meter.usage


def _line(part: Alike) -> str:
    excess, shift = part.excess, part.shift
    return (
        f"{part.verdict}: {part.n} verdicts in {part.rows} rows; differs from itself {100 * part.own:.1f} %, together "
        f"{100 * part.other:.1f} %, more by {100 * excess.low:+.1f} to {100 * excess.high:+.1f} points; affirms "
        f"{100 * shift.low:+.1f} to {100 * shift.high:+.1f} points more"
    )


def _cost(usage: Usage) -> str:
    read = "unknown" if usage.prompt_tokens is None else f"{usage.prompt_tokens:,}"
    written = "unknown" if usage.completion_tokens is None else f"{usage.completion_tokens:,}"
    return f"{usage.calls} calls, {read} tokens read, {written} written"
