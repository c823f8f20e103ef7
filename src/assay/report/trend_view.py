"""A trend as it is shown: in a terminal as tables with a drawn line, and as one HTML page with drawings in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.output_files import output_file
from assay._util.version import __version__
from assay.live.canaries.drift import IN_WORDS, in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.live.trends import Trend, TrendPoint

NOTHING = "–"
#: Characters of the drawn scale in a terminal; sides of a drawing in a page, and its margins.
_DRAWN = 24
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 880.0, 200.0, 44.0, 22.0, 8.0
_ARROW = {"higher": "↑", "lower": "↓"}
_LABELS = 7  # periods that are named below a drawing


def trend_tables(trend: Trend) -> RenderableType:
    """The trend for a terminal: a table for each metric, its changes below it."""
    from rich.console import Group

    from assay._util.rich_text import SafeText as Text

    parts: list[RenderableType] = [Text(_headline(trend), style="bold")]
    for metric in trend.metrics:
        parts.append(_table(trend, metric))
        parts += [Text(line, style="yellow") for line in change_lines(trend, metric)]
        parts += [Text(line) for line in judge_lines(trend, metric)]
    if not trend.points:
        parts.append(Text("no rows"))
    parts += [Text(f"note: {note}", style="dim") for note in trend.notes]
    return Group(*parts)


def _headline(trend: Trend) -> str:
    return f"{trend.run} by {trend.per}; times in {trend.timezone}"


def _table(trend: Trend, metric: str) -> RenderableType:
    from rich.table import Table

    from assay._util.rich_text import SafeText as Text

    points = trend.of(metric)
    low, high = _span(points)
    table = Table(title=Text(_title(trend, metric)), title_justify="left", box=None, pad_edge=False)
    shown = [name for name in _HEAD if name not in _OPTIONAL or any(cells(point)[name] != NOTHING for point in points)]
    for name in shown:
        table.add_column(name, justify="left" if name in ("period", "95% interval") else "right", no_wrap=True)
    table.add_column(Text(f"{low:.2f} to {high:.2f}"), no_wrap=True)
    for point in points:
        found = cells(point)
        drawn = _drawn(point, low, high) + ("  change" if point.change is not None else "")
        table.add_row(
            *(Text(found[name]) for name in shown), Text(drawn), style="yellow" if point.change is not None else None
        )
    return table


def _title(trend: Trend, metric: str) -> str:
    return f"\n{metric} {_ARROW[trend.ranges[metric][2]]}"


_HEAD = ("period", "mean", "95% interval", "rows", "volume", "effective n", "coverage", "refusals", "calls", "tokens")
_OPTIONAL = ("refusals", "calls", "tokens")


def cells(point: TrendPoint) -> dict[str, str]:
    """The numbers of a period in words, by column."""
    return {
        "period": point.period,
        "mean": NOTHING if point.mean is None else f"{point.mean:.3f}",
        "95% interval": NOTHING if point.low is None or point.high is None else f"{point.low:.3f} to {point.high:.3f}",
        "rows": f"{point.rows:,}",
        "volume": f"{point.volume:,.0f}",
        "effective n": f"{point.effective_n:,.0f}",
        "coverage": f"{point.coverage:.0%}",
        "refusals": NOTHING if point.refusals is None else f"{point.refusals:.1%}",
        "calls": NOTHING if point.calls is None else f"{point.calls:,.0f}",
        "tokens": NOTHING if point.tokens is None else f"{point.tokens:,.0f}",
    }


def change_lines(trend: Trend, metric: str) -> list[str]:
    """Each change of a metric in words, with whose change it is."""
    changes = trend.changes.get(metric, ())
    whose = trend.attributions.get(metric) or (None,) * len(changes)
    return [
        f"change on {trend.when(one.at)} (between {trend.when(one.earliest)} and {trend.when(one.latest)}): "
        f"{one.before:.3f} to {one.after:.3f}, {one.after - one.before:+.3f}; e-value {one.evidence:.0f}"
        + ("" if verdict is None else f"; {IN_WORDS[verdict]}")
        for one, verdict in zip(changes, whose, strict=True)
    ]


def judge_lines(trend: Trend, metric: str) -> list[str]:
    """What canary rows say of the judge of a metric, in words."""
    return [
        in_words(one, "" if one.since is None else trend.when(one.since)) for one in trend.judge if one.metric == metric
    ]


def _span(points: Sequence[TrendPoint]) -> tuple[float, float]:
    """What a drawing has room for: all intervals, but not those of hardly any rows."""
    ends = [(one.low, one.high) for one in points if one.low is not None and one.high is not None and one.scored > 2]
    means = [one.mean for one in points if one.mean is not None]
    if not means:
        return 0.0, 1.0
    low, high = min([*means, *(one for one, _ in ends)]), max([*means, *(one for _, one in ends)])
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _drawn(point: TrendPoint, low: float, high: float) -> str:
    """The mean and its interval on a line of characters."""
    if point.mean is None or point.low is None or point.high is None:
        return " " * _DRAWN

    def place(value: float) -> int:
        return min(_DRAWN - 1, max(0, round((value - low) / (high - low) * (_DRAWN - 1))))

    first, last = place(point.low), place(point.high)
    line = [" "] * first + ["─"] * (last - first + 1) + [" "] * (_DRAWN - 1 - last)
    line[place(point.mean)] = "●"
    return "".join(line)


def write_trend_page(trend: Trend, path: str | Path) -> Path:
    """Write the trend as an HTML file, without a script.

    Args:
        trend: The trend.
        path: The file.

    Returns:
        The path.

    Raises:
        MissingExtra: Jinja2 is not installed.
    """
    from assay.report.html.page import policy, source, template_environment

    environment = template_environment()
    from markupsafe import Markup

    style = source("report.css") + source("trend.css")
    found = {
        **trend_facts(trend),
        "style": Markup(style),  # noqa: S704  # it is ours
        "policy": policy(style, ""),
        "version": __version__,
    }
    with output_file(path, errors="replace", newline="\n") as out:
        out.writelines(environment.get_template("trend.html").generate(found))
    return Path(path)


def trend_facts(trend: Trend) -> dict[str, Any]:
    """What the template `trend_sections.html` shows of a trend."""
    from markupsafe import Markup

    return {
        "trend": trend,
        "headline": _headline(trend),
        "metrics": [
            {
                "name": _title(trend, metric).strip(),
                "drawing": Markup(drawing(trend, metric)),  # noqa: S704  # numbers of our own, and escaped labels
                "changes": change_lines(trend, metric),
                "judge": judge_lines(trend, metric),
                "columns": _HEAD,
                "rows": [(cells(point), point.change is not None) for point in trend.of(metric)],
            }
            for metric in trend.metrics
        ],
    }


def drawing(trend: Trend, metric: str) -> str:
    """The means of a metric with their intervals as SVG, changes as vertical lines with the region of their time."""
    points = [point for point in trend.of(metric) if point.mean is not None]
    if not points:
        return ""
    low, high = _span(points)
    wide, tall = _WIDTH - _LEFT - 8.0, _HEIGHT - _BELOW - _ABOVE
    times = list(range(len(points))) if trend.per == "version" else [point.start for point in points]
    first, last = times[0], times[-1]

    def x(time: float) -> float:
        return round(_LEFT + wide * ((time - first) / (last - first) if last > first else 0.5), 1)

    def y(value: float) -> float:
        return round(_ABOVE + tall * (1.0 - min(1.0, max(0.0, (value - low) / (high - low)))), 1)

    parts = [_axis(value, y(value)) for value in _ticks(low, high)]
    for change in trend.changes.get(metric, ()) if trend.per != "version" else ():
        left, right = (x(min(last, max(first, time))) for time in (change.earliest, change.latest))
        parts.append(
            f'<rect class="region" x="{left}" y="{_ABOVE}" width="{max(1.0, right - left):.1f}" height="{tall}"/>'
        )
        at = x(min(last, max(first, change.at)))
        parts.append(f'<line class="change" x1="{at}" x2="{at}" y1="{_ABOVE}" y2="{_ABOVE + tall}"/>')
    places = [(x(time), point) for time, point in zip(times, points, strict=True)]
    parts += [
        f'<line class="span" x1="{at}" x2="{at}" y1="{y(point.low)}" y2="{y(point.high)}"/>'
        for at, point in places
        if point.low is not None and point.high is not None
    ]
    path = " ".join(f"{at},{y(point.mean or 0.0)}" for at, point in places)
    if trend.per != "version":
        parts.append(f'<polyline class="means" points="{path}"/>')
    parts += [f'<circle class="mean" cx="{at}" cy="{y(point.mean or 0.0)}" r="2.5"/>' for at, point in places]
    every = max(1, math.ceil(len(places) / _LABELS))
    parts += [_label(at, point.period) for at, point in places[::every]]
    said = 'role="img" aria-label="means with 95% intervals"'
    return f'<svg class="trend" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" {said}>{"".join(parts)}</svg>'


def _axis(value: float, y: float) -> str:
    return (
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - 8.0}" y1="{y}" y2="{y}"/>'
        f'<text x="{_LEFT - 6.0}" y="{y + 4.0}" text-anchor="end">{value:.3g}</text>'
    )


def _label(x: float, text: str) -> str:
    from html import escape

    from assay.errors import printable

    shown = text if len(text) <= 20 else text[:19] + "…"
    return f'<text x="{x}" y="{_HEIGHT - 6.0}" text-anchor="middle">{escape(printable(shown))}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """Two to six round numbers between two ends."""
    step = 10.0 ** math.floor(math.log10(high - low))
    while (high - low) / step < 2.0:
        step /= 2.0
    while (high - low) / step > 6.0:
        step *= 2.0
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
