"""The command `assay judge trust`: let a configuration send keys and texts to the addresses that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.output import say
from assay.errors import InputError


def trust(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The configuration. Default: the nearest assay.toml or pyproject.toml.", show_default=False
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Only list the trusted files.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Trust the file no longer.")] = False,
) -> None:
    """Let a configuration send keys and texts to the addresses in it, until the file changes."""
    if list_all:
        if file is not None or forget:
            raise InputError("--list: goes alone")
        _list()
    elif forget:
        _forget(file)
    else:
        _trust(file, yes)


def _trust(file: Path | None, yes: bool) -> None:
    from assay.config import configuration
    from assay.config.keys import destinations
    from assay.config.trust import trust as record

    path = file or _located()
    config = configuration(path)
    assert config is not None
    found = destinations(config)
    say(f"{config.file} would" + ("" if found else " send nothing anywhere"))
    for one in found:
        say(f"  {one}")
    if not (yes or _agreed()):
        say("assay: it is not trusted", aside=True)
        raise typer.Exit(1)
    kept = record(path, config.section.digest)
    say(f"trusted until it changes; recorded in {kept}")


def _agreed() -> bool:
    import sys

    if not sys.stdin.isatty():
        raise InputError("trust: nobody can be asked here; give --yes")
    return typer.confirm("Trust it?")


def _list() -> None:
    from assay.config.locate import opened
    from assay.config.trust import record_file, trusted_files

    known = trusted_files()
    for one in known:
        try:
            state = "trusted" if opened(Path(one.path)).digest == one.sha256 else "changed since, not trusted"
        except InputError:
            state = "cannot be read any more"
        say(f"{one.path}  {one.at}  {state}")
    if not known:
        say(f"assay: no file is trusted in {record_file()}", aside=True)


def _forget(file: Path | None) -> None:
    from assay.config.trust import forget

    path = file or _located()
    if not forget(path):
        raise InputError(f"trust: {str(path)!r} is not among the trusted files; `assay judge trust --list` shows them")
    say(f"{path}: trusted no longer")


def _located() -> Path:
    from assay.config.locate import find

    found = find(Path.cwd())
    if found is None:
        raise InputError("trust: there is no assay.toml here, and no pyproject.toml with [tool.assay]; name the file")
    return found[0]
