"""Chains written in LCEL, and functions that work like them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from pydantic import BaseModel

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import DOCUMENTS, OTHER, PROMPT, Shelf, joined, model, rag

shape = Group("LCEL chains")


@shape("a dict of retriever and question before the prompt", Expected())
def lcel_dict(handler: Any) -> None:
    rag().invoke(QUESTION, on(handler()))


@shape("the same, awaited", Expected())
def lcel_dict_async(handler: Any) -> None:
    asyncio.run(rag().ainvoke(QUESTION, on(handler())))


@shape("`RunnablePassthrough.assign`, retrieval in a lambda", Expected())
def passthrough_assign(handler: Any) -> None:
    found = RunnablePassthrough.assign(context=lambda x: Shelf().invoke(x["question"]))
    found.assign(answer=PROMPT | model()).invoke({"question": QUESTION}, on(handler()))


@shape("`RunnableParallel` that gives the answer with its sources", Expected())
def parallel_with_sources(handler: Any) -> None:
    found = RunnableParallel(context=Shelf(), question=RunnablePassthrough())
    found.assign(answer=PROMPT | model() | StrOutputParser()).invoke(QUESTION, on(handler()))


@shape("a function that makes one text of the documents", Expected())
def formatted_documents(handler: Any) -> None:
    rag(Shelf() | joined).invoke(QUESTION, on(handler()))


@shape("a function that reranks: its choice, in its order", Expected(contexts=((HEAL, True), (CALM, True))))
def rerank_function(handler: Any) -> None:
    found = Shelf(documents=(*DOCUMENTS, OTHER))
    rag(found | (lambda documents: [documents[1], documents[0]])).invoke(QUESTION, on(handler()))


@shape("a function that returns documents, without a retriever", Expected())
def function_returns_documents(handler: Any) -> None:
    rag(RunnableLambda(lambda question: list(DOCUMENTS))).invoke(QUESTION, on(handler()))


@shape("two retrievers side by side, each document once", Expected(contexts=((CALM, True), (HEAL, True), (BARK, True))))
def two_retrievers_in_parallel(handler: Any) -> None:
    both = RunnableParallel(a=Shelf(), b=Shelf(documents=(DOCUMENTS[0], OTHER)))
    # the branches run in threads: their order is that of their start
    rag(both).invoke(QUESTION, on(handler(), max_concurrency=1))


@shape("two chains side by side under names of one's own: no sample, since either may be the answer")
def two_chains_in_parallel(handler: Any) -> None:
    both = threading.Barrier(2, timeout=30)  # fakes are so quick that one may be done before the other begins

    def together(question: str) -> str:
        both.wait()
        return question

    cats, dogs = (RunnableLambda(together) | rag(Shelf(documents=(found,)), model(said, said)) for found, said in
                  ((DOCUMENTS[0], "Cats purr when they are calm."), (OTHER, "Dogs do not, they bark.")))  # fmt: skip
    for beside in (RunnableParallel(cats=cats, dogs=dogs), RunnableParallel(dogs=dogs, cats=cats)):
        beside.invoke(QUESTION, on(handler()))


@shape("two retrievers, one after the other", Expected(contexts=((BARK, True), (CALM, True), (HEAL, True))))
def two_retrievers_in_sequence(handler: Any) -> None:
    @chain
    def both(question: str) -> list[Document]:
        return Shelf(documents=(OTHER,)).invoke(question) + Shelf().invoke(question)

    rag(both).invoke(QUESTION, on(handler()))


@shape("two retrievers, joined and cut by a function", Expected(contexts=((BARK, True), (CALM, True))))
def merged_and_chosen(handler: Any) -> None:
    both = RunnableParallel(a=Shelf(), b=Shelf(documents=(OTHER,)))
    rag(both | (lambda found: [*found["b"], found["a"][0]])).invoke(QUESTION, on(handler()))


@shape("one passage known by two ids is one", Expected())
def repeated_passage(handler: Any) -> None:
    rag(Shelf(documents=(*DOCUMENTS, Document(id="copy", page_content=CALM)))).invoke(QUESTION, on(handler()))


@shape("a prompt that takes the first document only", Expected(contexts=((CALM, True), (HEAL, False))))
def prompt_cuts_a_document(handler: Any) -> None:
    rag(Shelf() | (lambda documents: documents[0].page_content)).invoke(QUESTION, on(handler()))


@shape("a prompt that cuts the text", Expected(contexts=((CALM, True), (HEAL, False))))
def prompt_cuts_the_text(handler: Any) -> None:
    rag(Shelf() | joined | (lambda text: text[: len(CALM) + 10])).invoke(QUESTION, on(handler()))


@shape("the question rewritten by a model before the search: the user's counts", Expected())
def rewritten_question(handler: Any) -> None:
    rewrite = ChatPromptTemplate.from_template("Rewrite: {q}") | model("what makes cats purr?") | StrOutputParser()
    inner = {"context": rewrite | Shelf(), "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()
    inner.invoke(QUESTION, on(handler()))


@shape("a chain inside a chain, with a step after the answer", Expected(answer=ANSWER.upper()))
def nested_chains(handler: Any) -> None:
    whole = RunnableLambda(lambda x: x["question"]) | rag() | str.upper
    whole.invoke({"question": QUESTION}, on(handler()))


@shape("a router that takes one of two chains", Expected(), Expected(question="Hello!", answer="Hi.", contexts=None,
       no_context="no retriever run was seen"))  # fmt: skip
def router(handler: Any) -> None:
    greeting = ChatPromptTemplate.from_template("{x}") | model("Hi.") | StrOutputParser()
    branch = RunnableBranch((lambda question: "?" in question, rag()), greeting)
    one = handler()
    branch.invoke(QUESTION, on(one))
    branch.invoke("Hello!", on(one))


@shape("a model call for each document before the answer", Expected(contexts=((CALM, False), (HEAL, False))))
def map_over_documents(handler: Any) -> None:
    note = ChatPromptTemplate.from_template("Shorten: {x}") | model("calm", "healing") | StrOutputParser()
    notes = Shelf() | (lambda documents: [document.page_content for document in documents]) | note.map()
    rag(notes | " ".join).invoke(QUESTION, on(handler(), max_concurrency=1))


@shape("a batch: as many samples, side by side", *[Expected(question=f"{QUESTION} ({n})") for n in range(4)],
       in_order=False)  # fmt: skip
def batch(handler: Any) -> None:
    rag().batch([f"{QUESTION} ({n})" for n in range(4)], on(handler()))


@shape("a batch, awaited", *[Expected(question=f"{QUESTION} ({n})") for n in range(4)], in_order=False)
def abatch(handler: Any) -> None:
    asyncio.run(rag().abatch([f"{QUESTION} ({n})" for n in range(4)], on(handler())))


@shape("a batch in which one fails and is returned", Expected(), Expected(question="fail", contexts=None, answer=None,
       status="failed", no_context="no retriever run was seen"), in_order=False)  # fmt: skip
def batch_with_exceptions(handler: Any) -> None:
    def check(question: str) -> str:
        if question == "fail":
            raise ValueError(question)
        return question

    (RunnableLambda(check) | rag()).batch([QUESTION, "fail"], on(handler()), return_exceptions=True)


class Reply(BaseModel):
    """An answer with its certainty."""

    answer: str
    certainty: float


@shape("an answer as a structure, through a tool call", Expected())
def structured_answer(handler: Any) -> None:
    says = AIMessage("", tool_calls=[{"name": "Reply", "args": {"answer": ANSWER, "certainty": 0.9}, "id": "1"}])
    source = {"context": Shelf(), "question": RunnablePassthrough()}
    (source | PROMPT | model(says).with_structured_output(Reply)).invoke(QUESTION, on(handler()))


@shape("question with an image, answer in blocks with reasoning", Expected())
def content_blocks(handler: Any) -> None:
    asked = HumanMessage([{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:,"}}])
    says = AIMessage([{"type": "reasoning", "reasoning": "Think."}, {"type": "text", "text": ANSWER}])

    @chain
    def answer(messages: list[Any]) -> Any:
        found = joined(Shelf().invoke("cats"))
        return model(says).invoke([("system", found), *messages])

    answer.invoke([asked], on(handler()))


@shape("a model for completions in place of chat", Expected())
def completion_model(handler: Any) -> None:
    rag(llm=FakeListLLM(responses=[ANSWER])).invoke(QUESTION, on(handler()))


@shape("a plain function that does it all", Expected())
def one_function(handler: Any) -> None:
    @chain
    def answer(question: str) -> str:
        found = Shelf().invoke(question)
        return model().invoke(f"{joined(found)}\n{question}").text

    answer.invoke(QUESTION, on(handler()))


@shape("retrieval that finds nothing", Expected(contexts=()))
def empty_retrieval(handler: Any) -> None:
    rag(Shelf(documents=())).invoke(QUESTION, on(handler()))


@shape("texts from elsewhere, told to nobody", Expected(contexts=None, no_context="no retriever run was seen"))
def unknown_source(handler: Any) -> None:
    rag(RunnableLambda(lambda question: "found by hand")).invoke(QUESTION, on(handler()))
