"""How do I score what my LangChain chain answers, while it runs?

Attach a handler. Here the chain is LCEL with a fake chat model, so that it runs offline. The embedded judge scores it.
The second answer makes up a price.
"""

import re
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

from assay_langchain import AssayCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

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


def search(question: str) -> list[Document]:
    """The two documents that share most words with the question."""
    words = set(re.findall(r"\w{4,}", question.lower()))
    return sorted(SHELF, key=lambda doc: -len(words & set(re.findall(r"\w+", doc.page_content.lower()))))[:2]


prompt = ChatPromptTemplate.from_template("Answer from these passages:\n{context}\n\nQuestion: {question}")
model = FakeListChatModel(responses=ANSWERS)
rag = {"context": RunnableLambda(search), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()

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
    print(f"\n{health.live.delivered} of {health.live.submitted} delivered to {scores.name}")
