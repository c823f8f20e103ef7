"""The command `assay judge align`: how well a judge agrees with people, and a calibration by their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.config_defaults import from_the_file
from assay.cli.option_groups import grouped
from assay.cli.options import ColumnsOption, JsonOption, JudgeOptions, StoreOption, column_map
from assay.cli.output import say, say_json, show
from assay.cli.run_argument import load_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.judges.alignment.labels import Labels
    from assay.evaluation.result import Result
    from assay.judges.calibrated_judge import Calibration


@grouped
def align(
    labels: Annotated[
        Path,
        typer.Argument(help="JSONL, CSV or Parquet: 'id', 'label', and what it is of: 'metric', 'claim', 'passage'."),
    ],
    run: Annotated[
        str | None,
        typer.Argument(help="The run that was labelled. Default: the last, unless the labels bring their texts."),
    ] = None,
    *,
    data: Annotated[Path | None, typer.Option(help="Score this file now, in place of a run.")] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics of sample labels that name none; with --data, the metrics to score."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--slice", metavar="COLUMN", help="Agreement by the values of this column of data or labels, too."
        ),
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write a calibration of the judge into this file.")] = None,
    method: Annotated[str, typer.Option(help="Method of the calibration: platt or isotonic.")] = "platt",
    threshold: Annotated[
        str, typer.Option(help="likely: 0.5 of the calibrated probability; balanced: best balanced accuracy.")
    ] = "likely",
    judge: JudgeOptions,
    columns: ColumnsOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Measure how well a judge agrees with labels, and correct its means by them.

    The labels are of a stored run, of a file scored now (--data), or bring their own texts, which are scored now.
    """
    from assay.analysis.judges.alignment.alignment import align as aligned
    from assay.analysis.judges.alignment.table import as_rich

    if run is not None and data is not None:
        raise InputError("RUN, --data: give one of them")
    if write is not None and not write.parent.is_dir():
        raise InputError(f"--write: there is no folder {str(write.parent)!r}")
    result, read = _scored(labels, run, data, metrics, judge, columns, store, quiet)
    one = metrics if metrics is not None and metrics in result.metrics else None
    found = aligned(result, read, metrics=one, by=column)
    calibration = found.calibration(method, threshold, note=str(labels.name)) if write is not None else None
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        show(as_rich(found))
    if calibration is not None and write is not None:
        _save(calibration, write)


def _save(calibration: Calibration, file: Path) -> None:
    """Write a calibration, and say what it is for."""
    calibration.save(file)
    kinds = ", ".join([*calibration.maps, *calibration.thresholds])
    way = f"; use it with --calibration {file}" if calibration.maps else ""
    way += f"; gates with good_share take thresholds = {str(file)!r}" if calibration.thresholds else ""
    say(f"calibration of {kinds}: {file}{way}", aside=True)
    for why in calibration.without.values():
        say(f"no threshold: {why}", aside=True)


def _scored(
    labels: Path,
    run: str | None,
    data: Path | None,
    metrics: str | None,
    judge: JudgeOptions,
    columns: list[str] | None,
    store: Path,
    quiet: bool,
) -> tuple[Result, Labels]:
    from assay.analysis.judges.alignment.labels import read_labels
    from assay.analysis.judges.alignment.scoring import bring_texts, score_labels

    if data is not None:
        from assay.evaluation.evaluate import evaluate

        named = column_map(columns)
        result = evaluate(data, metrics, judge.resolve(), store=store, column_map=named, progress=not quiet)
        return result, read_labels(labels, list(result.metrics))
    if run is None:
        from assay.metrics.names import names

        known = read_labels(labels, names())
        if bring_texts(known):
            return score_labels(known, metrics, judge.resolve(), store, not quiet), known
    if judge != JudgeOptions() and not from_the_file("judge"):
        raise InputError("--judge: goes with labels that bring their texts, or with --data; a run has been judged")
    result = load_run(run or "last", store)
    return result, read_labels(labels, list(result.metrics))
