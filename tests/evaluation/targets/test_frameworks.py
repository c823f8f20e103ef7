"""`assay.run` with chains of LangChain and engines of LlamaIndex: their passages are captured, row by row."""

from __future__ import annotations

from typing import Any

import pytest

import assay

pytest.importorskip("assay_langchain")
pytest.importorskip("assay_llama_index")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever as NodeRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step


class Retriever(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(page_content=f"About {query}"), Document(page_content="Other")]


class Model(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        text = "It is " + str(messages[-1].content).rpartition(": ")[2]
        message = AIMessage(content=text, usage_metadata=usage, response_metadata={"model_name": "echo"})
        return ChatResult(generations=[ChatGeneration(message=message)])


PROMPT = ChatPromptTemplate.from_template("{context}\nQuestion: {question}")
CHAIN = ({"context": Retriever() | (lambda found: "\n".join(one.page_content for one in found)),
          "question": RunnablePassthrough()} | PROMPT | Model() | StrOutputParser())  # fmt: skip


class Nodes(NodeRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=f"About {query_bundle.query_str}"), score=1.0)]


def engine(streaming: bool) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=MockLLM(), streaming=streaming)
    return RetrieverQueryEngine(retriever=Nodes(), response_synthesizer=synthesizer)


async def chain_in_a_coroutine(question: str) -> Any:
    return await CHAIN.ainvoke(question)


def chain_that_streams(question: str) -> Any:
    yield from CHAIN.stream(question)


async def engine_in_a_coroutine(question: str) -> str:
    return str(await engine(False).aquery(question))


def length(answer: str) -> float:
    return min(1.0, len(answer) / 100)


TARGETS = {
    "chain": CHAIN, "coroutine": chain_in_a_coroutine, "stream": chain_that_streams, "engine": engine(False),
    "streaming engine": engine(True), "engine in a coroutine": engine_in_a_coroutine,
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_each_row_has_the_passages_of_its_own_call(name: str) -> None:
    rows = [{"question": f"number {n}?"} for n in range(12)]
    runs = assay.run(TARGETS[name], rows, [length], store=None, progress=False)
    samples = [scored.sample for _, scored in runs.result.all_rows()]
    for sample, row in zip(samples, rows, strict=True):
        assert sample.passages[0] == f"About {row['question']}"
        assert row["question"] in (sample.answer or "")
    if TARGETS[name] in (CHAIN, chain_in_a_coroutine, chain_that_streams):
        assert (runs.runs[0].input_tokens, runs.runs[0].output_tokens) == (60, 24)  # 12 calls of 5 and 2


def test_values_of_vary_are_input_variables_of_a_chain() -> None:
    prompt = ChatPromptTemplate.from_template("In {style}: {question}")
    rows = [{"question": "why?"}]
    runs = assay.run(prompt | Model(), rows, [length], vary={"style": ["prose", "verse"]}, store=None, progress=False)
    assert [result.rows for result in runs.results] == [1, 1]
    assert {one.variables["style"] for one in runs.runs} == {"prose", "verse"}


class Agent(Workflow):
    @step
    async def answer(self, event: StartEvent) -> StopEvent:
        return StopEvent(result=f"because {event.user_msg}")


def test_agents_of_both_frameworks_answer() -> None:
    agents = pytest.importorskip("langchain.agents")
    for agent in (agents.create_agent(Model(), []), Agent()):
        runs = assay.run(agent, [{"question": "why?"}], [length], store=None, progress=False)
        (sample,) = (scored.sample for _, scored in runs.result.all_rows())
        assert "why?" in (sample.answer or ""), runs.result.errors
