"""The application that the pages attach to, with LlamaIndex: a reader's own stands in its place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.llms import MockLLM

Settings.llm = MockLLM(max_tokens=20)
Settings.embed_model = MockEmbedding(embed_dim=8)

index = VectorStoreIndex.from_documents([Document(text="Cats purr when they are calm.")])
query_engine = index.as_query_engine()
questions = ["Why do cats purr?"]
query = questions[0]
passages = ["Cats purr when they are calm."]
executor = ThreadPoolExecutor(1)


def search(query: str) -> list[str]:
    return passages


def serve(engine: object) -> None:
    query_engine.query(query)
