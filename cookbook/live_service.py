"""How do I score a running service, and see the scores on its traces in Phoenix?

    python live_service.py [http://localhost:6006]     # the server of `pip install arize-phoenix && phoenix serve`

OpenInference sends the spans of a FastAPI service with a LangChain chain to Phoenix; assay scores every answer in the
background and annotates those spans. The model is a stand-in: two answers have a detail that is not in the passages.
"""

import sys

from assay_langchain import AssayCallbackHandler
from assay_phoenix import PhoenixSink
from fastapi import FastAPI
from fastapi.testclient import TestClient
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

PROJECT = "lighthouses"
PASSAGES = [
    Document("Henry Winstanley built the first Eddystone lighthouse of wood. John Smeaton used dovetailed granite."),
    Document("Smeaton's tower was taken down in 1877. Its upper part stands today on Plymouth Hoe."),
]
ANSWERS = {
    "Who built the first Eddystone lighthouse?": "Henry Winstanley built the first lighthouse of wood.",
    "Where is the upper part of Smeaton's tower today?": "It stands on Plymouth Hoe. A ticket costs 12 pounds.",
    "When was Smeaton's tower taken down?": "It was taken down in 1877.",
    "What did Smeaton use?": "Smeaton used dovetailed granite. Louis Chance made the lamp in Birmingham.",
}

phoenix = sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://localhost:6006"
provider = TracerProvider(resource=Resource({"openinference.project.name": PROJECT}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{phoenix}/v1/traces"), schedule_delay_millis=500))
LangChainInstrumentor().instrument(tracer_provider=provider)

prompt = ChatPromptTemplate.from_template("Answer from these passages:\n{context}\n\nQuestion: {question}")
model = FakeListChatModel(responses=list(ANSWERS.values()))
chain = {"context": RunnableLambda(lambda question: PASSAGES), "question": RunnablePassthrough()} | prompt | model

handler = AssayCallbackHandler(["faithfulness", "context_utilization"], sinks=[PhoenixSink(phoenix, project=PROJECT)])
app = FastAPI()


@app.get("/ask")
async def ask(question: str) -> str:
    return (await chain.ainvoke(question, config={"callbacks": [handler]})).text


for question in ANSWERS:
    print(question, TestClient(app).get("/ask", params={"question": question}).json(), sep="\n    ")
provider.force_flush()
health = handler.close(timeout=120).live
print(f"\n{health.submitted} answers, {health.scored} scores, {health.confirmed} of them confirmed by Phoenix")
print(f"{health.undelivered} undelivered, {health.dropped} dropped, errors: {dict(health.errors) or 'none'}")
