"""The part of the frameworks' own tests that CI runs: nothing differs with assay attached. All: `__main__.py`."""

from __future__ import annotations

import pytest

from tests.frameworks.measuring import measure
from tests.frameworks.suites import SUITES

pytestmark = pytest.mark.needs(name="frameworks")

#: Tests of each small suite that pass, at the least: a suite that no longer runs must not look untouched.
ENOUGH = {"langchain-core": 400, "langchain-classic": 100, "langgraph-prebuilt": 100, "llama-index-instrumentation": 40}


def test_every_small_suite_is_run() -> None:
    assert ENOUGH.keys() == {name for name, suite in SUITES.items() if suite.small}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ENOUGH)
def test_assay_makes_no_difference_that_an_empty_handler_does_not_make(name, tmp_path) -> None:
    found = measure(name, tmp_path, small=True)
    assert found.plain[0].passed >= ENOUGH[name]
    assert found.comparison.because == ()
    (attached,) = found.attached
    health = attached.seen["health"]
    assert health.get("events") or health.get("exchanges") is not None
    assert (health["live"]["errors"], health["live"]["dropped"]) == ({}, 0)
    assert [line for line in attached.seen["logs"] if "gave no sample" not in line] == []
    assert set(attached.seen["threads"]) <= {"assay-live", "assay-delivery"}
