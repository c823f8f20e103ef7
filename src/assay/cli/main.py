"""The command line: score, explain, show, compare, causes, report, gate, plan, size, noise, fuse-check, align, label,
probe, lens, runs, worst, failures, metrics, doctor, demo, worker, cascade, capture, ingest, bedrock, forget, init,
batch, store.

Exit codes: 0 all went well; 1 finished, but some scores are missing because judging failed; 2 wrong usage or input, or
a file or store that cannot be read or written; 3 the judge cannot be used (missing extra, key refused, endpoint
unreachable); 4 a fault in assay; 5 a gate failed; 6 a gate cannot tell; 7 batches
are under way; 130 interrupted.
Results go to stdout, everything else to stderr; an error is one line with the way out. `assay --debug COMMAND`, or
ASSAY_DEBUG=1 in the environment, shows where it came from.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

import assay
from assay.cli.align import align
from assay.cli.batch import batch
from assay.cli.bedrock import bedrock
from assay.cli.capture import capture
from assay.cli.cascade import cascade
from assay.cli.causes import causes
from assay.cli.compare import compare
from assay.cli.config_defaults import configured
from assay.cli.error_terms import for_the_command_line
from assay.cli.forget import forget
from assay.cli.fuse_check import fuse_check
from assay.cli.gate import gate
from assay.cli.ingest import ingest
from assay.cli.init import init
from assay.cli.label import label
from assay.cli.lens import lens
from assay.cli.live import worker
from assay.cli.metrics import metrics
from assay.cli.noise import noise
from assay.cli.option_groups import grouped
from assay.cli.options import JudgeOptions, StoreOption, named_again
from assay.cli.output import STDOUT, say, show
from assay.cli.plan import plan
from assay.cli.probe import probe
from assay.cli.report import report
from assay.cli.runs import explain, failures, runs, worst
from assay.cli.score import score
from assay.cli.show import show_sample
from assay.cli.size import size
from assay.cli.store import store
from assay.errors import AssayError, InputError, JudgeFailure, MissingExtra, StoreError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.cli.checks import Check

OK, UNSCORED, USAGE, JUDGE, FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130

#: Exit codes of errors; the first that fits. What is none of these is a fault in assay.
EXITS: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((InputError, StoreError), USAGE),
    ((MissingExtra, JudgeFailure), JUDGE),
    ((AssayError,), UNSCORED),
    ((OSError, sqlite3.Error), USAGE),
)
DEBUG = "ASSAY_DEBUG"

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Score retrieval-augmented answers with located evidence.",
    epilog="Exit codes: 0 fine, 1 some judging or delivery failed, 2 wrong input, 3 judge unusable, 4 a fault "
    "in assay, 5 a gate failed, 6 a gate cannot tell, 7 batches are under way, 130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"assay {assay.__version__}")
        raise typer.Exit(OK)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is, and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands."""
    if debug:
        os.environ[DEBUG] = "1"


@app.command()
@configured
@grouped
def doctor(
    judge: JudgeOptions,
) -> None:
    """Check what works here: installed parts, the embedded judge, and what a judge endpoint supports."""
    from assay.cli.checks import examine

    fine = True
    for check in examine(None if judge == JudgeOptions() else judge.resolve()):
        fine = fine and check.fine is not False
        show(_marked(check))
    raise typer.Exit(OK if fine else JUDGE)


@app.command()
@configured
def demo(store: StoreOption = Path(".assay")) -> None:
    """Score 22 real answers with the embedded judge, and show the worst one and what decided it."""
    from assay.data.demo import answers
    from assay.evaluation.display.table import as_rich
    from assay.evaluation.evaluate import evaluate

    result = evaluate(answers(), store=store, note="assay demo")
    show(as_rich(result))
    worst = result.worst("faithfulness")
    if worst is not None:
        said = worst.scored.sample.metadata["human"]
        say(f"\nThe least faithful answer, row {worst.number} (people said: {said})\n")
        show(result.explain(worst.number, "faithfulness").rich())
    say(f"\nMore: assay explain last ROW{named_again(store)}")


# the commands that have files of their own
for command in (
    score, explain, compare, causes, report, gate, plan, size, noise, align, label, probe, lens, worst, failures,
    worker, cascade, bedrock, forget,
):  # fmt: skip
    app.command()(configured(command))
for command in (metrics, capture, ingest, init):
    app.command()(command)
app.command("fuse-check")(configured(fuse_check))
app.command("show")(configured(show_sample))
app.add_typer(runs, name="runs")
app.add_typer(batch, name="batch")
app.add_typer(store, name="store")


def _marked(check: Check) -> RenderableType:
    """One line of the doctor; what does not fit on it goes on below its text."""
    from rich.table import Table

    from assay._util.rich_text import SafeText as Text

    mark, style = {True: ("ok", "green"), False: ("FAIL", "bold red"), None: ("–", "dim")}[check.fine]
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=4, style=style)
    line.add_column(overflow="fold")
    line.add_row(mark, Text(f"{check.name}: {for_the_command_line(check.text)}"))
    return line


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
