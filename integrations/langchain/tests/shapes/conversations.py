"""More than one turn: earlier exchanges are history, with the contexts that they had."""

from __future__ import annotations

import warnings
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_classic.chains import ConversationalRetrievalChain
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState

from integrations.langchain.tests.shapes.base import ANSWER, CALM, HEAL, QUESTION, Expected, Group, on
from integrations.langchain.tests.shapes.graphs import line
from integrations.langchain.tests.shapes.parts import Shelf, call, joined, model

shape = Group("Conversations")

FOUND = (CALM, HEAL)
FOLLOW_UP = "And why else?"
SECOND = "To heal."
FIRST_TURN = ((QUESTION, ANSWER, FOUND),)
NO_SEARCH: Any = {"contexts": None, "no_context": "no retriever run was seen"}


@shape("an agent that remembers: found in the first turn, asked in the second", Expected(),
       Expected(question=FOLLOW_UP, answer=SECOND, history=FIRST_TURN, **NO_SEARCH))  # fmt: skip
def agent_with_memory(handler: Any) -> None:
    search = create_retriever_tool(Shelf(), "search", "finds documents")
    agent = create_agent(model(call("cats"), ANSWER, SECOND), [search], checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    agent.invoke({"messages": [HumanMessage(FOLLOW_UP)]}, config)


@shape("a graph that remembers and searches in each turn", Expected(),
       Expected(question=FOLLOW_UP, history=FIRST_TURN))  # fmt: skip
def graph_with_memory(handler: Any) -> None:
    def answer(state: Any) -> Any:
        found = joined(Shelf().invoke("cats"))
        return {"messages": [model().invoke([("system", found), *state["messages"]])]}

    graph = line(MessagesState, answer, checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    graph.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    graph.invoke({"messages": [HumanMessage(FOLLOW_UP)]}, config)


@shape("two threads of one application do not mix", Expected(), Expected())
def two_threads(handler: Any) -> None:
    search = create_retriever_tool(Shelf(), "search", "finds documents")
    agent = create_agent(model(call("cats"), ANSWER, call("cats"), ANSWER), [search], checkpointer=InMemorySaver())
    one = handler()
    for name in ("a", "b"):
        agent.invoke({"messages": [HumanMessage(QUESTION)]}, on(one, configurable={"thread_id": name}))


@shape("`RunnableWithMessageHistory`", Expected(), Expected(question=FOLLOW_UP, answer=SECOND, history=FIRST_TURN))
def message_history(handler: Any) -> None:
    histories: dict[str, InMemoryChatMessageHistory] = {}
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    found = RunnablePassthrough.assign(context=RunnableLambda(lambda x: x["question"]) | Shelf())
    chain = RunnableWithMessageHistory(
        found | prompt | model(ANSWER, SECOND),
        lambda session_id: histories.setdefault(session_id, InMemoryChatMessageHistory()),
        input_messages_key="question",
        history_messages_key="history",
    )
    config = on(handler(), configurable={"session_id": "s"})
    chain.invoke({"question": QUESTION}, config)
    chain.invoke({"question": FOLLOW_UP}, config)


@shape("the whole conversation sent along by the client", Expected(history=(("Hello?", "Hi.", ()),)))
def client_side_history(handler: Any) -> None:
    def answer(state: Any) -> Any:
        found = joined(Shelf().invoke("cats"))
        return {"messages": [model().invoke([("system", found), *state["messages"]])]}

    messages = [HumanMessage("Hello?"), AIMessage("Hi."), ("user", QUESTION)]
    line(MessagesState, answer).invoke({"messages": messages}, on(handler()))


@shape("documents attached to the messages of an earlier turn",
       Expected(question=FOLLOW_UP, answer=SECOND, history=FIRST_TURN, **NO_SEARCH))  # fmt: skip
def artifacts_in_history(handler: Any) -> None:
    search = create_retriever_tool(Shelf(), "search", "finds documents", response_format="content_and_artifact")
    agent = create_agent(model(call("cats"), ANSWER, SECOND), [search])
    before = agent.invoke({"messages": [HumanMessage(QUESTION)]})["messages"]
    agent.invoke({"messages": [*before, HumanMessage(FOLLOW_UP)]}, on(handler()))


@shape("an agent whose middleware deletes older messages",
       Expected(), Expected(question="And why else?", answer="To heal.", contexts=None,
                            no_context="no retriever run was seen"))  # fmt: skip
def deleting_middleware(handler: Any) -> None:
    @before_model
    def forget(state: Any, runtime: Any) -> Any:
        old = [message for message in state["messages"][:-1] if state["messages"][-1].type == "human"]
        return {"messages": [RemoveMessage(id=message.id) for message in old]} if old else None

    search = create_retriever_tool(Shelf(), "search", "Searches for cats.")
    says = model(call(QUESTION), ANSWER, "To heal.")
    agent: Any = create_agent(says, [search], middleware=[forget], checkpointer=InMemorySaver())
    config = on(handler(), configurable={"thread_id": "t"})
    for question in (QUESTION, "And why else?"):
        agent.invoke({"messages": [("user", question)]}, config)


@shape("a buffer memory of langchain-classic",
       Expected(), Expected(question=FOLLOW_UP, answer=SECOND, history=((QUESTION, ANSWER, ()),)))  # fmt: skip
def buffer_memory(handler: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory = ConversationBufferMemory(return_messages=True, memory_key="chat_history", output_key="answer")
    says = model(ANSWER, "What else makes cats purr?", "To heal.")
    chain = ConversationalRetrievalChain.from_llm(says, retriever=Shelf(), memory=memory)
    config = on(handler())
    for question in (QUESTION, "And why else?"):
        chain.invoke({"question": question}, config)
