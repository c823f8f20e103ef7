"""Every sink keeps every promise of `assay.testing.bench` that its store lets it keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.testing.bench import Bench, Check, checks_for
from tests.sinks.benches import BENCHES, ServiceBench

#: Of services the check that matters most is a short test; the others talk to a server for a while.
SHORT = "check_same_write_is_one_score"
CASES = [
    pytest.param(
        bench,
        check,
        id=f"{bench.__name__}-{check.__name__}",
        marks=[pytest.mark.long] if issubclass(bench, ServiceBench) and check.__name__ != SHORT else [],
    )
    for bench in BENCHES
    for check in checks_for(bench)
]


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made: Bench = request.param(tmp_path)
    yield made
    if isinstance(made, ServiceBench):
        made.server.stop()


@pytest.mark.parametrize(("bench", "check"), CASES, indirect=["bench"])
def test_contract(bench: Bench, check: Check) -> None:
    check(bench)
