"""A data set scored by many workers, shard by shard; a rerun goes on where the last one stopped, on whatever engine.

`evaluate_in_shards` is the driver, and an `Engine` says where the workers run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypedDict, Unpack

from assay._util.permissions import private_folder
from assay.data import ColumnMap
from assay.errors import AssayError, InputError
from assay.evaluation.completeness import NOT_FINISHED, run_end_of
from assay.evaluation.evaluate import IN_FLIGHT, SAMPLE_DEADLINE, STOP_AFTER, EvaluationInterrupted, chosen_for
from assay.evaluation.overview import Overview, overview_facts
from assay.evaluation.quote_counts import QuoteCounts
from assay.evaluation.result import Result
from assay.evaluation.run_names import start_run
from assay.evaluation.sharded.driver import DEATHS, Driver, ShardMerger
from assay.evaluation.sharded.engines import Engine, Processes, may_be_shared
from assay.evaluation.sharded.manifest import Folder
from assay.evaluation.sharded.scoring import JudgeMaker, ShardRecipe, make_judge
from assay.evaluation.sharded.shards import ROWS_PER_SHARD, Shard
from assay.evaluation.summary import Summary
from assay.judges.budget.budget import Budget, check_budget
from assay.judges.budget.known_prices import prices_for_run
from assay.metrics.names import MetricSpec
from assay.records import ScoredSample, fingerprint
from assay.store.store import Store


class ShardedOptions(TypedDict, total=False):
    """What may be said of a job, whatever its engine: see `evaluate_in_shards`."""

    store: str | Path
    out: str | Path | None
    lean: bool
    column_map: ColumnMap | None
    format: str | None
    language: str | None
    shard_rows: int
    concurrency: int
    sample_deadline: float | None
    score_partial: bool
    progress: bool | None
    run: str | None
    replace: bool
    note: str | None
    budget: Budget | None
    stop_after: int | None


def evaluate_in_processes(
    data: object,
    metrics: MetricSpec | None = None,
    judge: JudgeMaker = None,
    *,
    jobs: int,
    **how: Unpack[ShardedOptions],
) -> Result:
    """Score the rows of files in `jobs` processes; the result is a run of the store like others.

    The rest is that of `evaluate_in_shards`.
    """
    return evaluate_in_shards(data, metrics, judge, engine=Processes(jobs), **how)


def evaluate_in_shards(
    data: object,
    metrics: MetricSpec | None = None,
    judge: JudgeMaker = None,
    *,
    engine: Engine,
    store: str | Path = ".assay",
    out: str | Path | None = None,
    lean: bool = False,
    column_map: ColumnMap | None = None,
    format: str | None = None,
    language: str | None = None,
    shard_rows: int = ROWS_PER_SHARD,
    concurrency: int = IN_FLIGHT,
    sample_deadline: float | None = SAMPLE_DEADLINE,
    score_partial: bool = False,
    progress: bool | None = None,
    run: str | None = None,
    replace: bool = False,
    note: str | None = None,
    budget: Budget | None = None,
    stop_after: int | None = STOP_AFTER,
) -> Result:
    """Score the rows of files with the workers of an engine. The result is a run of the store, as from `evaluate`.

    A rerun continues where the last one stopped, also with another engine.

    A row is quarantined when two workers in sequence die over it while it is read alone. It then fails (bug), and the
    notes of the result name it. At most three rows of a shard are quarantined. A shard is set aside after three deaths
    since its last row was quarantined or the job was started. The run is then not complete, and a rerun tries the shard
    again.

    Args:
        data: Path of a file, a pattern, or a list of these. An engine may read further kinds of data.
        metrics: Names, Metric objects, or functions whose parameters are fields of a sample. None: those of
            `DEFAULT_METRICS` that data and judge allow.
        judge: Name of a judge, a function of a module that makes one, or a judge that can be pickled. None: the
            embedded judge. With None or its name, each worker runs it on an equal share of the machine's cores.
        engine: Engine that runs the workers, for example `Processes(8)`.
        store: Folder or database that keeps judgements and rows.
        out: Folder of the job, or an address in an object store, `s3://BUCKET/PREFIX`. A rerun continues in it. None: a
            folder in the store's folder, by data, metrics and judge.
        lean: Keep id, values and causes of each row, without texts, evidence and judgements.
        column_map: Your column for a field whose name is not recognised: {"question": "frage"}. Contexts may have
            several columns.
        format: Format of files whose names do not show it: "jsonl", "csv" and the like. None: by the name.
        language: ISO 639-1 code of the rows that do not name theirs. None: detected row by row, else English.
        shard_rows: Rows of a shard at most, at least 1.
        concurrency: Samples in flight in each worker, at least 1.
        sample_deadline: Seconds for one row. Metrics that are not done by then fail (timeout). None: no limit.
        score_partial: Also score answers that were abandoned, cancelled or failed.
        progress: Show a bar on stderr. None: if it is a terminal.
        run: Name of the run in the store. None: a new one.
        replace: Delete a run of that name first. Its judgements stay. False: a name that is taken is an error.
        note: A sentence that is stored and shown with the run. None: no note.
        budget: Limits on requests to the judge, for all workers and all reruns. A budget in memory is stored in the
            job's folder. Where `out` is an address, it is stored in the store's folder. None: no limit.
        stop_after: Consecutive rows of one worker without a usable reply of the judge after which the job ends, at
            least 1. None: never.

    Returns:
        The run's summary: means, failures and costs. Its rows are read from the store.

    Raises:
        InputError: An argument is wrong, the judge answers in provider batches, `out` holds another job, a file changes
            during the job, or no worker starts.
        MissingExtra: A package for the judge, a metric or the address is not installed.
        JudgeFailure: The endpoint refuses the key or does not know the model, or `stop_after` consecutive rows had no
            usable reply.
        StoreError: The store or the job's folder cannot be read or written.
        EvaluationInterrupted: Ctrl-C. It has the partial result.
    """
    for name, value in {"concurrency": concurrency, "stop_after": stop_after}.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    cut = engine.cut(data, column_map=column_map, format=format, language=language, rows=shard_rows)
    with engine.workers(cut) as pool:
        source = cut.data()
        resolved = make_judge(judge, 1)
        if resolved.rows_in_flight is not None:
            raise InputError(
                f"{engine.argument}: {type(resolved).__name__} answers in batches, which one process sends and fetches "
                "for all rows: leave it out"
            )
        check_budget(budget, resolved)
        chosen = chosen_for(metrics, source, resolved)
        kept = Store(store)
        question = {
            "metrics": {metric.label: repr(metric) for metric in chosen},
            "judge": resolved.fingerprint,
            "lean": lean,
            "columns": column_map,
            "language": language,
            "format": format,
            "score_partial": score_partial,
            "shard_rows": shard_rows,
        }
        own = kept.folder / "jobs" / fingerprint([question, list(cut.named)])[:16]
        folder = Folder(own if out is None else out)
        folder.begin(question)
        if budget is not None and may_be_shared(budget):
            budget = engine.shared(budget, _spending(folder, own))
        result = Result(
            run="", store=kept, judge=resolved.fingerprint, note=note, data=source.name,
            parameters={metric.label: repr(metric) for metric in chosen}, default_metrics=metrics is None,
        )  # fmt: skip
        result.prices = prices_for_run(resolved, None if budget is None else budget.prices)
        for metric in chosen:
            result.metrics[metric.label] = Summary(metric.label, metric.low, metric.high, metric.direction)
        info = {**result.info(), "stopped": NOT_FINISHED}
        result.run, result.started = start_run(kept, run, info, replace=replace)
        recipe = ShardRecipe(
            files=cut, metrics=chosen, judge=judge, out=folder.path, store=None if lean else kept.address,
            run=result.run, concurrency=concurrency, sample_deadline=sample_deadline, score_partial=score_partial,
            lean=lean, budget=budget, stop_after=stop_after,
        )  # fmt: skip
        return _driven(Driver(recipe, pool, ShardMerger(result), progress), recipe, result)


def _spending(folder: Folder, own: Path) -> Path:
    """Where the job's spending is added up: on a disk, also where its results are not."""
    beside = folder.scratch or own
    private_folder(beside)
    return beside / "spending.db"


