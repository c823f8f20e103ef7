"""The command `assay data export`: answers as a data set of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import ColumnsOption, column_map
from assay.cli.output import say
from assay.errors import InputError


def export(
    data: Annotated[
        list[str], typer.Argument(help="Files of answers, as `assay score` reads them.", show_default=False)
    ],
    *,
    format: Annotated[
        str, typer.Option("--format", help="bedrock: a data set for Amazon Bedrock's evaluation jobs, as JSONL.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    source: Annotated[
        str, typer.Option(help="The knowledgeBaseIdentifier of rows that have none: a name for what was asked.")
    ] = "assay",
    columns: ColumnsOption = None,
) -> None:
    """Write answers as a data set of another tool, such as Amazon Bedrock's evaluation jobs.

    `assay score` reads such files as they are, and --bedrock there writes scores as these jobs do.
    """
    from assay.cli.score_output import check_target
    from assay.data import open_data
    from assay.data.bedrock.write import write_bedrock

    if format != "bedrock":
        raise InputError(f"--format: expected bedrock, got {format!r}")
    check_target("--out", out, data)
    named = data[0] if len(data) == 1 else [Path(name) for name in data]
    write_bedrock(open_data(named, column_map=column_map(columns)), out, source=source)
    say(f"data set for Bedrock: {out}", aside=True)
