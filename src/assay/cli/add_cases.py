"""The command `assay data add`: the worst rows of a run as test cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import RunArgument, StoreOption
from assay.cli.output import say
from assay.cli.run_argument import load_run
from assay.errors import InputError


def add(
    run: RunArgument = "last",
    *,
    to: Annotated[Path, typer.Option(help="File of cases, .jsonl; new ones are appended.")],
    worst: Annotated[int, typer.Option(metavar="N", help="Take the N worst questions.")] = 20,
    metric: Annotated[
        str | None, typer.Option(help="The metric that says which are the worst. Default: the run's first.")
    ] = None,
    store: StoreOption = Path(".assay"),
) -> None:
    """Add the worst rows of a run to a file of test cases.

    Each case has the question, the recorded answer as bad_answer, the row's metadata, where it came from, and an empty
    reference to fill in. A question that the file has is not added again, and no line of it is changed.
    """
    from assay.evaluation.regression_cases import add_cases

    if worst < 1:
        raise InputError(f"--worst: expected at least 1, got {worst}")
    if not to.parent.is_dir():
        raise InputError(f"--to: there is no folder {str(to.parent)!r}")
    say(add_cases(load_run(run, store, notes=True), to, worst=worst, metric=metric))
