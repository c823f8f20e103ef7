"""The command `assay causes`: why samples failed, whether refusals were right, what state the passages are in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize
from assay.cli.option_groups import grouped
from assay.cli.options import JsonOption, JudgeOptions, RunArgument, StoreOption, opened
from assay.cli.output import say, say_json
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.diagnosis import Causes
    from assay.judges.budget.budget import Budget


@grouped
def causes(
    run: RunArgument = "last",
    *,
    threshold: Annotated[
        list[str] | None,
        typer.Option(help="METRIC=NUMBER: a value below it (above it, where less is better) is a failure; repeated."),
    ] = None,
    answerable: Annotated[
        str, typer.Option(help="Column of the data that says whether a question can be answered.")
    ] = "answerable",
    top: Annotated[int, typer.Option(help="Passages after this rank may be overlooked.")] = 3,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many examples of each label.")] = 2,
    read: Annotated[
        bool, typer.Option("--read", help="Ask the run's judge for what is missing on failed rows.")
    ] = False,
    max_calls: Annotated[int | None, typer.Option(help="With --read: calls of the judge at most.")] = None,
    judge: JudgeOptions,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Find root causes of failed rows: a label each, and its share.

    The labels come from the judgements of the run. Then: which questions were answerable and answered, and the state of
    the passages. Uses no judge without --read.
    """
    from assay._util.terminal import width
    from assay.analysis.diagnosis import find_causes
    from assay.analysis.gates.rules import limits_of
    from assay.evaluation.result import Result

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    if max_calls is not None and not read:
        raise InputError("--max-calls: goes with --read")
    result = Result.load(run, opened(store))
    limits = {rule.metric: rule.limit for rule in limits_of("at_least", threshold or [], "--threshold")} or None
    find = partial(find_causes, result, limits, answerable=answerable, top=top)
    found = find()
    if found.reads:
        found = _with_judge(find, found, judge, result.judge, read, max_calls)
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        say(found.told(n, min(width(), 100)))


def _with_judge(
    find: Callable[..., Causes], found: Causes, judge: JudgeOptions, of_run: str, read: bool, max_calls: int | None
) -> Causes:
    """The causes with what the judge said of missing judgements: what is in the store; with `read`, all of it."""
    reader = judge.resolve() if read else judge.resolve_if(of_run)
    if reader is not None:  # what was read before is in the store
        found = find(judge=reader)
    if read and found.reads:
        say(_before(found), aside=True)
        found = find(judge=reader, read=True, budget=_budget(max_calls))
    return found


def _before(found: Causes) -> str:
    rows = sum(cause.reads > 0 for cause in found.per_row.values())
    what = f"{pluralize(rows, 'failed row')}, {pluralize(found.reads, 'prompt')}"
    return f"to be read: {what} or more; what the store has costs nothing"


def _budget(max_calls: int | None) -> Budget | None:
    if max_calls is None:
        return None
    from assay.judges.budget.budget import Budget

    return Budget(calls_per_day=max_calls)
