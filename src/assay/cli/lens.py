"""The command `assay lens`: one row under every system's definition of a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import JsonOption, JudgeOptions, StoreOption
from assay.cli.output import say, say_json, show
from assay.cli.runs import opened


@grouped
def lens(
    row: Annotated[
        str, typer.Argument(help="Id or number of a row; numbers start at 1. row:3 is the third, whatever the ids.")
    ],
    name: Annotated[str, typer.Argument(help="What several systems measure: 'faithfulness', 'context precision', ...")],
    *,
    run: Annotated[str, typer.Option(help="The run's name, or 'last'.")] = "last",
    judge: JudgeOptions,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Show a row under every system's definition of a name, and the step of the formula where each parts from ours.

    What the store knows of the row is not asked again.
    """
    from assay.analysis.lens import headline, look
    from assay.evaluation.result import Result
    from assay.judges.cache import JudgementCache
    from assay.report.comparison_table import formula, lens_table

    kept = opened(store)
    result = Result.load(run, kept)
    found = look(result.row(row).sample, name, JudgementCache(judge.resolve(), kept.judgements(result.run)))
    if as_json:
        say_json(
            [
                {"metric": one.definition.metric, **one.definition.steps.to_dict(), "parts_at": one.parts_at,
                 "score": one.score.to_dict()}
                for one in found.seen
            ],
            indent=2,
        )  # fmt: skip
        return
    say(f"{headline(found)}\n{formula(found)}")
    show(lens_table(found))
