"""Objects of the caller's that raise when they are looked at: their row is an error, and no other is."""

from __future__ import annotations

from typing import Any

import pytest

from assay import ScriptedJudge, evaluate


class Raising:
    """As an object of a database whose session is over."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


ROWS: dict[str, Any] = {
    "an answer": {"answer": Raising(), "contexts": ["Cats purr."]},
    "a passage": {"answer": "Cats purr.", "contexts": [Raising()]},
    "a question": {"question": Raising(), "answer": "Cats purr.", "contexts": ["Cats purr."]},
    "another column": {"answer": "Cats purr.", "contexts": ["Cats purr."], "note": Raising()},
    "a row": Raising(),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_other_rows_are_scored(row: Any, place: int) -> None:
    good = {"answer": "Cats purr.", "contexts": ["Cats purr."]}
    rows = [good, good]
    rows.insert(place, row)
    result = evaluate(
        rows, "faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"), store=None, progress=False
    )
    (error,) = result.errors
    assert (error.number, error.cause) == (place + 1, "bad_row")
    assert "it cannot be read: RuntimeError" in error.message
    assert (result.metrics["faithfulness"].scored, result.metrics["faithfulness"].total) == (2, 3)
