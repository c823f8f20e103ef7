"""The command `assay errors`: the scores of a run that have no value, and why."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from assay.cli.error_terms import for_the_command_line
from assay.cli.options import CsvOption, JsonOption, RunArgument, StoreOption, opened
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv


def errors(
    run: RunArgument = "last",
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """List the scores without a value: row, metric, cause, message."""
    from assay.evaluation.result import Result
    from assay.report.lists import errors_list

    check_csv(as_csv)
    result = Result.load(run, opened(store))
    found = result.errors
    if as_json:
        say_json([asdict(one) for one in found], indent=2)
    if as_csv is not None:
        write_csv(map(asdict, found), ("number", "id", "metric", "cause", "message", "raw"), as_csv)
    if as_json or as_csv == STDOUT:
        return
    if found:
        show(errors_list(replace(one, message=for_the_command_line(one.message)) for one in found))
    else:
        say(f"every score of run {result.run} has a value")
