"""The commands `assay store check` and `assay store repair`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.sync import run_sync
from assay._util.terminal import pluralize
from assay.cli.option_groups import grouped
from assay.cli.options import (
    ColumnsOption,
    JsonOption,
    JudgeOptions,
    MetricsOption,
    RunArgument,
    StoreOption,
    column_map,
    opened,
)
from assay.cli.output import say, say_json
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.store.integrity import RunCheck, StoreCheck

SHOWN = 10  # numbers of rows


def check(store: StoreOption = Path(".assay"), as_json: JsonOption = False) -> None:
    """Check a store for damage: its file, every run and every row. Nothing is changed.

    Exit code 1: something is damaged. `assay store repair RUN --data FILE` scores lost rows again.
    """
    from assay.store.integrity import check_store

    with opened(store) as kept:
        found = check_store(kept)
    if as_json:
        say_json({**found.to_dict(), "damaged": found.damaged}, indent=2)
    else:
        for line in _lines(found):
            say(line)
    if found.damaged:
        raise typer.Exit(1)


@grouped
def repair(
    run: RunArgument = "last",
    data: Annotated[str | None, typer.Option(help="The data that the run was scored from.", show_default=False)] = None,
    metrics: MetricsOption = None,
    columns: ColumnsOption = None,
    *,
    judge: JudgeOptions,
    store: StoreOption = Path(".assay"),
) -> None:
    """Score the rows that a run has lost again, from the file that they came from. Cached judgements are not asked.

    Without --data: say which rows are lost.
    """
    from assay.evaluation.repair import arepair, lost_in_words

    with opened(store) as kept:
        name = kept.run_id(run)
        lost = lost_in_words(name, kept)
        if data is None:
            say(f"run {name}: {lost or 'no row is lost'}")
            if lost:
                raise InputError(f"repair: give the data of run {name}, --data FILE: without it no row comes back")
            return
        chosen = judge.resolve()
        found = run_sync(lambda: arepair(name, kept, data, chosen, metrics=metrics, column_map=column_map(columns)))
        say(str(found.result))
        say(f"run {name}: {pluralize(len(found.rows), 'row')} scored again with {pluralize(found.judged, 'call')}")
        for reason in found.result.incomplete:
            say(f"still: {reason}")
    if found.result.incomplete:
        raise typer.Exit(1)


def _lines(found: StoreCheck) -> list[str]:
    lines = [f"store {found.store}: {error}" for error in found.errors]
    lines += [f"run {run.run}: {'; '.join(_facts(run))}" for run in found.runs if run.damaged or run.pruned]
    lines += [f"run {run}: the store has its rows, and has lost the run" for run in found.lost_runs]
    if found.unreadable_judgements:
        of = pluralize(found.judgements, "judgement")
        lines.append(f"{found.unreadable_judgements} of {of} cannot be read; they are asked again where needed")
    sound = sum(not run.damaged for run in found.runs)
    lines.append(f"{sound} of {pluralize(len(found.runs), 'run')} without damage")
    unchecked = sum(run.unchecked for run in found.runs)
    if unchecked:
        lines.append(f"{pluralize(unchecked, 'run')} of an earlier assay: only unreadable rows can be found")
    return lines


def _facts(run: RunCheck) -> list[str]:
    facts = []
    if run.info is not None:
        facts.append(run.info)
    if run.unreadable:
        numbers = ", ".join(map(str, run.unreadable[:SHOWN]))
        facts.append(f"{pluralize(len(run.unreadable), 'row')} cannot be read: {numbers}")
    if run.missing:
        facts.append(f"{pluralize(run.missing, 'row')} missing")
    if run.altered:
        facts.append("rows are not the ones that were saved")
    if run.pruned:
        facts.append(f"{pluralize(run.pruned, 'row')} pruned")
    return facts
