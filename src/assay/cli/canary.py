"""The command `assay live canary`: whether the judge still scores the canary rows as it did."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize
from assay.cli.config_defaults import budget_meant, configuration_in_use, from_the_file, metrics_meant
from assay.cli.option_groups import grouped
from assay.cli.options import CanariesOption, JsonOption, JudgeOptions, MetricsOption, StoreOption, opened
from assay.cli.output import say, say_json
from assay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.judges.base import BaseJudge
    from assay.live.canaries.rows import CanaryRows
    from assay.live.canaries.scoring import CanaryScorer
    from assay.metrics.base import Metric
    from assay.records import Sample, ScoredSample
    from assay.store.canary_scorings import CanaryScoring

OK, UNSETTLED = 0, 1
CONCURRENCY, DEADLINE = 4, 120.0  # rows at the same time, and seconds for each


@grouped
def canary(
    *,
    score: Annotated[
        bool, typer.Option("--score", help="First score the rows now, without cached judgements.")
    ] = False,
    canaries: CanariesOption = None,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    application: Annotated[
        str | None, typer.Option(metavar="NAME", help="Application whose judge it is. Default: ASSAY_APPLICATION.")
    ] = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Show whether the judge still scores the canary rows as it did.

    Canary rows are a file with scores, as `assay score DATA --out canaries.jsonl` writes it. `assay live worker` scores
    them once a day. Exit code 1 with --score: the rows could not be scored now.
    """
    from assay.live.application import resolve_application
    from assay.store.canary_scorings import read_scorings

    name, code = resolve_application(application).name or "", OK
    if score:
        rows = canaries_meant(canaries)
        if rows is None:
            raise InputError("--score: name the canary rows: --canaries FILE, or `canaries` in [live] of assay.toml")
        code = _score(rows, metrics, judge.resolve(), name, store)
    found = read_scorings(opened(store), name)
    _print(name, found, as_json)
    raise typer.Exit(code)


def canaries_meant(file: Path | None) -> CanaryRows | None:
    """Read the canary rows that an option or the configuration names.

    Args:
        file: The value of the option --canaries.

    Returns:
        The rows; None without a file.

    Raises:
        InputError: They cannot be read. The message names the option, or the file of the configuration and its line.
    """
    from assay.live.canaries.rows import load_canaries

    if file is None:
        return None
    try:
        return load_canaries(file)
    except InputError as error:
        said, config = str(error).removeprefix("canaries: "), configuration_in_use()
        if config is not None and from_the_file("canaries"):
            raise config.section.section("live").error("canaries", said) from None
        raise InputError(f"--canaries: {said}") from None


def tell_missing(rows: CanaryRows, metrics: Sequence[Metric]) -> None:
    """Say on stderr which metrics have no stored verdicts."""
    from assay.live.canaries.rows import missing_metrics

    if missing := missing_metrics(rows, [metric.label for metric in metrics]):
        said = f"has no scores of {', '.join(missing)}: the first scoring is the reference"
        say(f"assay: {rows.name} {said}", aside=True)


def _score(rows: CanaryRows, metrics: str | None, judge: BaseJudge, application: str, store: Path) -> int:
    """Score the rows now; the exit code."""
    from assay.judges.base import check_immediate
    from assay.judges.no_judge import judge_if_asked
    from assay.live.canaries.scoring import CanaryScorer, GivenUpError
    from assay.live.scorer import LIVE_METRICS
    from assay.metrics.names import resolve_metrics

    chosen = metrics_meant(metrics)
    measured = resolve_metrics(LIVE_METRICS if chosen is None else chosen)
    used = judge_if_asked(any(one.may_ask for one in measured), judge)
    check_immediate(used, "assay live canary")
    tell_missing(rows, measured)
    scorer = CanaryScorer(store, rows, application=application or None)
    try:
        if asyncio.run(_scored_now(scorer, measured, used)):
            return OK
        say("assay: a worker is scoring the canary rows", aside=True)
    except GivenUpError as error:
        say(f"assay: the canary rows were not scored: {error}", aside=True)
    finally:
        scorer.close()
    return UNSETTLED


async def _scored_now(scorer: CanaryScorer, metrics: Sequence[Metric], judge: BaseJudge) -> bool:
    from assay.evaluation.score_sample import score_sample
    from assay.judges.budget.budget import check_budget, spending
    from assay.judges.cache import JudgementCache
    from assay.judges.fresh_judgements import fresh_cache

    budget = budget_meant()
    check_budget(budget, judge)
    claim = await asyncio.to_thread(lambda: scorer.claim(metrics, judge.fingerprint, at_once=True))
    if claim is None:
        return False
    cache = fresh_cache(JudgementCache(judge, scorer.store))

    async def score_row(sample: Sample) -> ScoredSample:
        return await score_sample(sample, metrics, cache, deadline=DEADLINE)

    try:
        with spending(budget):
            pause = (lambda: 0.0) if budget is None else budget.frees_in
            return await scorer.score(claim, metrics, score_row, pause=pause, concurrency=CONCURRENCY)
    finally:
        await judge.release()


def _print(application: str, scorings: Sequence[CanaryScoring], as_json: bool) -> None:
    from assay.live.canaries.drift import in_words, judge_changes
    from assay.store.windows import UTC_NAME, resolve_timezone

    changes = judge_changes(scorings)
    if as_json:
        kept = [{"at": one.at, "judge": one.judge, "stored": one.stored} for one in scorings]
        say_json(
            {"application": application, "metrics": [one._record() for one in changes], "scorings": kept}, indent=2
        )
        return
    times = sum(not one.stored for one in scorings)
    if not times:
        said = f" of {application}" if application else ""
        say(f"no canary rows{said} were scored yet; score them: assay live canary --score --canaries FILE")
        return
    config = configuration_in_use()
    zone = UTC_NAME if config is None else config.timezone

    def when(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, resolve_timezone(zone)).strftime("%Y-%m-%d %H:%M")

    last = scorings[-1]
    say(f"scored {pluralize(times, 'time')}, the last on {when(last.at)} ({zone}) by {last.judge}")
    for one in changes:
        say(in_words(one, "" if one.since is None else when(one.since)))
