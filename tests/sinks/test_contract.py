"""Every sink keeps every promise of `assay.testing.bench` that its store lets it keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.testing.bench import Bench, Check, checks_for
from tests.sinks.benches import BENCHES, ServiceBench

CASES = [(bench, check) for bench in BENCHES for check in checks_for(bench)]


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made: Bench = request.param(tmp_path)
    yield made
    if isinstance(made, ServiceBench):
        made.server.stop()


@pytest.mark.parametrize(
    ("bench", "check"), CASES, indirect=["bench"], ids=[f"{bench.__name__}-{check.__name__}" for bench, check in CASES]
)
def test_contract(bench: Bench, check: Check) -> None:
    check(bench)
