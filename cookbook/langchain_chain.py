"""How do I score what my LangChain chain answers, while it runs?

Attach a handler. Here the chain is LCEL with a small keyword retriever and a fake chat model, so that it runs offline;
the scores come from the embedded judge. The second answer makes up a price.
"""

import re
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

from assay_langchain import AssayCallbackHandler
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from assay import JsonlSink
from assay.evaluation.display.explanation import score_in_words

SHELF = [
    Document("The Eddystone lighthouse was built by John Smeaton and first lit in 1759.", id="eddystone"),
    Document("Smeaton's tower was taken down in 1877 because the rock below it was wearing away.", id="tower"),
    Document("The upper part of the tower stands on Plymouth Hoe, where visitors may climb it.", id="hoe"),
]
ANSWERS = [
    "The Eddystone lighthouse was first lit in 1759.",
    "The upper part of the tower stands on Plymouth Hoe. A ticket costs 12 pounds on Sundays.",
]


class Shelf(BaseRetriever):
    """The two documents that share most words with the question."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        asked = set(re.findall(r"\w{4,}", query.lower()))
        return sorted(SHELF, key=lambda doc: -len(asked & set(re.findall(r"\w+", doc.page_content.lower()))))[:2]


def main() -> None:
    model = GenericFakeChatModel(messages=iter(map(AIMessage, ANSWERS)))
    prompt = ChatPromptTemplate.from_template("Answer from these passages:\n{context}\n\nQuestion: {question}")
    rag = {"context": Shelf(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()

    with TemporaryDirectory() as folder:
        scores = Path(folder) / "scores.jsonl"
        handler = AssayCallbackHandler(["faithfulness", "context_utilization"], sinks=[JsonlSink(scores)])
        for question in ("When was the Eddystone lighthouse first lit?", "Where is the upper part of the tower now?"):
            run_id = uuid.uuid4()
            print(f"\n{question}\n{rag.invoke(question, config={'callbacks': [handler], 'run_id': run_id})}")
            scored = handler.result(run_id, timeout=60)  # your application would not wait
            assert scored is not None
            for score in scored.scores.values():
                print(score_in_words(score, scored.sample))
        health = handler.close()
        print(f"\n{health.live.delivered} of {health.live.submitted} delivered to {scores.name}:")
        print(scores.read_text().splitlines()[0][:100], "...")


if __name__ == "__main__":
    main()
