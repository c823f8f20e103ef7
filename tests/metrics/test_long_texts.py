"""Answers that are longer than any answer is: skipped at once where a judge is asked, and measured where none is."""

import pytest

from assay import evaluate
from assay.metrics import base

LONG = "Paris is a city. " * 12_000  # 204,000 characters
ROW = {"question": "What is Paris?", "contexts": ["Paris is a city."], "reference": "A city."}


def test_a_long_answer_is_too_long_for_a_judge_only() -> None:
    """`langchain:exact_match` compares texts, and has a number for any length."""
    result = evaluate([{**ROW, "answer": LONG}], ["faithfulness", "langchain:exact_match"], store=None, progress=False)
    (failure,) = result.errors
    assert (failure.metric, failure.cause) == ("faithfulness", "too_long")
    assert failure.message == "'answer' has 204,000 characters, and at most 200,000 are judged"
    assert result.metrics["langchain:exact_match"].scored == 1


@pytest.mark.parametrize(("more", "causes"), [(0, []), (1, ["too_long"])])
def test_the_limit_is_the_last_length_that_is_judged(
    monkeypatch: pytest.MonkeyPatch, more: int, causes: list[str]
) -> None:
    answer = "Paris is a city."
    monkeypatch.setattr(base, "LONGEST", len(answer) - more)
    result = evaluate([{**ROW, "answer": answer}], ["faithfulness"], store=None, progress=False)
    assert [failure.cause for failure in result.errors] == causes


def test_a_long_reference_is_too_long_as_well() -> None:
    row = {**ROW, "answer": "A city.", "reference": LONG}
    (failure,) = evaluate([row], ["context_recall"], store=None, progress=False).errors
    assert (failure.cause, failure.message.split(" ")[0]) == ("too_long", "'reference'")
