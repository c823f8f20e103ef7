"""Calibrating a cascade: both judges on some of the user's own rows, and the bands with which they agree often enough.

plan = calibrate("answers.jsonl", "openai:MODEL", agreement=0.95)
plan.save("cascade.json")
evaluate("answers.jsonl", judge="cascade:cascade.json")
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from assay._util.sync import facade
from assay.data import ColumnMap, RowError, missing_columns, open_data
from assay.errors import InputError, JudgeFailure
from assay.evaluation.evaluate import DEFAULT_METRICS, IN_FLIGHT, aevaluate
from assay.judges import BaseJudge, Judge, JudgeSpec
from assay.judges.budget.budget import Budget, Prices
from assay.judges.cache import JudgementCache
from assay.judges.cascade.agreement import Point, choose_band, clusters
from assay.judges.cascade.items import affirms, in_doubt, kind_of, route
from assay.judges.cascade.plan import BandPlan, CascadePlan, Saving, open_options
from assay.judges.guarded_call import gather_all
from assay.judges.protocol import METER, Answer, Around, JudgementStore, Meter
from assay.judges.resolve import resolve_judge
from assay.metrics import Metric
from assay.metrics.names import MetricSpec, resolve_metrics
from assay.prompts import JudgePrompt
from assay.records import Sample, Score, Usage
from assay.store.store import Store

F = TypeVar("F")

LIMIT = 300  # rows


async def acalibrate(
    data: Any,
    then: JudgeSpec,
    first: JudgeSpec = "embedded",
    *,
    agreement: float = 0.95,
    confidence: float = 0.95,
    metrics: MetricSpec | None = None,
    first_options: Mapping[str, Any] | None = None,
    then_options: Mapping[str, Any] | None = None,
    prices: Prices | None = None,
    store: Store | str | Path | None = ".assay",
    column_map: ColumnMap | None = None,
    limit: int = LIMIT,
    seed: int = 0,
    budget: Budget | None = None,
    concurrency: int = IN_FLIGHT,
    progress: bool | None = None,
) -> CascadePlan:
    """Calibrate a cascade: ask two judges about the same rows, and choose the band of each kind of verdict.

    The rows must be like those that the cascade will score; fewer than some 50 show nothing. All verdicts on a row are
    one cluster, and so are rows that ask the same. Where no band is shown to reach the target, its reason says so and
    the second judge decides everything.

    Args:
        data: What `open_data` takes.
        then: The second judge, or its name.
        first: The first judge, or its name.
        agreement: Share of verdicts, from 0 to 1, on which the cascade is to agree with `then` (supported or not,
            useful or not).
        confidence: Confidence, from 0 to 1, with which that is shown, for each kind by itself.
        metrics: Metrics whose verdicts count; None: the usual ones that the data allows.
        first_options: Options of a first judge that is given by name (base_url, api_key, ...).
        then_options: The same of the second.
        prices: Dollars per million tokens of `then`, to estimate what is saved.
        store: Folder that keeps the judgements of both judges: calibrating again costs nothing.
        column_map: Field -> column, where the name of a column is not recognised.
        limit: Number of rows.
        seed: Decides which rows order the bands and which test them.
        budget: Limits for both judges.
        concurrency: Rows at the same time.
        progress: Show a progress bar; None: where there is a terminal.

    Returns:
        The plan: a band for each kind of verdict, with what was measured.

    Raises:
        InputError: An argument is out of range, or there was nothing to compare.
        JudgeFailure: A judge cannot be used at all.
    """
    for name, value in {"agreement": agreement, "confidence": confidence}.items():
        if not 0.0 < value < 1.0:
            raise InputError(f"{name}: expected a share between 0 and 1, got {value!r}")
    cheap, better = resolve_judge(first, **first_options or {}), resolve_judge(then, **then_options or {})
    if cheap.address == better.address:
        raise InputError("cascade: first and then are the same judge; it always agrees with itself")
    cheap = cheap.with_probabilities()
    source = open_data(data, column_map=column_map, limit=limit)
    chosen = _chosen(metrics, source.columns)
    read = [row for _, row in source]
    rows: list[Sample] = [row for row in read if not isinstance(row, RowError)]
    if not rows:
        raise InputError("data: none of the rows can be read")
    both = _Both(cheap, better, store if isinstance(store, Store) or store is None else Store(store))
    watched = [_by_row(metric, both.rows) for metric in chosen]
    await aevaluate(rows, watched, both, store=None, budget=budget, concurrency=concurrency, progress=progress)
    points = both.points()
    if not points:
        said = f": {both.trouble}" if both.trouble else ""
        raise InputError(f"cascade: there are no verdicts of both judges to compare ({both.failures} failed){said}")
    bands = {kind: choose_band(of_kind, agreement, confidence, seed) for kind, of_kind in sorted(points.items())}
    return CascadePlan(
        first=cheap.address,
        then=better.address,
        target=agreement,
        confidence=confidence,
        rows=len(rows),
        bands=bands,
        saving=_saving(both.asked, bands, prices),
        failures=both.failures,
        unreadable=len(read) - len(rows),
        seed=seed,
        specs={role: name for role, name in (("first", first), ("then", then)) if isinstance(name, str)},
        options={"first": open_options(first_options), "then": open_options(then_options)},
    )


calibrate = facade("calibrate", acalibrate)


@dataclass(slots=True)
class _SecondAnswers:
    """What was asked together of the second judge: each verdict's kind and first probability, and the cost."""

    verdicts: list[tuple[str, float | None]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


class _Both(BaseJudge):
    """Asks both judges for every verdict, goes on with what the second says, and keeps what both said.

    Attributes:
        rows: The rows that asked each prompt, by its key (see `_by_row`).
        compared: For each kind: the key of the prompt, the first judge's probability, whether the two agree.
    """

    durable = False  # the judgements go into the store under the names of the two

    def __init__(self, first: BaseJudge, then: BaseJudge, store: JudgementStore | None) -> None:
        self._first, self._then = first, then
        self._first_cache, self._then_cache = JudgementCache(first, store), JudgementCache(then, store)
        self.budgeted = first.budgeted and then.budgeted
        self.sees = then.sees  # as the cascade will
        self.rows: dict[str, set[str]] = {}
        self.compared: dict[str, list[tuple[str, float | None, bool]]] = {}
        self.asked: list[_SecondAnswers] = []
        self.failures = 0
        self.trouble: str | None = None

    def points(self) -> dict[str, list[Point]]:
        """What both said, by kind, each verdict in its row's cluster."""
        cluster = clusters(self.rows.values())
        of = {key: cluster[next(iter(rows))] for key, rows in self.rows.items()}
        return {
            kind: [Point(of[key], probability, agrees) for key, probability, agrees in compared]
            for kind, compared in self.compared.items()
        }

    @property
    def fingerprint(self) -> str:
        return f"calibration/{self._first.fingerprint}/{self._then.fingerprint}"

    @property
    def detects_contradiction(self) -> bool:
        return self._then.detects_contradiction

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        if not prompt.divisible and self._first.cannot(prompt, language) is None:
            return None
        return self._then.cannot(prompt, language)

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        return self._then.groups(prompts)

    async def release(self) -> None:
        await self._first.release()
        await self._then.release()

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        asked = _SecondAnswers()
        answers: list[Answer] = await gather_all([self._one(prompt, asked) for prompt in prompts])
        if asked.verdicts:
            self.asked.append(asked)
        return answers

    async def _one(self, prompt: JudgePrompt[Any], asked: _SecondAnswers) -> Answer:
        to = route(prompt, self._first, self._then)
        if to == "first":
            return await _answer(self._first_cache, prompt)
        theirs = await _answer(self._then_cache, prompt)
        if to == "then":
            return theirs
        ours = await _answer(self._first_cache, prompt) if theirs.failure is None else Answer()
        usage, failure = theirs.usage + ours.usage, theirs.failure or ours.failure
        if failure is not None:
            self.failures, self.trouble = self.failures + 1, failure.message
            return Answer(failure=failure, usage=usage)
        asked.usage += theirs.usage
        self._compare(prompt, ours.judgement, theirs.judgement, asked)
        return replace(theirs, usage=usage)

    def _compare(self, prompt: JudgePrompt[Any], ours: Any, theirs: Any, asked: _SecondAnswers) -> None:
        key = prompt.key(_ROWS)
        for mine, other in zip(prompt.verdicts(ours), prompt.verdicts(theirs), strict=True):
            said = (key, mine.probability, affirms(prompt, mine) == affirms(prompt, other))
            self.compared.setdefault(kind_of(prompt), []).append(said)
            asked.verdicts.append((kind_of(prompt), mine.probability))


async def _answer(cache: JudgementCache, prompt: JudgePrompt[Any]) -> Answer:
    """The judgement or the failure, and what it cost now: nothing where it was at hand."""
    meter = Meter()
    token = METER.set(meter)
    try:
        return Answer(judgement=await cache.find(prompt), usage=meter.usage)
    except JudgeFailure as failure:
        return Answer(failure=failure, usage=meter.usage)
    finally:
        METER.reset(token)


#: In place of a judge, in the keys by which prompts are told apart here.
_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class _RowsJudge(Around):
    """A judge as the metrics of one row see it: it notes that the row asked. What a batch of many rows holds, and what
    two rows ask at once and is answered once, has its rows all the same."""

    judge: Judge
    row: str
    rows: dict[str, set[str]]

    async def find(self, prompt: JudgePrompt[F]) -> F:
        self.rows.setdefault(prompt.key(_ROWS), set()).add(self.row)
        return await self.judge.find(prompt)


def _by_row(metric: Metric, rows: dict[str, set[str]]) -> Metric:
    """The same metric, in all but this: it notes in `rows` which row it asks what for."""

    async def score(sample: Sample, judge: Judge) -> Score:
        return await metric.score(sample, _RowsJudge(judge, sample.key(), rows))

    watched = copy.copy(metric)
    object.__setattr__(watched, "score", score)  # metrics are frozen
    return watched


def _chosen(metrics: MetricSpec | None, columns: frozenset[str]) -> Sequence[Metric]:
    """The metrics that ask for verdicts which can be divided; those given must be such."""
    wanted = resolve_metrics(DEFAULT_METRICS if metrics is None else metrics)
    asking = [m for m in wanted if any(prompt.divisible for prompt in m.asks)]
    chosen = [m for m in asking if metrics is not None or not missing_columns(columns, (m,))]
    if not chosen:
        present = ", ".join(sorted(columns))
        raise InputError(f"metrics: none asks for verdicts that two judges can be compared by; the data has {present}")
    return chosen


def _saving(asked: Sequence[_SecondAnswers], bands: Mapping[str, BandPlan], prices: Prices | None) -> Saving:
    alone, cascade = Usage(), Usage()
    calls = 0
    for one in asked:
        doubtful = sum(in_doubt(probability, bands[kind].band) for kind, probability in one.verdicts)
        # nothing was spent where the judgements were at hand: then what they cost is unknown
        usage = one.usage if one.usage.calls else Usage(prompt_tokens=None, completion_tokens=None, cached_tokens=None)
        alone += usage
        if doubtful:
            calls += 1
            cascade += _scaled(usage, doubtful / len(one.verdicts))
    known = _tokens(alone) is not None
    return Saving(
        calls_alone=len(asked),
        calls=calls,
        tokens_alone=_tokens(alone),
        tokens=_tokens(cascade) if known else None,
        dollars_alone=_dollars(alone, prices),
        dollars=_dollars(cascade, prices) if known else None,
    )


def _scaled(usage: Usage, share: float) -> Usage:
    """The usage of a request with this share of its verdicts: the prompt whole, of the reply the share."""
    written = usage.completion_tokens
    return Usage(
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=None if written is None else round(written * share),
        cached_tokens=usage.cached_tokens,
    )


def _tokens(usage: Usage) -> int | None:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def _dollars(usage: Usage, prices: Prices | None) -> float | None:
    if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return prices.of(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0) / 1e9
