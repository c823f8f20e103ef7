"""Histograms as SVG, drawn when a report is written: Vega-Lite, turned into SVG by vl-convert (extra `report`).

The colours are names for the page's style, which has them light and dark: `.chart [fill="#..."]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from assay._util.install_hints import install_extra
from assay.errors import MissingExtra

EXTRA = "report"
INK, GRID, NOW, BEFORE = "#111111", "#dddddd", "#4477aa", "#bb7733"
_BINS = 20
_WIDTH, _HEIGHT = 232, 84


def histogram(values: Sequence[float], low: float, high: float, before: Sequence[float] = ()) -> str:
    """How many rows have which value, as SVG; of a baseline as an outline. Empty where there are no values.

    The scale is that of the metric, or of the values where it has no end. Raises MissingExtra.
    """
    convert = _library()
    every = [*values, *before]
    if not every:
        return ""
    if not math.isfinite(low) or not math.isfinite(high):
        low, high = min(every), max(every)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / _BINS
    both = (("now", counts(values, low, high)), ("before", counts(before, low, high) if before else []))
    data = {
        name: [{"from": low + n * width, "to": low + (n + 1) * width, "rows": rows} for n, rows in enumerate(found)]
        for name, found in both
    }
    return convert(_spec(data, low, high))


def counts(values: Sequence[float], low: float, high: float) -> list[int]:
    """How many values are in each of the bins; the highest one is in the last."""
    found = [0] * _BINS
    for value in values:
        found[max(0, min(_BINS - 1, int((value - low) / (high - low) * _BINS)))] += 1
    return found


def _spec(data: dict[str, list[dict[str, float]]], low: float, high: float) -> dict[str, object]:
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [low, high], "nice": False},
        "axis": {"title": None, "tickCount": 4, "grid": False},
    }
    y = {"field": "rows", "type": "quantitative", "axis": {"title": None, "tickCount": 2, "tickMinStep": 1}}
    encoding = {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}
    bars = {"data": {"values": data["now"]}, "mark": {"type": "rect", "color": NOW, "stroke": None},
            "encoding": encoding}  # fmt: skip
    layers = [bars]
    if data["before"]:
        ends = [*data["before"], {**data["before"][-1], "from": high}]
        outline = {"type": "line", "interpolate": "step-after", "color": BEFORE, "strokeWidth": 1.5}
        layers.append({"data": {"values": ends}, "mark": outline, "encoding": {"x": x, "y": y}})
    axis = {"labelColor": INK, "domainColor": INK, "tickColor": INK, "gridColor": GRID, "labelFontSize": 11}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": layers,
        "config": {"background": None, "view": {"stroke": None}, "axis": axis, "font": "sans-serif", "aria": False},
    }


def _library() -> Callable[[dict[str, object]], str]:
    try:
        from vl_convert import vegalite_to_svg
    except ImportError as error:
        raise MissingExtra(f"an HTML report needs vl-convert-python: {install_extra(EXTRA)}") from error
    return lambda spec: str(vegalite_to_svg(spec))
