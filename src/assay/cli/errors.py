"""The command `assay errors`: the scores of a run that have no value, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize, width
from assay.cli.error_terms import for_the_command_line
from assay.cli.options import CsvOption, JsonOption, RunArgument, StoreOption, WhereOption, named_again
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.cli.run_argument import load_run, quote_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.evaluation.error_groups import UnscoredRow
    from assay.evaluation.result import MetricError, Result

SHOWN = 20  # rows of a cause
COLUMNS = ("number", "id", "metric", "cause", "message", "raw")
_AROUND = 5  # lines of the screen beside those of groups: the first, two blank ones, the hint


def errors(
    run: RunArgument = "last",
    cause: Annotated[
        str | None, typer.Option(metavar="CAUSE", help="List the rows of this cause, as 'missing_input'.")
    ] = None,
    n: Annotated[int | None, typer.Option("-n", "--rows", help="With --cause: how many rows. Default: 20.")] = None,
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """Group the rows without a score by cause, with what to do.

    --json and --csv list every score without a value: row, id, metric, cause, message, the judge's reply.
    """
    check_csv(as_csv)
    if n is not None and n < 1:
        raise InputError(f"-n: expected at least 1, got {n}")
    if n is not None and cause is None:
        raise InputError("-n: goes with --cause CAUSE")
    result = load_run(run, store, notes=True, where=where)
    found = _of_cause(result.errors if as_json or as_csv is not None else result.brief_errors(), result, cause)
    if as_json:
        say_json([asdict(one) for one in found], indent=2)
    if as_csv is not None:
        write_csv(map(asdict, found), COLUMNS, as_csv)
    if as_json or as_csv == STDOUT:
        return
    if found:
        again = quote_run(run, result), named_again(store)
        _show(result, [replace(one, message=for_the_command_line(one.message)) for one in found], cause, n, again)
    else:
        say(f"every score of run {result.run} has a value")


def _of_cause(found: Sequence[MetricError], result: Result, cause: str | None) -> Sequence[MetricError]:
    """The errors of one cause, or all. Raises InputError for a cause that no row has."""
    if cause is None:
        return found
    chosen = [one for one in found if one.cause == cause]
    if not chosen:
        causes = ", ".join(dict.fromkeys(one.cause for one in found)) or "no errors"
        raise InputError(f"--cause: no row of run {result.run} has the cause {cause!r}; the run has {causes}")
    return chosen


def _show(
    result: Result, found: Sequence[MetricError], cause: str | None, n: int | None, again: tuple[str, str]
) -> None:
    from assay.cli.error_remedies import remedy_for
    from assay.evaluation.error_groups import error_groups, rows_in, unscored_rows
    from assay.report.error_list import SCREEN, error_groups_list

    rows = unscored_rows(found)
    if cause is not None:
        _show_rows(rows, cause, SHOWN if n is None else n)
        return
    of = f"{rows_in(rows):,} of {result.rows + result.lost:,}"
    say(f"rows that lack a score: {of} ({pluralize(len(found), 'score')})\n")
    groups = error_groups(rows)
    show(error_groups_list(groups, width(), SCREEN - _AROUND, remedy_for))
    run, store = again
    say(f"\nthe rows of a cause: assay errors {run} --cause {groups[0].cause}{store}", aside=True)


def _show_rows(rows: Sequence[UnscoredRow], cause: str, n: int) -> None:
    from assay.cli.error_remedies import remedy_for
    from assay.report.error_list import error_rows_list

    show(error_rows_list(rows[:n], width()))
    say(f"\n{min(n, len(rows)):,} of {len(rows):,} shown" + (f"; all: -n {len(rows)}" if n < len(rows) else ""))
    if to_do := remedy_for(cause, rows[0].message):
        say(f"→ {to_do}")
