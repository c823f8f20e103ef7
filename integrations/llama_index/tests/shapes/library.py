"""Calls that are LlamaIndex' own and no application: evaluators, and texts summed up while an index is built."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import Document, DocumentSummaryIndex, MockEmbedding
from llama_index.core.evaluation import (
    BaseEvaluator,
    BatchEvalRunner,
    EvaluationResult,
    FaithfulnessEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from integrations.llama_index.tests.fakes import ANSWER, QUESTION, FakeLLM, engine
from integrations.llama_index.tests.shapes.base import CALM, HEAL, Attach, Expected, Group

shape = Group("Evaluators and indices")

SUMMED = FakeLLM(tokens=["YES"])


def judges() -> dict[str, Any]:
    return {"faithfulness": FaithfulnessEvaluator(llm=SUMMED), "relevancy": RelevancyEvaluator(llm=SUMMED)}


@shape("BatchEvalRunner over questions: the application's answers, and nothing of the evaluators",
       Expected(question="q0"), Expected(question="q1"), in_order=False)  # fmt: skip
def batch(attach: Attach) -> None:
    attach()
    found = asyncio.run(BatchEvalRunner(judges(), workers=2).aevaluate_queries(engine(), ["q0", "q1"]))
    assert [result.feedback for result in found["faithfulness"]] == ["YES", "YES"]


@shape("evaluators alone, awaited and not: no sample")
def evaluators_alone(attach: Attach) -> None:
    attach()
    for judge in judges().values():
        assert judge.evaluate(query=QUESTION, response=ANSWER, contexts=[CALM]).passing
        assert asyncio.run(judge.aevaluate(query=QUESTION, response=ANSWER, contexts=[CALM])).passing


@shape("an evaluator of one's own that queries an engine: no sample")
def own_evaluator(attach: Attach) -> None:
    class Asks(BaseEvaluator):
        def _get_prompts(self) -> Any:
            return {}

        def _update_prompts(self, prompts: Any) -> None:
            return None

        async def aevaluate(self, *args: Any, **kwargs: Any) -> EvaluationResult:
            return EvaluationResult(feedback=str(await self.ask()))

        async def ask(self) -> Any:
            return await engine().aquery("Is it so?")

    attach()
    assert Asks().evaluate(response=ANSWER).feedback == ANSWER


@shape("a workflow that evaluates its answer: what the evaluator looked at is no context",
       Expected(contexts=((CALM, True), (HEAL, True))))  # fmt: skip
def evaluates_itself(attach: Attach) -> None:
    class Evaluates(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            response = await engine().aquery(ev.query)
            await FaithfulnessEvaluator(llm=SUMMED).aevaluate(response=str(response), contexts=["Another text."])
            return StopEvent(result=str(response))

    async def main() -> None:
        await Evaluates().run(query=QUESTION)

    attach()
    asyncio.run(main())


@shape("a retry by RelevancyEvaluator: one sample, its contexts those of the engine", Expected())
def retry_by_relevancy(attach: Attach) -> None:
    attach()
    assert str(RetryQueryEngine(engine(), RelevancyEvaluator(llm=SUMMED)).query(QUESTION)) == ANSWER


@shape("an index that sums up its documents while it is built: no sample, and then a query",
       Expected(answer="YES", contexts=((CALM, True),)))  # fmt: skip
def summary_index(attach: Attach) -> None:
    attach()
    index: Any = DocumentSummaryIndex.from_documents(
        [Document(text=CALM)], llm=SUMMED, embed_model=MockEmbedding(embed_dim=4)
    )
    engine(index.as_retriever(retriever_mode="embedding"), llm=SUMMED).query(QUESTION)
