"""Every shape of chain gives exactly the question, the contexts, the answer and the status that it had."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest
from langchain_classic.chains import ConversationalRetrievalChain, RetrievalQA, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from langchain_core.vectorstores import InMemoryVectorStore

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
PASSAGES = ["Cats purr when they are calm.", "Cats also purr to heal."]

OTHER = Document(id="d3", page_content="Dogs bark.")


def check(sample: Any, *, question: Any = QUESTION, contexts: Any = PASSAGES, answer: Any = ANSWER) -> None:
    assert (sample.question, list(sample.passages), sample.answer) == (question, contexts, answer)
    assert sample.status == "complete"
    assert sample.id == sample.ids["langchain_run_id"]


def test_lcel(captured: Any, kit: Any) -> None:
    it = captured()
    config = {**it.config, "tags": ["t1"], "metadata": {"user": "u1"}, "run_name": "rag"}
    assert kit.rag().invoke(QUESTION, config=config) == ANSWER
    check(it.sample)
    assert it.sample.metadata == {"user": "u1", "name": "rag", "tags": ["t1"]}
    assert it.sample.contexts[0].id == "d1"
    assert it.sample.contexts[0].metadata == {"page": 3, "tags": ["cat"]}
    assert it.scored[0].values == {"faithfulness": 1.0}


def test_vector_store_and_real_order(captured: Any, kit: Any) -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_texts([f"passage {n}" for n in range(6)])
    retriever = store.as_retriever(search_kwargs={"k": 4})
    expected = [document.page_content for document in retriever.invoke(QUESTION)]
    it = captured()
    kit.rag(retriever).invoke(QUESTION, config=it.config)
    check(it.sample, contexts=expected)


def test_dict_in_and_dict_out(captured: Any, kit: Any) -> None:
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    pipeline = RunnablePassthrough.assign(context=lambda x: kit.Shelf().invoke(x["question"])).assign(
        answer=prompt | kit.model()
    )
    it = captured()
    pipeline.invoke({"question": QUESTION}, config=it.config)
    check(it.sample)


def test_create_retrieval_chain(captured: Any, kit: Any) -> None:
    stuff = create_stuff_documents_chain(kit.model(), ChatPromptTemplate.from_template("{context} {input}"))
    it = captured()
    create_retrieval_chain(kit.Shelf(), stuff).invoke({"input": QUESTION}, config=it.config)
    check(it.sample)


@pytest.mark.parametrize("sources", [True, False])
def test_retrieval_qa(captured: Any, kit: Any, sources: bool) -> None:
    it = captured()
    qa = RetrievalQA.from_chain_type(kit.model(), retriever=kit.Shelf(), return_source_documents=sources)
    qa.invoke({"query": QUESTION}, config=it.config)
    check(it.sample)


def test_conversational_chain_keeps_the_users_question(captured: Any, kit: Any) -> None:
    it = captured()
    conversation = ConversationalRetrievalChain.from_llm(kit.model("rewritten?", ANSWER), retriever=kit.Shelf())
    conversation.invoke({"question": QUESTION, "chat_history": [("Hello?", "Hi.")]}, config=it.config)
    check(it.sample)
    assert [(turn.question, turn.answer) for turn in it.sample.history] == [("Hello?", "Hi.")]


def test_stream(captured: Any, kit: Any) -> None:
    it = captured()
    assert "".join(kit.rag().stream(QUESTION, config=it.config)) == ANSWER
    check(it.sample)


async def test_async_forms(captured: Any, kit: Any) -> None:
    it = captured()
    await kit.rag().ainvoke(QUESTION, config=it.config)
    assert "".join([chunk async for chunk in kit.rag().astream(QUESTION, config=it.config)]) == ANSWER
    events = [event["event"] async for event in kit.rag().astream_events(QUESTION, version="v2", config=it.config)]
    assert "on_chain_end" in events
    for sample in it.samples:
        check(sample)
    assert len(it.samples) == 3


async def test_batches_are_independent_traces(captured: Any, kit: Any) -> None:
    it = captured()
    questions = [f"question {n}?" for n in range(20)]
    pipeline = RunnablePassthrough.assign(
        answer=RunnableLambda(lambda x: kit.Shelf().invoke(x["question"]) and f"to {x['question']}")
    )
    pipeline.batch([{"question": text} for text in questions], config=it.config)
    await pipeline.abatch([{"question": text} for text in questions], config=it.config)
    assert sorted(sample.question for sample in it.samples) == sorted(questions * 2)
    for sample in it.samples:
        check(sample, question=sample.question, answer=f"to {sample.question}")


def test_ensemble_counts_the_outer_retriever(captured: Any, kit: Any) -> None:
    ensemble = EnsembleRetriever(
        retrievers=[kit.Shelf(), kit.Shelf(documents=(kit.DOCUMENTS[1], OTHER))], weights=[0.5, 0.5]
    )
    expected = [document.page_content for document in ensemble.invoke(QUESTION)]
    it = captured()
    kit.rag(ensemble).invoke(QUESTION, config=it.config)
    check(it.sample, contexts=expected)
    assert len(expected) == 3


def test_merger_and_nested_ensembles(captured: Any, kit: Any) -> None:
    nested = MergerRetriever(retrievers=[EnsembleRetriever(retrievers=[kit.Shelf()], weights=[1.0]), kit.Shelf()])
    it = captured()
    kit.rag(nested).invoke(QUESTION, config=it.config)
    check(it.sample)


def test_multi_query_takes_no_inner_answer(captured: Any, kit: Any) -> None:
    multi = MultiQueryRetriever.from_llm(kit.Shelf(), kit.model("first wording?\nsecond wording?"))
    it = captured()
    kit.rag(multi).invoke(QUESTION, config=it.config)
    check(it.sample)


def test_compression_gives_what_the_compressor_left(captured: Any, kit: Any) -> None:
    compressed = ContextualCompressionRetriever(
        base_retriever=kit.Shelf(), base_compressor=LLMChainExtractor.from_llm(kit.model("calm", "heal"))
    )
    it = captured()
    kit.rag(compressed).invoke(QUESTION, config=it.config)
    check(it.sample, contexts=["calm", "heal"])


def test_parallel_retrievers_give_each_document_once(captured: Any, kit: Any) -> None:
    both = RunnableParallel(a=kit.Shelf(), b=kit.Shelf(documents=(kit.DOCUMENTS[0], OTHER)))
    it = captured()
    kit.rag(both).invoke(QUESTION, config=it.config)
    sample = it.sample
    assert sorted(sample.passages) == sorted([*PASSAGES, OTHER.page_content])


def test_sequential_retrievers_in_order_of_start(captured: Any, kit: Any) -> None:
    @chain
    def twice(question: str) -> list[Document]:
        return kit.Shelf(documents=(OTHER,)).invoke(question) + kit.Shelf().invoke(question)

    it = captured()
    kit.rag(twice).invoke(QUESTION, config=it.config)
    check(it.sample, contexts=[OTHER.page_content, *PASSAGES])


def test_same_text_with_another_id_is_the_same_passage(captured: Any, kit: Any) -> None:
    copies = (kit.DOCUMENTS[0], Document(id="copy", page_content=PASSAGES[0]), kit.DOCUMENTS[0])
    it = captured()
    kit.rag(kit.Shelf(documents=copies)).invoke(QUESTION, config=it.config)
    assert [context.id for context in it.sample.contexts] == ["d1"]


async def test_threads_and_tasks_inside_a_runnable(captured: Any, kit: Any) -> None:
    async def find(question: str) -> list[Document]:
        found, more = await asyncio.gather(
            kit.Shelf().ainvoke(question), asyncio.to_thread(kit.Shelf(documents=(OTHER,)).invoke, question)
        )
        return found + more

    it = captured()
    await kit.rag(RunnableLambda(find)).ainvoke(QUESTION, config=it.config)
    assert sorted(it.sample.passages) == sorted([*PASSAGES, OTHER.page_content])


def test_empty_retrieval_is_known_to_be_empty(captured: Any, kit: Any) -> None:
    it = captured()
    kit.rag(kit.Shelf(documents=())).invoke(QUESTION, config=it.config)
    assert it.sample.contexts == ()
    assert it.scored[0].scores["faithfulness"].unscored.cause == "no_context"


def test_no_retriever_says_so(captured: Any, kit: Any) -> None:
    it = captured()
    kit.rag(RunnableLambda(lambda question: "found by hand")).invoke(QUESTION, config=it.config)
    assert it.sample.contexts is None
    assert it.sample.metadata["no_context"] == "no retriever run was seen"
    assert it.scored[0].scores["faithfulness"].unscored.cause == "missing_input"


def test_contexts_from_the_output_where_no_retriever_ran(captured: Any, kit: Any) -> None:
    it = captured()
    RunnableLambda(lambda x: {"answer": ANSWER, "documents": list(kit.DOCUMENTS)}).invoke(QUESTION, config=it.config)
    check(it.sample)


def test_fallback_retriever(captured: Any, kit: Any) -> None:
    it = captured()
    kit.rag(kit.Broken().with_fallbacks([kit.Shelf()])).invoke(QUESTION, config=it.config)
    check(it.sample)


def test_failed_retriever_fails_the_sample(captured: Any, kit: Any) -> None:
    it = captured()
    with pytest.raises(ConnectionError):
        kit.rag(kit.Broken()).invoke(QUESTION, config=it.config)
    sample = it.sample
    assert (sample.question, sample.answer, sample.status) == (QUESTION, None, "failed")
    assert sample.metadata["error"] == "ConnectionError"
    assert it.scored[0].scores["faithfulness"].unscored.cause == "partial"


def test_keys_for_unusual_names(captured: Any) -> None:
    it = captured(question_key="frage", answer_key="antwort", contexts_key="stellen")
    pipeline = RunnableLambda(lambda x: {"antwort": ANSWER, "stellen": ["eins", "zwei"], "note": "no"})
    pipeline.invoke({"frage": QUESTION, "locale": "de"}, config=it.config)
    check(it.sample, contexts=["eins", "zwei"])


def test_messages_in_and_out(captured: Any, kit: Any) -> None:
    class State(TypedDict):
        messages: list[Any]

    def answer(state: State) -> dict[str, Any]:
        kit.Shelf().invoke("anything")
        return {"messages": [*state["messages"], AIMessage([{"type": "text", "text": ANSWER}])]}

    it = captured()
    messages = [HumanMessage("Hello?"), AIMessage("Hi."), ("user", QUESTION)]
    RunnableLambda(answer).invoke({"messages": messages}, config=it.config)
    check(it.sample)
    assert [(turn.question, turn.answer) for turn in it.sample.history] == [("Hello?", "Hi.")]


def test_retriever_prompt_and_tool_alone_are_no_exchange(captured: Any, kit: Any) -> None:
    it = captured()
    kit.Shelf().invoke(QUESTION, config=it.config)
    ChatPromptTemplate.from_template("{x}").invoke({"x": "y"}, config=it.config)
    assert it.samples == []
    assert it.handler.health().left_out == {"no_answer": 2}


def test_handler_on_the_model_alone(captured: Any, kit: Any) -> None:
    it = captured()
    llm = kit.model()
    llm.callbacks = [it.handler]
    assert kit.rag(llm=llm).invoke(QUESTION) == ANSWER
    assert it.sample.answer == ANSWER
    assert it.sample.contexts is None


def test_structured_answer(captured: Any, kit: Any) -> None:
    class Reply:
        answer = ANSWER

    it = captured()
    (kit.Shelf() | RunnableLambda(lambda documents: Reply())).invoke(QUESTION, config=it.config)
    check(it.sample)


def test_include_leaves_traces_out(captured: Any, kit: Any) -> None:
    it = captured(include=lambda root: root.name == "wanted")
    kit.rag().invoke(QUESTION, config={**it.config, "run_name": "wanted"})
    kit.rag().invoke(QUESTION, config={**it.config, "run_name": "other"})
    assert [sample.metadata["name"] for sample in it.samples] == ["wanted"]
    assert it.handler.health().left_out == {"excluded": 1}


def test_result_by_run_id(captured: Any, kit: Any) -> None:
    import uuid

    it = captured()
    run_id = uuid.uuid4()
    kit.rag().invoke(QUESTION, config={**it.config, "run_id": run_id})
    scored = it.handler.result(run_id, timeout=10)
    assert scored is not None
    assert scored.sample.id == str(run_id)
    assert it.handler.result(uuid.uuid4()) is None
