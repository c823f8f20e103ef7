"""How do I score a running service, and see the scores on its traces in Phoenix?

    pip install arize-phoenix && phoenix serve                     # in another terminal, or a server that you have
    python live_service.py [http://localhost:6006]

A FastAPI service with a LangGraph agent and a LlamaIndex chat engine. OpenInference sends their spans to Phoenix;
assay scores every answer in the background with the embedded judge and annotates the very spans. The models are
stand-ins that recite their answers (two of them with a detail that no passage holds); everything else is real.
"""

import re
import sys
import threading
import zlib
from typing import Any

import httpx
import uvicorn
from assay_langchain import AssayCallbackHandler
from assay_llama_index import AssayInstrumentation
from assay_phoenix import PhoenixSink
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.chat_engine.types import ChatMode
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import TextNode
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from assay import LiveScorer

PROJECT = "lighthouses"
PASSAGES = (
    "The Eddystone Lighthouse stands on rocks off the coast of Cornwall. The first tower was built of wood by Henry "
    "Winstanley and was lit in 1698. It was destroyed in the Great Storm of 1703.",
    "John Smeaton rebuilt the Eddystone Lighthouse between 1756 and 1759. He used dovetailed blocks of granite and a "
    "hydraulic lime that sets under water.",
    "Smeaton's tower was taken down in 1877 because the rock below it was wearing away. Its upper part stands today "
    "on Plymouth Hoe as a memorial.",
)
ANSWERS = {
    "Who built the first Eddystone lighthouse?": "The first tower was built of wood by Henry Winstanley.",
    "Where is the upper part of Smeaton's tower today?": "Its upper part stands today on Plymouth Hoe as a memorial. "
    "A ticket costs 12 pounds on Sundays.",
    "Why was Smeaton's tower taken down?": "It was taken down because the rock below it was wearing away.",
    "What did Smeaton use to rebuild the lighthouse?": "Smeaton used dovetailed blocks of granite. "
    "The lamp was made by Louis Chance in Birmingham.",
}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


# -- the LangGraph agent -----------------------------------------------------------------------------------------------


class Shelf(BaseRetriever):
    """The two passages that share most words with the query."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        documents = [Document(text, id=f"passage-{number}") for number, text in enumerate(PASSAGES)]
        return sorted(documents, key=lambda document: -len(words(query) & words(document.page_content)))[:2]


class RecitingAgentModel(BaseChatModel):
    """Searches for the question, then answers it."""

    @property
    def _llm_type(self) -> str:
        return "reciting"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        question = next(message.text for message in reversed(messages) if isinstance(message, HumanMessage))
        if isinstance(messages[-1], HumanMessage):
            call = {"name": "search", "args": {"query": question}, "id": "call-1"}
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])
        return ChatResult(generations=[ChatGeneration(message=AIMessage(ANSWERS[question]))])


# -- the LlamaIndex chat engine ----------------------------------------------------------------------------------------


class RecitingModel(CustomLLM):
    """Answers the last question that it finds in the prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="reciting")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        asked = max(ANSWERS, key=prompt.rfind)
        return CompletionResponse(text=ANSWERS[asked])

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


class WordCounts(BaseEmbedding):
    """One dimension per word, near enough."""

    def _get_text_embedding(self, text: str) -> list[float]:
        counts = [0.0] * 512
        for word in re.findall(r"[a-z]{4,}", text.lower()):
            counts[zlib.crc32(word.encode()) % len(counts)] += 1
        return counts

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


# -- the service -------------------------------------------------------------------------------------------------------


def trace_to(phoenix: str) -> TracerProvider:
    """Send the spans of both frameworks to Phoenix, as without assay."""
    provider = TracerProvider(resource=Resource({"openinference.project.name": PROJECT}))
    exporter = OTLPSpanExporter(f"{phoenix}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=500))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    return provider


def service(scorer: LiveScorer) -> FastAPI:
    """The application. The two lines with `scorer` are all that it knows of assay."""
    handler = AssayCallbackHandler(scorer=scorer)
    AssayInstrumentation(scorer=scorer).attach()

    search = create_retriever_tool(Shelf(), "search", "Searches the passages.", response_format="content_and_artifact")
    agent = create_agent(RecitingAgentModel(), [search])
    index = VectorStoreIndex([TextNode(text=text) for text in PASSAGES], embed_model=WordCounts())
    chats: dict[str, Any] = {}
    app = FastAPI()

    @app.get("/agent")
    async def ask_agent(question: str) -> dict[str, str]:
        state = await agent.ainvoke({"messages": [HumanMessage(question)]}, config={"callbacks": [handler]})
        return {"answer": state["messages"][-1].text}

    @app.get("/chat/{user}")
    async def ask_chat(user: str, question: str) -> dict[str, str]:
        if user not in chats:
            chats[user] = index.as_chat_engine(ChatMode.CONDENSE_PLUS_CONTEXT, llm=RecitingModel(), similarity_top_k=2)
        return {"answer": str(await chats[user].achat(question))}

    return app


def serve(app: FastAPI) -> tuple[uvicorn.Server, threading.Thread, str]:
    """Run the service on a free port of this machine."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    return server, thread, f"http://127.0.0.1:{port}"


def main(phoenix: str) -> None:
    provider = trace_to(phoenix)
    sink = PhoenixSink(phoenix, project=PROJECT)
    scorer = LiveScorer(["faithfulness", "context_utilization"], sinks=[sink])
    server, thread, url = serve(service(scorer))

    questions = list(ANSWERS)
    with httpx.Client(base_url=url, timeout=60) as client:
        for path, question in zip(("/agent", "/agent", "/chat/ada", "/chat/ada"), questions, strict=True):
            answer = client.get(path, params={"question": question}).json()["answer"]
            print(f"{path}: {question}\n    {answer}")

    server.should_exit = True
    thread.join()
    provider.force_flush()
    health = scorer.close(timeout=120)
    print(f"\n{health.submitted} answers, {health.scored} scores, {health.confirmed} of them confirmed by Phoenix")
    print(f"{health.undelivered} undelivered, {health.dropped} dropped, errors: {dict(health.errors) or 'none'}")
    print(f"See them on the traces: {phoenix}/projects, {PROJECT}")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://localhost:6006")
