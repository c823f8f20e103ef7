"""A chain that retrieves passages and drops one before the prompt: the capture says so, and so does its cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay_langchain import AssayCallbackHandler
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from assay import ScriptedJudge, evaluate
from assay.analysis.diagnosis import find_causes
from assay.metrics import AnswerCorrectness
from assay.records import Sample

PURR, SLEEP, PLAY = "Cats purr when calm.", "Cats sleep all day.", "Cats play at night."


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(page_content=text) for text in (SLEEP, PLAY, PURR)]


def first_two(found: list[Document]) -> str:
    """As where a window of tokens is cut."""
    return "\n".join(one.page_content for one in found[:2])


def captured() -> Sample:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    given: Any = {"context": Shelf() | first_two, "question": RunnablePassthrough()}
    handler = AssayCallbackHandler(metrics=())
    (given | prompt | FakeListChatModel(responses=[SLEEP])).invoke("Why do cats purr?", config={"callbacks": [handler]})
    (sample,) = handler.samples()
    handler.close(5)
    return sample


def test_a_passage_cut_off_before_the_prompt_is_the_cause(tmp_path: Path) -> None:
    sample = captured()
    assert [(one.text, one.in_prompt) for one in sample.contexts or ()] == [(SLEEP, True), (PLAY, True), (PURR, False)]
    judge = ScriptedJudge(
        claims=lambda text: [text], support=lambda claim, text: "supported" if claim in text else "not_mentioned"
    )
    row = {**sample.to_dict(), "reference": PURR}
    result = evaluate([row], ["context_recall", AnswerCorrectness(weights=(1, 0))], judge, store=tmp_path)
    (cause,) = find_causes(result).per_row.values()
    assert (cause.label, cause.because) == (
        "truncated",
        f"passage 3 has “{PURR}”, and was not in the prompt",
    )
