"""The command `assay causes`: why samples failed, whether refusals were right, what state the passages are in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize
from assay.cli.option_groups import grouped
from assay.cli.options import JsonOption, JudgeOptions, RunArgument, SlicesOption, StoreOption
from assay.cli.output import say, say_json
from assay.cli.run_argument import load_run
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
    slices: SlicesOption = None,
    answerable: Annotated[
        str, typer.Option(help="Column of the data that says whether a question can be answered.")
    ] = "answerable",
    top: Annotated[int, typer.Option(help="Passages after this rank may be overlooked.")] = 3,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many examples of each label.")] = 2,
    read: Annotated[
        bool | None,
        typer.Option(
            "--read/--no-read",
            help="Ask the run's judge for what is missing on failed rows. Default: a free judge, for 60 seconds.",
        ),
    ] = None,
    max_calls: Annotated[int | None, typer.Option(help="With --read: calls of the judge at most.")] = None,
    judge: JudgeOptions,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Find root causes of failed rows: a label each, and its share.

    The labels come from the judgements of the run; a judge that costs nothing is asked for what is missing. Then: which
    questions were answerable and answered, and the state of the passages.
    """
    from assay._util.terminal import width
    from assay.analysis.diagnosis import find_causes
    from assay.analysis.gates.rules import limits_of

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    if max_calls is not None and not read:
        raise InputError("--max-calls: goes with --read")
    result = load_run(run, store, notes=True)
    limits = {rule.metric: rule.limit for rule in limits_of("at_least", threshold or [], "--threshold")} or None
    find = partial(find_causes, result, limits, by=slices or (), answerable=answerable, top=top, themes=True)
    found = find()
    if found.reads:
        found = _with_judge(find, found, judge, result.judge, read, max_calls)
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        say(found.to_text(n, min(width(), 100)))


#: A judge that costs nothing reads for so many seconds without being told to.
FREE_SECONDS = 60.0


def _with_judge(
    find: Callable[..., Causes],
    found: Causes,
    judge: JudgeOptions,
    of_run: str | None,
    read: bool | None,
    max_calls: int | None,
) -> Causes:
    """The causes with what the judge says of missing judgements, as far as it may be asked."""
    reader = judge.resolve() if read else judge.resolve_if(of_run or "")
    if reader is None:
        return found
    found = find(judge=reader)  # what was read before is in the store
    if not found.reads or read is False:
        return found
    if read is None and reader.free:
        return find(judge=reader, read=True, seconds=FREE_SECONDS)
    if read or _agreed(found):
        say(_before(found), aside=True)
        return find(judge=reader, read=True, budget=_budget(max_calls))
    return found


def _agreed(found: Causes) -> bool:
    """Whether somebody at a terminal agrees to a reading that may cost money; nobody is asked elsewhere."""
    import sys

    from assay._util.terminal import is_terminal

    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return False
    return typer.confirm(f"{_before(found)}. Ask the run's judge now?", err=True)


def _before(found: Causes) -> str:
    rows = sum(cause.reads > 0 for cause in found.per_row.values())
    what = f"{pluralize(rows, 'failed row')}, {pluralize(found.reads, 'prompt')}"
    return f"to be read: {what} or more; what the store has costs nothing"


def _budget(max_calls: int | None) -> Budget | None:
    if max_calls is None:
        return None
    from assay.judges.budget.budget import Budget

    return Budget(calls_per_day=max_calls)
