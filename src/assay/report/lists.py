"""Lists for the command line: runs, the worst rows, and what has no value."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText as Text
from assay._util.terminal import pluralize
from assay.evaluation.display.cost import dollars_in_words
from assay.evaluation.display.explanation import Explanation
from assay.evaluation.display.table import cells, judge_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.evaluation.run_names import RunLine
    from assay.store.store import Row

_LONGEST_NAME = 40  # characters of a metric's name that are never broken, in 60 columns


def runs_list(lines: Iterable[RunLine]) -> RenderableType:
    """Each run in a few lines: name and time, what it read, the means, the note."""
    from rich.console import Group
    from rich.padding import Padding

    blocks: list[RenderableType] = []
    for line in lines:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(line.started))
        facts = [pluralize(line.rows, "row"), *([line.data] if line.data else [])]
        if line.missing:
            facts.append(f"{line.missing} missing from the store")
        if line.pruned:
            facts.append(f"{line.pruned} pruned")
        if line.errors:
            facts.append(f"{line.errors} skipped or failed")
        if line.dollars:
            facts.append(dollars_in_words(line.dollars))
        blocks.append(Text(line.run, style="bold").append(f"  {when}", style="not bold dim"))
        means = []
        for summary in line.metrics.values():
            name, mean, interval, scored, _, _ = cells(summary)
            gaps = "" if summary.scored == summary.total else f", {scored}"
            means.append(f"{name} {mean}" + (f" ({interval}{gaps})" if interval else f" ({scored})"))
        below = [(" · ".join(facts), ""), (", ".join(means), ""), (line.judge and judge_in_words(line.judge), "dim")]
        below += [(line.note and f"note: {line.note}", "italic"), (line.stopped and f"stopped: {line.stopped}", "red")]
        blocks += [Padding(Text(text, style=style), (0, 0, 0, 4)) for text, style in below if text]
    return Group(*blocks)


def worst_list(rows: Sequence[Row], metric: str) -> RenderableType:
    """Each row with its number and what decided its score."""
    from rich.console import Group

    blocks: list[RenderableType] = []
    for n, row in enumerate(rows):
        if n:
            blocks.append(Text(""))
        named = "" if row.scored.sample.id is None else f" (id {row.scored.sample.id})"
        blocks += [Text(f"row {row.number}{named}", style="bold underline"), Explanation(row, metric).rich()]
    return Group(*blocks)


def lowest_list(worst: Iterable[tuple[str, Sequence[tuple[int, float]]]]) -> RenderableType | None:
    """Of each metric its worst rows and their values, in a line; None where no metric has any."""
    from assay._util.tables import Column, make_table

    lines = [(name, ", ".join(f"{row}: {value:.2f}" for row, value in rows)) for name, rows in worst if rows]
    name = Column(title="metric", least=min(_LONGEST_NAME, max((len(one) for one, _ in lines), default=0)))
    return make_table([name, "row: value"], lines) if lines else None
