"""Several columns that are the passages of one field, in the order in which they are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.cli.options import column_map
from assay.data import open_data
from assay.errors import InputError
from assay.records import Sample

ROW = {"q": "When?", "d1": "It opened in 1990 in Rome.", "d2": "Bananas are yellow.", "a": "It opened in 1990."}


def read(row: dict[str, Any], contexts: list[str]) -> Sample:
    ((_, sample),) = open_data([row], column_map={"question": "q", "answer": "a", "contexts": contexts})
    assert isinstance(sample, Sample), sample
    return sample


def test_passages_come_in_the_order_of_the_columns() -> None:
    assert read(ROW, ["d1", "d2"]).passages == (ROW["d1"], ROW["d2"])
    assert read(ROW, ["d2", "d1"]).passages == (ROW["d2"], ROW["d1"])
    assert read(ROW, ["d1", "d2"]).metadata == {}  # both are used


def test_the_order_of_columns_does_not_change_a_score_as_losing_one_did() -> None:
    """With the last column alone the claim was unsupported: 0.0 in place of 1.0."""
    for columns in (["d1", "d2"], ["d2", "d1"]):
        named = {"question": "q", "answer": "a", "contexts": columns}
        result = evaluate([ROW], "faithfulness", column_map=named, store=None)
        assert result.metrics["faithfulness"].mean == 1.0


@given(
    st.lists(
        st.one_of(st.none(), st.text("ab", min_size=1), st.lists(st.text("ab"), max_size=3)), min_size=2, max_size=5
    )
)
def test_joining_is_concatenation_of_what_each_column_has(cells: list[Any]) -> None:
    row = {"q": "?", "a": "!", **{f"d{n}": cell for n, cell in enumerate(cells)}}
    found = read(row, [f"d{n}" for n in range(len(cells))])
    texts = [[cell] if isinstance(cell, str) else list(cell or []) for cell in cells]
    assert list(found.passages) == [text for cell in texts for text in cell if text]  # a blank item is no passage
    assert (found.contexts is None) == all(cell is None for cell in cells)


def test_a_missing_cell_is_no_passage() -> None:
    assert read({**ROW, "d2": None}, ["d1", "d2"]).passages == (ROW["d1"],)


@pytest.mark.parametrize(
    ("column_map", "message"),
    [
        ({"question": ["q", "d1"]}, r"'question' is one text, and cannot be made of the columns 'q' and 'd1'"),
        ({"contexts": ["d1", "d1"]}, r"the column 'd1' is given twice"),
        ({"contexts": ["d1", "d3"]}, r"there is no column 'd3'; the columns are 'q', 'd1', 'd2', 'a'"),
        ({"contexts": []}, r"expected the name of a column"),
        ({"contexts": [1, 2]}, r"expected the name of a column"),
    ],
)
def test_wrong_maps_are_refused(column_map: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_data([ROW], column_map=column_map)


def test_map_options_of_one_field_are_kept_in_their_order() -> None:
    assert column_map(["contexts=d2", "question=q", "contexts=d1=x"]) == {"contexts": ["d2", "d1=x"], "question": ["q"]}
    with pytest.raises(InputError, match="FIELD=COLUMN"):
        column_map(["contexts"])


def test_the_error_names_the_columns_that_were_not_recognised(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"question": "?", "reply": "!", "Other 1": "x"}))
    with pytest.raises(InputError, match=r"Present: question; not recognised: 'reply', 'Other 1'. Use column_map="):
        evaluate(str(file), "faithfulness", store=None)
    with pytest.raises(InputError, match=r"no default metric fits. Present: question; not recognised: 'reply'"):
        evaluate(str(file), store=None)
