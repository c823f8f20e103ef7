"""The course of a metric over runs as a small drawing in SVG. All that is in it are numbers of our own."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH, _HEIGHT, _EDGE = 160.0, 32.0, 3.0


def sparkline(values: Sequence[float]) -> str:
    """A line through the values, the last one as a dot; empty for fewer than two.

    Args:
        values: Finite numbers, the oldest first.

    Returns:
        The SVG element.
    """
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = high - low or 1.0

    def point(place: int, value: float) -> str:
        x = _EDGE + (_WIDTH - 2 * _EDGE) * place / (len(values) - 1)
        share = (value - low) / span if high > low else 0.5
        return f"{x:.1f},{_HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * share:.1f}"

    points = [point(place, value) for place, value in enumerate(values)]
    x, y = points[-1].split(",")
    said = f'role="img" aria-label="{len(values)} runs, from {values[0]:.3f} to {values[-1]:.3f}"'
    return (
        f'<svg class="sparkline" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" width="160" height="32" {said}>'
        f'<polyline points="{" ".join(points)}"/><circle cx="{x}" cy="{y}" r="3"/></svg>'
    )
