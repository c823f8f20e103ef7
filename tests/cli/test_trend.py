"""`assay live trend`: of a run, of an application, of a window, as a table, JSON and a page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from tests.conftest import literal_support

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def assay(command_line: Run, tmp_path: Path) -> Run:
    """The command line, in a folder with the run `live/shop`: a row of today, and two of ten days ago."""
    from assay import evaluate

    now = time.time()
    rows = [
        {"id": f"r{n}", "question": "What is it?", "answer": answer, "contexts": ["It is red."], "version": version,
         "ended": now - 86_400.0 * days}
        for n, (answer, version, days) in enumerate(
            (("It is red.", "1.0", 10), ("It is old.", "1.0", 10), ("It is red.", "1.1", 0)), 1)
    ]  # fmt: skip
    judge = ScriptedJudge(support=literal_support)
    evaluate(rows, "faithfulness", judge, store=tmp_path / ".assay", run="live/shop", progress=False)
    return command_line


def points(out: str) -> list[tuple[str, float, int]]:
    return [(one["period"], one["mean"], one["rows"]) for one in json.loads(out)["points"]]


def test_by_version_of_an_application(assay: Run) -> None:
    code, out, _ = assay("live", "trend", "shop", "--per", "version", "--json")
    assert code == 0
    assert points(out) == [("1.0", 0.5, 2), ("1.1", 1.0, 1)]
    assert json.loads(out)["run"] == "live/shop"


def test_of_a_window_and_of_rows_with_a_value(assay: Run) -> None:
    assert points(assay("live", "trend", "shop@7d", "--per", "version", "--json")[1]) == [("1.1", 1.0, 1)]
    found = assay("live", "trend", "live/shop", "--per", "version", "--where", "version=1.0", "--json")
    assert points(found[1]) == [("1.0", 0.5, 2)]


def test_the_table_and_the_page(assay: Run, tmp_path: Path) -> None:
    page = tmp_path / "trend.html"
    code, out, err = assay("live", "trend", "shop", "--timezone", "Europe/Rome", "--out", str(page))
    assert code == 0
    assert "live/shop by day; times in Europe/Rome" in out
    assert "faithfulness" in out
    assert str(page) in err
    assert "live/shop" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("nothing",), "no run"), (("shop", "--per", "week"), "per"), (("shop", "--out", "x.txt"), "--out"),
     (("shop", "--where", "version"), "--where"), (("shop@7x",), "window"), (("shop", "--since", "soon"), "--since"),
     (("shop@7d", "--since", "2026-01-01"), "--since"), (("shop", "--timezone", "Mars"), "timezone")],
)  # fmt: skip
def test_wrong_usage_is_named(assay: Run, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = assay("live", "trend", *arguments)
    assert code == 2
    assert said in err