def _empty(result: Result, names: list[str]) -> None:
    result.metrics = {name: Summary(metric=name) for name in names}


def _driven(driver: Driver, recipe: ShardRecipe, result: Result) -> Result:
    with closing(driver.plan):
        return _run_and_merge(driver, recipe, result)


def _run_and_merge(driver: Driver, recipe: ShardRecipe, result: Result) -> Result:
    began = time.perf_counter()
    result.end("interrupted")
    try:
        driver.run()
        result.end(None)
    except KeyboardInterrupt:
        raise EvaluationInterrupted(result) from None
    except AssayError as error:
        result.end(run_end_of(error), str(error))
        raise
    finally:
        if driver.set_aside and result.ended is None:
            said = f"workers died {DEATHS} times over {'; '.join(driver.set_aside)}: set aside, a rerun tries again"
            result.end("interrupted", said)
        if driver.quarantined:
            result.notes.append(f"in quarantine, since workers died over them: {', '.join(driver.quarantined)}")
        take_over(recipe, driver.plan, result)
        result.count_missing()
        result.seconds = time.perf_counter() - began
        result.save()
    return result


def take_over(recipe: ShardRecipe, shards: Iterable[Shard], result: Result) -> None:
    """Put the rows of those of these shards that are done into the result's run, numbered over the whole data.

    Args:
        shards: Of the recipe's files, in the order of the data.
    """
    folder, names = Folder(recipe.out), list(result.metrics)
    before, file, in_file = 0, 0, 0
    usage, cache_hits, by_metric = result.usage, result.cache_hits, result.metric_usage
    _empty(result, names)
    result.rows, result.quotes, result.overview = 0, QuoteCounts(), Overview()
    merged = ShardMerger(result)
    for shard in shards:
        if shard.file != file:
            before, file, in_file = before + in_file, shard.file, 0
        in_file = shard.first + shard.rows
        entry = folder.entry(shard)
        if entry is None:
            continue
        merged.add(entry, fresh=False)
        rows = _numbered(folder, shard, before, result)
        result.store.put_rows(result.run, rows, started=result.started)
    result.usage, result.cache_hits, result.metric_usage = usage, cache_hits, by_metric


def _numbered(folder: Folder, shard: Shard, before: int, result: Result) -> Iterator[tuple[int, ScoredSample, str]]:
    for row in folder.rows(shard):
        number = before + row.pop("row")
        scored = ScoredSample.from_dict(row)
        result.quotes.add(scored)
        facts = overview_facts(scored)
        result.overview.add(number, scored, facts=facts)
        yield number, scored, facts.to_text()
