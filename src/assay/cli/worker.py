"""The command `assay live worker`: score and deliver the samples of a queue, or print its status."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.canary import canaries_meant, tell_missing
from assay.cli.config_defaults import budget_meant, metrics_meant
from assay.cli.option_groups import grouped
from assay.cli.options import CanariesOption, JudgeOptions, MetricsOption, StoreOption
from assay.cli.output import say, say_json
from assay.errors import InputError
from assay.store.live_runs import DAYS, GIGABYTES

if TYPE_CHECKING:
    from assay.judges.budget.budget import Budget
    from assay.live.canaries.scoring import CanaryScorer
    from assay.live.queue.status import QueueReport
    from assay.sinks.base import Sink

OK, UNSETTLED = 0, 1


@dataclass(frozen=True)
class WorkOptions:
    """How samples are scored: options of `assay.live.Worker`, by their names."""

    concurrency: Annotated[int, typer.Option(help="Samples scored at the same time.")] = 4
    deadline: Annotated[float, typer.Option(help="Seconds for one sample.")] = 120.0
    patience: Annotated[
        float, typer.Option(help="Seconds for which a sample is tried again while the judge cannot be reached.")
    ] = 600.0
    score_partial: Annotated[bool, typer.Option("--score-partial", help="Score answers that were cut off too.")] = False


@dataclass(frozen=True)
class LiveRunOptions:
    """Which live run keeps the scores, and how: options of `assay.sinks.StoreSink`, by their names."""

    application: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Application of samples that name none; its run is live/NAME."),
    ] = None
    keep_text: Annotated[
        bool, typer.Option("--keep-text/--no-keep-text", help="Keep texts, or scores, causes and ids alone.")
    ] = True
    retain_days: Annotated[float, typer.Option(help="Delete rows of the live run that are older.")] = DAYS
    retain_gb: Annotated[float, typer.Option(help="Delete the oldest rows beyond this size.")] = GIGABYTES
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no live run.")] = False

    def sinks(self, store: Path) -> dict[str, Sink]:
        """The sink of the live run in this store, by its name; none with --no-store."""
        from assay.live.application import resolve_application
        from assay.sinks.store import StoreSink

        if self.no_store:
            return {}
        given = asdict(self)
        given.update(application=resolve_application(self.application).name)
        del given["no_store"]
        return {f"store:{store}": StoreSink(store, **given)}


@dataclass(frozen=True)
class BudgetOptions:
    """What scoring may cost: the limits of a `Budget` and the `Prices` for it, by their names."""

    budget_calls_per_minute: Annotated[int | None, typer.Option(help="Judge calls in any minute.")] = None
    budget_calls_per_day: Annotated[int | None, typer.Option(help="Judge calls in any 24 hours.")] = None
    budget_tokens_per_minute: Annotated[int | None, typer.Option(help="Tokens in any minute.")] = None
    budget_tokens_per_day: Annotated[int | None, typer.Option(help="Tokens in any 24 hours.")] = None
    budget_dollars_per_minute: Annotated[float | None, typer.Option(help="Dollars in any minute; needs prices.")] = None
    budget_dollars_per_day: Annotated[float | None, typer.Option(help="Dollars in any 24 hours; needs prices.")] = None
    budget_price_prompt: Annotated[float | None, typer.Option(help="Dollars per million prompt tokens.")] = None
    budget_price_completion: Annotated[float | None, typer.Option(help="Dollars per million completion tokens.")] = None
    budget_price_cached: Annotated[float | None, typer.Option(help="Dollars per million cached tokens.")] = None

    def resolve(self) -> Budget | None:
        """The budget that they mean. Raises InputError for prices that are incomplete, or without a limit."""
        from assay.judges.budget.budget import Budget, Prices

        given = {name.removeprefix("budget_"): value for name, value in asdict(self).items() if value is not None}
        prices = {name.removeprefix("price_"): given.pop(name) for name in tuple(given) if name.startswith("price_")}
        if prices and not {"prompt", "completion"} <= set(prices):
            raise InputError("--budget-price-prompt and --budget-price-completion: give both")
        if prices and not given:
            raise InputError("--budget-price-…: prices go with a limit, for example --budget-dollars-per-day")
        return Budget(**given, prices=Prices(**prices) if prices else None) if given else None


@grouped
def worker(
    queue: Annotated[Path, typer.Argument(help="The folder of the queue.")],
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    store: StoreOption = Path(".assay"),
    live_run: LiveRunOptions,
    canaries: CanariesOption = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(help="NAME:ADDRESS, where scores go besides, for example jsonl:scores.jsonl. Repeatable."),
    ] = None,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="End when all is scored and delivered.")] = False,
    work: WorkOptions,
    budget: BudgetOptions,
    retry_parked: Annotated[bool, typer.Option("--retry-parked", help="First make parked scores due again.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only print the status of the queue.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Score the samples of a queue, and keep them as a live run. Several workers may share a queue."""
    from assay.live.queue.queue_file import FILE_NAME, QueueFile

    if not (queue / FILE_NAME).exists():
        raise InputError(
            f"queue: there is none in {str(queue)!r}; the application makes it with assay.live.SampleQueue(PATH)"
        )
    if retry_parked:
        say(f"parked scores due again: {QueueFile(queue).retry_parked()}", aside=True)
    if status:
        from assay.live.queue.status import report_of

        _print(report_of(QueueFile(queue)), as_json)
        raise typer.Exit(OK)
    from assay.cli.watch import watcher_in_use
    from assay.live.queue.worker import Worker
    from assay.sinks.writing import check_sinks

    sinks = {**live_run.sinks(store), **_sinks(sink or [])}
    check_sinks(sinks)  # a key that is refused would park every score
    chosen, limits = metrics_meant(metrics), budget_meant(budget.resolve())
    watcher, scorer = watcher_in_use(store), None if live_run.no_store else _canaries(canaries, store, live_run)
    options = {**asdict(work), "alerts": watcher, "canaries": scorer}
    one = Worker(queue, chosen, judge.resolve(), store=False, sinks=sinks, budget=limits, **options)
    if scorer is not None:
        tell_missing(scorer.rows, one.metrics)
    report = one.run(until_empty)
    _print(report, as_json)
    raise typer.Exit(UNSETTLED if report.parked or report.undelivered or report.pending else OK)


