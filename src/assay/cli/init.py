"""The command `assay init`: a configuration file with comments, which runs as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.output import say
from assay.errors import InputError


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write it.", show_default="this folder")] = Path("."),
) -> None:
    """Write assay.toml and example answers; then: assay score --gate."""
    from assay.config.template import template

    file, answers = folder / "assay.toml", folder / "assay-demo.jsonl"
    if not folder.is_dir():
        raise InputError(f"init: there is no folder {str(folder)!r}")
    text, rows = template()
    for path, content in ((file, text), (answers, rows)):
        if path is answers and answers.exists():
            continue
        try:
            with path.open("x", encoding="utf-8") as out:
                out.write(content)
        except FileExistsError:
            raise InputError(f"init: {str(path)!r} is there already, and stays as it is") from None
    say(f"{file}: what to score, who judges, and what must hold; {answers}: answers to try it on")
    say("assay score --gate")
