"""The command `assay judge check`: installed parts, the embedded judge, and what a judge endpoint supports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.error_terms import for_the_command_line
from assay.cli.option_groups import grouped
from assay.cli.options import JudgeOptions
from assay.cli.output import show
from assay.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.cli.checks import Check

OK, UNUSABLE = 0, 3


@grouped
def check(
    name: Annotated[
        str | None, typer.Argument(help="The judge, as --judge names it: groq:MODEL.", show_default=False)
    ] = None,
    *,
    judge: JudgeOptions,
) -> None:
    """Check the installed parts, the embedded judge, and what a judge endpoint supports."""
    from assay.cli.checks import examine

    if name is not None:
        if judge.judge not in ("embedded", name):
            raise InputError(f"--judge: the judge is named already: {name}")
        judge = replace(judge, judge=name)
    fine = True
    for found in examine(None if judge == JudgeOptions() else judge.resolve()):
        fine = fine and found.fine is not False
        show(_line(found))
    raise typer.Exit(OK if fine else UNUSABLE)


def _line(check: Check) -> RenderableType:
    """One line of the table; what does not fit on it goes on below its text."""
    from rich.table import Table

    from assay._util.rich_text import SafeText

    mark, style = {True: ("ok", "green"), False: ("FAIL", "bold red"), None: ("–", "dim")}[check.fine]
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=4, style=style)
    line.add_column(overflow="fold")
    line.add_row(mark, SafeText(f"{check.name}: {for_the_command_line(check.text)}"))
    return line
