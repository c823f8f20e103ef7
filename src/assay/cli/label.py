"""The command `assay data label`: a person labels claims, passages or samples of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from assay._util.terminal import is_terminal
from assay.cli.options import RunArgument, StoreOption
from assay.cli.output import say, show
from assay.cli.run_argument import load_run
from assay.errors import InputError


def label(
    run: RunArgument = "last",
    out: Annotated[Path, typer.Option(help="The labels, as JSONL; a session goes on where the last one ended.")] = Path(
        "labels.jsonl"
    ),
    what: Annotated[str, typer.Option(help="claims, passages or samples.")] = "claims",
    metric: Annotated[str | None, typer.Option(help="The metric whose claims, passages or values to label.")] = None,
    n: Annotated[int, typer.Option("-n", "--number", help="How many to label, in all sessions together.")] = 100,
    annotator: Annotated[
        str | None, typer.Option(help="Name of the person who labels; several people may write into one file.")
    ] = None,
    verdict: Annotated[
        str, typer.Option(help="When the judge's verdict is shown: after the label, before it, or never.")
    ] = "after",
    alike: Annotated[
        bool, typer.Option("--alike", help="Give all items the same chance; without it uncertain ones come more often.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Another seed chooses other items.")] = 0,
    store: StoreOption = Path(".assay"),
) -> None:
    """Label claims, passages or samples of a run with one key each; `assay judge align` then reads the labels.

    The judge's verdict is hidden until you have said yours. What the judge is uncertain of comes more often, and a
    weight beside each label keeps what is computed from them unbiased.
    """
    from assay.analysis.judges.alignment.active_sampling import LEVELS, What
    from assay.analysis.judges.alignment.labelling_session import VerdictDisplay, session

    if what not in LEVELS:
        raise InputError(f"--what: expected {', '.join(LEVELS)}, got {what!r}")
    if not out.parent.is_dir():
        raise InputError(f"--out: there is no folder {str(out.parent)!r}")
    found = session(
        load_run(run, store),
        out,
        cast("What", what),
        read=_read,
        say=_say,
        n=n,
        metric=metric,
        by=annotator,
        shown=cast("VerdictDisplay", verdict),
        seed=seed,
        alike=alike,
    )
    found.run()


def _say(text: str) -> None:
    """In lines as wide as the terminal."""
    from assay._util.rich_text import SafeText

    if text.startswith("\n"):
        say("")
    show(SafeText(text.strip("\n")))


def _read() -> str:
    """One key on a terminal; else the next line of the input."""
    if not is_terminal(sys.stdin):
        return sys.stdin.readline()
    import click

    key = click.getchar()
    if key in ("\x03", "\x04", "\x1b"):
        return "q"
    return key if key.strip() else " "
