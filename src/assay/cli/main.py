"""The command line, in three panels.

Do: demo, score, run, compare, report, view, gate. Look: runs, show, worst, failures, errors, causes. Set up: init,
metrics, and the groups data, judge, live and store.

Exit codes: 0 all went well; 1 finished, but some scores are missing because judging failed; 2 wrong usage or input, or
a file or store that cannot be read or written; 3 the judge cannot be used (missing extra, key refused, endpoint
unreachable); 4 a fault in assay; 5 a gate failed, or an alert is open; 6 a gate is inconclusive;
7 batches are under way; 130 interrupted.
Results go to stdout, everything else to stderr; an error is one line with the way out. `assay --debug COMMAND`, or
ASSAY_DEBUG=1 in the environment, shows where it came from.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import assay
from assay.cli.causes import causes
from assay.cli.compare import compare
from assay.cli.config_defaults import configured
from assay.cli.demo import demo
from assay.cli.error_terms import for_the_command_line
from assay.cli.errors import errors
from assay.cli.failures import failures
from assay.cli.gate import gate
from assay.cli.groups import data, judge, live, store
from assay.cli.help_all import with_short_help
from assay.cli.init import init
from assay.cli.metrics import metrics
from assay.cli.output import STDOUT, say
from assay.cli.report import report
from assay.cli.run import run
from assay.cli.runs import runs
from assay.cli.score import score
from assay.cli.score_options import PANELS, SHORT
from assay.cli.show import show
from assay.cli.view import view
from assay.cli.worst import worst
from assay.errors import AssayError, InputError, JudgeFailure, MissingExtra, StoreError

OK, SCORES_MISSING, USAGE, JUDGE, FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130

#: Exit codes of errors; the first that fits. What is none of these is a fault in assay.
EXITS: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((InputError, StoreError), USAGE),
    ((MissingExtra, JudgeFailure), JUDGE),
    ((AssayError,), SCORES_MISSING),
    ((OSError, sqlite3.Error), USAGE),
)
DEBUG = "ASSAY_DEBUG"

Command = Callable[..., None]
DO: tuple[Command, ...] = (demo, score, run, compare, report, view, gate)
LOOK: tuple[Command, ...] = (runs, show, worst, failures, errors, causes)
#: Commands of the third panel that read no configuration.
SET_UP: tuple[Command, ...] = (init, metrics)
SHORT_HELP = {score: with_short_help(SHORT, PANELS)}
GROUPS = {"data": data, "judge": judge, "live": live, "store": store}


class Root(TyperGroup):
    """The top of the command line, whose help fits one screen."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help without --show-completion, which --install-completion makes needless for most people."""
        for param in self.params:
            param.hidden = param.name == "show_completion"  # type: ignore[attr-defined]
            if param.name == "install_completion":
                param.help = "Install shell completion."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


app = typer.Typer(
    cls=Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Score retrieval-augmented answers with located evidence.",
    epilog="Exit codes: 0 ok, 1 scores missing, 2 input, 3 judge, 4 fault, 5-6 gate, 7 batches.",
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"assay {assay.__version__}")
        raise typer.Exit(OK)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands."""
    if debug:
        os.environ[DEBUG] = "1"


for _panel, _commands in {"Do": DO, "Look": LOOK}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel, cls=SHORT_HELP.get(_command, TyperCommand))(configured(_command))
for _command in SET_UP:
    app.command(rich_help_panel="Set up")(_command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name, rich_help_panel="Set up")


def main() -> None:
    """Entry point: turns errors into one line and an exit code."""
    try:
        sys.argv[1:] = with_stdout(sys.argv[1:])
        app()
    except KeyboardInterrupt:
        _fail(INTERRUPTED, "interrupted")
    except Exception as error:
        code = next((code for kinds, code in EXITS if isinstance(error, kinds)), FAULT)
        message = str(error)
        if not isinstance(error, (AssayError, OSError)):
            message = f"{type(error).__name__}: {message}"
        if code == FAULT:
            message = f"a fault in assay: {message}; with {DEBUG}=1 in the environment it shows where"
        _fail(code, for_the_command_line(message))


def with_stdout(arguments: list[str]) -> list[str]:
    """The arguments, with "-" for the file of a `--csv` that has none: at the end, or before another option."""
    made: list[str] = []
    for n, argument in enumerate(arguments):
        made.append(argument)
        following = arguments[n + 1 : n + 2]
        if argument == "--csv" and (not following or (following[0].startswith("-") and following[0] != STDOUT)):
            made.append(STDOUT)
    return made


def _fail(code: int, message: str) -> NoReturn:
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        say(traceback.format_exc(), aside=True)
    say(f"assay: error: {' '.join(message.split())}", aside=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
