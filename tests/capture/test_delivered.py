"""Which call gave the answer, which documents came too late for it, and what tools attach."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from assay.capture import Document, Run, sample_of, traces_of
from assay.capture.answering_call import answering_run
from assay.capture.messages import artifacts_in, artifacts_of

ANSWER = "Cats have eyes that shine, and they purr when calm."


def found(*texts: str) -> list[Document]:
    return [Document(text, None, {}) for text in texts]


def llm(id: str, at: float, says: str | None, *prompt: str, parent: str = "root") -> Run:
    return Run(id, parent, "llm", prompt=prompt, outputs=says, started=at, ended=at + 1)


def retriever(id: str, at: float, *texts: str, parent: str = "root") -> Run:
    return Run(id, parent, "retriever", documents=found(*texts), started=at, ended=at + 1)


def trace(*runs: Run, answer: str = ANSWER) -> Any:
    root = Run("root", inputs="q?", outputs=answer, started=0, ended=100)
    return traces_of([root, *runs])[0]


def test_a_grader_whose_yes_stands_in_the_answer_by_chance_did_not_give_it() -> None:
    whole = trace(llm("answer", 10, ANSWER, "p"), llm("grader", 20, "yes", "p"))  # "yes" stands in "eyes"
    assert answering_run(whole, ANSWER).id == "answer"  # type: ignore[union-attr]


def test_of_calls_that_share_as_much_the_last_one_answered() -> None:
    whole = trace(llm("draft", 10, ANSWER, "p"), llm("final", 20, ANSWER, "p"))
    assert answering_run(whole, ANSWER).id == "final"  # type: ignore[union-attr]


def test_where_no_call_shares_text_the_last_one_answered() -> None:
    whole = trace(llm("one", 10, "something", "p"), llm("two", 20, "else", "p"))
    assert answering_run(whole, ANSWER).id == "two"  # type: ignore[union-attr]
    assert answering_run(trace(), ANSWER) is None


def test_what_is_searched_after_the_answer_was_not_delivered_to_it() -> None:
    whole = trace(retriever("r1", 1, "one"), llm("answer", 10, ANSWER, "from: one"), retriever("r2", 20, "see also"))
    assert sample_of(whole).passages == ("one",)  # type: ignore[union-attr]


def test_what_began_later_by_another_machines_clock_but_stands_in_the_prompt_was_delivered() -> None:
    whole = trace(llm("answer", 10, ANSWER, "from: one"), retriever("r1", 20, "one"))
    assert sample_of(whole).passages == ("one",)  # type: ignore[union-attr]


def test_an_answer_put_together_from_two_calls_was_given_when_the_second_had_ended() -> None:
    whole = trace(
        retriever("r1", 1, "one"),
        llm("first", 10, "Cats have eyes that shine,", "from: one"),
        retriever("r2", 20, "two"),
        llm("second", 30, "and they purr when calm.", "from: two"),
    )
    assert sample_of(whole).passages == ("one", "two")  # type: ignore[union-attr]


def test_the_question_of_a_resumed_graph_is_in_the_state_that_it_puts_out() -> None:
    root = Run("root", inputs=SimpleNamespace(resume="yes"), outputs={"question": "q?", "answer": ANSWER}, ended=1.0)
    assert sample_of(traces_of([root])[0]).question == "q?"  # type: ignore[union-attr]


@dataclass
class Result:
    """What a search tool attaches."""

    documents: list[Any]
    total: int = 2


DOCUMENT = SimpleNamespace(page_content="one", id="1", metadata={})


@pytest.mark.parametrize(
    ("artifact", "texts"),
    [
        ([DOCUMENT], ["one"]),
        ((DOCUMENT,), ["one"]),
        ({"documents": [DOCUMENT], "total": 1}, ["one"]),
        ({"anything": [DOCUMENT]}, ["one"]),
        (Result([DOCUMENT]), ["one"]),
        ([{"text": "one", "score": 0.5}], ["one"]),
        ({"passages": [{"text": "one"}]}, ["one"]),
        ({"rows": [{"text": "one"}]}, None),  # may be anything
        ([], None),
        (["one"], None),  # texts may be anything
        ([DOCUMENT, 7], None),
        ([{"role": "user", "content": "hello"}], None),
        ("one", None),
        (b"one", None),
        (7, None),
        (None, None),
    ],
)
def test_documents_in_what_a_tool_attached(artifact: Any, texts: list[str] | None) -> None:
    items = artifacts_in(artifact)
    assert (None if items is None else len(items)) == (None if texts is None else len(texts))
    message = {"role": "tool", "content": "found", "artifact": artifact}
    assert [context.text for context in artifacts_of([message])] == (texts or [])
