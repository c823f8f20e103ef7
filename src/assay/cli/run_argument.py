"""Runs as the command line names them: those of a store, and those that other tools hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.options import opened
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.evaluation.result import Result

Scales = dict[str, tuple[float, float]]


def scales_of(given: list[str] | None) -> Scales:
    """What `--scale` states. Raises InputError."""
    from assay.evaluation.imports.scales import stated

    return stated(given or ())


def run_held(run: str, folder: Path, scales: Scales | None = None) -> Result:
    """A run of the store, or of another tool, for which no store has to be there: `mlflow:RUN`, `ragas:scores.csv`.

    Raises InputError for a run that is not there.
    """
    from assay.data.named_sources import is_source_name
    from assay.evaluation.external_runs import FILES, load_external_run
    from assay.evaluation.result import Result

    if _has(run, folder):
        return Result.load(run, opened(folder))
    if is_source_name(run):
        return load_external_run(run, scales)
    if Path(run).is_file():
        raise InputError(f"{run!r} is a file; say whose results it has, as in {FILES[0]}:{run} ({', '.join(FILES)})")
    return Result.load(run, opened(folder))


def _has(run: str, folder: Path) -> bool:
    try:
        return opened(folder).has_run(run)
    except InputError:  # there is no store
        return False