def _canaries(file: Path | None, store: Path, live_run: LiveRunOptions) -> CanaryScorer | None:
    from assay.live.canaries.scoring import CanaryScorer

    rows = canaries_meant(file)
    return None if rows is None else CanaryScorer(store, rows, application=live_run.application)


def _sinks(specs: list[str]) -> dict[str, Sink]:
    from assay.sinks.registry import resolve_sink

    twice = next((spec for spec in specs if specs.count(spec) > 1), None)
    if twice is not None:
        raise InputError(f"--sink: {twice!r} is given twice")
    return {spec: resolve_sink(spec) for spec in specs}


def _print(report: QueueReport, as_json: bool) -> None:
    if as_json:
        say_json(report.to_dict())
        return
    dropped = ", ".join(f"{n} {reason}" for reason, n in report.dropped.items()) or "0"
    causes = ", ".join(f"{n} {cause}" for cause, n in report.causes.items())
    say(
        f"submitted   {report.submitted}: {report.appended} appended, {report.duplicates} duplicates, "
        f"{report.sampled_out} sampled out, {report.skipped} skipped, dropped {dropped}, {report.unwritten} not written"
    )
    say(
        f"appended    {report.appended}: {report.scored} scored, {report.no_value} without a value, "
        f"{report.waiting} waiting, {report.in_work} in work"
        + (f"; the oldest waits for {report.oldest:.0f} s" if report.oldest else "")
    )
    say(f"scores      {report.scores}" + (f"; missing for: {causes}" if causes else ""))
    say(
        f"deliveries  {report.delivered} delivered, {report.undelivered} under way, {report.parked} parked; scores: "
        f"{report.confirmed} confirmed, {report.unconfirmed} unconfirmed"
    )
    for parked in report.parked_samples:
        say(f"parked      {parked.key} after {parked.tries} tries: {parked.error}")
