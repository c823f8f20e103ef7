"""How do I score a LlamaIndex query engine: in a batch of questions, and while it serves users?

The model is a stand-in that recites its answers: the second has a detail that is not in the passages. Put your own
engine in its place. Offline, with the embedded judge.
"""

import asyncio
from typing import Any

from assay_llama_index import AssayInstrumentation, evaluators
from llama_index.core import SummaryIndex
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import TextNode

from assay import ScoredSample
from assay.evaluation.display.explanation import score_in_words

PASSAGES = (
    "The first Eddystone lighthouse was built of wood by Henry Winstanley and was lit in 1698.",
    "Smeaton's tower was taken down in 1877 because the rock below it was wearing away.",
)
ANSWERS = {
    "Who built the first lighthouse?": "The first lighthouse was built of wood by Henry Winstanley.",
    "Why was Smeaton's tower taken down?": "Smeaton's tower was taken down because the rock below it was wearing away. "
    "The demolition cost 4,000 pounds.",
}


class Reciter(CustomLLM):
    """Answers the question that it finds in the prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="reciter")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=next(answer for question, answer in ANSWERS.items() if question in prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


def show(scored: ScoredSample) -> None:
    """Called with each exchange that was scored while the engine ran."""
    print("\n" + str(scored.sample.question))
    for score in scored.scores.values():
        print(score_in_words(score, scored.sample))


engine = SummaryIndex([TextNode(text=passage) for passage in PASSAGES]).as_query_engine(llm=Reciter())

runner = BatchEvalRunner(evaluators("faithfulness", "context_relevance"))
for name, results in asyncio.run(runner.aevaluate_queries(engine, queries=list(ANSWERS))).items():
    print(f"{name}: {[result.score and round(result.score, 3) for result in results]}")

with AssayInstrumentation("faithfulness", on_score=show):
    print(engine.query(list(ANSWERS)[1]))
