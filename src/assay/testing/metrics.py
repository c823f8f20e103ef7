"""`check_metric`: what every metric promises, for whoever writes one."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from assay._util.sync import run_sync
from assay.errors import Cause, JudgeFailure
from assay.evaluation.score_sample import score_sample
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.metrics import Metric
from assay.metrics.names import resolve_metrics
from assay.prompts import JudgePrompt
from assay.records import Context, Direction, Sample, Score, Turn
from assay.testing.assertions import expect, same
from assay.testing.judges import HOSTILE, FavourableJudge

#: A sample that has everything, and a plain one of each kind that metrics meet.
COMPLETE = Sample(
    question="How many people live in Paris?",
    contexts=(
        Context(text="Paris, the capital of France, has 2.1 million inhabitants.", id="p1", score=0.9),
        Context(text="Bread is baked in Ulm.", id="p2", score=0.1),
    ),
    answer="Paris has 2.1 million inhabitants. It lies on the Seine.",
    reference="2.1 million people live in Paris.",
    reference_contexts=(Context(text="Paris has 2.1 million inhabitants."),),
    history=(Turn(question="Where is Paris?", answer="In France.", contexts=(Context(text="Paris is in France."),)),),
    id="complete",
    metadata={"model": "m"},
)

_JUDGES_CAUSES = (Cause.PARSE, Cause.TIMEOUT, Cause.REFUSED)
MakeJudge = Callable[[], BaseJudge]


def check_metric(
    metric: Metric | str, *, samples: Iterable[Sample] = (COMPLETE,), judge: MakeJudge = FavourableJudge
) -> None:
    """Check that a metric keeps what metrics promise.

    Args:
        metric: A metric, or its name.
        samples: What it scores; at least one of them must get a number.
        judge: Makes the judge that is asked; default: one that answers every usual question favourably.

    Raises:
        AssertionError: A promise is broken; the message describes the first one.
    """
    (measured,) = resolve_metrics(metric)
    given = tuple(samples)
    _describes_itself(measured)
    run_sync(lambda: _scores(measured, given, judge))
    run_sync(lambda: _needs(measured, given, judge))
    run_sync(lambda: _failures(measured, given, judge))
    run_sync(lambda: _any_text(measured, given, judge))
    run_sync(lambda: _cancelled(measured, given, judge))


def _describes_itself(metric: Metric) -> None:
    label = metric.label
    expect(isinstance(label, str) and label.strip(), f"label: expected a text that is not empty, found {label!r}")
    known = {field.name for field in fields(Sample)}
    strange = [name for name in metric.needs if name not in known]
    expect(not strange, f"{label}: needs {strange}, which are no fields of a sample")
    expect(
        math.isfinite(metric.low) and math.isfinite(metric.high) and metric.low < metric.high,
        f"{label}: expected a finite range with low below high, found {metric.low} to {metric.high}",
    )
    expect(metric.direction in get_args(Direction), f"{label}: direction is {metric.direction!r}")
    wrong = [one for one in metric.asks if not (isinstance(one, type) and issubclass(one, JudgePrompt))]
    expect(not wrong, f"{label}: asks: expected types of prompts, found {wrong}")


async def _scores(metric: Metric, samples: Sequence[Sample], judge: MakeJudge) -> None:
    """In range, the same every time, storable, and with evidence that stands where it says."""
    scored = []
    for sample in samples:
        before = json.dumps(sample.to_dict())
        asked = judge()
        score = await _score(metric, sample, asked)
        same(json.dumps(sample.to_dict()), before, f"{metric.label}: the sample after it was scored")
        again = await asyncio.gather(*(_score(metric, sample, judge()) for _ in range(4)))
        expect(all(one == score for one in again), f"{metric.label}: the same sample, scored again at once, differs")
        _evidence(metric, score, sample)
        scored.append(score)
    reasons = "; ".join(str(score.error.message) for score in scored if score.error is not None)
    expect(
        any(score.value is not None for score in scored),
        f"{metric.label}: none of the samples got a number ({reasons}); pass samples= that it can score, or judge=",
    )


async def _needs(metric: Metric, samples: Sequence[Sample], judge: MakeJudge) -> None:
    """What is missing is said by name, and no judge is asked for it."""
    for name in metric.needs:
        if getattr(Sample(), name) is not None:
            continue  # every sample has it
        lacking: Any = {name: None, "history": ()}
        sample = replace(samples[0], **lacking)
        asked = _Counting(judge())
        score = await _score(metric, sample, asked)
        cause = score.error.cause if score.error is not None else score.value
        same(cause, Cause.MISSING_INPUT, f"{metric.label}: the outcome for a sample without {name}")
        expect(not asked.prompts, f"{metric.label}: asked the judge although {name} is missing")


async def _failures(metric: Metric, samples: Sequence[Sample], judge: MakeJudge) -> None:
    """A judge that fails, wholly or once, never becomes a number; a judge that cannot is not asked."""
    for sample in samples:
        counting = _Counting(judge())
        if (await _score(metric, sample, counting)).value is None or not counting.prompts:
            continue
        for cause in _JUDGES_CAUSES:
            score = await _score(metric, sample, _Failing(judge(), cause))
            found = score.error.cause if score.error is not None else score.value
            same(found, cause, f"{metric.label}: the outcome when the judge fails ({cause})")
        for number in range(min(len(counting.prompts), 10)):
            score = await _score(metric, sample, _Failing(judge(), Cause.TIMEOUT, number))
            expect(score.value is None, f"{metric.label}: a number although prompt {number + 1} of the judge failed")
        if metric.asks:
            unable = _Unable(judge())
            score = await _score(metric, sample, unable)
            found = score.error.cause if score.error is not None else score.value
            same(found, Cause.JUDGE_CANNOT, f"{metric.label}: the outcome with a judge that cannot")
            expect(not unable.prompts, f"{metric.label}: asked a judge that says it cannot")
            strange = {type(one).__name__ for one in counting.prompts} - {one.__name__ for one in metric.asks}
            expect(not strange, f"{metric.label}: asks {sorted(strange)}, which its `asks` does not name")


async def _any_text(metric: Metric, samples: Sequence[Sample], judge: MakeJudge) -> None:
    """Whatever the texts are, the outcome is a number in range or a reason, and never the metric's own mistake."""
    for text in (*HOSTILE, "", " \n", "x" * 50_000, "No.", "🙂"):
        sample = replace(samples[0], answer=text, question=text, contexts=(Context(text=text),), reference=text)
        await _score(metric, sample, judge())
    for contexts in ((), (Context(text=" "),)):
        await _score(metric, replace(samples[0], contexts=contexts), judge())


