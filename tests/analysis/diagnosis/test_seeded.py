"""The causes of seeded failures: right by what a careful reader says of the claims, and with slips in it."""

from __future__ import annotations

from collections import Counter

from assay.analysis.diagnosis import LABELS
from tests.analysis.diagnosis.seeded_rows import LABEL_OF, seeded_rows


def test_the_set_is_as_large_as_it_says() -> None:
    rows = list(seeded_rows())
    faults = Counter(row.fault for row in rows)
    assert faults.pop("none") >= 300
    assert faults.keys() == LABEL_OF.keys() - {"none"}
    assert min(faults.values()) >= 40
    assert len({row.data["id"] for row in rows}) == len(rows)
    assert {label for label in LABEL_OF.values() if label is not None} <= set(LABELS)
