"""Answers that are unusable in form, and answers that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.diagnosis.answer_form import form_problem
from assay.records import Context, Sample

PASSAGES = (
    "The fee is 54 francs a year. Paths look like /users/{id}/name.",
    "TimeoutError: the server did not answer.",
)


def problem(answer: str, question: str = "What is the fee?") -> str | None:
    return form_problem(Sample(question=question, answer=answer, contexts=tuple(Context(text=one) for one in PASSAGES)))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"fee": "54 fr', "is no valid JSON"),
        ('```json\n{"fee": 54,\n```', "is no valid JSON"),
        ('[{"fee": 54}', "is no valid JSON"),
        ('<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>', "is a raw tool call"),
        ('{"name": "search", "arguments": {"q": "fee"}}', "is a raw tool call"),
        ('{"tool": "search", "args": {}}', "is a raw tool call"),
        ('[{"function": "search", "parameters": {}}]', "is a raw tool call"),
        ('{"tool_calls": [{"id": 1}]}', "is a raw tool call"),
        ('Thought: look it up\nAction: search\nAction Input: "fee"', "is a raw tool call"),
        ("Dear {{customer.name}}, the fee is 54 francs.", "has the unfilled placeholder {{customer.name}}"),
        ("The fee is {fee}.", "has the unfilled placeholder {fee}"),
        ("The fee is ${fee}.", "has the unfilled placeholder ${fee}"),
        ('Traceback (most recent call last):\n  File "a.py", line 1', "is an error message of the application"),
        ("openai.RateLimitError: too many requests", "is an error message of the application"),
        ("Error code: 429 - too many requests", "is an error message of the application"),
        ("502 Bad Gateway", "is an error message of the application"),
        ("Use the context. Question: What is the fee?\nAnswer:", "repeats the prompt"),
        ("<|im_start|>assistant The fee is 54 francs.", "repeats the prompt"),
        ("The fee is " + "54 francs a year " * 5, "repeats 4 words over and over"),
        ("ha " * 20, "repeats 1 word over and over"),
        ("<div><span></span></div>", "is markup without a text"),
        ("You pay the fee at the", "ends within a sentence, after “the”"),
        ("You pay a yearly fee,", "ends within a sentence, after “fee,”"),
        ("You pay a fee of 54 fra", "ends within a word, “fra”"),
    ],
)
def test_what_is_no_answer_in_form_is_named(answer: str, expected: str) -> None:
    assert problem(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "54 francs",
        "54 francs a year",
        "The fee is 54 francs a year, every year, for every household, every year.",
        "Call GET /users/{id}/name.",  # as in the passages
        "TimeoutError: the server did not answer.",  # a passage explains it
        "An error such as ValueError: bad is logged.",
        '{"fee": 54}',
        '[{"name": "Ann"}, {"name": "Bob"}]',
        '{"name": "Ann", "city": "Rome"}',
        "It is what the letter was written to you for",
        "<b>54 francs</b>",
        "No, no, no, no: it is free.",
        "Which question? The fee is 54 francs.",
        "Pay 54 francs by the sun",  # "sunday" in no passage
        "{54}",
    ],
)
def test_answers_that_only_look_like_it_are_fine(answer: str) -> None:
    assert problem(answer) is None


def test_json_is_expected_where_the_question_asks_for_it() -> None:
    assert problem("The fee is 54 francs.", "Give the fee as JSON.") == "is no valid JSON"
    assert problem('{"fee": 54}', "Give the fee as JSON.") is None


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_is_read(answer: str, question: str) -> None:
    found = problem(answer, question)
    assert found is None or found == found.strip()
