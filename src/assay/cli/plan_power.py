"""`assay data plan` with scores: how many rows a comparison needs to detect a drop, or what drop the rows detect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.output import say, say_json
from assay.cli.run_argument import load_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.power import PastScores
    from assay.stats.power import Assumptions

PANEL = "Sample size (power)"


@dataclass(frozen=True)
class PowerOptions:
    """What the power of a comparison depends on."""

    drop: Annotated[float | None, typer.Option(rich_help_panel=PANEL, help="The drop to detect, as 0.05.")] = None
    metric: Annotated[
        str | None, typer.Option("-m", "--metric", rich_help_panel=PANEL, help="The metric of the past run.")
    ] = None
    noise: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=PANEL, metavar="FILE", help="In place of a run: what `assay judge noise --out` wrote."
        ),
    ] = None
    again: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=PANEL, metavar="RUN", help="A second run on the same rows, for the correlation of scores."
        ),
    ] = None
    mean: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Without a run: the mean of scores that are 0 or 1.")
    ] = None
    sd: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Without a run: standard deviation of graded scores.")
    ] = None
    correlation: Annotated[
        float | None,
        typer.Option(rich_help_panel=PANEL, help="Correlation of the scores of a row in two runs. Default: 0.5."),
    ] = None
    unpaired: Annotated[
        bool, typer.Option("--unpaired", rich_help_panel=PANEL, help="The two runs are on different rows.")
    ] = False
    judge_noise: Annotated[
        float,
        typer.Option(
            rich_help_panel=PANEL,
            help="Share of wrong scores of 0 or 1; of graded scores, standard deviation over repeats of a row.",
        ),
    ] = 0.0
    cluster: Annotated[
        str | None,
        typer.Option(rich_help_panel=PANEL, metavar="COLUMN", help="Rows with one value in it are correlated."),
    ] = None
    cluster_size: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Without a run: rows of a cluster.")
    ] = None
    alike: Annotated[
        float,
        typer.Option(rich_help_panel=PANEL, help="Without a run: correlation within a cluster, 0 to 1."),
    ] = 0.3
    power: Annotated[float, typer.Option(rich_help_panel=PANEL, help="Power: probability to detect the drop.")] = 0.9
    confidence: Annotated[float, typer.Option(rich_help_panel=PANEL, help="Confidence of the comparison.")] = 0.95
    tests: Annotated[
        int, typer.Option(rich_help_panel=PANEL, help="Metrics and slices that are compared together.")
    ] = 1

    @property
    def has_scores(self) -> bool:
        """Whether the options say what scores are like, without a run."""
        return self.noise is not None or self.mean is not None or self.sd is not None


@dataclass(frozen=True)
class _Scores:
    """What the scores of the comparison are like, and where that is known from."""

    assumptions: Assumptions
    width: float = 1.0
    metric: str | None = None
    source: str | None = None
    past: PastScores | None = None


def print_power(run: str | None, rows: int | None, options: PowerOptions, store: Path, as_json: bool) -> None:
    """Print the sample size, the minimum detectable drop, or the power."""
    from assay.analysis.power import in_lines
    from assay.analysis.power import plan as planned

    scores = _scores(run, options, store)
    found = planned(
        scores.assumptions,
        drop=options.drop,
        rows=rows,
        power=options.power,
        confidence=options.confidence,
        tests=options.tests,
        width=scores.width,
        metric=scores.metric,
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
        return
    say(found)
    if scores.past is not None:
        say(f"  as in {scores.source}: {scores.past.rows} values of {scores.metric}")
    if not options.unpaired and options.correlation is None and (scores.past is None or scores.past.assumed):
        option = "--again RUN, a second run on the same rows," if run is not None else "--correlation"
        say(in_lines(f"the correlation is a guess: measure it with {option}; a higher correlation needs fewer rows"))


def _scores(run: str | None, options: PowerOptions, store: Path) -> _Scores:
    given = (run is not None) + (options.noise is not None) + (options.mean is not None or options.sd is not None)
    if given != 1:
        raise InputError("give one of a run, --noise, and --mean (scores of 0 or 1) or --sd (graded scores)")
    if options.noise is not None:
        return _of_noise(options.noise, options)
    return _of_numbers(options) if run is None else _of_run(run, options, store)


def _of_noise(file: Path, options: PowerOptions) -> _Scores:
    """From repeats of the same data."""
    from assay.analysis.judges.noise import NoiseReport
    from assay.analysis.power import world_of_noise

    numbers = {"--cluster-size": options.cluster_size, "--judge-noise": options.judge_noise or None}
    _only_with("without --noise", {"--again": options.again, "--cluster": options.cluster, **numbers})
    known = NoiseReport.load(file).metrics
    metric = options.metric or _only(known, "file")
    if metric not in known:
        raise InputError(f"--metric: {metric!r} is not in {str(file)!r}; it has {', '.join(known) or 'none'}")
    past = world_of_noise(known[metric], correlation=options.correlation, paired=not options.unpaired)
    return _Scores(past.world, past.width, metric, str(file), past)


def _of_run(run: str, options: PowerOptions, store: Path) -> _Scores:
    """From a past run."""
    from assay.analysis.power import world_of

    if options.cluster_size is not None:
        raise InputError("--cluster-size: goes without a run; with one give --cluster COLUMN")
    first = load_run(run, store)
    metric = options.metric or _only(first.metrics, "run")
    past = world_of(
        first,
        metric,
        None if options.again is None else load_run(options.again, store),
        cluster=options.cluster,
        correlation=options.correlation,
        paired=not options.unpaired,
        noise=options.judge_noise,
    )
    return _Scores(past.world, past.width, metric, f"run {run}", past)


def _of_numbers(options: PowerOptions) -> _Scores:
    """From --mean or --sd."""
    from assay.stats.power import Assumptions

    _only_with("with a run", {"--metric": options.metric, "--again": options.again, "--cluster": options.cluster})
    size = 1.0 if options.cluster_size is None else options.cluster_size
    if not 0.0 <= options.alike <= 1.0:
        raise InputError(f"--alike: expected a number from 0 to 1, got {options.alike}")
    return _Scores(
        Assumptions(
            mean=1.0 if options.mean is None else options.mean,
            sd=options.sd,
            correlation=0.5 if options.correlation is None else options.correlation,
            paired=not options.unpaired,
            noise=options.judge_noise,
            design=1.0 + (size - 1.0) * options.alike,
            size=size,
        )
    )


def _only_with(what: str, options: Mapping[str, object]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(f"{', '.join(given)}: goes {what}")


def _only(metrics: Iterable[str], what: str) -> str:
    names = list(metrics)
    if len(names) != 1:
        raise InputError(f"--metric: say which; the {what} has {', '.join(names) or 'none'}")
    return names[0]
