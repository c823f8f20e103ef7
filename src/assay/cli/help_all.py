"""Help in two lengths: `--help` shows the options that most people need, `--help-all` shows every option."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

_ALL = "assay.help_all"


def _print_all(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit


HelpAllOption = Annotated[
    bool, typer.Option("--help-all", help="Show all options.", callback=_print_all, is_eager=True)
]


def with_short_help(short: Collection[str], panels: Mapping[str, Collection[str]]) -> type[TyperCommand]:
    """Make the class of a command with two lengths of help.

    Args:
        short: The parameters that `--help` shows.
        panels: The other parameters by panel.

    Returns:
        The class, for `app.command(cls=...)`. The command takes a parameter of the type `HelpAllOption`.
    """
    panel_of = {name: panel for panel, names in panels.items() for name in names}

    class Command(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            for param in self.get_params(ctx):
                if param.param_type_name == "option":
                    param.hidden = param.name not in short and not ctx.meta.get(_ALL)  # type: ignore[attr-defined]
                    param.rich_help_panel = panel_of.get(param.name or "")  # type: ignore[attr-defined]
            super().format_help(ctx, formatter)

    return Command
