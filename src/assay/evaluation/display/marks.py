"""Small drawings in tables, as SVG: for the HTML report and for notebooks. All that is in them are numbers of our own.

Their classes are styled by the report; where nothing styles them they have the colour of the text around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.evaluation.display.lines import Line


def scale(line: Line) -> str:
    """The mean and its interval on the metric's scale, and the baseline's mean; empty where there is no mean."""
    if line.at is None:
        return ""
    drawn = ['<line class="axis" x1="4" x2="196" y1="12" y2="12" stroke="currentColor" stroke-opacity=".25"/>']
    if line.ends:
        ends = f'x1="{line.ends[0]}" x2="{line.ends[1]}"'
        drawn.append(
            f'<line class="span" {ends} y1="12" y2="12" stroke="currentColor" stroke-opacity=".5" stroke-width="5"/>'
        )
    if line.was is not None:
        drawn.append(f'<circle class="was" cx="{line.was}" cy="12" r="5" fill="none" stroke="currentColor"/>')
    drawn.append(f'<circle class="mean" cx="{line.at}" cy="12" r="4.5" fill="currentColor"/>')
    said = f'role="img" aria-label="{line.mean}, {line.interval}"'
    return f'<svg class="scale" viewBox="0 0 200 24" width="176" height="22" {said}>{"".join(drawn)}</svg>'


def share(some: float, every: float) -> str:
    """A bar of which a part is filled; empty where there is nothing to be a part of."""
    if not every:
        return ""
    bar = '<rect class="all" width="100" height="10" fill="currentColor" fill-opacity=".15"/>'
    filled = f'<rect class="some" width="{100 * some / every:.2f}" height="10" fill="currentColor"/>'
    said = f'role="img" aria-label="{some:g} of {every:g}"'
    return (
        f'<svg class="bar" viewBox="0 0 100 10" width="128" height="13" preserveAspectRatio="none" {said}>'
        f"{bar}{filled}</svg>"
    )
