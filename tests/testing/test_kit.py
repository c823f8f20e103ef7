"""The kit passes assay's own parts, and says in words what is wrong with broken ones."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay import Sample, Score, metric
from assay.capture import RunCollector
from assay.capture.assemble import sample_of
from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.protocol import Intake
from assay.metrics import METRICS, Metric
from assay.prompts import Claims, Criterion, JudgePrompt, Question, Support
from assay.records import Message, ScoredSample, ToolCall, Usage, Verdict
from assay.sinks import JsonlSink, read_jsonl
from assay.sinks.store import StoreSink
from assay.store.store import Store
from assay.testing import (
    CapturedExchange,
    FavourableJudge,
    StoredScore,
    check_capture,
    check_judge,
    check_metric,
    check_sink,
)
from assay.testing.judges import a_prompt_of_each_kind
from assay.testing.metrics import COMPLETE

# ---- metrics ----


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_ours_passes(name: str) -> None:
    found = ToolCall(name="search", arguments={"query": COMPLETE.question}, output=COMPLETE.passages[0])
    further = {
        "citation_accuracy": replace(COMPLETE, answer=f"{COMPLETE.answer} [1]"),
        "retrieval_calls": replace(COMPLETE, messages=(Message(role="assistant", tool_calls=(found,)),)),
    }
    check_metric(name, samples=[further.get(name, COMPLETE)])


@metric
def short(answer: str) -> bool:
    return len(answer) < 200


@metric(asks=(Question,))
async def polite(answer: str, judge: Any) -> Verdict:
    return await judge.find(Question("Is the tone of the ANSWER polite?", {"ANSWER": answer}))


@pytest.mark.parametrize("made", [short, polite], ids=lambda made: made.label)
def test_metrics_of_functions_pass(made: Metric) -> None:
    check_metric(made)


def test_a_name_will_do() -> None:
    check_metric("faithfulness")


def made(function: Callable[..., Any], **options: Any) -> Metric:
    return metric(name="mine", **options)(function)


class Swallowing(Metric):
    name = "mine"

    async def measure(self, sample: Sample, judge: Any) -> float:
        try:
            await judge.find(Claims(sample.answer or ""))
        except JudgeFailure:
            return 0.5
        return 1.0


class Uncancellable(Metric):
    name = "mine"

    async def measure(self, sample: Sample, judge: Any) -> float:
        try:
            await judge.find(Claims(sample.answer or ""))
        except asyncio.CancelledError:
            return 0.5
        return 1.0


class Undeclared(Metric):
    name = "mine"
    asks = (Support,)

    async def measure(self, sample: Sample, judge: Any) -> float:
        await judge.find(Claims(sample.answer or ""))
        return 1.0


class Renamed(Metric):
    name = "mine"

    async def measure(self, sample: Sample, judge: Any) -> Score:
        return Score(metric="yours", value=1.0)


class Lacking(Metric):
    """Works where the reference is missing, although it says that it needs it."""

    name = "mine"
    needs = ("anwser",)

    async def measure(self, sample: Sample, judge: Any) -> float:
        return 1.0


counter = itertools.count()


def changing(answer: str) -> float:
    return (next(counter) % 7) / 10


def writes(sample: Sample) -> float:
    sample.metadata["seen"] = True  # type: ignore[index]
    return 1.0


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (made(lambda answer: None), "mine returned nothing"),
        (made(lambda answer: len(answer) / 1000), "outside its range"),
        (made(lambda answer: 1 / (len(answer.split()) - 1)), "mine raised ZeroDivisionError|outside"),
        (made(changing), "scored again at once, differs"),
        (made(writes), "the sample after it was scored"),
        (made(lambda answer, judge: "x"), "mine returned str"),
        (made(lambda answer: Score(metric="m", value=1.0, parts={"n": float("nan")})), "not finite|differs"),
        (Swallowing(), "the outcome when the judge fails"),
        (Uncancellable(), "swallows its cancellation"),
        (Undeclared(), r"asks \['Claims'\], which its `asks` does not name"),
        (Renamed(), "the name of the score"),
        (Lacking(), r"needs \['anwser'\], which are no fields"),
        (made(lambda answer: Cause.BUG), "returned"),
    ],
)
def test_what_is_wrong_with_a_metric_is_said(broken: Metric, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_metric(broken)


def test_a_metric_that_scores_nothing_is_told_to_bring_samples() -> None:
    from assay.records import ScoreError

    nothing = made(lambda answer: ScoreError(cause=Cause.NOT_APPLICABLE, message="no date in it"))
    with pytest.raises(AssertionError, match=r"none of the samples got a number .*no date in it.*pass samples="):
        check_metric(nothing)


# ---- judges ----


def scripted() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim[:5] in passage else "not_mentioned",
        usefulness=lambda question, passage: "Paris" in passage,
        criterion=lambda question, vote: True,
        rating=lambda question: 2,
        entities=lambda passage: ["Paris"],
    )


@pytest.mark.parametrize("make", [scripted, FavourableJudge, EmbeddedJudge], ids=lambda make: make.__name__)
def test_judges_of_ours_pass(make: Callable[[], BaseJudge]) -> None:
    check_judge(make())


class Mine(BaseJudge):
    """Says yes, with one thing at a time broken in its subclasses."""

    fingerprint = "mine/1"

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        if prompt in (Criterion, Question):
            return None
        return JudgeFailure(Cause.JUDGE_CANNOT, "answers yes/no questions alone; name an LLM judge")

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [self.one(prompt) for prompt in prompts]

    def one(self, prompt: Any) -> Answer:
        labels = prompt.questions()[0].labels
        return Answer(judgement=Verdict(label=next(iter(labels))), usage=Usage(calls=1))


def test_a_judge_of_ones_own_passes() -> None:
    check_judge(Mine())


class Capitals(Mine):
    def one(self, prompt: Any) -> Answer:
        return Answer(judgement=Verdict(label="Yes"))


class Raising(Mine):
    def one(self, prompt: Any) -> Answer:
        if "\x00" in prompt.material[0][1]:
            raise UnicodeError("no control characters")
        return super().one(prompt)


class Forgetful(Mine):
    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return (await super().answer(prompts))[:1]


class Infectious(Mine):
    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        if any("\x00" in one.material[0][1] for one in prompts):  # type: ignore[attr-defined]
            return [Answer(failure=JudgeFailure(Cause.BAD_REQUEST, "control characters"))] * len(prompts)
        return await super().answer(prompts)


class Nameless(Mine):
    fingerprint = ""


class Anew(Mine):
    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        return f"mine/{time.perf_counter_ns()}"


class Silent(Mine):
    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        return None if prompt is Question else JudgeFailure(Cause.JUDGE_CANNOT, "")


class Odd(Mine):
    def one(self, prompt: Any) -> Answer:
        return Answer(judgement={"label": "yes"})


class OneLoop(Mine):
    """Keeps what belongs to the event loop in which it was first asked."""

    loop: asyncio.AbstractEventLoop | None = None

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError("attached to a different loop")
        return await super().answer(prompts)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Capitals, r"labels|label|shape"),
        (Raising, r"raised UnicodeError.*return an Answer with a failure"),
        (Forgetful, "the number of answers"),
        (Infectious, "failed because of a neighbour's text"),
        (Nameless, "fingerprint: expected a text"),
        (Anew, "the fingerprint, asked for again"),
        (Silent, "the message is empty"),
        (Odd, "does not have the shape"),
        (OneLoop, "different loop"),
    ],
)
def test_what_is_wrong_with_a_judge_is_said(broken: type[BaseJudge], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_judge(broken())


def test_the_kit_asks_one_of_each_kind() -> None:
    from assay import prompts

    kinds = {one for one in vars(prompts).values() if isinstance(one, type) and issubclass(one, JudgePrompt)}
    batch = prompts.QuestionBatch  # of others, each of which is there
    assert {type(one) for one in a_prompt_of_each_kind()} == kinds - {JudgePrompt, batch}


# ---- sinks ----


def stored_scores(scores: dict[str, Any], id: str | None) -> Iterable[StoredScore]:
    for name, score in scores.items():
        evidence = [
            {"label": verdict["label"], "claim": verdict["claim"]["text"], "quotes": verdict.get("evidence", [])}
            for verdict in score.get("verdicts", {}).get("answer/contexts", [])
        ]
        error = score.get("error")
        yield StoredScore(name, score.get("value"), error and error["cause"], id=id, evidence=evidence)


def test_the_file_sink_passes(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"

    def read_back(sample: Sample) -> Iterable[StoredScore]:
        rows = [row for row in read_jsonl(path) if row["sample"]["id"] == sample.id] if path.exists() else []
        return [one for row in rows for one in stored_scores(row["scores"], sample.id)]

    check_sink(lambda **options: JsonlSink(path, **options), read_back, upserts=False, masks=True)


def test_the_store_sink_passes(tmp_path: Path) -> None:
    def read_back(sample: Sample) -> Iterable[StoredScore]:
        with Store(tmp_path) as store:
            if not store.has_run("live"):
                return []
            rows = [row.scored for row in store.rows("live") if row.scored.sample.key() == sample.key()]
            return [one for row in rows for one in stored_scores(row.to_dict()["scores"], sample.id)]

    check_sink(lambda **options: StoreSink(tmp_path, **options), read_back)


class Memory:
    """A sink in front of a dict, with one thing at a time broken in its subclasses."""

    def __init__(self, kept: dict[Any, StoredScore]) -> None:
        self.kept = kept
        self.closed = False

    def write(self, scored: ScoredSample) -> None:
        for one in stored_scores(scored.to_dict()["scores"], scored.sample.id):
            self.kept[self.place(scored, one)] = one

    def place(self, scored: ScoredSample, one: StoredScore) -> Any:
        return scored.sample.id, one.name

    def close(self) -> None:
        self.closed = True


def checked(kind: type[Memory]) -> None:
    kept: dict[Any, StoredScore] = {}

    def read_back(sample: Sample) -> list[StoredScore]:
        return [one for one in list(kept.values()) if one.id == sample.id]

    check_sink(lambda: kind(kept), read_back, confirms=False, forks=False)


def test_a_sink_of_ones_own_passes() -> None:
    checked(Memory)


class Doubling(Memory):
    def place(self, scored: ScoredSample, one: StoredScore) -> Any:
        return object()


class Zeros(Memory):
    def write(self, scored: ScoredSample) -> None:
        super().write(scored)
        for one in self.kept.values():
            one.value = one.value or 0.0


class Closing(Memory):
    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class Bare(Memory):
    def write(self, scored: ScoredSample) -> None:
        super().write(scored)
        for one in self.kept.values():
            one.evidence = []


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Doubling, "check_same_write_is_one_score: scores after five equal writes"),
        (Zeros, "check_skipped_is_no_number: .* found \\(0.0, 'timeout'\\)"),
        (Closing, "check_closing_twice_is_fine: RuntimeError: closed already"),
        (Bare, "check_evidence_arrives: labels of the evidence"),
    ],
)
def test_what_is_wrong_with_a_sink_is_said(broken: type[Memory], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        checked(broken)


# ---- captures ----

CURRENT: ContextVar[Any] = ContextVar("current", default=None)
numbers = itertools.count()


def application(exchange: CapturedExchange, hook: Any) -> str:
    """A tiny framework: a chain with a retriever and a model, and a hook for what they do."""
    root, retriever, model = (f"run-{next(numbers)}" for _ in range(3))
    hook.start(root, None, "chain", inputs={"question": exchange.question})
    hook.start(retriever, root, "retriever", inputs=exchange.question)
    hook.end(retriever, documents=exchange.passages)
    hook.start(model, root, "llm", prompt=[*exchange.passages, exchange.question])
    if exchange.error is not None:
        hook.end(model, error=exchange.error)
        hook.end(root, error=exchange.error)
        raise exchange.error
    hook.end(model, outputs=exchange.answer)
    hook.end(root, outputs={"answer": exchange.answer})
    return exchange.answer


class Hook:
    """What an integration writes: framework events to the collector, finished traces to the intake."""

    def __init__(self, intake: Intake) -> None:
        self.intake = intake
        self.collector = RunCollector(copy=lambda text: _found(text))

    def start(self, id: str, parent: str | None, kind: Any, **given: Any) -> None:
        self.safe_call(lambda: self.collector.start(id, parent, kind, **given))

    def end(self, id: str, **given: Any) -> None:
        def ended() -> None:
            trace = self.collector.end(id, **given)
            if trace is not None:
                self.intake.submit(lambda: sample_of(trace))

        self.safe_call(ended)

    def safe_call(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self.intake.count_error(error, "hook")


def _found(text: Any) -> Any:
    from assay.capture import Document

    return text if isinstance(text, Document) else Document(text, None, {})


def test_a_hook_over_the_collector_passes() -> None:
    check_capture(lambda exchange, intake: application(exchange, Hook(intake)))


class Unguarded(Hook):
    def safe_call(self, action: Callable[[], None]) -> None:
        action()


class Shared(Hook):
    """One sample under way for all threads."""

    lock = threading.Lock()
    now: dict[str, Any] = {}  # noqa: RUF012

    def start(self, id: str, parent: str | None, kind: Any, **given: Any) -> None:
        if kind == "chain":
            self.now["question"] = given["inputs"]["question"]
        time.sleep(0.001)

    def end(self, id: str, **given: Any) -> None:
        from assay import Context

        if "documents" in given:
            self.now["contexts"] = tuple(Context(text=text) for text in given["documents"])
        elif isinstance(given.get("outputs"), dict):
            self.safe_call(lambda: self.submit(answer=given["outputs"]["answer"], id=id))
        elif given.get("error") is not None:
            self.safe_call(lambda: self.submit(id=id, status="failed"))

    def submit(self, **fields: Any) -> None:
        self.intake.submit(Sample(**self.now, **fields))


class Reversed(Hook):
    def end(self, id: str, **given: Any) -> None:
        if "documents" in given:
            given["documents"] = given["documents"][::-1]
        super().end(id, **given)


class SameId(Hook):
    def end(self, id: str, **given: Any) -> None:
        from dataclasses import replace

        def ended() -> None:
            trace = self.collector.end(id, **given)
            if trace is not None:
                sample = sample_of(trace)
                self.intake.submit(lambda: replace(sample, id="the same") if sample else None)

        self.safe_call(ended)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Unguarded, "the hook let RuntimeError reach the application"),
        (Shared, "captured"),
        (Reversed, "the passages captured, in order"),
        (SameId, "two exchanges have the same id"),
    ],
)
def test_what_is_wrong_with_a_capture_is_said(broken: type[Hook], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_capture(lambda exchange, intake: application(exchange, broken(intake)))


def test_a_swallowed_error_is_said() -> None:
    def play(exchange: CapturedExchange, intake: Intake) -> None:
        if exchange.error is None:
            application(exchange, Hook(intake))

    with pytest.raises(AssertionError, match="the application's own error was swallowed"):
        check_capture(play)
