"""Right and wrong uses of the front door, for type checkers alone: nothing here is run.

A checker must complain about every line that ends in `# wrong`, and about no other.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
from assay import Budget, Context, Sample, ScriptedJudge, Store, aevaluate, evaluate, metric
from assay.extension import Question
from assay.records import Verdict
from assay import evalute  # wrong
from assay.judges.protocol import Judge
from assay.metrics import Faithfulness, Metric
from assay.sinks import JsonlSink
from assay.sinks.webhook import WebhookSink
from assay_langfuse import LangfuseSink
from assay_phoenix import PhoenixSink, evaluators

judge = ScriptedJudge()
sample = Sample(question="q", contexts=(Context(text="c"),), answer="a")


class Frame:
    """As much of a DataFrame as there is without pandas."""

    columns = ("question", "answer")


def rows() -> Iterator[dict[str, Any]]:
    yield {"question": "q"}


# ---- data ----
evaluate("answers.jsonl")
evaluate(Path("answers.jsonl"))
evaluate([{"question": "q", "contexts": ["c"]}])
evaluate([sample, sample])
evaluate(sample)
evaluate({"question": ["q"], "answer": ["a"]})
evaluate(rows())
evaluate(Frame())
evaluate(7)  # wrong
evaluate(None)  # wrong
evaluate()  # wrong


# ---- metrics ----
@metric
def short(answer: str) -> bool:
    return len(answer) < 200


@metric(name="tone", low=0, high=5, direction="lower")
async def polite(answer: str, judge: Judge) -> Verdict:
    verdict = await judge.find(Question("Is the ANSWER polite?", {"ANSWER": answer}))
    label: str = verdict.label
    number: int = verdict.label  # wrong
    return verdict


evaluate(rows(), "faithfulness")
evaluate(rows(), ["faithfulness", Faithfulness(), short, polite])
evaluate(rows(), short)


def plain(answer: str) -> float:
    return len(answer) / 10


async def plain_with_judge(answer: str, judge: Judge) -> Verdict:
    return await judge.find(Question("Is the ANSWER polite?", {"ANSWER": answer}))


def returns_text(answer: str) -> str:
    return answer


evaluate(rows(), [plain, plain_with_judge, "faithfulness", Faithfulness()])
evaluate(rows(), plain)
evaluate(rows(), [returns_text])  # wrong
evaluate(rows(), metrics=None)
evaluate(rows(), 3)  # wrong
evaluate(rows(), Faithfulness)  # wrong
evaluate(rows(), ["faithfulness", 3])  # wrong
said: bool = short("an answer")
short(3)  # wrong
short.lable  # wrong
metric(low=0, hihg=1)  # wrong
metric(direction="up")  # wrong
made: Metric = short

Question("Is it?", [("ANSWER", "a")], labels={"formal": "…", "casual": "…"})
Question("Is it?", {"PASSAGE": ["one", "two"]})
Question("Is it?", {"ANSWER": "a"}, lables={"formal": "…"})  # wrong
Question(3)  # wrong

# ---- judges and options ----
evaluate(rows(), "faithfulness", judge)
evaluate(rows(), "faithfulness", "openai:gpt-4o-mini")
evaluate(rows(), "faithfulness", 3)  # wrong
evaluate(rows(), judge=ScriptedJudge)  # wrong


class ChatModel:
    """As much of a framework's model as there is without a framework."""

    async def ainvoke(self, messages: Any) -> Any:
        return messages


evaluate(rows(), judge=ChatModel())
evaluators("faithfulness", judge=ChatModel())
evaluators("faithfulness", judge=7)  # wrong
evaluate(
    rows(), "faithfulness", judge, store=Store("s"), column_map={"question": "frage"}, limit=3, concurrency=4,
    sample_deadline=None, deadline=60, score_partial=True, progress=False, on_score=print, sinks=[JsonlSink("x")],
    run="nightly", replace=True, budget=Budget(calls_per_day=3), stop_after=None,
)  # fmt: skip
evaluate(rows(), concurency=4)  # wrong
evaluate(rows(), concurrency="4")  # wrong
evaluate(rows(), limit=1.5)  # wrong
evaluate(rows(), column_map=["question"])  # wrong
evaluate(rows(), sinks=[3])  # wrong
evaluate(rows(), run=7)  # wrong
evaluate(rows(), budget=100)  # wrong
evaluate(rows(), on_score=lambda: None)  # wrong
evaluate(rows(), None, None, ".assay")  # wrong
assay.evaluate(rows(), deadlin=3)  # wrong
assay.evalute(rows())  # wrong


async def inside() -> None:
    result = await aevaluate(rows(), "faithfulness", judge, store=None, deadline=60)
    mean: float | None = result.metrics["faithfulness"].mean
    await aevaluate(rows(), metrics="faithfulness", stor=None)  # wrong
    await aevaluate(rows(), _started=print)  # wrong
    result.means  # wrong


# ---- after the first score ----
first, second = evaluate(rows()), evaluate(rows())
assay.compare(first, second, cluster="document")
assay.compare(first, "nightly")  # wrong
assay.check(assay.Gate((assay.GateRule("faithfulness", "max_drop", 0.02),)), second, first)
assay.align(first, "labels.jsonl")
assay.align(first, labels=3)  # wrong
assay.open_data("answers.jsonl", limit=3)

# ---- sinks ----
WebhookSink("https://host", verify=False, attempts=3, patience=5, texts=False, mask=str.upper)
WebhookSink("https://host", verifi=False)  # wrong
WebhookSink("https://host", attempts="3")  # wrong
LangfuseSink(environment="test", texts=False)
LangfuseSink(envrionment="test")  # wrong
PhoenixSink("http://localhost:6006", dry_run=print)
PhoenixSink("http://localhost:6006", dryrun=print)  # wrong

# ---- records ----
Sample(question="q", answr="a")  # wrong
Sample(answer=3)  # wrong
Sample(contexts=["c"])  # wrong
Context("c")  # wrong
