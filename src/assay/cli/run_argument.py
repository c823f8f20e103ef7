"""Runs as the command line names them: of a store, in files and queues, and those that other tools hold."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import where_of
from assay.cli.output import say

if TYPE_CHECKING:
    from assay.evaluation.result import Result

Scales = dict[str, tuple[float, float]]


def scales_of(given: list[str] | None) -> Scales:
    """What `--scale` states. Raises InputError."""
    from assay.evaluation.imports.scales import stated

    return stated(given or ())


def load_run(
    run: str,
    folder: Path,
    scales: Scales | None = None,
    *,
    notes: bool = False,
    where: list[str] | None = None,
    check: bool | None = None,
) -> Result:
    """A run of the store, of a file, a queue, another store or another tool: see `external_runs.open_run`.

    Args:
        run: What the user named.
        folder: The store.
        scales: What `--scale` states.
        notes: Print what the run's notes say on stderr, where it is none of the store: for commands that print no
            notes.
        where: Conditions of --where.
        check: See `Result.load`.

    Raises:
        InputError: There is no such run.
    """
    from assay.evaluation.external_runs import open_run
    from assay.store.windows import UTC_NAME

    config = configuration_in_use()
    timezone = UTC_NAME if config is None else config.timezone
    result = open_run(run, folder, scales=scales, where=where_of(where), timezone=timezone, check=check)
    elsewhere = result.run == run and _is_elsewhere(result, folder)
    if notes and (elsewhere or result.selection is not None):
        for note in result.notes:
            say(f"note: {note}", aside=True)
    return result


def quote_run(run: str, result: Result) -> str:
    """The run as an argument of a further command, quoted for the shell: by its name where it was "last"."""
    return shlex.quote(result.run if run == "last" else run)


def _is_elsewhere(result: Result, folder: Path) -> bool:
    from assay.store.tables import file_of, is_database

    address = result.store.address
    return not is_database(address) and str(address) != str(file_of(folder))
