"""What `assay score` scores: a job, made of options and configuration, and how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.config_defaults import configuration_in_use
from assay.cli.gate_options import Stakes, watch
from assay.cli.options import JudgeOptions
from assay.cli.score_options import GateOptions, InputOptions, OutputOptions, RunOptions, ShardOptions
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.gates.early_stopping import Early
    from assay.data import Data
    from assay.evaluation.result import Result
    from assay.judges import BaseJudge
    from assay.judges.budget.budget import Budget
    from assay.metrics.names import MetricSpec
    from assay.sinks.base import Sink


@dataclass(frozen=True)
class ScoreJob:
    """All that a run of `assay score` needs.

    Attributes:
        reading: What `open_data` takes besides the files: columns, format, language.
        stakes: The gate of the run; None where the run has none.
        sequential: Whether the run stops as soon as the gate is decided.
    """

    data: list[str]
    metrics: MetricSpec | None
    judge: BaseJudge
    judge_options: JudgeOptions
    reading: dict[str, Any]
    limit: int | None
    run: RunOptions
    sinks: Sequence[Sink]
    budget: Budget | None
    shards: ShardOptions
    output: OutputOptions
    stakes: Stakes | None
    sequential: bool
    summary: Path | None

    @property
    def source(self) -> str | list[str | Path]:
        """The data as `open_data` takes it."""
        from assay.data.named_sources import is_source_name
        from assay.evaluation.sharded.storage import is_address

        if len(self.data) == 1:
            return self.data[0]
        return [name if is_source_name(name) or is_address(name) else Path(name) for name in self.data]

    @property
    def common(self) -> dict[str, Any]:
        """What both ways to score take."""
        return {
            "store": self.run.store, "concurrency": self.run.concurrency, "run": self.run.name,
            "replace": self.run.replace, "note": self.run.note, "progress": not self.run.quiet, "budget": self.budget,
        }  # fmt: skip


def data_meant(given: list[str] | None) -> list[str]:
    """The files that are named, or those of the configuration. Raises InputError where there are none."""
    from assay.config.keys import check_data_files, check_source_keys

    config = configuration_in_use()
    if not given and config is not None:
        check_source_keys(config)
        check_data_files(config)
    found = given or (None if config is None else list(config.data))
    if not found:
        raise InputError("data: name a file of answers, or one in the configuration (`assay init` writes one)")
    return found


def check_shards(
    shards: ShardOptions, data: list[str], run: RunOptions, reading: InputOptions, gate: GateOptions
) -> None:
    """Raise InputError for options that do not go with a job in pieces, or go with it alone."""
    from assay.data.named_sources import is_source_name

    if not shards.wanted:
        if shards.lean or shards.job_folder is not None:
            raise InputError(f"{'--lean' if shards.lean else '--job-folder'}: goes with --jobs and --engine")
        return
    how = "--jobs" if shards.engine is None else f"--engine {shards.engine}"
    others = {
        "--sink": run.sink, "--limit": reading.limit, "--deadline": run.deadline, "--detach": run.detach,
        "--sequential": gate.sequential,
    }  # fmt: skip
    for option, given in others.items():
        if given:
            raise InputError(f"{how}: does not go with {option}")
    if any(is_source_name(name) for name in data):
        raise InputError(f"{how}: goes with files, not with sources of traces")


def run_job(job: ScoreJob) -> tuple[Result, Early | None]:
    """Score it. Returns the result, and the interim analyses of a sequential gate.

    Raises:
        Detached: Batches were submitted, and the run goes on later.
        EvaluationInterrupted: The user ended the run.
    """
    return (_score_in_shards(job), None) if job.shards.wanted else _score_here(job)


def _score_here(job: ScoreJob) -> tuple[Result, Early | None]:
    from assay.evaluation.evaluate import evaluate

    rows = _rows_of(job)
    sequential = None
    if job.sequential:
        rows, sequential = watch(job.stakes, rows, job.metrics, job.judge)
    result = evaluate(
        rows,
        job.metrics,
        job.judge,
        deadline=job.run.deadline,
        sinks=job.sinks,
        detach=job.run.detach,
        until=None if sequential is None else sequential.take,
        **job.common,
    )
    return result, sequential


def _rows_of(job: ScoreJob) -> Data:
    """The data: files, sources, or the samples of a store's run or a queue."""
    from assay.data import open_data
    from assay.evaluation.scored_data import scored_data

    if len(job.data) == 1 and job.reading["format"] is None and not job.reading["column_map"]:
        found = scored_data(job.data[0], limit=job.limit, language=job.reading["language"])
        if found is not None:
            return found
    return open_data(job.source, limit=job.limit, **job.reading)


def _score_in_shards(job: ScoreJob) -> Result:
    from assay.evaluation.sharded.engines import engine_by_name
    from assay.evaluation.sharded.job import evaluate_in_shards

    engine = engine_by_name(job.shards.engine or "processes", job.shards.jobs)
    # the embedded judge reads on one thread in each process where it is named
    judge = "embedded" if job.judge_options == JudgeOptions() else job.judge_options.resolve
    return evaluate_in_shards(
        job.source,
        job.metrics,
        judge,
        engine=engine,
        lean=job.shards.lean,
        out=job.shards.job_folder,
        **job.reading,
        **job.common,
    )
