"""The page says what was run and what differs, from made-up runs."""

from __future__ import annotations

from tests.frameworks.measured import Measured
from tests.frameworks.outcomes import Run
from tests.frameworks.page import page, ratio

SEEN = {"health": {"events": 1200, "live": {"submitted": 30, "errors": {}}}, "threads": ["assay-live"], "logs": []}


def ran(attached: str, outcome: str, cpu: float) -> Run:
    outcomes = {"t.py::a": "passed", "t.py::b": outcome}
    return Run(attached=attached, outcomes=outcomes, cpu_seconds=cpu, seen=SEEN if attached == "assay" else {})


def measured(attached: str = "passed", empty: str = "passed", plain: tuple[str, ...] = ("passed",)) -> Measured:
    return Measured(
        commit="abc1234",
        plain=tuple(ran("nothing", outcome, 2.0) for outcome in plain),
        empty=(ran("empty", empty, 2.0),),
        attached=(ran("assay", attached, 3.0),),
    )


def written(found: Measured) -> str:
    return page({"langchain-core": found}, python="3.11.7", alone=3)


def test_a_suite_without_differences():
    text = written(measured())
    # 3.0 s of CPU with assay by 2.0 s without: 1.50
    row = "| langchain-core | langchain-core 1.7.2 | 2 | 1 + 1 + 1 | 2 → 2 | **0** | 0 | 0 | 0 | 1.50 | 1,200 | 30 |"
    assert row in text
    assert "2 tests in all" in text
    assert "abc1234" in text
    assert "## Because of assay" not in text
    assert "errors none" in text


def test_a_difference_is_counted_and_named():
    text = written(measured(attached="failed"))
    assert "| 2 → 1 | **1** | 0 |" in text
    assert "## Because of assay\n\n- langchain-core: `t.py::b`, passed → failed (empty handler: passed)" in text


def test_a_difference_that_an_empty_handler_makes_is_named_apart():
    text = written(measured(attached="failed", empty="failed"))
    assert "| **0** | 1 |" in text
    assert "## An empty handler too\n\n- langchain-core: `t.py::b`" in text


def test_flaky_tests_are_named():
    text = written(measured(plain=("passed", "failed")))
    assert "| 2 + 1 + 1 | 1-2 → 2 |" in text
    assert "## Flaky\n\n- langchain-core: `t.py::b` (failed or passed)" in text


def test_tests_of_another_version_are_said():
    text = page({"llama-index-core": measured()}, python="3.11.7", alone=3)
    assert "llama-index-core 0.14.25, tests of 0.14.14" in text


def test_the_ratio_is_of_the_medians():
    plain = [ran("nothing", "passed", cpu) for cpu in (1.0, 2.0, 9.0)]
    assert ratio(plain, [ran("assay", "passed", 3.0)]) == "1.50"  # 3.0 / median(1, 2, 9)
    assert ratio([ran("nothing", "passed", 0.0)], plain) == "–"
