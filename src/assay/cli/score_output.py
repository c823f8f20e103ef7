"""What `assay score` prints and writes: means and slices, rows in files, hints, and the exit code."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.terminal import pluralize
from assay.cli.detached_jobs import end_job
from assay.cli.options import named_again
from assay.cli.output import STDOUT, say, say_json, show, write_csv
from assay.cli.score_options import OutputOptions
from assay.errors import SETTLED, Cause, InputError

if TYPE_CHECKING:
    from assay.analysis.gates.early_stopping import Early
    from assay.cli.score_run import ScoreJob
    from assay.evaluation.result import Result
    from assay.evaluation.summary import Summary

    Slices = dict[str, dict[str, dict[str, Summary]]]

OK, SCORES_MISSING = 0, 1


def report_finished(job: ScoreJob, result: Result, sequential: Early | None) -> int:
    """Print a finished run, its hints and its gate. Returns the exit code."""
    from assay.judges.cascade.judge import CascadeJudge

    end_job(job.run.store, result.run)
    print_result(result, job.output)
    data_on_stdout = job.output.as_json or job.output.as_csv == STDOUT
    hint = "" if data_on_stdout else _errors_hint(result, job.run.store)
    if hint:
        say(hint, aside=True)
    if isinstance(job.judge, CascadeJudge) and not job.shards.wanted:
        say(job.judge.report().text(), aside=True)
    code = 0 if job.stakes is None else job.stakes.settle(result, job.summary, sequential, aside=data_on_stdout)
    decided_early = sequential is not None and bool(sequential.verdict)
    return code or (OK if decided_early else exit_code(result))


def check_outputs(data: list[str], output: OutputOptions) -> None:
    """Raise InputError where an output would overwrite data, has no folder, or shares stdout with another."""
    files = {"--out": output.out, "--csv": output.as_csv, "--bedrock": output.bedrock}
    for option, file in files.items():
        if file is not None and str(file) != STDOUT:
            check_target(option, Path(file), data)
    if output.as_json and output.as_csv == STDOUT:
        raise InputError("--csv, --json: only one of them can go to stdout; name a file, --csv FILE")


def check_target(option: str, file: Path, data: list[str]) -> None:
    """Raises InputError for a file that is read as data, and for one in a folder that is not there."""
    from assay.data.paths import paths_of

    if any(_same_file(file, path) for name in data for path in paths_of(name) or ()):
        raise InputError(f"{option}: {str(file)!r} is read as data; write to another file")
    if not file.parent.is_dir():
        raise InputError(f"{option}: there is no folder {str(file.parent)!r} to write {file.name!r} into")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.expanduser().resolve() == other.expanduser().resolve()
    except OSError:
        return False


def print_result(result: Result, output: OutputOptions, *, overview: bool | None = None) -> None:
    """Print and write a result as the options say; stdout has one kind of thing.

    Args:
        result: The run.
        output: The options.
        overview: Whether the overview leads the table. None: if no metrics were named.

    Raises:
        InputError: No row has a column to slice or to cluster by. All else has been printed and written by then.
    """
    slices: Slices = {}
    unknown = None
    try:
        result = result if output.cluster is None else result.cluster_by(output.cluster)
        slices = {column: result.by(column) for column in output.slices or ()}
    except InputError as error:
        unknown = error
    _print(result, slices, output, overview)
    _write(result, output)
    if unknown is not None:
        raise unknown


def _print(result: Result, slices: Slices, output: OutputOptions, overview: bool | None) -> None:
    from assay.evaluation.display.table import as_rich, as_text, groups_table

    if output.as_json:
        say_json(_as_json(result, slices), indent=2)
    elif output.as_csv == STDOUT:
        say(as_text(result), aside=True)
    else:
        show(as_rich(result, overview=overview))
        for column, groups in slices.items():
            say("")
            show(groups_table(groups, column))


def _as_json(result: Result, slices: Slices) -> dict[str, Any]:
    found = result.to_dict()
    if slices:
        found["by"] = {
            column: {
                value: {name: summary.to_dict() for name, summary in summaries.items()}
                for value, summaries in groups.items()
            }
            for column, groups in slices.items()
        }
    return found


def _write(result: Result, output: OutputOptions) -> None:
    if output.as_csv is not None:
        write_csv(result.records(), result.columns, output.as_csv)
    if output.out is not None:
        result.to_jsonl(output.out)
        say(f"rows with evidence: {output.out}", aside=True)
    if output.bedrock is not None:
        result.to_bedrock(output.bedrock)
        say(f"rows as Bedrock's results: {output.bedrock}", aside=True)


def _errors_hint(result: Result, store: str | Path) -> str:
    """The command that says why scores have no value; empty where all have one."""
    missing = sum(sum(summary.causes.values()) for summary in result.metrics.values())
    if not missing:
        return ""
    have = "has" if missing == 1 else "have"
    command = f"assay errors {shlex.quote(result.run)}{named_again(store)}"
    return f"why {pluralize(missing, 'score')} {have} no value: {command}"


def exit_code(result: Result) -> int:
    """1 when judging or delivery failed somewhere or the run was cut short; what lies in the samples is no failure."""
    causes = {Cause(cause) for summary in result.metrics.values() for cause in summary.causes}
    arrived = not any(found.undelivered for found in result.deliveries.values())
    return OK if result.complete and arrived and causes <= SETTLED else SCORES_MISSING
