"""`assay show RUN ROW --definitions METRIC`: one row under every system's definition of a metric."""

from __future__ import annotations

from pathlib import Path

from assay.cli.options import JudgeOptions
from assay.cli.output import say, say_json, show
from assay.cli.run_argument import load_run


def show_definitions(run: str, row: str, metric: str, judge: JudgeOptions, store: Path, as_json: bool) -> None:
    """Show a row under every definition of a metric, and the step of the formula where each differs from the first.

    What the store knows of the row is not asked again.
    """
    from assay.analysis.lens import headline, look
    from assay.judges.cache import JudgementCache
    from assay.report.comparison_table import formula, lens_table

    result = load_run(run, store)
    found = look(result.row(row).sample, metric, JudgementCache(judge.resolve(), result.store.judgements(result.run)))
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
