"""What metrics ask a judge, what they tell beside their numbers and what they cannot measure: as asked.json has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.metrics import systems
from tests.metrics.systems import asked


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked.TABLE.read_text(encoding="utf-8"))
    return found


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("system", [asked.OWN, *systems.SYSTEMS])
def test_every_metric_asks_and_tells_what_it_did(system: str, known: dict[str, Any]) -> None:
    found = asked.table(system)
    assert {name: row for name, row in found.items() if row != known.get(name)} == {}
    assert found.keys() == {name for name in known if (name.rpartition(":")[0] or asked.OWN) == system}
