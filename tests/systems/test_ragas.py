"""ragas' numbers on 48 samples, driven by the same verdicts, and ours."""

from __future__ import annotations

import pytest

from tests.systems.golden import CASES, agrees, golden, scored

GOLDEN = golden("ragas")["values"]


@pytest.mark.parametrize("metric", sorted(GOLDEN))
def test_every_number_of_ragas_is_ours(metric: str) -> None:
    assert len(GOLDEN[metric]) >= 40
    for case, expected in GOLDEN[metric].items():
        agrees(scored(f"ragas:{metric}@original", CASES[case]), expected)
