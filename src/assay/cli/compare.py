"""The command `assay compare`: two runs, or more, on the rows they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from assay._util.terminal import pluralize, width
from assay.cli.options import ClusterOption, JsonOption, ScaleOption, SlicesOption, StoreOption, WhereOption
from assay.cli.output import say, say_json, show
from assay.cli.run_argument import Scales, load_run, scales_of
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.linking import Link
    from assay.evaluation.result import Result
    from assay.stats.classic import Method


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIRST [SECOND ...]",
            help="Baseline, and runs to compare with it ('last' without one): a run, a file, mlflow:RUN, ragas:FILE.",
        ),
    ] = None,
    *,
    elsewhere: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="What another tool holds, as mlflow:RUN or ragas:FILE; repeated for several runs.",
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("-m", "--metrics", help="Names, separated by commas; all that both have.")
    ] = None,
    cluster: ClusterOption = None,
    slices: SlicesOption = None,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many moved rows of each metric.")] = 5,
    each: Annotated[bool, typer.Option("--each", help="Compare each run with each, not with the first alone.")] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write the matrix of several runs to a file: .html or .md.")
    ] = None,
    anchors: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two runs on the same answers, one by each judge: what the judges differ by is taken off."),
    ] = None,
    test: Annotated[
        str, typer.Option(help="What p is of: sign-flip, or as others have it mcnemar, wilcoxon, mlflow.")
    ] = "sign-flip",
    scale: ScaleOption = None,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Compare runs: better, worse or unchanged, and what flipped.

    Two runs: the sentence first; then a line for each metric, and the rows that moved, those for the worse first.
    Three or more runs, --each or --out: a matrix for each metric, with p corrected for all pairs.
    """
    from assay.analysis.comparison.compare import compare as compared

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    scales = scales_of(scale)
    held = [load_run(run, store, scales, where=where) for run in _named([*(elsewhere or ()), *(runs or ())])]
    names = None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]
    if len(held) > 2 or each or out is not None:
        _refuse_for_matrix({"--slice": slices, "--anchors": anchors, "--test": test != "sign-flip"})
        _compare_all(held, names, each, cluster, any_judge, out, as_json)
        return
    found = compared(
        held[0],
        held[1],
        names,
        cluster=cluster,
        by=slices or (),
        moved=n,
        any_judge=any_judge,
        link=None if anchors is None else _link(anchors, store, scales),
        method=_method(test),
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        _print(found)


def _refuse_for_matrix(given: Mapping[str, object]) -> None:
    """Raises InputError for options that go with two runs alone."""
    for name, value in given.items():
        if value:
            raise InputError(f"{name}: goes with two runs, without --each and --out")


def _compare_all(
    results: Sequence[Result], metrics: Sequence[str] | None, each: bool, cluster: str | None, any_judge: bool,
    out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Print the matrices, as JSON or for terminals, and write them to a file."""
    from assay.analysis.comparison.matrix import compare_runs
    from assay.report.matrix import (
        matrix_caption,
        matrix_facts,
        matrix_table,
    )
    from assay.report.write import check_matrix_form, write_matrix

    if out is not None:
        check_matrix_form(out)
    found = compare_runs(results, metrics, each=each, cluster=cluster, any_judge=any_judge)
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        for metric in found.metrics:
            say(matrix_caption(found, metric))
            show(matrix_table(found, metric))
            say("")
        for fact in matrix_facts(found):
            say(fact)
    if out is not None:
        write_matrix(found, out)
        say(f"matrix: {out}", aside=True)


def _link(anchors: tuple[str, str], store: Path, scales: Scales) -> Link:
    from assay.analysis.comparison.linking import link

    return link(load_run(anchors[0], store, scales), load_run(anchors[1], store, scales))


def _print(found: Comparison) -> None:
    from assay.report.comparison_table import comparison_lines, moved_lines

    for line in comparison_lines(found, width()):
        show(line, wrapped=False)
    if found.only_first or found.only_second:
        say(
            f"In {found.first} alone: {pluralize(found.only_first, 'row')}; "
            f"in {found.second} alone: {found.only_second}."
        )
    for told in (*found.slice_lines(), *found.notes):
        say(told)
    for number, line in enumerate(moved_lines(found, width())):
        if number == 0:
            say("")
        show(line, wrapped=False)


def _named(runs: list[str]) -> list[str]:
    """The runs that are meant; the second is the latest where only one is named."""
    if not runs:
        raise InputError("compare: expected a run, or several: FIRST SECOND ...; got none")
    return runs if len(runs) > 1 else [*runs, "last"]


def _method(test: str) -> Method:
    from assay.stats.classic import METHODS

    if test not in METHODS:
        raise InputError(f"--test: expected {', '.join(METHODS)}; got {test!r}")
    return cast("Method", test)
