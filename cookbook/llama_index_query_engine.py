"""How do I score a LlamaIndex query engine: in a batch of questions, and while it serves users?

The models are stand-ins: one recites its answers (the second with a detail that no passage holds), the other counts
words. Everything else is real; put your own models in their place. Offline, with the embedded judge.
"""

import asyncio
import re
import zlib
from typing import Any

from assay_llama_index import AssayInstrumentation, evaluators
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import TextNode

from assay.evaluation.display.explanation import score_in_words
from assay.records import ScoredSample

PASSAGES = (
    "The Eddystone Lighthouse stands on rocks off the coast of Cornwall. The first tower was built of wood by Henry "
    "Winstanley and was lit in 1698. It was destroyed in the Great Storm of 1703.",
    "John Smeaton rebuilt the Eddystone Lighthouse between 1756 and 1759. He used dovetailed blocks of granite and a "
    "hydraulic lime that sets under water.",
    "Smeaton's tower was taken down in 1877 because the rock below it was wearing away. Its upper part stands today "
    "on Plymouth Hoe as a memorial.",
)
ANSWERS = {
    "Who built the first lighthouse?": "The first tower was built of wood by Henry Winstanley.",
    "Why was Smeaton's tower taken down?": "Smeaton's tower was taken down because the rock below it was wearing away. "
    "The demolition cost 4,000 pounds.",
}


class Reciter(CustomLLM):
    """Answers the question it finds in the prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="reciter")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=next(answer for question, answer in ANSWERS.items() if question in prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        words = self.complete(prompt).text.split(" ")
        return (CompletionResponse(text="", delta=word + " ") for word in words)


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


def show(scored: ScoredSample) -> None:
    """Called with each exchange that was scored while the engine ran."""
    print("\n" + str(scored.sample.question))
    for score in scored.scores.values():
        print(score_in_words(score, scored.sample))


def main() -> None:
    index = VectorStoreIndex([TextNode(text=passage) for passage in PASSAGES], embed_model=WordCounts())
    engine = index.as_query_engine(llm=Reciter(), similarity_top_k=2)

    print("A batch of questions:")
    runner = BatchEvalRunner(evaluators(["faithfulness", "context_relevance"]))
    results = asyncio.run(runner.aevaluate_queries(engine, queries=list(ANSWERS)))
    for name, rows in results.items():
        print(f"  {name}: {[None if row.score is None else round(row.score, 3) for row in rows]}")

    print("\nWhile it serves users, also when it streams:")
    with AssayInstrumentation("faithfulness", on_score=show):
        streaming = index.as_query_engine(llm=Reciter(), similarity_top_k=2, streaming=True)
        response = streaming.query(list(ANSWERS)[1])
        assert isinstance(response, StreamingResponse)
        response.print_response_stream()
        print()


if __name__ == "__main__":
    main()
