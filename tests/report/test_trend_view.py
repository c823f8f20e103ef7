"""A trend in a terminal and as a page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from assay._util.rich_text import render_text
from assay.live.trends import Trend, TrendData, TrendMetric, trend_of
from assay.report.trend_view import drawing, trend_tables, write_trend_page
from tests.benchmarks.traffic import simulate

HOSTILE = '<script>alert(1)</script>"\x1b[31m'


@pytest.fixture(scope="module")
def changed() -> Trend:
    traffic = simulate(np.random.default_rng(2), 26, 500, drop=0.2, at=20.4)
    versions = [f"{HOSTILE}{int(value)}" for value in traffic.values]
    rows = TrendData(traffic.times, {HOSTILE: TrendMetric(traffic.values)}, versions=versions)
    return trend_of(rows, timezone="Europe/Rome", run=HOSTILE)


def test_the_terminal_shows_means_intervals_and_changes(changed: Trend) -> None:
    text = render_text(trend_tables(changed), 140, colour=False)
    point = changed.points[0]
    assert f"{point.period}  {point.mean:.3f}  {point.low:.3f} to {point.high:.3f}" in text
    assert "times in Europe/Rome" in text
    assert "●" in text
    assert re.search(r"change on 2026-01-2\d \d\d:\d\d \(between .* and .*\): 0\.\d+ to 0\.\d+, -0\.", text)
    assert "\x1b" not in text


def test_the_page_is_escaped_and_draws_the_change(changed: Trend, tmp_path: Path) -> None:
    html = write_trend_page(changed, tmp_path / "trend.html").read_text(encoding="utf-8")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert 'class="change"' in html
    assert 'class="region"' in html
    assert html.count('class="mean"') == 27  # a point a day; the last hour is on the 27th in Rome
    assert "Content-Security-Policy" in html


def test_labels_of_a_drawing_are_escaped(changed: Trend) -> None:
    rows = TrendData(np.array([0.0, 1.0]), {"m": TrendMetric(np.array([1.0, 0.0]))}, versions=["<b>", "<i>"])
    drawn = drawing(trend_of(rows, per="version"), "m")
    assert "<b>" not in drawn
    assert "&lt;b&gt;" in drawn
    assert drawing(changed, "no such metric") == ""


def test_a_trend_without_rows(tmp_path: Path) -> None:
    empty = trend_of(TrendData(np.empty(0), {}), run="shop")
    assert "no rows" in render_text(trend_tables(empty), 80, colour=False)
    assert "no rows" in write_trend_page(empty, tmp_path / "trend.html").read_text(encoding="utf-8")
