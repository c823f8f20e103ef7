"""Two runs compared, for terminals: a line for each metric, the verdicts in colour, and the rows that moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText
from assay._util.tables import make_table, number
from assay._util.terminal import shortened
from assay.analysis.comparison.sentences import fell
from assay.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from assay.analysis.comparison.compare import Comparison
    from assay.analysis.comparison.metric_diff import MetricDiff, MovedRow, Verdict
    from assay.analysis.lens import DefinitionResult, Lens
    from assay.stats import Difference

_FLIPS = 3  # of a row that are shown
_NAME = 24  # characters of a row's name
COLOURS: dict[Verdict, str] = {
    "better": "bold green", "worse": "bold red", "inconclusive": "yellow", "unchanged": "dim",
}  # fmt: skip


def comparison_lines(comparison: Comparison, width: int) -> Iterator[SafeText]:
    """The headline, a line for each metric, and below it what is to be said besides."""
    for place, line in enumerate(comparison.title_lines()):
        yield _coloured(line) if place == 0 else SafeText(line)
    yield from _metric_lines(list(comparison.metrics.values()), comparison.confidence, width)


def _coloured(line: str) -> SafeText:
    text = SafeText(line)
    for verdict, style in COLOURS.items():
        text.highlight_regex(rf"(?:(?<=[:;] )|^){verdict}(?= on )", style)
    return text


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the cells of a metric are written: as wide as they may be, or for 80 columns."""

    titles: Sequence[str]
    digits: int
    gap: str
    arrow: str
    to: str

    def cells(self, one: MetricDiff) -> list[str]:
        """Name, verdict, means, difference, p, n, minimum detectable effect."""
        name = printable(one.metric)
        if one.difference is None:
            return [name, one.verdict, "", "", "", "0", ""]
        first, second = (f"{mean:.{self.digits}f}" for mean in (one.difference.first, one.difference.second))
        known = one.verdict != "unchanged"
        difference = self.difference(one.difference) if known else f"{0:.{self.digits}f}"
        p = p_in_words(one.p) if known else ""
        least = detectable_in_words(one) if one.verdict == "inconclusive" else ""
        return [name, one.verdict, f"{first}{self.arrow}{second}", difference, p, one.n_in_words, least]

    def difference(self, found: Difference) -> str:
        by, digits = found.estimate, self.digits
        return f"{by.mean:+.{digits}f} ({by.low:+.{digits}f}{self.to}{by.high:+.{digits}f})"


_WIDE = _Layout(("metric", "verdict", "first -> second", "difference ({} interval)", "p", "n", "MDE"), 3, "  ", " -> ",
                " to ")  # fmt: skip
_NARROW = _Layout(("metric", "verdict", "means", "difference ({})", "p", "n", "MDE"), 2, " ", "->", ", ")


def p_in_words(p: float | None) -> str:
    """A p-value in two digits."""
    return "" if p is None else "<0.001" if p < 0.001 else f"{p:.2g}"


def detectable_in_words(one: MetricDiff) -> str:
    """The minimum detectable effect in two digits, "none" where no difference would show."""
    found = one.difference
    return "none" if found is None or found.detectable is None else f"{found.detectable:.2f}"


def _metric_lines(metrics: Sequence[MetricDiff], confidence: float, width: int) -> Iterator[SafeText]:
    """A line for each metric; where the terminal has no room for that, the names stand in lines of their own."""
    for layout in (_WIDE, _NARROW):
        rows = [layout.cells(one) for one in metrics]
        heads = [title.format(f"{confidence:.0%}") for title in layout.titles]
        if not any(row[-1] for row in rows):
            heads, rows = heads[:-1], [row[:-1] for row in rows]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        if sum(widths) + len(layout.gap) * (len(widths) - 1) <= width:
            break
    else:
        widths[0] = 0
    lines = _aligned([heads, *rows], widths, layout.gap)
    yield SafeText(next(lines), "dim")
    for one, row, line in zip(metrics, rows, lines, strict=True):
        if not widths[0]:
            yield SafeText(row[0])
        text = SafeText(line)
        start = widths[0] + len(layout.gap) if widths[0] else 2
        text.stylize(COLOURS[one.verdict], start, start + len(one.verdict))
        yield text
        yield from (SafeText(f"  {fact}") for fact in one.facts)
    if len(heads) == len(layout.titles):
        yield SafeText("MDE: minimum detectable effect", "dim")


def _aligned(rows: Iterable[Sequence[str]], widths: Sequence[int], gap: str) -> Iterator[str]:
    """Each row in a line; the first cell is left out where its width is 0, p and what follows stands to the right."""
    for row in rows:
        cells = [cell.ljust(size) if place < 4 else cell.rjust(size)
                 for place, (cell, size) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        yield (gap.join(cells) if widths[0] else "  " + gap.join(cells[1:])).rstrip()


def moved_lines(comparison: Comparison, width: int, *, fallen: bool = False) -> Iterator[SafeText]:
    """The rows that moved most, metric by metric, those for the worse first, each flip in one line.

    `fallen` leaves out those that moved for the better.
    """
    for one in comparison.metrics.values():
        shown = [moved for moved in one.moved if fell(one, moved) or not fallen]
        if shown:
            what = "rows that got worse" if fallen else "moved rows"
            yield SafeText(
                f"{one.metric}: {counts_in_words(len(shown), one.worsened if fallen else one.changed, what)}"
            )
            for moved in shown:
                yield from _moved(one, moved, width)


def counts_in_words(shown: int, there: int, what: str) -> str:
    """How many of the rows are shown, where more exist: "5 of 12 moved rows shown"."""
    if there > shown:
        return f"{shown} of {there} {what} shown"
    return f"{there} {what if there != 1 else what.replace('rows', 'row', 1)}"


def _moved(one: MetricDiff, moved: MovedRow, width: int) -> Iterator[SafeText]:
    line = SafeText(f"  {shortened(printable(moved.name), _NAME)}  {moved.first:.2f} -> ")
    yield line.append(f"{moved.second:.2f}", "red" if fell(one, moved) else "green")
    yield from (SafeText(f"    {flip.line(width - 4)}") for flip in moved.flips[:_FLIPS])
    if len(moved.flips) > _FLIPS:
        yield SafeText(f"    and {len(moved.flips) - _FLIPS} more")


def lens_table(lens: Lens) -> Table:
    """One line per definition, and the step where its formula parts from the first one's."""
    rows = [
        (one.definition.metric, _value(one), "" if n == 0 else one.difference or "– the same formula")
        for n, one in enumerate(lens.seen)
    ]
    return make_table(["metric", number("value"), "parts from the first at"], rows)


def formula(lens: Lens) -> str:
    """The formula that the others are held against."""
    first = lens.seen[0].definition
    return f"{first.metric}: " + ", ".join(f"{step}: {said}" for step, said in first.steps.to_dict().items())


def _value(one: DefinitionResult) -> str:
    if one.score.error is not None:
        return str(one.score.error.cause)
    return f"{one.score.value:.2f}" + ("" if one.score.convention is None else " by convention")
