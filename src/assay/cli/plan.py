"""The command `assay plan`: how many rows a comparison needs to see a drop, or what drop so many rows show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import ClusterOption, JsonOption, StoreOption
from assay.cli.output import say, say_json
from assay.cli.runs import opened
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.power import PastScores


def plan(
    run: Annotated[
        str | None, typer.Argument(help="A past run whose scores say what scores are like; or give --mean or --sd.")
    ] = None,
    metric: Annotated[str | None, typer.Option("-m", "--metric", help="The metric of the run.")] = None,
    drop: Annotated[float | None, typer.Option(help="The drop that is to be seen, as 0.05.")] = None,
    rows: Annotated[int | None, typer.Option("-n", "--rows", help="How many rows there are.")] = None,
    noise: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="In place of a run: what `assay noise --out` wrote."),
    ] = None,
    again: Annotated[str | None, typer.Option(help="A second run on the same rows: how far its scores agree.")] = None,
    mean: Annotated[float | None, typer.Option(help="Without a run: the mean of scores that are 0 or 1.")] = None,
    sd: Annotated[float | None, typer.Option(help="Without a run: standard deviation of graded scores.")] = None,
    correlation: Annotated[
        float | None, typer.Option(help="Of the two scores of a row in two runs; 0.5 where nothing is known.")
    ] = None,
    unpaired: Annotated[bool, typer.Option("--unpaired", help="The two runs are on different rows.")] = False,
    judge_noise: Annotated[
        float,
        typer.Option(help="Share of wrong readings; of graded scores, the spread of readings of one row."),
    ] = 0.0,
    cluster: ClusterOption = None,
    cluster_size: Annotated[float | None, typer.Option(help="Without a run: rows that hang together.")] = None,
    alike: Annotated[float, typer.Option(help="Without a run: how alike they are, 0 to 1.")] = 0.3,
    power: Annotated[float, typer.Option(help="How often the drop is to be seen.")] = 0.9,
    confidence: Annotated[float, typer.Option(help="Of the comparison.")] = 0.95,
    tests: Annotated[int, typer.Option(help="Metrics and slices that are compared together.")] = 1,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Say how many rows a comparison needs to see a drop, or what drop so many rows show.

    With --drop the rows, with --rows the drop, with both how often these rows show it. What scores are like is read
    from a past run, or given in numbers.
    """
    from assay.analysis.power import in_lines, world_of
    from assay.analysis.power import plan as planned
    from assay.stats.power import Assumptions

    seen: PastScores | None
    if (run is not None) + (noise is not None) + (mean is not None or sd is not None) != 1:
        raise InputError("give one of a run, --noise, and --mean (scores of 0 or 1) or --sd (graded scores)")
    numbers = {"--cluster-size": cluster_size, "--judge-noise": judge_noise or None}
    if noise is not None:
        _only_with("without --noise", {"--again": again, "--cluster": cluster, **numbers})
        metric, seen = _of_noise(noise, metric, correlation, paired=not unpaired)
        world, width = seen.world, seen.width
    elif run is not None:
        from assay.evaluation.result import Result

        if cluster_size is not None:
            raise InputError("--cluster-size: goes without a run; with one say --cluster COLUMN")
        kept = opened(store)
        first = Result.load(run, kept)
        metric = metric or _only(first.metrics, "run")
        second = None if again is None else Result.load(again, kept)
        seen = world_of(
            first, metric, second, cluster=cluster, correlation=correlation, paired=not unpaired, noise=judge_noise
        )
        world, width = seen.world, seen.width
    else:
        _only_with("with a run", {"--metric": metric, "--again": again, "--cluster": cluster})
        size = 1.0 if cluster_size is None else cluster_size
        if not 0.0 <= alike <= 1.0:
            raise InputError(f"--alike: expected a number from 0 to 1, got {alike}")
        seen, width = None, 1.0
        world = Assumptions(
            mean=1.0 if mean is None else mean,
            sd=sd,
            correlation=0.5 if correlation is None else correlation,
            paired=not unpaired,
            noise=judge_noise,
            design=1.0 + (size - 1.0) * alike,
            size=size,
        )
    found = planned(
        world, drop=drop, rows=rows, power=power, confidence=confidence, tests=tests, width=width, metric=metric
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
        return
    say(found)
    if seen is not None:
        say(f"  as in {noise if run is None else f'run {run}'}: {seen.rows} values of {metric}")
    if not unpaired and correlation is None and (seen is None or seen.assumed):
        way = "--again RUN, a second run on the same rows," if run is not None else "--correlation"
        say(in_lines(f"the correlation is a guess: {way} says how far scores of a row agree; more needs fewer rows"))


def _of_noise(file: Path, metric: str | None, correlation: float | None, *, paired: bool) -> tuple[str, PastScores]:
    """The metric that is meant, and what readings of the same data tell of its scores."""
    from assay.analysis.judges.noise import NoiseReport
    from assay.analysis.power import world_of_noise

    known = NoiseReport.load(file).metrics
    metric = metric or _only(known, "file")
    if metric not in known:
        raise InputError(f"--metric: {metric!r} is not in {str(file)!r}; it has {', '.join(known) or 'none'}")
    return metric, world_of_noise(known[metric], correlation=correlation, paired=paired)


def _only_with(what: str, options: Mapping[str, object]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(f"{', '.join(given)}: goes {what}")


def _only(metrics: Iterable[str], what: str) -> str:
    names = list(metrics)
    if len(names) != 1:
        raise InputError(f"--metric: say which; the {what} has {', '.join(names) or 'none'}")
    return names[0]
