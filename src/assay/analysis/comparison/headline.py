"""The first lines of a comparison: the verdict in one line, the runs, and answers that became refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay._util.terminal import pluralize, shortened
from assay.errors import printable

if TYPE_CHECKING:
    from assay.analysis.comparison.metric_diff import MetricDiff

HEADLINE = 80  # characters
_ORDER = ("worse", "better", "inconclusive", "unchanged")


def headline_of(metrics: Sequence[MetricDiff], pairs: int, second_rows: int | None = None, most: int = HEADLINE) -> str:
    """The verdicts in at most so many characters, that of the first metric first; where they fit, with all metrics."""
    lead = metrics[0].verdict if metrics else "inconclusive"
    names = {
        verdict: [printable(one.metric) for one in metrics if one.verdict == verdict]
        for verdict in dict.fromkeys((lead, *_ORDER))
    }
    rows = f" ({pluralize(pairs, 'row')} in both)"
    if second_rows is not None:
        rows = f" (unpaired: {pairs:,} and {second_rows:,} rows)"
    named = "; ".join(f"{verdict} on {', '.join(of)}" for verdict, of in names.items() if of)
    if len(named + rows) <= most:
        return named + rows
    counts = ", ".join(f"{len(of)} {verdict}" for verdict, of in names.items() if of and verdict != lead)
    others = (f"; {counts}" if counts else "") + rows
    return f"{lead} on {_some(names[lead], most - len(f'{lead} on {others}'))}{others}"


def _some(names: Sequence[str], room: int) -> str:
    """As many of the names as fit, at least the first, and how many more there are."""
    for count in range(len(names), 0, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        said = ", ".join(names[:count]) + more
        if len(said) <= room:
            return said
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return shortened(names[0], max(8, room - len(more))) + more


def title_lines(runs: str, headline: str) -> list[str]:
    """The headline with the names of the runs before it, or below where that is longer than a line."""
    title = f"{printable(runs)}: {headline}"
    return [title] if len(title) <= HEADLINE else [headline, printable(runs)]


def refusals_in_words(new_refusals: int, new_answers: int) -> str | None:
    """How many answers became refusals and the other way round; None where none did."""
    said = []
    if new_refusals:
        said.append(f"{pluralize(new_refusals, 'answer')} became {'a refusal' if new_refusals == 1 else 'refusals'}")
    if new_answers:
        said.append(f"{pluralize(new_answers, 'refusal')} became {'an answer' if new_answers == 1 else 'answers'}")
    return ", ".join(said) or None
