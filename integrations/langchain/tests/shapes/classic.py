"""The chains of langchain-classic."""

from __future__ import annotations

from typing import Any

from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_classic.chains import ConversationalRetrievalChain, RetrievalQA, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import create_retriever_tool

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.parts import Shelf, call, model

shape = Group("langchain-classic chains")

STUFF = ChatPromptTemplate.from_template("Answer from:\n{context}\n\nQuestion: {input}")


@shape("`create_retrieval_chain`", Expected())
def retrieval_chain(handler: Any) -> None:
    chain = create_retrieval_chain(Shelf(), create_stuff_documents_chain(model(), STUFF))
    chain.invoke({"input": QUESTION}, on(handler()))


@shape("`create_history_aware_retriever`: the user's question, not the rewritten one",
       Expected(history=(("Hello?", "Hi.", ()),)))  # fmt: skip
def history_aware_retriever(handler: Any) -> None:
    rewrite = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    found = create_history_aware_retriever(model("what makes cats purr?"), Shelf(), rewrite)
    chain = create_retrieval_chain(found, create_stuff_documents_chain(model(), STUFF))
    chain.invoke({"input": QUESTION, "chat_history": [HumanMessage("Hello?"), AIMessage("Hi.")]}, on(handler()))


@shape("`RetrievalQA`", Expected())
def retrieval_qa(handler: Any) -> None:
    RetrievalQA.from_chain_type(model(), retriever=Shelf()).invoke({"query": QUESTION}, on(handler()))


@shape("`RetrievalQA` that returns its sources", Expected())
def retrieval_qa_with_sources(handler: Any) -> None:
    chain = RetrievalQA.from_chain_type(model(), retriever=Shelf(), return_source_documents=True)
    chain.invoke({"query": QUESTION}, on(handler()))


@shape(
    "`map_reduce`: the call that answers sees notes, not documents", Expected(contexts=((CALM, False), (HEAL, False)))
)
def retrieval_qa_map_reduce(handler: Any) -> None:
    chain = RetrievalQA.from_chain_type(model("calm", "healing", ANSWER), "map_reduce", retriever=Shelf())
    chain.invoke({"query": QUESTION}, on(handler()))


@shape("`refine`: the call that answers sees the last document", Expected(contexts=((CALM, False), (HEAL, True))))
def retrieval_qa_refine(handler: Any) -> None:
    chain = RetrievalQA.from_chain_type(model("They are calm.", ANSWER), "refine", retriever=Shelf())
    chain.invoke({"query": QUESTION}, on(handler()))


@shape(
    "`map_rerank`: the call whose answer is taken saw one document", Expected(contexts=((CALM, True), (HEAL, False)))
)
def retrieval_qa_map_rerank(handler: Any) -> None:
    says = model(f"{ANSWER}\nScore: 100", "To heal.\nScore: 40")
    RetrievalQA.from_chain_type(says, "map_rerank", retriever=Shelf()).invoke({"query": QUESTION}, on(handler()))


@shape("`ConversationalRetrievalChain`: the user's question, not the rewritten one",
       Expected(history=(("Hello?", "Hi.", ()),)))  # fmt: skip
def conversational_retrieval(handler: Any) -> None:
    chain = ConversationalRetrievalChain.from_llm(model("rewritten?", ANSWER), retriever=Shelf())
    chain.invoke({"question": QUESTION, "chat_history": [("Hello?", "Hi.")]}, on(handler()))


@shape("`AgentExecutor` with a retriever tool", Expected())
def agent_executor(handler: Any) -> None:
    search = create_retriever_tool(Shelf(), "search", "finds documents")
    prompt = ChatPromptTemplate.from_messages([("human", "{input}"), MessagesPlaceholder("agent_scratchpad")])
    agent = create_tool_calling_agent(model(call("cats"), ANSWER), [search], prompt)
    AgentExecutor(agent=agent, tools=[search], stream_runnable=False).invoke({"input": QUESTION}, on(handler()))
