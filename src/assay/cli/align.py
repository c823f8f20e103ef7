"""The command `assay align`: how well a judge agrees with people, and a calibration by their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import ColumnsOption, JsonOption, JudgeOptions, StoreOption, column_map
from assay.cli.output import say, say_json, show
from assay.cli.runs import opened
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.judges.alignment.labels import Labels
    from assay.evaluation.result import Result


@grouped
def align(
    labels: Annotated[
        Path,
        typer.Argument(help="JSONL, CSV or Parquet: 'id', 'label', and what it is of: 'metric', 'claim', 'passage'."),
    ],
    *,
    run: Annotated[
        str | None, typer.Option(help="The run that the labels are about; the last, where they bring no texts.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Score this file now, in place of a run.")] = None,
    metrics: Annotated[
        str | None, typer.Option(help="What labels of samples are about which do not say; with --data what to score.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="A column of data or labels: its values apart.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write a calibration of the judge into this file.")] = None,
    method: Annotated[str, typer.Option(help="Of the calibration: platt or isotonic.")] = "platt",
    threshold: Annotated[
        str, typer.Option(help="likely: affirm what is likelier than not; balanced: for the best balanced accuracy.")
    ] = "likely",
    judge: JudgeOptions,
    columns: ColumnsOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Say how well a judge agrees with people's labels, and what the means are by people's measure.

    The labels are about a stored run, about a file scored now (--data), or bring their own texts, which are scored now.
    """
    from assay.analysis.judges.alignment.alignment import align as aligned
    from assay.analysis.judges.alignment.table import as_rich

    if run is not None and data is not None:
        raise InputError("--run, --data: give one of them")
    if write is not None and not write.parent.is_dir():
        raise InputError(f"--write: there is no folder {str(write.parent)!r}")
    result, read = _scored(labels, run, data, metrics, judge, columns, store, quiet)
    one = metrics if metrics is not None and metrics in result.metrics else None
    found = aligned(result, read, metrics=one, by=by)
    calibration = found.calibration(method, threshold, note=str(labels.name)) if write is not None else None
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        show(as_rich(found))
    if calibration is not None and write is not None:
        calibration.save(write)
        kinds = ", ".join([*calibration.maps, *calibration.thresholds])
        way = f"; use it with --calibration {write}" if calibration.maps else ""
        way += f"; gates with good_share take thresholds = {str(write)!r}" if calibration.thresholds else ""
        say(f"calibration of {kinds}: {write}{way}", aside=True)
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
    from assay.evaluation.result import Result

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
    if judge != JudgeOptions():
        raise InputError("--judge: goes with labels that bring their texts, or with --data; a run has been judged")
    result = Result.load(run or "last", opened(store))
    return result, read_labels(labels, list(result.metrics))
