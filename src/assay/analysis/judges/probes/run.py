"""Asking a judge all probes.

print(probe("embedded"))                          # on the answers of assay.data.demo
print(probe("openai:MODEL", "answers.jsonl"))     # and on your own rows
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay._util.sync import facade
from assay.analysis.judges.probes.probes import PROBES, Probe, ProbeCase
from assay.analysis.judges.probes.report import ProbeFailure, ProbeReport, ProbeResult
from assay.analysis.judges.probes.statements import Statement, statements
from assay.data import Rows, open_data
from assay.data.columns import ColumnMap
from assay.data.demo import answers
from assay.errors import InputError, JudgeFailure
from assay.judges import JudgeSpec
from assay.judges.budget.budget import Budget, spending
from assay.judges.cache import JudgementCache
from assay.judges.resolve import resolve_judge
from assay.prompts import JudgePrompt
from assay.records import Sample
from assay.stats import estimate
from assay.store.store import Store

#: Rows that are read, and statements of each.
LIMIT, EACH = 50, 1
AT_ONCE = 16
EXAMPLES = 5  # failures that are kept of each probe


async def aprobe(
    judge: JudgeSpec = None,
    data: Rows | None = None,
    *,
    demo: bool = True,
    probes: Sequence[str] | None = None,
    limit: int = LIMIT,
    each: int = EACH,
    store: Store | str | Path | None = ".assay",
    column_map: ColumnMap | None = None,
    budget: Budget | None = None,
) -> ProbeReport:
    """Change statements by rule, and see whether the judge's verdicts change as they must, or stay.

    A statement is a sentence that stands in a passage, so it is known to be supported. Changes for which a statement
    gives no hold, and statements that the judge did not support before the change, are no cases. What the judge fails
    to answer is counted beside. Raises InputError for unknown probes and rows without statements.

    Args:
        data: Rows of your own with contexts; `demo`: the rows of `assay.data.demo`, too.
        probes: Names of some; None: all.
        limit: Rows of your own that are read at most; `each` statements of every row.
        store: Folder that keeps the judgements: asking again is free.
    """
    chosen = _chosen(probes)
    asked = resolve_judge(judge)
    samples = [sample for _, sample in open_data(answers()) if isinstance(sample, Sample)] if demo else []
    if data is not None:
        read = [sample for _, sample in open_data(data, column_map=column_map, limit=limit)]
        samples += [sample for sample in read if isinstance(sample, Sample)]
    made = statements(samples, each)
    if not made:
        raise InputError(
            "data: no statements to probe: expected at least two English rows about different things, with contexts of "
            "whole sentences"
        )
    judgements = None if store is None else store if isinstance(store, Store) else Store(store)
    cache = JudgementCache(asked if judgements is None else asked.with_store(judgements), judgements)
    with spending(budget):
        try:
            found = {one.name: await _probed(one, made, cache) for one in chosen}
        finally:
            await asked.release()
    return ProbeReport(asked.fingerprint, len({one.row for one in made}), len(samples), found)


probe = facade("probe", aprobe)


def _chosen(names: Sequence[str] | None) -> Sequence[Probe]:
    known = {one.name: one for one in PROBES}
    for name in names or ():
        if name not in known:
            raise InputError(f"probes: {name!r} is none of {', '.join(known)}")
    return PROBES if names is None else [known[name] for name in dict.fromkeys(names)]


async def _probed(one: Probe, made: Sequence[Statement], cache: JudgementCache) -> ProbeResult:
    failure = cache.cannot(one.asks)
    if failure is not None:
        return ProbeResult(one.name, one.expects, cannot=failure.message)
    cases = [(statement, case) for statement in made for case in one.cases(statement)]
    turn = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_answers_of(case, cache, turn) for _, case in cases))
    values: list[float] = []
    rows: list[int] = []
    failed: list[ProbeFailure] = []
    unusable, trouble = 0, list[str]()
    for (statement, case), said in zip(cases, found, strict=True):
        if isinstance(said, JudgeFailure):
            trouble.append(said.message)
            continue
        before, after = said
        if case.before is not None and not case.usable(before):
            unusable += 1
            continue
        holds = case.holds(before, after)
        values.append(float(holds))
        rows.append(statement.row)
        if not holds:
            failed.append(
                ProbeFailure(statement.row, case.shown, None if case.before is None else str(before), str(after))
            )
    return ProbeResult(
        one.name, one.expects, int(sum(values)), len(values), len(set(rows)), estimate(values, clusters=rows), unusable,
        len(trouble), trouble[0] if trouble else None, failed=tuple(failed[:EXAMPLES]),
    )  # fmt: skip


async def _answers_of(
    case: ProbeCase, cache: JudgementCache, turn: asyncio.Semaphore
) -> tuple[Any, Any] | JudgeFailure:
    prompts: list[JudgePrompt[Any]] = [case.after] if case.before is None else [case.before, case.after]
    async with turn:
        try:
            judgements = [await cache.find(prompt) for prompt in prompts]
        except JudgeFailure as failure:
            return failure
    said = [case.said(judgement) for judgement in judgements]
    return (None if case.before is None else said[0]), said[-1]
