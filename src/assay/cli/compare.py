"""The command `assay compare`: two runs on the rows they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from assay._util.terminal import pluralize, width
from assay.cli.options import ClusterOption, JsonOption, ScaleOption, SlicesOption, StoreOption
from assay.cli.output import say, say_json, show
from assay.cli.run_argument import Scales, run_held, scales_of
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.linking import Link
    from assay.stats.classic import Method


def compare(
    first: Annotated[str | None, typer.Argument(help="The baseline: a run, or mlflow:RUN, ragas:FILE.")] = None,
    second: Annotated[
        str | None,
        typer.Argument(help="The run to compare with it: a run, or mlflow:RUN, ragas:FILE.", show_default="last"),
    ] = None,
    *,
    elsewhere: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="What another tool holds, as mlflow:RUN or ragas:FILE; twice for both runs.",
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("-m", "--metrics", help="Names, separated by commas; all that both have.")
    ] = None,
    cluster: ClusterOption = None,
    slices: SlicesOption = None,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many moved rows of each metric.")] = 5,
    anchors: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two runs on the same answers, one by each judge: what the judges differ by is taken off."),
    ] = None,
    test: Annotated[
        str, typer.Option(help="What p is of: sign-flip, or as others have it mcnemar, wilcoxon, mlflow.")
    ] = "sign-flip",
    scale: ScaleOption = None,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: better, worse or inconclusive, and what flipped.

    The sentence first; then each metric with its difference, and the rows that moved, those for the worse first.
    """
    from assay.analysis.comparison.compare import compare as compared

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    one, other = _two([*(elsewhere or ()), *(run for run in (first, second) if run is not None)])
    scales = scales_of(scale)
    found = compared(
        run_held(one, store, scales),
        run_held(other, store, scales),
        None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()],
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


def _link(anchors: tuple[str, str], store: Path, scales: Scales) -> Link:
    from assay.analysis.comparison.linking import link

    return link(run_held(anchors[0], store, scales), run_held(anchors[1], store, scales))


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


def _two(runs: list[str]) -> tuple[str, str]:
    """The runs that are meant; the second is the latest where only one is named."""
    if not runs or len(runs) > 2:
        raise InputError(f"compare: expected two runs, FIRST and SECOND, got {len(runs)}")
    return runs[0], runs[1] if len(runs) > 1 else "last"


def _method(test: str) -> Method:
    from assay.stats.classic import METHODS

    if test not in METHODS:
        raise InputError(f"--test: expected {', '.join(METHODS)}; got {test!r}")
    return cast("Method", test)