async def _cancelled(metric: Metric, samples: Sequence[Sample], judge: MakeJudge) -> None:
    """A deadline ends it: a metric that swallows its cancellation would hold up a run for ever."""
    hanging = _Hanging(judge())
    task = asyncio.create_task(metric.score(samples[0], hanging))
    await asyncio.wait([task, asyncio.create_task(hanging.asked.wait())], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=2.0)
        expect(task.done(), f"{metric.label}: goes on after it was cancelled while it waited for the judge")
        expect(task.cancelled(), f"{metric.label}: swallows its cancellation; let CancelledError pass")


async def _score(metric: Metric, sample: Sample, judge: BaseJudge) -> Score:
    """The score, checked for what holds of every score."""
    score = (await score_sample(sample, [metric], judge, deadline=60.0)).scores[metric.label]
    if score.error is not None and score.error.cause == Cause.BUG:
        raise AssertionError(f"{metric.label}: {score.error.message} (answer: {(sample.answer or '')[:40]!r})")
    same(score.metric, metric.label, "the name of the score")
    numbers = [*score.parts.values(), *([] if score.value is None else [score.value])]
    expect(all(map(math.isfinite, numbers)), f"{metric.label}: a part of the score is not finite: {score.parts}")
    try:
        kept = json.loads(json.dumps(score.to_dict(), allow_nan=False).encode())
    except (ValueError, TypeError) as error:
        raise AssertionError(f"{metric.label}: the score cannot be kept as JSON: {error}") from error
    same(Score.from_dict(kept), score, f"{metric.label}: the score after it was kept as JSON and read again")
    return score


def _evidence(metric: Metric, score: Score, sample: Sample) -> None:
    for reading, verdicts in score.verdicts.items():
        texts: dict[str, Sequence[str]] = {
            "contexts": sample.passages, "reference": (sample.reference or "",), "answer": (sample.answer or "",)
        }  # fmt: skip
        read = reading.partition("/")[2]
        against = score.texts.get(read) or texts.get(read)
        for quote in (quote for verdict in verdicts for quote in verdict.evidence if against is not None):
            assert against is not None  # the comprehension asked
            expect(
                quote.passage < len(against), f"{metric.label}: a quote of passage {quote.passage}, which is not there"
            )
            same(quote.span.of(against[quote.passage]), quote.text, f"{metric.label}: the text at a quote's place")


class _WrappingJudge(BaseJudge):
    """A judge around another one."""

    durable = False
    budgeted = True

    def __init__(self, judge: BaseJudge) -> None:
        self._judge = judge
        self.sees = judge.sees
        self.prompts: list[JudgePrompt[Any]] = []

    @property
    def fingerprint(self) -> str:
        return self._judge.fingerprint

    @property
    def detects_contradiction(self) -> bool:
        return self._judge.detects_contradiction

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        return self._judge.cannot(prompt, language)

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.prompts += prompts
        return await self._judge.answer(prompts)


class _Counting(_WrappingJudge):
    """Counts what it is asked."""


class _Unable(_WrappingJudge):
    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure:
        return JudgeFailure(Cause.JUDGE_CANNOT, f"this judge cannot answer {prompt.name}")


class _Failing(_WrappingJudge):
    """Fails always, or with its prompt of one number alone."""

    def __init__(self, judge: BaseJudge, cause: Cause, number: int | None = None) -> None:
        super().__init__(judge)
        self._cause, self._number = cause, number

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        first = len(self.prompts)
        answers = await super().answer(prompts)
        failure = Answer(failure=JudgeFailure(self._cause, "the judge failed"))
        return [
            failure if self._number is None or first + place == self._number else answer
            for place, answer in enumerate(answers)
        ]


class _Hanging(_WrappingJudge):
    """Never answers, and says when it was asked."""

    def __init__(self, judge: BaseJudge) -> None:
        super().__init__(judge)
        self.asked = asyncio.Event()

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")
