"""Gaps that a text format turned into words: missing where they are, and kept where they may be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.data import RowError, open_data
from assay.records import Sample


def one(row: dict[str, Any]) -> Sample:
    [(_, sample)] = open_data([{"question": "Which?", **row}])
    assert not isinstance(sample, RowError), sample
    return sample


WORDS = ["nan", "NaN", "None", "NONE", "NULL", "null", "NaT", "<NA>", "#N/A", "n/a", "N/A", "undefined", "nil", "-"]


ERRORS = ["#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "#ERROR!", "1.#QNAN", "-1.#IND"]


@pytest.mark.parametrize("word", [*WORDS, *ERRORS, "\N{EM DASH}", r"\N", " nan ", "(null)", "\ufeffnan"])
def test_a_word_for_a_gap_is_no_passage_and_no_reference(word: str) -> None:
    sample = one({"contexts": word, "reference": word, "reference_contexts": word, "answer": "It is the third."})
    assert (sample.contexts, sample.reference, sample.reference_contexts) == (None, None, None)


@given(st.lists(st.sampled_from([*WORDS, "", "  ", None, float("nan"), "a passage", "None of them", "x"])))
def test_such_items_of_a_list_are_no_passages(items: list[Any]) -> None:
    kept = [item for item in items if item in ("a passage", "None of them", "x")]
    sample = one({"contexts": items})
    assert list(sample.passages) == kept
    # a list of gaps does not say that nothing was retrieved, as an empty list and one of blank texts do
    gaps = [item for item in items if item not in kept and not (isinstance(item, str) and not item.strip())]
    assert (sample.contexts is None) == (bool(items) and len(gaps) == len(items))


def test_ids_stay_with_their_passages() -> None:
    sample = one({"contexts": ["a", None, "", "b"], "context_ids": [1, 2, 3, 4]})
    assert [(context.text, context.id) for context in sample.contexts or ()] == [("a", "1"), ("b", "4")]


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("None", "None", "None"),  # both say that there is none
        ("None", "none.", "None"),
        ("None", "Pump two.", None),
        ("Nan", "Nan repairs the lamps.", "Nan"),  # a name: no program prints it so
        ("Null Island", "x", "Null Island"),
        ("nan", "nan", None),
    ],
)
def test_a_reference_that_the_answer_shares_is_meant(reference: str, answer: str, expected: str | None) -> None:
    assert one({"reference": reference, "answer": answer}).reference == expected


@pytest.mark.parametrize(
    ("word", "expected"), [("nan", None), ("<NA>", None), ("None", "None"), ("N/A", "N/A"), ("-", "-"), ("Nan", "Nan")]
)
def test_an_answer_is_missing_only_where_nobody_writes_so(word: str, expected: str | None) -> None:
    assert one({"answer": word}).answer == expected


def test_the_run_says_how_many_cells_there_are(tmp_path: Path) -> None:
    """Two contexts of three rows are words; the answer None is judged, and said."""
    (tmp_path / "r.csv").write_text("question,contexts,answer\nq,nan,a\nq,None,None\nq,It is so.,a\n")
    data = open_data(tmp_path / "r.csv")
    assert data.doubts == (
        "contexts: 2 of the first 3 rows have 'None' or 'nan', read as missing",
        "answer: 1 of the first 3 rows have 'None', read as a text; empty the cell if it is missing",
    )
    result = evaluate(str(tmp_path / "r.csv"), "faithfulness", store=None, progress=False)
    assert set(data.doubts) <= set(result.notes)
    assert [(error.number, error.cause) for error in result.errors] == [(1, "missing_input"), (2, "missing_input")]


def test_a_plain_file_has_no_such_note() -> None:
    assert open_data([{"question": "q", "contexts": ["None of them."], "answer": "Nobody."}]).doubts == ()


@pytest.mark.parametrize("word", ERRORS)
def test_an_error_of_a_spreadsheet_is_no_answer(word: str) -> None:
    assert one({"answer": word}).answer is None


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff", " \u200b \n", "\xa0"])
def test_a_mark_without_a_width_is_no_passage(blank: str) -> None:
    assert [context.text for context in one({"contexts": [blank, "a"]}).contexts or ()] == ["a"]
