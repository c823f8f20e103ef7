"""The options of `assay score`, by what they are about, and which of them its short help shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.gate_options import BaselineOption, FailAboveOption, FailBelowOption, SummaryOption
from assay.cli.options import (
    BedrockOption,
    ClusterOption,
    ColumnsOption,
    CsvOption,
    JsonOption,
    SlicesOption,
    StoreOption,
)

#: What `assay score --help` shows.
SHORT = (
    *("metrics", "judge", "columns", "limit", "name", "store", "out", "as_csv", "as_json", "slices"),
    *("fail_below", "gate", "baseline", "config", "help_all", "help"),
)
#: The panels of `assay score --help-all`, besides.
PANELS: dict[str, tuple[str, ...]] = {
    "Judge": (
        *(
            "base_url",
            "api_key_env",
            "embedding_model",
            "window_tokens",
            "instructions",
            "batched_questions",
            "calibration",
        ),
        *("discount", "poll", "rows_in_flight"),
    ),
    "Data": ("format", "language"),
    "Run": ("note", "replace", "concurrency", "deadline", "sink", "quiet", "detach"),
    "Processes and clusters": ("jobs", "engine", "job_folder", "lean"),
    "Output": ("bedrock", "cluster"),
    "Gate": ("fail_above", "sequential", "summary"),
}


@dataclass(frozen=True)
class InputOptions:
    """How the data is read."""

    columns: ColumnsOption = None
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None
    format: Annotated[
        str | None, typer.Option(help="jsonl, json, csv, tsv or parquet, where the name of a file does not say it.")
    ] = None
    language: Annotated[
        str | None,
        typer.Option(help="Code of the rows that do not say theirs, as 'en'. Default: found out row by row."),
    ] = None


@dataclass(frozen=True)
class RunOptions:
    """How the run is kept, and how fast it goes."""

    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None
    note: Annotated[str | None, typer.Option(help="A sentence to keep with the run.")] = None
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the run of that name, if there is one, and all its rows.")
    ] = False
    store: StoreOption = Path(".assay")
    sink: Annotated[
        list[str] | None, typer.Option(help="NAME:ADDRESS of a trace store to write scores to; may be repeated.")
    ] = None
    concurrency: Annotated[int, typer.Option(help="Rows in flight at the same time.")] = 16
    deadline: Annotated[float | None, typer.Option(help="Seconds for the whole run.")] = None
    budget: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="Spend at most this on the judge, as 5USD; rows beyond it are skipped."),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False
    detach: Annotated[
        bool,
        typer.Option(
            "--detach", help="Submit batches and end; `assay store batches collect` goes on. Batch judges only."
        ),
    ] = False


@dataclass(frozen=True)
class ShardOptions:
    """Where files are scored in pieces."""

    jobs: Annotated[
        int | None,
        typer.Option(help="Score files in this many processes, in pieces; a rerun goes on where the last one stopped."),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(help="Where the pieces are scored: processes, or ray, a cluster; --jobs is then its workers."),
    ] = None
    job_folder: Annotated[
        str | None,
        typer.Option(help="Folder of the pieces, or s3://BUCKET/PREFIX. Default: one in the store's folder."),
    ] = None
    lean: Annotated[
        bool,
        typer.Option(
            "--lean", help="With --jobs or --engine: keep of each row id, values and causes, and no judgements."
        ),
    ] = False

    @property
    def wanted(self) -> bool:
        """Whether the files are scored in pieces."""
        return self.engine is not None or self.jobs is not None


@dataclass(frozen=True)
class OutputOptions:
    """What is printed and written when the run ends."""

    out: Annotated[Path | None, typer.Option(help="Write rows, scores and evidence as JSONL.")] = None
    bedrock: BedrockOption = None
    as_csv: CsvOption = None
    as_json: JsonOption = False
    slices: SlicesOption = None
    cluster: ClusterOption = None


@dataclass(frozen=True)
class GateOptions:
    """What the run is checked against when it ends."""

    fail_below: FailBelowOption = None
    fail_above: FailAboveOption = None
    gate: Annotated[bool, typer.Option("--gate", help="Check the gates of the configuration.")] = False
    baseline: BaselineOption = None
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Stop as soon as the gate is decided (interim analyses); rows are read in random order.",
        ),
    ] = False
    summary: SummaryOption = None
