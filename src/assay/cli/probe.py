"""The command `assay judge probe`: robustness checks of a judge (metamorphic tests)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import ColumnsOption, JsonOption, JudgeOptions, StoreOption, column_map
from assay.cli.output import say_json, show
from assay.errors import InputError


@grouped
def probe(
    data: Annotated[
        Path | None,
        typer.Argument(help="Rows of your own, with contexts; the rows of `assay demo` are probed besides."),
    ] = None,
    *,
    judge: JudgeOptions,
    probes: Annotated[str | None, typer.Option(help="Names of some, separated by commas; all without.")] = None,
    own: Annotated[bool, typer.Option("--own", help="Your rows alone, without those of the demo.")] = False,
    limit: Annotated[int, typer.Option(help="Read at most this many rows of your own.")] = 50,
    each: Annotated[int, typer.Option(help="Statements of each row.")] = 1,
    examples: Annotated[int, typer.Option("-n", "--examples", help="Failures of each probe to show.")] = 1,
    columns: ColumnsOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Test the robustness of a judge: change statements by rule and compare its verdicts (metamorphic tests).

    A statement is a sentence of a passage: it is supported, whatever a model says. Numbers, names and dates are
    swapped, it is negated, said in other words, held against another passage, and instructions are put beside it.
    """
    from assay.analysis.judges.probes.run import probe as probed

    if own and data is None:
        raise InputError("--own: goes with rows of your own")
    for name, value in {"--limit": limit, "--each": each}.items():
        if value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    names = None if probes is None else [name.strip() for name in probes.split(",") if name.strip()]
    found = probed(
        judge.resolve(),
        data,
        demo=not own,
        probes=names,
        limit=limit,
        each=each,
        store=store,
        column_map=column_map(columns),
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        show(found.rich(max(0, examples)))
